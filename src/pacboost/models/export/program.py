"""A fitted model in a form that exports to any programming language."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from pacboost.bounds import wording
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.rounding import confidence
from pacboost.errors import ParameterError
from pacboost.hypotheses.vote import Vote
from pacboost.hypotheses.word_list import WordIndex
from pacboost.models.calibration import Isotonic, Sigmoid
from pacboost.models.export.trees import Trees, of_vote, splits_of
from pacboost.models.model import Model
from pacboost.sources.derived import DerivedColumn
from pacboost.sources.level_means import LevelMeans
from pacboost.sources.levels import Levels
from pacboost.sources.mixed import MixedFeatures
from pacboost.sources.text import TextFeatures
from pacboost.training.metrics import steepness

MAX_SCORE = 1e200


@dataclass(frozen=True)
class Cut:
    """A chosen threshold: the class at ``place`` is predicted if ``at`` is reached.

    With one score for two classes, the score is compared: at least ``at`` for the second class and
    at most ``at`` for the first. Scores are exact in every program, while the last digits of
    probabilities need not be. Otherwise the probability of the class has to be at least ``at``.
    """

    place: int
    at: float


def chosen_cut(model: BaseEstimator) -> tuple[float, int, Certificate | None] | None:
    """Return threshold, place of the class and certificate of a fitted classifier, if any."""
    if getattr(model, "threshold_", None) is None:
        return None
    if not hasattr(model, "positive"):
        raise ParameterError(
            f"{type(model).__name__} cannot be exported: programs answer every row. Export its "
            "estimator_, and compare the probability of its answers with threshold_ yourself"
        )
    classes: NDArray[Any] = np.asarray(model.classes_)
    place = classes.size - 1
    if model.positive is not None:
        place = classes.tolist().index(model.positive)
    decision = vars(model).get("decision_")
    # no other threshold was set since
    certified = decision is not None and getattr(model, "_is_as_chosen", True)
    return model.threshold_, place, decision.certificate if certified else None


def cut_of_score(model: Model, threshold: float, place: int) -> Cut:
    """Turn a threshold of the probability of one of two classes into one of the score.

    The probability of the second class rises with the score, so bisection over the floats finds
    the smallest score that reaches the threshold; for the first class, the largest.
    """
    side = 1.0 if place == 1 else -1.0

    def reaches(number: int) -> bool:
        score = np.array([side * _float(number)])
        return bool(model.probabilities(score)[0, place] >= threshold)

    low, high = _number(-MAX_SCORE), _number(MAX_SCORE)
    if reaches(low):
        return Cut(place, -side * MAX_SCORE)
    if not reaches(high):
        raise ParameterError(f"the threshold is {threshold}; no score reaches it")
    # 64 steps at most: floats in their order are whole numbers
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return Cut(place, side * _float(high))


def _number(value: float) -> int:
    """Number the floats in their order.

    >>> _number(1.0) - _number(math.nextafter(1.0, 0)), _float(_number(-2.5))
    (1, -2.5)
    """
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return int(bits) if bits >= 0 else -int(bits & 0x7FFF_FFFF_FFFF_FFFF)


def _float(number: int) -> float:
    (value,) = struct.unpack("<d", struct.pack("<q", abs(number)))
    return math.copysign(value, number)


MAX_SPLITS = 2_000_000
"""With more splits, compilers of source code take minutes and gigabytes; ONNX may hold more."""

Kind = Literal["number", "one", "two", "many", "several", "shares"]


@dataclass(frozen=True, eq=False)
class Output:
    """How the sums of rules become answers.

    A ``number`` is middle + scale · sum / count, or with ``logs`` the exponential of that.
    ``shares`` of classes are sums / count, where two classes have one sum, that of the second.
    ``two`` classes have a score whose sign decides, ``many`` a score each, and so have ``several``
    labels, which all may be true. ``one`` class needs no score. Probabilities come from scores by
    ``steepness``, or by calibrated ``curves``.
    With a ``cut`` one class is predicted from its threshold on.
    """

    kind: Kind
    classes: NDArray[Any]
    steepness: float = 2.0
    curves: tuple[Sigmoid, ...] | tuple[Isotonic, ...] = ()
    count: int = 1
    middle: float = 0.0
    scale: float = 1.0
    logs: bool = False
    cut: Cut | None = None
    """A threshold that was chosen for a class; None predicts the most probable class."""


@dataclass(frozen=True)
class Means:
    """A column of the means of rarer levels, whose numbers are ``known`` and up."""

    column: int
    known: int
    values: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Program:
    """A model as columns, rules (trees, or lists of words) and their output."""

    answer: Output
    names: tuple[str, ...]
    levels: Levels
    """The levels that have a number, rarer ones with a mean last."""
    trees: Trees
    lists: WordIndex | None = None
    text: TextFeatures | MixedFeatures | None = None
    certificate: Certificate | None = None
    means: tuple[Means, ...] = ()
    derived: tuple[DerivedColumn, ...] = ()
    """Columns that a program makes of others; trees ask about them after those of the row, and
    after means."""

    @property
    def known_levels(self) -> NDArray[np.int64]:
        """The number of levels of each column that trees tell apart, 0 if it is a number."""
        counts = self.levels.counts(len(self.names) + len(self.means) + len(self.derived))
        for means in self.means:
            counts[means.column] = means.known
        return counts

    @property
    def meanings(self) -> list[str]:
        """What the number in each column of a row is."""
        return [self.levels.kind(j).meaning for j in range(len(self.names))]

    @property
    def about(self) -> list[str]:
        """A description of the program, in a few lines."""
        answer = self.answer
        what = f"{answer.classes.size} classes" if answer.classes.size else "a number"
        what = f"{answer.classes.size} labels" if answer.kind == "several" else what
        rows = f"{len(self.names)} columns" if self.text is None else "texts"
        rows = "rows with texts" if isinstance(self.text, MixedFeatures) else rows
        about = [f"A model of pacboost: {rows} in, {what} out."]
        if self.certificate is not None:
            claim, delta = self.certificate.claim, self.certificate.delta
            sure = f" ({confidence(delta)} confidence)" if delta else ""
            is_new = self.certificate.of_what not in wording.OF_TRAINING
            about.append(f"Certified: {claim}{sure}" if is_new else claim)
        return about

    def refuse_words(self, reason: str) -> None:
        """Refuse lists of words, for a language that cannot read texts."""
        if self.lists is not None:
            raise ParameterError(
                f"lists of words are exported to Python only: {reason}. Give a path that ends in "
                ".py"
            )


def program_of(model: BaseEstimator | Model, max_splits: int = MAX_SPLITS) -> Program:
    """Return the program of a fitted estimator or model; refuse models that cannot be exported."""
    chosen = chosen_cut(model)
    fitted = getattr(model, "model_", model)
    program = _plain_program(model, fitted, max_splits)
    if chosen is None:
        return program
    threshold, place, certificate = chosen
    kind = program.answer.kind
    if kind not in ("two", "many", "shares"):
        raise ParameterError(
            f"{type(model).__name__} cannot be exported: its answers are of kind {kind!r}, for "
            "which a program knows no threshold. Export its estimator_"
        )
    cut = cut_of_score(fitted, threshold, place) if kind == "two" else Cut(place, threshold)
    return replace(program, answer=replace(program.answer, cut=cut), certificate=certificate)


def _plain_program(model: BaseEstimator | Model, fitted: object, max_splits: int) -> Program:
    if not isinstance(fitted, Model):
        raise ParameterError(
            f"{type(model).__name__} cannot be exported: it holds no vote of rules and no forest. "
            "What can be, after fit: StrongClassifier, AdaBoostClassifier, BoostClassifier, "
            "BoostRegressor, FilterBoostClassifier, TextBoostClassifier and the forests"
        )
    answer, vote = _answer(fitted), fitted.vote
    lists = vote.index if isinstance(vote, Vote) else None
    splits = splits_of(vote)
    if splits > max_splits:
        raise ParameterError(
            f"the trees have {splits:,} splits, and an export of this kind holds {max_splits:,}. "
            "Grow fewer or smaller trees (n_estimators, min_samples_leaf, max_depth), export to "
            "ONNX, which holds more, or keep the model file"
        )
    trees = Trees.none(1) if answer.kind == "one" or lists is not None else of_vote(vote)
    names, made = fitted.column_names[: fitted.schema.n_columns], fitted.schema.derived
    levels, means = _with_rarer(fitted.levels, made)
    return Program(
        answer, names, levels, trees, lists, fitted.text, fitted.certificate, means,
        tuple(column for column in made if not isinstance(column, LevelMeans)),
    )  # fmt: skip


def _with_rarer(
    levels: Levels, made: tuple[DerivedColumn, ...]
) -> tuple[Levels, tuple[Means, ...]]:
    """Return the levels with those that have a mean after the others, and their means."""
    columns, means = dict(levels.columns), []
    for rarer in made:
        if isinstance(rarer, LevelMeans):
            known = columns[rarer.first]
            means.append(Means(rarer.first, len(known), rarer.means))
            columns[rarer.first] = (*known, *rarer.levels)
    return replace(levels, columns=columns), tuple(means)


def _answer(model: Model) -> Output:
    classes = model.classes
    if model.forest:
        if model.labels:
            raise ParameterError(
                "the forest gives several labels a row, and an export of a forest holds one; keep "
                "the model file (save, and pacboost.load), or export a BoostClassifier"
            )
        kind: Kind = "number" if classes.size == 0 else "one" if classes.size == 1 else "shares"
        forest, count = model.vote, max(1, len(model.vote))
        return Output(kind, classes, count=count, middle=forest.middle, scale=forest.scale)
    _refuse_others(model)
    steep = steepness(model.ledger.potential)
    curves: tuple[Sigmoid, ...] | tuple[Isotonic, ...] = ()
    if model.calibration is not None:
        curves = model.calibration.curves  # type: ignore[assignment]
        if model.calibration.slope is not None:
            steep = model.calibration.slope
            curves = (Sigmoid(steep, 0.0),) if classes.size == 2 else ()
    if classes.size == 0:
        return Output("number", classes, logs=model.log_link)
    if model.ledger.several_labels:
        return Output("several", classes)
    if classes.size <= 2:
        return Output("two" if classes.size == 2 else "one", classes, 2.0, curves)
    return Output("many", classes, steep, curves)


def _refuse_others(model: Model) -> None:
    vote = model.vote
    if vote.others:
        kind = type(vote.others[0][0]).__name__
        raise ParameterError(
            f"the vote holds {kind} rules; an export holds stumps, trees and lists of words. Keep "
            "the model file (save, and pacboost.load), pickle the estimator if its rules are "
            "scikit-learn's, or train it with those"
        )
    if model.ledger.potential == "none":
        raise ParameterError(
            f"members by {model.ledger.booster} have one vote each, which an export does not "
            "count; keep the model file (save, and pacboost.load), or export a single booster"
        )
    if vote.index is not None and vote.index.n_lists < len(vote):
        raise ParameterError(
            "the vote mixes lists of words with other rules; an export holds one kind of them"
        )
