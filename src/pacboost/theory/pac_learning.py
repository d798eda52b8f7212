"""PAC learning by simulation: estimates of P[risk > epsilon], and shattered sets of points.

The learner is run on many samples of m examples from a world whose truth is known. The number of
runs whose risk exceeds epsilon is binomial, so P[risk > epsilon] has an exact interval. If the
world cannot compute the risk of a hypothesis exactly, fresh examples bound it, and runs that they
leave undecided count for neither end (docs/proofs/pac.md).

The VC dimension of a class is the largest number of points that it shatters: the learner is asked
for a rule for every labeling of the points. A labeling that is found is certain. One that is missed
is certain only for learners that always find a consistent rule if one exists, such as stumps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom
from sklearn.base import clone

from pacboost.bounds.holdout import clopper_pearson, clopper_pearson_lower
from pacboost.bounds.rounding import confidence_number, outward
from pacboost.errors import DataError, ParameterError
from pacboost.hypotheses.function import Function
from pacboost.hypotheses.hypothesis import Rule
from pacboost.learners.choose import as_learner
from pacboost.learners.learner import Learner
from pacboost.learners.sklearn import SklearnLearner
from pacboost.learners.stump import Stump
from pacboost.numerics.checks import plain_numbers, positive_whole, probability
from pacboost.numerics.exact import wrong_margins
from pacboost.numerics.growth import log_sauer
from pacboost.numerics.same_bits import mean
from pacboost.questions.two_classes import table_of
from pacboost.samples.bins import MAX_BINS, fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.optional import collected
from pacboost.theory.finite_worlds import Finite
from pacboost.theory.learners import Box, Rectangle
from pacboost.theory.world_oracle import Rows, Signs
from pacboost.theory.worlds import Boxes, Predict, World

FRESH_EXAMPLES = 2**14
"""Number of fresh examples that bound a risk which the world cannot compute exactly."""
# Risks are bounded by 16,384 fresh examples each, their number by some 300 runs: the count needs
# most of delta.
RISK_SHARE_OF_DELTA = 0.1
"""Share of delta for the bounds on the risks of all runs, if the world has no exact risk."""
MAX_TRIALS = 100_000
EMPTY_BOX = object()
"""The rule of a sample without positive rows, whose tightest box is empty."""
MAX_POINTS = 14


@dataclass(frozen=True)
class TailBound:
    """A bound on P[risk > epsilon] for m examples, and why it applies."""

    name: str
    value: float
    needs: str


@dataclass(frozen=True)
class PacAnswer:
    """An interval for P[risk > epsilon] by simulation, and the bounds that apply."""

    m: int
    epsilon: float
    trials: int
    failures: int
    """Number of runs whose risk is certainly above epsilon."""
    undecided: int
    """Number of runs whose fresh examples leave it open whether the risk is above epsilon."""
    lower: float
    upper: float
    """The interval holds with probability 1 - delta."""
    delta: float
    mean_risk: float
    bounds: tuple[TailBound, ...]
    risks: tuple[float, ...]
    """The risk of every run, or its estimate by fresh examples."""

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        return (
            f"With {self.m} examples the risk exceeds {self.epsilon:g} in {self.failures} of "
            f"{self.trials} runs: P[risk > {self.epsilon:g}] lies between {at_least(self.lower)} "
            f"and {at_most(self.upper)} (confidence {confidence_number(self.delta)}); the mean "
            f"risk is {self.mean_risk:.4f}."
        )

    def __str__(self) -> str:
        lines = [f"  {at_most(bound.value)}  {bound.name} ({bound.needs})" for bound in self.bounds]
        return "\n".join([self.sentence, *(["Bounds that apply:"] if lines else []), *lines])


@plain_numbers
def pac(
    world: World,
    m: int,
    learner: object = None,
    *,
    epsilon: float = 0.1,
    trials: int = 300,
    delta: float = 0.05,
    log_size: float | None = None,
    vc_dimension: int | None = None,
    seed: int = 0,
) -> PacAnswer:
    """Estimate P[risk > epsilon] of a learner on m examples of a world, and list the bounds on it.

    Parameters
    ----------
    world : World
        The distribution of the examples.
    m : int
        The number of examples of each run.
    learner : str, learner, estimator or function, default=None
        The forms of ``diagnose``: None for stumps, a name, a learner of pacboost, an object with
        ``fit`` and ``predict``, or a function ``(X, y) -> predict``. Labels are -1 and +1.
    epsilon : float, default=0.1
    trials : int, default=300
        The number of runs.
    delta : float, default=0.05
        The probability with which the interval may fail.
    log_size : float, default=None
        The logarithm of the number of hypotheses, if known.
    vc_dimension : int, default=None
        The VC dimension of the class, if known. Bounds by either are listed if no run had a
        training mistake.
    seed : int, default=0

    Returns
    -------
    PacAnswer

    Examples
    --------
    >>> from pacboost.theory import RectangleClassifier
    >>> from pacboost.theory.worlds import Boxes
    >>> answer = pac(Boxes((0.2, 0.3), (0.7, 0.9)), 76, RectangleClassifier(), trials=100)
    >>> answer.upper < 0.15, [bound.name for bound in answer.bounds][:2]
    (True, ['peeling the sides of the box', 'strips along the sides of the box'])
    """
    positive_whole("m", m)
    probability("epsilon", epsilon)
    probability("delta", delta)
    if not isinstance(world, World):
        raise ParameterError(
            f"world is {type(world).__name__}; give a world of pacboost.theory.worlds"
        )
    if positive_whole("trials", trials) > MAX_TRIALS:
        raise ParameterError(f"trials is {trials}; it may be up to {MAX_TRIALS:,}")
    generator = np.random.default_rng(seed)
    limits = 0.0 if isinstance(world, Finite) else RISK_SHARE_OF_DELTA * delta
    runs = [_run(learner, world, m, generator, limits / trials) for _ in range(trials)]
    share = (delta - limits) / 2
    # the lower end counts runs that surely failed, the upper end those that may have
    sure = sum(run.low > epsilon for run in runs)
    perhaps = sum(run.high > epsilon for run in runs)
    return PacAnswer(
        m=m,
        epsilon=epsilon,
        trials=trials,
        failures=sure,
        undecided=perhaps - sure,
        lower=clopper_pearson_lower(sure, trials, share),
        upper=clopper_pearson(perhaps, trials, share),
        delta=delta,
        mean_risk=mean(np.array([run.risk for run in runs])),
        bounds=tuple(_bounds(runs, world, m, epsilon, log_size, vc_dimension)),
        risks=tuple(run.risk for run in runs),
    )


@dataclass(frozen=True)
class PacRun:
    """One run: the risk of the learned rule, bounds on it, and its training mistakes."""

    risk: float
    low: float
    high: float
    mistakes: int
    tightest: bool | None
    """Whether a tightest box was learned; None if the sample had no positive row."""


def _run(
    learner: object, world: World, m: int, generator: np.random.Generator, delta: float
) -> PacRun:
    X, y = world.draw(m, generator)
    predict, rule = _fitted(learner, X, y)
    mistakes = int(wrong_margins(predict(X) * y).sum())
    box = isinstance(rule, Box) and rule.within > 0
    tightest = None if rule is EMPTY_BOX else box
    if isinstance(world, Boxes) and isinstance(rule, Box) and box:
        risk = low = high = float(world.box_risk(rule.lower, rule.upper))
    elif isinstance(world, Finite):
        risk = low = high = float(world.risk(predict))
    else:
        fresh, truth = world.draw(FRESH_EXAMPLES, generator)
        wrong = int(wrong_margins(predict(fresh) * truth).sum())
        risk = wrong / FRESH_EXAMPLES
        low = clopper_pearson_lower(wrong, FRESH_EXAMPLES, delta / 2)
        high = clopper_pearson(wrong, FRESH_EXAMPLES, delta / 2)
    return PacRun(risk, low, high, mistakes, tightest)


def _fitted(learner: object, X: Rows, y: Signs) -> tuple[Predict, object]:
    """Learn from a sample; return the function that predicts, and its rule."""
    weak, table = as_learner(learner, "learner"), ArrayTable(X)
    bins = fit_bins(table, MAX_BINS) if weak.codes else None
    rule = _rule_for(weak, Sample(table, y[:, None], bins=bins), y)

    def predict(rows: Rows) -> NDArray[Any]:
        signs = np.ones((len(rows), 1), dtype=np.int8)
        return rule.answers(Sample(ArrayTable(rows), signs, bins=bins))

    inner = getattr(rule, "inner", rule)
    inner = getattr(inner, "rule_", inner)
    return predict, EMPTY_BOX if (y < 0).all() and not isinstance(inner, Box) else inner


def _bounds(
    runs: list[PacRun],
    world: World,
    m: int,
    epsilon: float,
    log_size: float | None,
    dimension: int | None,
) -> list[TailBound]:
    """List the bounds whose conditions hold: no noise, and no run with a training mistake."""
    bounds = []
    clean = world.noise == 0 and not any(run.mistakes for run in runs)
    kinds = {run.tightest for run in runs}
    # a rule that happens to be a box is covered only if it is the tightest one of every run
    if clean and isinstance(world, Boxes) and True in kinds and False not in kinds:
        sides, needs = 2 * world.features, "the tightest box"
        tail = outward(float(binom.cdf(sides - 1, m, epsilon)))
        strips = outward(sides * (1 - epsilon / sides) ** m)
        bounds.append(TailBound("peeling the sides of the box", tail, needs))
        bounds.append(TailBound("strips along the sides of the box", strips, needs))
    needs = "no run had a training mistake"
    if clean and log_size is not None:
        tail = outward(math.exp(min(0.0, float(log_size) + m * math.log1p(-epsilon))))
        bounds.append(TailBound("finite class", tail, needs))
    if clean and dimension is not None and m * epsilon >= 8:
        growth = log_sauer(positive_whole("vc_dimension", dimension), 2 * m)
        nats = math.log(2) + growth - m * epsilon / 2 * math.log(2)
        tail = outward(math.exp(min(0.0, nats)))
        bounds.append(TailBound("VC dimension (Blumer et al. 1989)", tail, needs))
    return bounds


@dataclass(frozen=True, eq=False)
class Shattering:
    """The labelings of some points for which rules exist."""

    points: int
    found: NDArray[np.int8]
    """Labelings that some rule gives, one per row."""
    missed: NDArray[np.int8]
    """Labelings for which no rule was found."""
    certified: bool
    """Whether no rule gives the missed labelings, because the learner finds every existing rule."""

    @property
    def shattered(self) -> bool:
        """Whether every labeling was found; then the VC dimension is at least ``points``."""
        return len(self.missed) == 0

    def __bool__(self) -> bool:
        return self.shattered

    def __str__(self) -> str:
        labelings = f"{2**self.points} labelings of the {self.points} points"
        if self.shattered:
            return (
                f"All {labelings} are given by some rule: the points are shattered, and the VC "
                f"dimension is at least {self.points}."
            )
        signs = "".join("+" if sign > 0 else "-" for sign in self.missed[0])
        surely = "no rule gives" if self.certified else "no rule was found for"
        return f"{len(self.found)} of {labelings} are given by some rule; {surely} {signs}."


@explains_input
def shatters(X: ArrayLike, learner: object = None) -> Shattering:
    """Ask a learner for a rule for every labeling of up to 14 points.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
    learner : str, learner, estimator or function, default=None
        As in ``pac``.

    Returns
    -------
    Shattering

    Examples
    --------
    >>> print(shatters([[0.0], [1.0]]))
    All 4 labelings of the 2 points are given by some rule: the points are shattered, and the VC \
dimension is at least 2.
    >>> print(shatters([[0.0], [1.0], [2.0]], "stump"))
    6 of 8 labelings of the 3 points are given by some rule; no rule gives -+-.
    """
    weak = as_learner(learner, "learner")
    table = table_of(collected(X))
    if table.n_rows > MAX_POINTS:
        raise DataError(
            f"X has {table.n_rows} points, which have 2^{table.n_rows} labelings; give up to "
            f"{MAX_POINTS} points"
        )
    bins = fit_bins(table, MAX_BINS) if weak.codes else None
    labelings = np.array(list(product((-1, 1), repeat=table.n_rows)), dtype=np.int8)
    realised = []
    for labels in labelings:
        sample = Sample(table, labels[:, None], bins=bins)
        realised.append(bool(_rule_for(weak, sample, labels).agreement(sample).min() > 0))
    found = np.array(realised)
    # only these find a consistent rule whenever there is one; a missed labelling proves nothing of
    # others
    certified = isinstance(weak, Stump | Rectangle)
    return Shattering(table.n_rows, labelings[found], labelings[~found], certified)


def _rule_for(learner: Learner, sample: Sample, labels: NDArray[np.int8]) -> Rule:
    """Find a rule for rows of equal weight: estimators get all rows, and no weights."""
    if isinstance(learner, SklearnLearner) and np.ptp(labels):
        model = clone(learner.estimator).fit(sample.rows, labels)
        return Function(model.predict, type(model).__name__, model)
    rule = learner.on(sample).find(np.ones(len(labels), dtype=np.int64), labels, 0)
    if not isinstance(rule, Rule):
        raise ParameterError(
            f"the learner {learner.name} finds rules that do not answer -1 or +1; give stumps, "
            "the tightest box, a scikit-learn classifier or a function"
        )
    return rule


def at_least(end: float, rounding: str = ROUND_FLOOR) -> str:
    """Round a lower end down to four decimals, or to two digits if it is smaller.

    >>> at_least(0.12349), at_most(0.12341), at_least(2.66e-8), at_most(2.61e-8)
    ('0.1234', '0.1235', '2.6E-8', '2.7E-8')
    >>> at_most(0.05), at_least(0.07)
    ('0.0500', '0.0700')
    """
    exact = Decimal(str(end))  # 0.05 and not the float beside it, which rounds up to 0.0501
    places = min(-4, exact.adjusted() - 1) if exact and abs(end) < 1e-3 else -4
    return str(exact.quantize(Decimal(1).scaleb(places), rounding))


def at_most(end: float) -> str:
    """Round an upper end up, to as many digits."""
    return at_least(end, ROUND_CEILING)
