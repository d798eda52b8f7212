"""sets: prediction sets that hold the true class with certified coverage."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.coverage import LabelScore, SetRule
from pacboost.bounds.family import Family
from pacboost.errors import DataError, NotCertified, ParameterError
from pacboost.estimators.decisions.decided import Decided, kept_rule, with_rule
from pacboost.models.answers import asked
from pacboost.numerics.checks import probability
from pacboost.questions.calibration_rows import CalibrationRows, share_of_row
from pacboost.questions.inner_models import remembers
from pacboost.questions.labelled_rows import by_column, groups_of_rows
from pacboost.questions.mistakes import fresh_labels
from pacboost.questions.scored_rows import RowsOfModel
from pacboost.samples.plain_rows import plain_rows
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.optional import collected

Doubles = NDArray[np.float64]
Kind = TypeVar("Kind")


@explains_input
def sets(
    model: object,
    X: object = None,
    y: object = None,
    *,
    coverage: float = 0.9,
    method: str | LabelScore = "lac",
    by_class: bool = False,
    by: str | ArrayLike | None = None,
    delta: float = 0.05,
    models: int = 1,
    groups: ArrayLike | None = None,
    copies: str = "draws",
    new_rows: object = None,
) -> PredictionSets:
    """Calibrate prediction sets of a fitted classifier: they hold the true class, with confidence.

    Except with probability ``delta`` over the calibration rows, at least ``coverage`` of new
    examples get a set that holds their class. Conformal prediction mostly makes a weaker promise:
    coverage on average over calibration rows and new examples, which about half of all calibration
    samples miss.

    Parameters
    ----------
    model : any fitted classifier with ``predict_proba``
    X, y : rows and labels that had no part in fitting or choosing the model
        Without them: the sets that came with a model file, which ``save`` of the result writes.
    coverage : float, default=0.9
        The share of new examples whose set has to hold their class.
    method : "lac", "aps", "raps" or LabelScore, default="lac"
        "lac": labels of at least some probability; sets are small on average. "aps": the most
        probable labels up to some sum of probabilities; sets are larger where the model is unsure.
        "raps": the same with a penalty on labels beyond the first two;
        ``pacboost.bounds.coverage.LabelScore`` takes another penalty. Choose it before the rows
        are looked at, or give each of several tries its share of delta.
    by_class : bool, default=False
        Cover the examples of every class to this extent, each with its rows and a share of delta.
    by : str or array, default=None
        Cover the examples of every group to this extent: a column of a data frame, or the group of
        every row, known beforehand. Each has a cutoff by its rows and a share of delta;
        ``predict_set`` then needs the groups of new rows.
    delta : float, default=0.05
        The probability with which the promise, or any of several, may fail.
    models : int, default=1
        How many models are tried on these rows and may be kept; they share delta.
    groups : array of group labels, default=None
        Give it when rows of one group depend on each other. One row is then drawn from every group,
        and the claim is about the examples of a new group. Rows that depend on each other in the
        order of time are not covered by any theorem here.
    copies : "draws" or "distinct", default="draws"
        What equal rows are, as in ``certify``.
    new_rows : table of rows, default=None
        Rows of a world that has moved, without labels: the promise is then about the examples that
        learned weights describe, as in ``certify``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X[::3], y[::3])
    >>> found = sets(model, X[1::3], y[1::3], coverage=0.85, copies="draws")
    >>> found.label_sets(X[[2, 101]])
    [[0], [2]]
    >>> round(found.certificate_.value, 4)
    0.8522
    """
    if X is None:
        return PredictionSets(model, kept_rule(model, SetRule, "sets"))
    probability("coverage", coverage)
    probability("delta", delta)
    score = method if isinstance(method, LabelScore) else LabelScore(method)
    if by_class + (by is not None) + (groups is not None) > 1:
        raise ParameterError(
            "of by_class, by and groups only one may be given; by_class and by need independent "
            "rows, and groups covers all classes together",
            parameter="by",
        )
    X, groups_of_by = by_column(model, X, by)
    if not hasattr(model, "classes_"):
        raise NotCertified(
            f"{type(model).__name__} has no classes, so there are no sets of them; use "
            "pacboost.intervals for models that predict numbers"
        )
    labels = fresh_labels(y, model.classes_)
    scored = RowsOfModel(model, X, labels, labels, np.zeros(labels.size, dtype=np.bool_))
    chances, places = scored.chances, scored.places
    rows = CalibrationRows.of([model], X, labels, groups, copies, models, new_rows)
    # drawn anew for every row in the papers; as a hash of its values it makes the score a function
    # of row and label, and equal rows get equal sets (docs/proofs/sets.md)
    u = row_shares(model, X, score)
    scores = score(chances, u)[np.arange(labels.size), np.maximum(places, 0)]
    # no set holds a label that the model does not know
    scores = np.where(places < 0, np.inf, scores)[rows.kept]
    certified: Certificate | Family
    names: tuple[str, ...] = ()
    group: NDArray[np.intp] | None = None
    if by_class:
        parts = "class", scored.classes.tolist(), places[rows.kept]
        cutoffs, certified = _cutoffs(rows, scores, parts, coverage, delta)
    elif by is not None:
        unique, group = np.unique(groups_of_rows(groups_of_by, labels.size), return_inverse=True)
        names = tuple(unique.tolist())
        parts = "group", list(names), group[rows.kept]
        cutoffs, certified = _cutoffs(rows, scores, parts, coverage, delta)
    else:
        kind = "set_coverage"
        cutoff, certified = rows.cutoff(kind, scores, coverage, delta, method=score.method)
        cutoffs = (cutoff,)
    column = by if isinstance(by, str) else ""
    rule = SetRule(score, coverage, cutoffs, certified, groups=names, by=column)
    mean_size = float(rule.holds(chances, u, group).sum(axis=1).mean())
    return PredictionSets(model, replace(rule, mean_size=mean_size))


def _cutoffs(
    rows: CalibrationRows,
    scores: Doubles,
    parts: tuple[str, list[Any], NDArray[np.intp]],
    coverage: float,
    delta: float,
) -> tuple[tuple[float, ...], Family]:
    """Return a cutoff for every class or group, each with its share of delta."""
    kind, names, part = parts
    # K promises hold together if each has delta/K (Boole)
    measure = "class_coverage" if kind == "class" else "set_coverage"
    cutoffs, certificates = zip(
        *(
            rows.cutoff(
                measure, scores[part == place], coverage, delta, len(names), **{kind: str(name)}
            )
            for place, name in enumerate(names)
        ),
        strict=True,
    )
    return cutoffs, Family(certificates, delta)


class PredictionSets(Decided):
    """A fitted classifier with prediction sets; ``pacboost.sets`` makes it.

    Attributes
    ----------
    estimator_ : the classifier
    classes_ : its classes
    certificate_ : Certificate, or with ``by_class`` or ``by`` a ``Family`` with one for each
    cutoffs_ : the largest score of a label in a set; with ``by_class`` or ``by`` one for each
    mean_size_ : how many labels the sets of the calibration rows hold on average: an estimate
    sentence_ : the certificate in words
    """

    def __init__(self, estimator: BaseEstimator, rule: SetRule) -> None:
        super().__init__(with_rule(estimator, rule), rule.certificate)
        self.rule, self.cutoffs_, self.mean_size_ = rule, rule.cutoffs, rule.mean_size
        self.classes_: NDArray[Any] = np.asarray(estimator.classes_)

    def predict_set(self, X: Any, by: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Return for every row and class, in the order of ``classes_``, whether the set holds it.

        No set is empty: the most probable class is in every set. ``by`` is the group of every row,
        if each group has a cutoff; a column that was named is taken from X.
        """
        X, groups = collected(X), None
        if self.rule.groups:
            X, groups = self._groups(X, by)
        elif by is not None:
            raise ParameterError(
                "by was given, and these sets have one cutoff for all groups", parameter="by"
            )
        chances = asked(self.estimator_, X, "predict_proba")
        return self.rule.holds(chances, row_shares(self.estimator_, X, self.rule.score), groups)

    def _groups(self, X: object, by: ArrayLike | None) -> tuple[Any, NDArray[np.intp]]:
        """Number the groups of new rows as they were numbered in the calibration."""
        groups = self.rule.groups
        column = self.rule.by or None if by is None else by
        if column is None:
            raise ParameterError(
                f"these sets have a cutoff for each of {len(groups)} groups; give the group of "
                "every row",
                parameter="by",
            )
        X, values = by_column(self.estimator_, X, column)
        values = values if hasattr(values, "__len__") else list(values)
        names = groups_of_rows(values, len(values)).tolist()
        unknown = sorted(set(names) - set(groups))
        if unknown:
            raise DataError(
                f"group {unknown[0]!r} had no calibration rows, so it has no cutoff; the groups "
                f"are {', '.join(map(repr, groups[:20]))}"
            )
        numbers = {name: number for number, name in enumerate(groups)}
        return X, np.array([numbers[name] for name in names], dtype=np.intp)

    def label_sets(self, X: object, by: ArrayLike | None = None) -> list[list[Any]]:
        """Return the labels of every row's set, in the order of ``classes_``."""
        return [self.classes_[row].tolist() for row in self.predict_set(X, by)]

    def predict(self, X: object) -> NDArray[Any]:
        """Return the prediction of the classifier."""
        return asked(self.estimator_, X)

    def predict_proba(self, X: object) -> Doubles:
        """Return the probabilities of the classifier."""
        return asked(self.estimator_, X, "predict_proba")

    _words = "prediction sets"

    @property
    def _facts(self) -> list[tuple[str, str]]:
        return [("labels in a set", f"{self.mean_size_:.3g} on average (an estimate)")]


def row_shares(model: BaseEstimator, X: object, score: LabelScore) -> Doubles | None:
    """Return a number in [0, 1) for every row, computed from its values, if needed."""
    if not score.by_row:
        return None
    return share_of_row(model._rows_to_compare(X) if remembers(model) else plain_rows(X))
