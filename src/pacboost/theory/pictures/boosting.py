"""Pictures of boosting: rounds of AdaBoost, duels, elevators, losses and out-of-bag errors."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest

from pacboost import plots
from pacboost.boosters.filtering import Measure
from pacboost.errors import DataError, ParameterError
from pacboost.estimators.boosting.adaboost import AdaBoostClassifier
from pacboost.estimators.fitted.classifier import Classifier
from pacboost.estimators.forests.forests import RandomForestClassifier
from pacboost.numerics.checks import positive_whole, probability
from pacboost.reports.plots import figure, tidy
from pacboost.sources.toy import lecture_points
from pacboost.theory.explain import proof
from pacboost.theory.measure_proof import Crossings
from pacboost.theory.pictures.learning import regions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_ROUNDS = 11


class Single:
    """The rule of one round, as a classifier."""

    def __init__(self, model: AdaBoostClassifier, number: int) -> None:
        self._model, self._number = model, number

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        scores = list(islice(self._model.staged_decision_function(X), self._number))
        gained = scores[-1] - (scores[-2] if self._number > 1 else 0.0)
        return np.asarray(self._model.classes_[(gained > 0).astype(np.intp)])


def toy(X: ArrayLike | None = None, y: ArrayLike | None = None, rounds: int = 3) -> NDArray[Any]:
    """Draw D_t and the rule of every round, then the final vote; return the axes.

    The areas of the points are proportional to D_t. The default is the lecture's example: ten
    points, three stumps, errors 3/10, 3/14 and 3/22, and a vote without mistakes. Other rows must
    have two features and two classes.

    >>> len(toy())
    4
    """
    if (X is None) != (y is None):
        raise DataError("only one of X and y is given; give both, or neither for the ten points")
    if X is None or y is None:
        X, y = lecture_points()
    count = positive_whole("rounds", rounds)
    if count > MAX_ROUNDS:
        raise DataError(f"rounds is {count}; at most {MAX_ROUNDS} can be drawn side by side")
    model = AdaBoostClassifier(n_estimators=count).fit(X, y)
    steps = proof(model, X, y).steps
    wide = min(len(steps) + 1, 4)
    high = -(-(len(steps) + 1) // wide)
    grid: NDArray[Any] = figure((3.1 * wide, 3.3 * high)).subplots(high, wide, squeeze=False)
    axes, unused = grid.ravel()[: len(steps) + 1], grid.ravel()[len(steps) + 1 :]
    for place, step in zip(axes, steps, strict=False):
        regions(Single(model, step.number), X, y, place, weights=step.weights)
        words = f"round {step.number}: ε = {step.error:.3f}, α = {step.vote:.2f}"
        place.set_title(words, fontsize="medium")
        place.get_legend().remove()
    regions(model, X, y, axes[-1])
    votes = " + ".join(f"{vote:.2f}" for vote in model.votes_[:3])
    ellipsis = " + …" if model.votes_.size > 3 else ""
    axes[-1].set_title(f"the vote: {votes}{ellipsis}", fontsize="medium")
    for place in axes:
        place.set_box_aspect(1)
    for place in unused:
        place.set_axis_off()
    return axes


NO_NAME_WITHIN = 0.05
"""Points closer to the diagonal than this share of an axis have no name."""


def duel(
    errors: Mapping[str, tuple[float, float]],
    first: str = "first",
    second: str = "second",
    ax: Axes | None = None,
) -> Any:
    """Draw the error of one classifier against that of another, a point for each data set.

    ``errors`` has both by the name of the set. Points below the diagonal are sets on which the
    second is better. The title has the sign test: the probability of a count at least as uneven if
    both were better equally often; sets with equal errors do not count.

    >>> duel({"a": (0.1, 0.2), "b": (0.3, 0.1)}, "trees", "stumps").get_xlabel()
    'error of trees'
    """
    if not errors:
        raise DataError("errors is empty; give the two errors of some data sets")
    pairs = np.array(list(errors.values()), dtype=np.float64)
    if pairs.shape != (len(errors), 2) or not ((pairs >= 0) & (pairs <= 1)).all():
        raise DataError("errors must be two numbers from 0 to 1 for each data set")
    axes = figure((5, 5)).subplots() if ax is None else ax
    end = 1.1 * float(pairs.max()) or 1.0
    axes.plot([0, end], [0, end], color="grey", lw=0.8)
    axes.scatter(pairs[:, 0], pairs[:, 1], s=24, zorder=2)
    for name, (x, y) in zip(errors, pairs, strict=True):
        if abs(x - y) >= NO_NAME_WITHIN * end:  # else names would cover each other
            axes.annotate(name, (x, y), (4, 2), textcoords="offset points", fontsize="xx-small")
    wins, losses, chance = sign_test(errors)
    words = f"{second} better on {wins}, {first} on {losses} of {len(errors)} sets\n"
    axes.set_title(f"{words}sign test: p = {chance:.3g}", fontsize="medium")
    axes.set(
        xlim=(0, end), ylim=(0, end), aspect="equal",
        xlabel=f"error of {first}", ylabel=f"error of {second}",
    )  # fmt: skip
    return tidy(axes)


def sign_test(errors: Mapping[str, tuple[float, float]]) -> tuple[int, int, float]:
    """Count the sets on which the second is better and worse; return the two-sided p-value.

    >>> sign_test({"a": (0.3, 0.1), "b": (0.3, 0.2), "c": (0.2, 0.1), "d": (0.2, 0.2)})
    (3, 0, 0.25)
    """
    wins = sum(second < first for first, second in errors.values())
    losses = sum(second > first for first, second in errors.values())
    chance = float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
    return wins, losses, chance


Doubles = NDArray[np.float64]
CHANCES = {"right 3 times in 4": 0.75, "right as often as wrong": 0.5}


def elevator(
    rounds: int = 200, *, edge: float = 0.4, epsilon: float = 0.1, seed: int = 0
) -> NDArray[Any]:
    """Draw the elevator of lecture 003: floors of rows and their sums, round by round.

    A row on floor N has weight M(N): 1 up to floor 0, less by edge·epsilon on every floor above,
    and 0 from floor 1/(edge·epsilon) on. A right rule collects M and takes the row up one floor, a
    wrong one costs M and takes it down. After i rounds every ride has collected at most
    1/(2·edge·epsilon) + edge·epsilon·i/2, so the rounds end. The third axes count how often the
    last ride goes from each floor to the next and back: up at most once more than down, or, below
    the ground floor, down at most once more than up. Returns the three axes.

    >>> [place.get_ylabel() for place in elevator(20)][:2]
    ['floor N: right rules minus wrong rules', 'collected: sum of ±M']
    """
    slope = probability("edge", edge) * probability("epsilon", epsilon)
    last = positive_whole("rounds", rounds)
    axes: NDArray[Any] = figure((12, 3.8)).subplots(1, 3)
    rules = Measure(edge, epsilon, share=1.0)
    number = np.arange(last + 1)
    for label, ride in rides(last, slope, seed).items():
        floors, collected = ridden(ride, rules)
        axes[0].plot(number, floors, label=label, drawstyle="steps-post")
        axes[1].plot(number, collected, label=label)
    _shade_by_weight(axes[0], 1 / slope)
    bound = 1 / (2 * slope) + slope * number / 2
    axes[1].plot(number, bound, color="black", ls="--", label="1/(2εγ) + εγi/2")
    axes[0].set(xlabel="round", ylabel="floor N: right rules minus wrong rules")
    axes[1].set(xlabel="round", ylabel="collected: sum of ±M")
    label, ride = list(rides(last, slope, seed).items())[-1]
    counted = Crossings(1)
    for floor, step in zip(np.cumsum(ride) - ride, ride.astype(np.int8), strict=True):
        counted.count(np.array([floor]), np.array([step]))
    for way, counts in (("up", counted.up), ("down", counted.down)):
        at = np.array(sorted(counts)) + (0.3 if way == "up" else 0.7)
        axes[2].barh(at, [counts[k] for k in sorted(counts)], 0.4, label=way)
    axes[2].set(xlabel=f"crossings: {label}", ylabel="between floor N and N + 1")
    for place, corner in zip(axes, ("upper left", "lower left", "lower right"), strict=True):
        tidy(place).legend(frameon=False, loc=corner)
    return axes


def rides(rounds: int, slope: float, seed: int) -> dict[str, NDArray[np.int64]]:
    """Return sequences of ±1 steps: the one with the largest sum of weights, and random ones.

    The first goes up to the floor of weight 0, then down and up by one floor.

    >>> rides(6, 0.5, 0)["the ride that collects most"].tolist()
    [1, 1, -1, 1, -1, 1]
    """
    above = np.arange(rounds) - round(1 / slope)
    generator = np.random.default_rng(seed)
    up = {"the ride that collects most": (above < 0) | (above % 2 == 1)}
    up |= {label: generator.random(rounds) < chance for label, chance in CHANCES.items()}
    return {label: np.where(steps, 1, -1) for label, steps in up.items()}


def ridden(ride: NDArray[np.int64], rules: Measure) -> tuple[Doubles, Doubles]:
    """Return the floors and the sums of weights, before the first round and after each."""
    floors = np.concatenate([[0], np.cumsum(ride)]).astype(np.float64)
    weights = rules.chances(rules.slope * floors[:-1], 0)
    return floors, np.concatenate([[0.0], np.cumsum(ride * weights)])


def _shade_by_weight(axes: Axes, top: float) -> None:
    low, high = axes.get_ylim()
    high = max(high, 1.1 * top)
    shades = np.clip(1 - np.linspace(low, high, 100) / top, 0, 1)[:, None]
    x_min, x_max = axes.get_xlim()
    axes.imshow(
        shades, extent=(x_min, x_max, low, high), origin="lower", aspect="auto", cmap="Greys",
        vmin=0, vmax=2.5, zorder=-1,
    )  # fmt: skip
    axes.axhline(top, color="grey", lw=0.8)
    axes.annotate(f"1/(εγ) = {top:.3g}", (x_min, top), (4, 3), textcoords="offset points")
    axes.set_ylim(low, high)


def generalises(
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike,
    y_test: ArrayLike,
    *,
    model: Any = "stump",
    rounds: Sequence[int] = (5, 100, 1000),
) -> NDArray[Any]:
    """Draw training and test errors by round, and margins of training rows; return the two axes.

    The test error keeps falling while the margins grow. ``model`` is a weak learner, which AdaBoost
    boosts up to the last of ``rounds``, or a fitted classifier by vote.

    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> axes = generalises(X[:300], y[:300], X[300:], y[300:], rounds=(1, 5))
    >>> [place.get_xlabel() for place in axes]
    ['round', 'margin']
    """
    numbers = sorted({positive_whole("a round", number) for number in rounds})
    if not numbers:
        raise DataError("rounds is empty; give the rounds after which to draw the margins")
    if not isinstance(model, Classifier):
        model = AdaBoostClassifier(model, n_estimators=numbers[-1]).fit(X, y)
    done = len(model.votes_)
    shown = [number for number in numbers if number <= done] or [done]
    axes: NDArray[Any] = figure((9, 3.8)).subplots(1, 2)
    plots.rounds(model, X_test, y_test, axes[0])
    # The bound would dominate the scale; the errors are to be compared.
    measured = [line for line in axes[0].get_lines() if "bound" not in line.get_label()]
    top = max(float(np.max(line.get_ydata())) for line in measured)
    axes[0].set(yscale="linear", ylim=(0, 1.15 * top))
    if len(model.ledger_) > 50:
        axes[0].set_xscale("log")
    plots.margins(model, X, y, shown, axes[1])
    return axes


def losses(ax: Axes | None = None) -> Any:
    """Draw exponential, logistic and 0-1 loss against the margin y·F(x).

    The first two lie above the third, so their means bound the training error.

    >>> len(losses().get_lines())
    3
    """
    axes = figure().subplots() if ax is None else ax
    margins = np.linspace(-2, 3, 501)
    axes.plot(margins, np.exp(-margins), label="exponential: exp(−yF)")
    axes.plot(margins, np.log2(1 + np.exp(-2 * margins)), label="logistic: log₂(1 + exp(−2yF))")
    axes.step([-2, 0, 3], [1, 1, 0], where="pre", color="black", label="0–1: mistakes, and ties")
    axes.set(xlabel="margin yF(x)", ylabel="loss", ylim=(-0.05, 5))
    return tidy(axes, legend=True)


def ramp(edge: float = 0.2, epsilon: float = 0.1, ax: Axes | None = None) -> Any:
    """Draw the measure of lecture 003: the weight of a row by the rules so far.

    N is the number of right rules on the row minus that of wrong rules. M is 1 up to N = 0, falls
    by the slope edge·epsilon with every further rule, and is 0 from N = 1/(edge·epsilon) on.

    >>> ramp().get_ylabel()
    'M(x): chance that the filter keeps x'
    """
    slope = probability("edge", edge) * probability("epsilon", epsilon)
    axes = figure().subplots() if ax is None else ax
    end = 1 / slope
    axes.plot([-end / 2, 0, end, 1.4 * end], [1, 1, 0, 0])
    axes.axvline(0, color="grey", lw=0.8)
    axes.annotate(
        f"1/(εγ) = {end:.3g}", (end, 0), (end, 0.25), ha="center", arrowprops={"arrowstyle": "->"}
    )
    axes.set(
        xlabel="N(x): right rules minus wrong rules", ylabel="M(x): chance that the filter keeps x"
    )
    return tidy(axes)


TREES = (10, 20, 40, 80, 160, 320)


def out_of_bag(
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    *,
    trees: Sequence[int] = TREES,
    seed: int = 0,
    ax: Axes | None = None,
) -> Any:
    """Draw the out-of-bag error of random forests by size, and their error on test rows, if any.

    >>> from sklearn.datasets import load_iris
    >>> out_of_bag(*load_iris(return_X_y=True), trees=(10, 20)).get_xlabel()
    'trees'
    """
    numbers = sorted(positive_whole("trees", count) for count in trees)
    if not numbers:
        raise ParameterError("trees is empty; give some numbers of trees")
    if (X_test is None) != (y_test is None):
        raise ParameterError("only one of X_test and y_test is given; give both or neither")
    outside, test = [], []
    for count in numbers:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # few trees leave some rows without votes
            forest = RandomForestClassifier(count, oob_score=True, random_state=seed).fit(X, y)
        outside.append(1 - forest.oob_score_)
        if X_test is not None:
            test.append(1 - forest.score(X_test, y_test))
    axes = figure().subplots() if ax is None else ax
    axes.plot(numbers, outside, "o-", label="out of bag")
    if test:
        axes.plot(numbers, test, "^-", label="test rows")
    axes.set(xlabel="trees", ylabel="error", xscale="log")
    return tidy(axes, legend=True)
