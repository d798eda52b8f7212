"""sets: prediction sets that hold the true class as often as was asked for, with confidence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.coverage import LabelScore, SetRule, coverage_words
from pacboost.bounds.family import Family
from pacboost.errors import DataError, FileError, NotCertified, ParameterError
from pacboost.models.answers import asked
from pacboost.numerics.checks import probability
from pacboost.numerics.markup import bold, facts
from pacboost.questions.calibration_rows import CalibrationRows, share_of_row
from pacboost.questions.inner_models import remembers, snapshot
from pacboost.questions.labelled_rows import by_column, groups_of_rows
from pacboost.questions.mistakes import fresh_labels
from pacboost.questions.scored_rows import ScoredRows
from pacboost.samples.plain_rows import plain_rows
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.optional import collected

Doubles = NDArray[np.float64]
Kind = TypeVar("Kind")


@explains_input
def sets(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    coverage: float = 0.9,
    method: str = "lac",
    by_class: bool = False,
    by: Any = None,
    delta: float = 0.05,
    models: int = 1,
    groups: Any = None,
    copies: str = "draws",
    penalty: float = 0.05,
    free_labels: int = 2,
    new_rows: Any = None,
) -> PredictionSets:
    """Calibrate prediction sets of a fitted classifier: they hold the true class, with confidence.

    Except with probability ``delta`` over the calibration rows, at least ``coverage`` of new
    examples get a set that holds their class. What is called conformal prediction elsewhere mostly
    makes a weaker promise: coverage on average over calibration rows and new examples, which about
    half of all calibration samples miss.

    Parameters
    ----------
    model : any fitted classifier with ``predict_proba``
    X, y : rows and labels that had no part in fitting or choosing the model
        Without them: the sets that came with a model file, which ``save`` of the result writes.
    coverage : float, default=0.9
        The share of new examples whose set has to hold their class.
    method : "lac", "aps" or "raps", default="lac"
        "lac": labels of at least some probability; sets are small on average. "aps": the most
        probable labels up to some sum of probabilities; sets are larger where the model is unsure.
        "raps": the same with a penalty on labels beyond the first few. Choose it before the rows
        are looked at, or give each of several tries its share of delta.
    by_class : bool, default=False
        Cover the examples of every class to this extent, each with rows and a share of delta of
        its own.
    by : str or array, default=None
        Cover the examples of every group to this extent: a column of a data frame, or the group of
        every row, known beforehand. Each has a cutoff by its rows and a share of delta;
        ``predict_set`` then needs the groups of new rows.
    delta : float, default=0.05
        The probability with which the promise, or any of several, may fail.
    models : int, default=1
        How many models are tried on these rows and may be kept: each pays its share of delta.
    groups : array of group labels, default=None
        Give it when rows of one group depend on each other. One row is then drawn from every group,
        and the claim is about the examples of a new group. Rows that depend on each other in the
        order of time are not covered by any theorem here.
    copies : "draws" or "distinct", default="draws"
        What equal rows are, as in ``certify``.
    penalty, free_labels : float, default=0.05, and int, default=2
        For "raps": what each label beyond the first ``free_labels`` adds to the score. They have to
        be fixed before the calibration rows are looked at.
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
    score = LabelScore(method, penalty, free_labels)
    if by_class + (by is not None) + (groups is not None) > 1:
        raise ParameterError(
            "of by_class, by and groups only one may be given; sets cover every class or every "
            "group of by, by rows that are independent, or all together where rows depend on each "
            "other within groups"
        )
    X, named = by_column(model, X, by)
    if not hasattr(model, "classes_"):
        raise NotCertified(
            f"{type(model).__name__} has no classes, so there are no sets of them; for models that "
            "predict numbers there is pacboost.intervals"
        )
    labels = fresh_labels(y, model.classes_)
    every = ScoredRows(model, X, labels, labels, np.zeros(labels.size, dtype=np.bool_))
    chances, places = every.chances, every.places
    rows = CalibrationRows.of([model], X, labels, groups, copies, models, new_rows)
    u = row_shares(model, X, score)
    scores = score(chances, u)[np.arange(labels.size), np.maximum(places, 0)]
    scores = np.where(places < 0, np.inf, scores)[rows.kept]
    found: Certificate | Family
    parted: tuple[str, ...] = ()
    group: NDArray[np.intp] | None = None
    if by_class:
        parts = "class", every.classes.tolist(), places[rows.kept]
        cutoffs, found = _cutoffs(rows, scores, parts, coverage, delta)
    elif by is not None:
        known, group = np.unique(groups_of_rows(named, labels.size), return_inverse=True)
        parted = tuple(known.tolist())
        cutoffs, found = _cutoffs(
            rows, scores, ("group", list(parted), group[rows.kept]), coverage, delta
        )
    else:
        cutoff, found = rows.cutoff("set_coverage", scores, coverage, delta, method=score.method)
        cutoffs = (cutoff,)
    column = by if isinstance(by, str) else ""
    rule = SetRule(score, coverage, cutoffs, found, groups=parted, by=column)
    mean_size = float(rule.holds(chances, u, group).sum(axis=1).mean())
    return PredictionSets(model, replace(rule, mean_size=mean_size))


def _cutoffs(
    rows: CalibrationRows,
    scores: Doubles,
    parts: tuple[str, list[Any], NDArray[np.intp]],
    coverage: float,
    delta: float,
) -> tuple[tuple[float, ...], Family]:
    """Return every class or group a cutoff by its own rows, with its share of delta."""
    kind, names, own = parts
    found = [
        rows.cutoff(
            "class_coverage" if kind == "class" else "set_coverage", scores[own == place],
            coverage, delta, len(names), **{kind: str(name)},
        )
        for place, name in enumerate(names)
    ]  # fmt: skip
    return tuple(cutoff for cutoff, _ in found), Family(tuple(made for _, made in found), delta)


# What is calibrated is part of the model of a classifier or regressor of ours, and of its file.


def with_rule(estimator: Any, rule: Any) -> Any:
    """Return a copy of a fitted estimator; the model in it, if it is one of ours, has the rule."""
    made = inner = snapshot(estimator)
    while remembers(inner) and "estimator_" in vars(inner):
        inner = inner.estimator_
    if remembers(inner) and "model_" in vars(inner):
        inner.model_ = replace(inner.model_, coverage=rule)
    return made


def kept_rule(model: Any, kind: type[Kind], name: str) -> Kind:
    """Return the rule for sets or intervals that came with a model file."""
    found = getattr(getattr(model, "model_", None), "coverage", None)
    if not isinstance(found, kind):
        raise NotCertified(
            f"{type(model).__name__} holds no {name}; give rows that had no part in the fit, and "
            "their labels"
        )
    return found


def save_model(estimator: Any, path: str | Path, *, remember_rows: bool) -> None:
    """Write a model file, if the estimator has one."""
    if not hasattr(estimator, "save"):
        raise FileError(
            f"{path}: is not written, for {type(estimator).__name__} has no model file; votes of "
            "stumps, trees and lists of words have one, and forests. Pickle it, if you trust who "
            "reads it"
        )
    estimator.save(path, remember_rows=remember_rows)


class PredictionSets:
    """A fitted classifier with prediction sets; ``pacboost.sets`` makes it.

    Attributes
    ----------
    estimator_ : the classifier
    classes_ : its classes
    certificate_ : what is certified; with ``by_class`` or ``by`` a ``Family``, one for each
    cutoffs_ : the largest score of a label in a set; with ``by_class`` or ``by`` one for each
    mean_size_ : how many labels the sets of the calibration rows hold on average: an estimate
    sentence_ : what is certified, in words
    """

    def __init__(self, estimator: Any, rule: SetRule) -> None:
        self.estimator_, self.rule = with_rule(estimator, rule), rule
        self.classes_: NDArray[Any] = np.asarray(estimator.classes_)
        self.certificate_, self.cutoffs_ = rule.certificate, rule.cutoffs
        self.mean_size_, self.sentence_ = rule.mean_size, coverage_words(rule.certificate)

    def predict_set(self, X: Any, by: Any = None) -> NDArray[np.bool_]:
        """Return for every row and class, in the order of ``classes_``, whether the set holds it.

        No set is empty: the most probable class is in every set. ``by`` holds the group of every
        row, where groups have cutoffs of their own; a column that was named is found in X.
        """
        return predicted_set(self.estimator_, self.rule, X, by)

    def label_sets(self, X: Any, by: Any = None) -> list[list[Any]]:
        """Return the labels of every row's set, in the order of ``classes_``."""
        return [self.classes_[own].tolist() for own in self.predict_set(X, by)]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the prediction of the classifier."""
        return asked(self.estimator_, X)

    def predict_proba(self, X: Any) -> Doubles:
        """Return the probabilities of the classifier."""
        return asked(self.estimator_, X, "predict_proba")

    def save(self, path: str | Path, *, remember_rows: bool = True) -> None:
        """Write model and sets to a file; ``pacboost.sets(pacboost.load(path))`` reads the sets."""
        save_model(self.estimator_, path, remember_rows=remember_rows)

    def _repr_html_(self) -> str:
        shown = [("labels in a set", f"{self.mean_size_:.3g} on average (an estimate)")]
        return bold(self.sentence_) + facts(shown)

    def __repr__(self) -> str:
        return f"<prediction sets of {type(self.estimator_).__name__}: {self.sentence_}>"


def predicted_set(model: Any, rule: SetRule, X: Any, by: Any = None) -> NDArray[np.bool_]:
    """Apply a rule to new rows."""
    X, place = collected(X), None
    if rule.groups:
        X, place = _groups(model, rule, X, by)
    elif by is not None:
        raise ParameterError("by was given, and these sets have one cutoff for all groups")
    chances = asked(model, X, "predict_proba")
    return rule.holds(chances, row_shares(model, X, rule.score), place)


def _groups(model: Any, rule: SetRule, X: Any, by: Any) -> tuple[Any, NDArray[np.intp]]:
    """Find the groups of new rows among those that were calibrated."""
    asked = rule.by or None if by is None else by
    if asked is None:
        raise ParameterError(
            f"these sets have a cutoff for each of {len(rule.groups)} groups; give the group of "
            "every row as by="
        )
    X, named = by_column(model, X, asked)
    values = named if hasattr(named, "__len__") else list(named)
    names = groups_of_rows(values, len(values))
    unknown = sorted(set(names.tolist()) - set(rule.groups))
    if unknown:
        raise DataError(
            f"group {unknown[0]!r} had no calibration rows, so nothing is known of its sets; the "
            f"groups are {', '.join(map(repr, rule.groups[:20]))}"
        )
    numbers = {name: number for number, name in enumerate(rule.groups)}
    return X, np.array([numbers[name] for name in names.tolist()], dtype=np.intp)


def row_shares(model: Any, X: Any, score: LabelScore) -> Doubles | None:
    """Make a number from every row, where the score needs one."""
    if not score.by_row:
        return None
    return share_of_row(model._rows_to_compare(X) if remembers(model) else plain_rows(X))
