"""Weak learners for experiments: adversaries, weak stumps, scripted rules and tight boxes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError, invalid
from pacboost.hypotheses.function import Recorded
from pacboost.hypotheses.hypothesis import Answers, Cells, Hypothesis, Names, Rule, Valued
from pacboost.hypotheses.stump import StumpRule
from pacboost.learners.choose import as_learner
from pacboost.learners.learner import Capacity, Learner, Rows, Search, Weights
from pacboost.learners.stump import Stump
from pacboost.samples.sample import Request, Sample, Signs
from pacboost.sources.values import Values

Found = TypeVar("Found", bound=Hypothesis)


@dataclass(frozen=True)
class SimpleSearch(Search, Generic[Found]):
    """A search on one sample that calls ``search`` and prepares nothing."""

    sample: Sample
    search: Callable[[Sample, Weights, Signs, int], Found]

    def find(self, weights: Weights, answers: Signs, seed: int) -> Found:
        return self.search(self.sample, weights, answers, seed)


@dataclass(frozen=True)
class Adversary(Learner):
    """Answer with an edge of at least ``edge``, exceeding it by less than the weights allow.

    It goes through the rows in some order and gets each one wrong while the error stays within
    (1 - edge)/2. The error then falls short of that by less than the weight of every row it got
    right, so the edge is below ``edge + 2 · min D(right rows)``.

    Parameters
    ----------
    edge : float
        The promised edge, in [0, 1].
    order : {"random", "heavy", "light"}, default="random"
        The rows that it prefers to get wrong.
    """

    name: ClassVar[str] = "adversary"

    edge: float
    order: str = "random"

    def __post_init__(self) -> None:
        _check_edge(self.edge)
        if self.order not in ("random", "heavy", "light"):
            raise invalid("order", self.order, "may be random, heavy or light")

    def on(self, sample: Sample) -> SimpleSearch[Recorded]:
        return SimpleSearch(sample, self._find)

    def _find(self, sample: Sample, weights: Weights, answers: Signs, seed: int) -> Recorded:
        # whole units of weight, like all sums of weights: the promise is kept exactly
        allowance = int((1 - self.edge) / 2 * int(weights.sum()))
        if self.order == "random":
            order = np.random.default_rng(seed).permutation(weights.size)
        else:
            order = np.argsort(weights, kind="stable")
            order = order[::-1] if self.order == "heavy" else order
        predictions = answers.copy()
        for row in order:
            if weights[row] <= allowance:
                allowance -= int(weights[row])
                predictions[row] = -answers[row]
        return Recorded(predictions, f"adversary with edge {self.edge:g}")


@dataclass(frozen=True)
class WeakStump(Learner):
    """Find the stump of the smallest edge that is at least ``edge``, or else the best stump.

    >>> from pacboost import BoostClassifier
    >>> from pacboost.boosters.adaboost import AdaBoost
    >>> from pacboost.theory.sampling import Plane
    >>> X, y = Plane("moons").draw(200, seed=0)
    >>> weak = BoostClassifier(AdaBoost(), WeakStump(0.2), 5, early_stopping=False).fit(X, y)
    >>> all(0.19 < entry.edge < 0.21 for entry in weak.ledger_.rounds)
    True
    """

    name: ClassVar[str] = "weak_stump"

    edge: float = 0.1

    codes = True
    deterministic = True

    def __post_init__(self) -> None:
        _check_edge(self.edge)

    def on(self, sample: Sample) -> SimpleSearch[StumpRule]:
        return SimpleSearch(sample, self._find)

    def capacity(self, sample: Sample) -> Capacity:
        return Stump().capacity(sample)

    def _find(self, sample: Sample, weights: Weights, answers: Signs, seed: int) -> StumpRule:
        assert sample.bins is not None
        total = int(weights.sum())
        features = range(sample.table.n_columns)
        edges = [stump_edges(sample, weights, answers, j) for j in features]
        sizes = np.concatenate([np.abs(column_edges) for column_edges in edges])
        # weights are rounded to whole units, which may take a little off an edge that equals the
        # promise
        enough = sizes >= self.edge * total - total * 2.0**-40
        if enough.any() and self.edge > 0:
            place = int(np.where(enough, sizes, np.iinfo(np.int64).max).argmin())
        else:
            place = int(sizes.argmax())
        feature = 0
        while place >= edges[feature].size:
            place -= edges[feature].size
            feature += 1
        above = 1 if edges[feature][place] >= 0 else -1
        thresholds = sample.bins.thresholds[feature]
        threshold = float(thresholds[place]) if place < thresholds.size else math.inf
        # as in every stump: a missing value of a feature that was never missing is treated like its
        # median
        missing = above if sample.bins.middle[feature] > place else -above
        return StumpRule(feature, threshold, place, above, missing)


def _check_edge(edge: float) -> None:
    if not 0 <= edge <= 1:
        raise invalid("edge", edge, "is an edge to promise, which lies in [0, 1]")


def stump_edges(
    sample: Sample, weights: Weights, answers: NDArray[Any], feature: int
) -> NDArray[np.int64]:
    """Return the edge of "above the cut → +1" for every cut of a feature, in units of the weights.

    The last cut has no row above it, so its stump answers -1 everywhere. Rows with a missing value
    do not count.
    """
    assert sample.bins is not None  # edges of stumps are computed on codes
    codes = sample.column(feature)
    counted = codes != sample.bins.missing
    signed = weights * answers
    bins = sample.bins.thresholds[feature].size + 1
    sums = np.zeros(bins, dtype=np.int64)
    np.add.at(sums, codes[counted].astype(np.intp), signed[counted])
    below: NDArray[np.int64] = np.cumsum(sums)
    return np.asarray(below[-1] - 2 * below)


ScriptedRule = Hypothesis | tuple[int, float, int]
"""A hypothesis, or the feature, the threshold and the answer above it of a stump."""


@dataclass(frozen=True, eq=False)
class Scripted(Learner):
    """Answer with ``rules[t]`` in round t if it exists, and else ask the learner ``then``.

    A rule is a hypothesis, or (feature, threshold, answer above it): the stump with the nearest
    threshold between two values of the sample.

    >>> from pacboost import BoostClassifier
    >>> from pacboost.boosters.adaboost import AdaBoost
    >>> from pacboost.sources.toy import lecture_points
    >>> learner = Scripted({1: (1, 4.5, 1)})
    >>> model = BoostClassifier(AdaBoost(), learner, 2, early_stopping=False).fit(*lecture_points())
    >>> [entry.rule for entry in model.ledger_.rounds]
    ['x1 > 4.5 → 1, else -1', 'x0 > 1.5 → -1, else 1']
    """

    name: ClassVar[str] = "scripted"

    rules: Mapping[int, ScriptedRule] = field(default_factory=dict)
    then: Any = "stump"

    @property
    def learner(self) -> Learner:
        """The learner of all other rounds."""
        return as_learner(self.then, "then")

    @property
    def codes(self) -> bool:  # type: ignore[override]
        return self.learner.codes or bool(self.rules)

    @property
    def deterministic(self) -> bool:
        return self.learner.deterministic

    def finds_rules(self, sample: Sample) -> bool:
        are_rules = all(isinstance(rule, tuple | Rule) for rule in self.rules.values())
        return are_rules and self.learner.finds_rules(sample)

    def on(self, sample: Sample) -> ScriptedSearch:
        rules = {number: _as_hypothesis(rule, sample) for number, rule in self.rules.items()}
        return ScriptedSearch(sample, rules, self.learner)

    def capacity(self, sample: Sample) -> Capacity | None:
        stumps = all(isinstance(rule, tuple | StumpRule) for rule in self.rules.values())
        return self.learner.capacity(sample) if stumps and isinstance(self.learner, Stump) else None


class ScriptedSearch(Search):
    """A search that counts the rounds, to know which rule is due."""

    def __init__(self, sample: Sample, rules: Mapping[int, Hypothesis], learner: Learner) -> None:
        self.sample, self._rules, self._learner = sample, rules, learner
        self._search = learner.on(sample)
        self._round, self._last = 0, np.empty(0, dtype=np.int64)

    def _due(self, weights: NDArray[np.int64]) -> Hypothesis | None:
        """Return the scripted rule of this round, if any; equal weights repeat the round."""
        # a run asks again, with the same weights, if a rule had no edge; that is the same round
        is_repeated = not self._learner.deterministic and np.array_equal(weights, self._last)
        if not is_repeated:
            self._round, self._last = self._round + 1, weights.copy()
        return self._rules.get(self._round)

    def find(self, weights: Weights, answers: NDArray[Any], seed: int) -> Hypothesis:
        due = self._due(weights)
        return self._search.find(weights, answers, seed) if due is None else due

    def partition(
        self, request: Request, seed: int, chosen: Rows | None
    ) -> tuple[Hypothesis, Cells]:
        due = self._due(request.rows())
        if due is None:
            return self._search.partition(request, seed, chosen)
        rule = Valued.empty(due, self.sample.signs.shape[1]) if isinstance(due, Rule) else due
        return rule, rule.cells(self.sample)

    def constant(self) -> Hypothesis:
        return self._search.constant()


def _as_hypothesis(rule: ScriptedRule, sample: Sample) -> Hypothesis:
    """Return a hypothesis unchanged, and turn three numbers into a stump on the bins."""
    if isinstance(rule, Hypothesis):
        return rule
    feature, threshold, above = rule
    features = sample.table.n_columns
    if not 0 <= feature < features:
        raise ParameterError(f"the rule uses feature {feature}; features are 0 to {features - 1}")
    if above not in (-1, 1) or not math.isfinite(threshold):
        raise ParameterError(
            f"the rule is {tuple(rule)}; give (feature, threshold, answer above it), the last as "
            "-1 or +1"
        )
    assert sample.bins is not None  # because ``codes`` is set
    thresholds = sample.bins.thresholds[feature]
    if not thresholds.size:
        raise ParameterError(
            f"feature {feature} has a single value, so no threshold divides the rows"
        )
    cut = int(np.abs(thresholds.astype(np.float64) - threshold).argmin())
    middle = above if sample.bins.middle[feature] > cut else -above
    return StumpRule(feature, float(thresholds[cut]), cut, above, middle)


def answers_by_side(inside: NDArray[np.bool_], within: int) -> Answers:
    """Answer ``within`` inside and ``-within`` outside."""
    return np.where(inside, np.int8(within), np.int8(-within))


MIN_DEPTH = float(np.finfo(np.float64).tiny)
"""The depth of a row on a side of the box; sides belong to the box."""


@dataclass(frozen=True, eq=False)
class Box(Rule):
    """Answer ``within`` in the box, sides included, and ``-within`` outside."""

    tag: ClassVar[str] = "box"

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    within: int = 1

    def depth(self, X: Values) -> NDArray[np.float64]:
        """Return the distance to the nearest side; outside, minus the largest of a feature.

        >>> Box(np.zeros(2), np.ones(2)).depth(np.array([[0.5, 0.25], [3.0, 0.5]])).tolist()
        [0.25, -2.0]
        """
        depths: NDArray[np.float64] = np.minimum(X - self.lower, self.upper - X).min(axis=1)
        # A distance may round to 0, but comparisons are exact, so they decide the sign.
        inside = self.inside(X)
        depths[inside] = np.maximum(depths[inside], MIN_DEPTH)
        depths[~inside] = np.minimum(depths[~inside], -MIN_DEPTH)
        return depths

    def inside(self, X: Values) -> NDArray[np.bool_]:
        return np.asarray(np.all((self.lower <= X) & (self.upper >= X), axis=1))

    def answers(self, sample: Sample) -> Answers:
        return answers_by_side(self.inside(sample.rows), self.within)

    def negated(self) -> Box:
        return replace(self, within=-self.within)

    def words(self, names: Names) -> str:
        """Return the box as ranges.

        >>> Box(np.array([0.0, 1.5]), np.array([2.0, 3.0])).words(Names())
        '0 ≤ x0 ≤ 2 and 1.5 ≤ x1 ≤ 3 → +, else −'
        """
        yes, no = names.answer(self.within), names.answer(-self.within)
        if not (self.lower <= self.upper).all():
            return f"always {no}"
        ranges = [
            f"{low:.6g} ≤ {names.column(j)} ≤ {high:.6g}"
            for j, (low, high) in enumerate(zip(self.lower, self.upper, strict=True))
        ]
        return f"{' and '.join(ranges)} → {yes}, else {no}"


def tightest(X: Values, signs: Signs) -> Box:
    """Return the smallest box around all positive rows; an empty box if there is none.

    If some box makes the labels, the tightest one lies within it, so it labels no negative row
    positive, and its error is what it misses near its 2d sides. Its bounds rest on that.

    >>> box = tightest(np.array([[1.0, 5.0], [2.0, 3.0], [9.0, 9.0]]), np.array([1, 1, -1]))
    >>> box.lower.tolist(), box.upper.tolist()
    ([1.0, 3.0], [2.0, 5.0])
    """
    # an empty set of rows gives ends at +∞ and -∞, a box that holds nothing
    positive = np.asarray(X[signs > 0], dtype=np.float64)
    return Box(positive.min(axis=0, initial=np.inf), positive.max(axis=0, initial=-np.inf))


@dataclass(frozen=True)
class Rectangle(Learner):
    """Find the tightest box around the positive rows whose weight is above 0."""

    name: ClassVar[str] = "rectangle"

    deterministic = True

    def on(self, sample: Sample) -> SimpleSearch[Box]:
        return SimpleSearch(sample, self._find)

    def _find(self, sample: Sample, weights: Weights, signs: Signs, seed: int) -> Box:
        counting = weights > 0
        return tightest(sample.rows[counting], signs[counting])
