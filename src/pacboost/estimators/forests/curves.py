"""Which curves of a forest are drawn, and for which rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacboost.errors import DataError
from pacboost.estimators.fitted.presentation.explaining import numbers_of
from pacboost.estimators.inputs.parameters import positive_integer
from pacboost.hypotheses import forest_shapes
from pacboost.hypotheses.shapes import Shapes
from pacboost.models.file.forest_format import ForestModel
from pacboost.sources.table import Table


def partial_dependence(
    model: ForestModel, features: Any, top: int, table: Table | None = None
) -> Shapes:
    """Give the curves of the features named, or of the ``top`` most important ones."""
    if model.labels:
        raise DataError(
            "rows have several labels, and trees vote for sets of them; curves are drawn of "
            "forests for one label. Fit one forest for each label"
        )
    if features is None:
        order = np.argsort(-model.forest.importances, kind="stable")
        numbers = order[: positive_integer("top", top)].tolist()
    else:
        numbers = numbers_of(features, model)
    return forest_shapes.partial_dependence(model.forest, model.say(), numbers, table)
