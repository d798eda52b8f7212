"""Which rows StrongClassifier sets apart, what it promises by them, and the weights of the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.estimators.strong.reading import Reading, ordered
from pacboost.fit.examples import class_weights
from pacboost.fit.noticing import compared
from pacboost.fit.roles import Roles, RolesAsk, divide
from pacboost.fit.targets import read_weights
from pacboost.samples.groups import numbered
from pacboost.samples.same_example import Examples
from pacboost.sources.rows import Rows


@dataclass(frozen=True)
class Promise:
    """The request: an error of at most epsilon (None: as small as possible), with confidence."""

    epsilon: float | None
    delta: float
    weighted: bool = False
    """Whether rows are learned from with weights; mistakes are counted without them."""


def weights_of(
    sample_weight: Any, class_weight: Any, labels: NDArray[Any], roles: Roles
) -> NDArray[np.float64] | None:
    """Return the weights of the training rows, and 0 for those that certify.

    Balanced weights follow from how often classes occur, so certifying rows are left out.
    """
    rows, known = len(labels), roles.known
    read_weights(sample_weight, rows)  # raises where they are no weights
    given = 1.0 if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    raw = np.broadcast_to(given, rows)[known]
    if class_weight is not None:
        raw = raw * class_weights(class_weight, labels[known])
    if read_weights(raw, known.size) is None:
        return None
    weights = np.zeros(rows)
    weights[known] = raw
    return weights


def set_apart(
    given: Reading,
    labels: NDArray[Any],
    ask: RolesAsk,
    copies: str,
) -> tuple[Roles, Promise, str]:
    """Divide the rows; also return why no rows certify, if so."""
    promise, rows, wished = Promise(ask.epsilon, ask.delta), len(labels), ask.chooses_threshold
    if wished and (given.groups is not None or given.time is not None):
        raise ParameterError(
            "recall and precision need independent rows; leave out either these or groups and time",
            parameter="recall",
        )
    if given.groups is not None and given.time is not None:
        raise ParameterError(
            "groups and time were both given; give one of them", parameter="groups"
        )
    if copies == "distinct" and (given.groups is not None or given.time is not None):
        raise ParameterError(
            "copies was given with groups or time, which already say how rows are divided; "
            "leave copies out",
            parameter="copies",
        )
    few = f"{rows} rows are too few to set any apart"
    if given.groups is not None:
        groups = numbered(np.asarray(given.groups), rows)
        few = f"{int(groups.max()) + 1} groups are too few to set any apart"
        return divide(Examples(rows, None), replace(ask, groups=groups)), promise, few
    if given.time is not None:
        times = ordered(np.asarray(given.time), rows)
        return divide(Examples(rows, None), replace(ask, times=times)), promise, few
    examples = Examples.from_rows(given.X, rows, copies)
    if examples.distinct:
        few = f"{examples.count} distinct rows are too few to set any apart"
    roles = divide(examples, ask)
    if roles.certify.size and not examples.distinct:
        rows_given = Rows.of(given.X)
        learned, certify = rows_given.take(roles.known), rows_given.take(roles.certify)
        examples = compared(examples, learned.given, certify.given)
        roles = replace(roles, examples=examples)
    return roles, promise, few
