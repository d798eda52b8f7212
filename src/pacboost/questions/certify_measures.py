"""certify_all: recall, precision, AUC, costs and the like, for classes and groups at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.family import Family
from pacboost.bounds.wording import MEASURES
from pacboost.errors import DataError, NotCertified, ParameterError
from pacboost.kernels.cuda.device import in_host_memory
from pacboost.questions.measuring import (
    Measuring,
    claims_of,
    group_names,
    read_measures,
)
from pacboost.questions.mistakes import fresh_labels, refuse_other_labels
from pacboost.questions.new_rows import NewRows
from pacboost.questions.scored_rows import ScoredRows
from pacboost.samples.copies import numbered, refuse_hidden_copies
from pacboost.sources.dataframe import is_frame, open_frame


def certify_measures(
    model: Any,
    X: Any,
    y: Any,
    of: Any,
    *,
    positive: Any,
    by: Any,
    end: str | None,
    options: dict[str, Any],
    delta: float,
    models: int,
    groups: Any,
    ordered: bool,
    copies: str,
) -> Family:
    """Certify measures that all hold together."""
    _refuse_combinations(by, groups, ordered)
    X, named = by_column(model, X, by)
    names = read_measures(of, options)
    labels, said = _answers(model, X, y, names)
    each = groups is None and not ordered
    new = NewRows.of([model], X, labels, copies, each=each)
    rows = ScoredRows(model, X, labels, said, _ties(model, X, y, labels, said, names))
    group = None if named is None else groups_of_rows(named, labels.size)
    claims = claims_of(rows, names, positive, _distinct(group), end)
    words = "held-out rows in the order of time" if ordered else "held-out rows"
    sample = new.sample(words if groups is None else "whole groups that were held out")
    measuring = Measuring(rows, new.kept, options, delta, models, sample)
    if groups is not None:
        refuse_hidden_copies(X, np.asarray(groups))
        place = numbered(np.asarray(groups), labels.size)
        family = measuring.by_dependent_groups(claims, place)
    elif ordered:
        family = measuring.over_time(claims)
    else:
        family = measuring.family(claims, group)
    certificates = tuple(map(new.marked, family))
    return Family(certificates, family.delta)


def _refuse_combinations(by: Any, groups: Any, ordered: bool) -> None:
    if groups is not None and ordered:
        raise ParameterError("groups and ordered were both given; rows are one or the other")
    if by is not None and (groups is not None or ordered):
        raise ParameterError(
            "by cannot be combined with groups or ordered: within a group of by, no theorem here "
            "covers rows that depend on each other"
        )


def by_column(model: Any, X: Any, by: Any) -> tuple[Any, Any]:
    """Return rows as the model reads them, and the groups: a column that is named, or values."""
    if not isinstance(by, str):
        return X, by
    if not is_frame(X):
        raise ParameterError(
            f"by is {by!r}, which names a column, and X is no data frame; give an array with the "
            "group of every row"
        )
    frame = open_frame(X)
    if by not in frame.columns:
        raise ParameterError(f"by is {by!r}; the columns are {', '.join(map(repr, frame.columns))}")
    known = getattr(model, "feature_names_in_", None)
    if known is not None and by not in [str(name) for name in known]:
        X = frame.drop(by).to_native()
    return X, frame[by].to_list()


def groups_of_rows(by: Any, rows: int) -> NDArray[Any]:
    """Return the name of the group of every row."""
    groups = np.asarray(by, dtype=object) if isinstance(by, list) else np.asarray(by)
    if groups.shape != (rows,):
        raise DataError(f"by has shape {groups.shape}; one group for each of {rows} rows is needed")
    return group_names(groups)


def _distinct(groups: NDArray[Any] | None) -> list[str]:
    return [] if groups is None else np.unique(groups).tolist()


def _answers(model: Any, X: Any, y: Any, names: list[str]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return labels and predictions; refuse measures that the model has no answers for."""
    numbers = [name for name in names if MEASURES[name].numbers]
    regressor = not _is_classifier(model)
    if numbers and not regressor:
        raise NotCertified(f"of={numbers[0]!r} is for models that predict numbers, not classes")
    if regressor and len(numbers) < len(names):
        other = next(name for name in names if name not in numbers)
        allowed = ", ".join(repr(name) for name, own in MEASURES.items() if own.numbers)
        raise NotCertified(
            f"of={other!r} is for classifiers, and this model predicts numbers; allowed are "
            f"{allowed}"
        )
    labels = fresh_labels(y)
    said = np.asarray(in_host_memory(model.predict(X)))
    if said.shape != labels.shape:
        raise DataError(f"predict gave shape {said.shape} for {labels.size} labels")
    if not regressor:
        refuse_other_labels(getattr(model, "classes_", said), labels)
    return labels, said


def _is_classifier(model: Any) -> bool:
    if hasattr(model, "classes_") or hasattr(model, "predict_proba"):
        return True
    if hasattr(model, "ledger_"):  # of ours: one that predicts numbers has no mistakes
        return hasattr(model, "mistakes")
    return getattr(model, "_estimator_type", "") != "regressor" and not _says_regressor(model)


def _says_regressor(model: Any) -> bool:
    tags = getattr(model, "__sklearn_tags__", None)
    return tags is not None and getattr(tags(), "estimator_type", None) == "regressor"


def _ties(
    model: Any, X: Any, y: Any, labels: NDArray[Any], said: NDArray[Any], names: list[str]
) -> NDArray[np.bool_]:
    """Return which rows a vote of ours gets right only because ties have to end somehow."""
    if MEASURES[names[0]].numbers or not hasattr(model, "ledger_"):
        return np.zeros(labels.size, dtype=np.bool_)
    return np.asarray(model.mistakes(X, y) & (said == labels))
