"""The weights of boosters, and the proof and the margins of AdaBoost, from a fitted vote.

D_t is the distribution over training rows under which the rule of round t was learned. For boosters
whose potential is exp(-margin), D_t(i) is proportional to base(i)·exp(-margin_i) with the margins
after round t - 1 (step 1 of the proof of AdaBoost: unwrap the recursion). So the rules, their votes
and the training rows are enough to compute every D_t again. So they are for boosters whose weights
are another function of the margin (``LOG_WEIGHTS``). The proof of AdaBoost:

1. D_{t+1}(i) = D_t(i) exp(-α_t y_i h_t(x_i))/Z_t, so exp(-y_i F(x_i))/m = D_{T+1}(i) ∏ Z_t.
2. A mistake has exp(-y F(x)) ≥ 1, so the training error is at most ∏ Z_t.
3. With α_t = ½ ln((1 - ε_t)/ε_t), Z_t = 2√(ε_t(1 - ε_t)), and h_t has error ½ under D_{t+1}.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pacboost.boosters.choose import as_booster
from pacboost.boosters.filtering import Measure
from pacboost.boosters.multiclass import method_of
from pacboost.errors import DataError, ParameterError
from pacboost.estimators.fitted import judging
from pacboost.fit.examples import training_weights
from pacboost.kernels.threads import using
from pacboost.models import answers
from pacboost.models.model import Model
from pacboost.numerics.checks import positive_whole
from pacboost.numerics.same_bits import exp, log, log_of, row_totals, total
from pacboost.samples.sample import Sample
from pacboost.sources.explained_errors import explains_input
from pacboost.theory.measure_proof import proof_of
from pacboost.training.run.scores import agreement

Doubles = NDArray[np.float64]
TOLERANCE = 1e-6
"""Relative tolerance of ln ∏ Z_t: the recorded weights are rounded to whole numbers."""


def _log_smooth(margins: Doubles, rounds: int, vote: float) -> Doubles:
    """Return -max(0, margin - λθ·rounds); the vote λ of all rules gives the promised edge and θ."""
    edge = -2 * math.expm1(-2 * vote)
    return -np.maximum(margins - vote * edge / (4 + edge) * rounds, 0.0)


def _log_logistic(margins: Doubles) -> Doubles:
    """Return -ln(1 + exp(margin)) without overflow."""
    return np.asarray(np.minimum(0.0, -margins) - log(1 + exp(-np.abs(margins))))


LogWeight = Callable[[Doubles, int, float], Doubles]
LOG_WEIGHTS: dict[str, LogWeight] = {
    "filter_boost": lambda margins, rounds, vote: _log_logistic(margins),
    "logit": lambda margins, rounds, vote: _log_logistic(2 * margins),
    "mada": lambda margins, rounds, vote: -np.maximum(margins, 0.0),
    "measure": lambda margins, rounds, vote: log(np.clip(1 - margins, 0.0, 1.0)),
    "smooth": _log_smooth,
}
"""ln of the weight of a row by margin, number of rounds and vote; else -margin. LogitBoost's is
ln(1 - p(y|x)), the pull, under which a run measures rules; Newton steps divide by p(1 - p)."""
COSTS: dict[str, Callable[[Doubles], Doubles]] = {
    "logistic": lambda margins: -_log_logistic(-2 * margins) / math.log(2),
    "clipped": lambda margins: np.where(margins < 0, 1 - margins, exp(-np.maximum(margins, 0.0))),
}
"""Potentials that are not a multiple of the weight."""


@dataclass(frozen=True, eq=False)
class RowWeights:
    """The weights D_t of all training rows, which sum to 1; NumPy reads them as an array.

    With more than two classes or several labels the shape may be (rows, classes); ``by_row`` adds
    up the weights of each row.

    >>> weights = RowWeights(2, np.array([0.5, 0.25, 0.25]))
    >>> weights.heaviest(1), round(weights.effective_rows, 3), np.asarray(weights).sum().item()
    ([(0, 0.5)], 2.667, 1.0)
    """

    round: int
    values: Doubles

    @property
    def by_row(self) -> Doubles:
        """One weight for each row."""
        return self.values if self.values.ndim == 1 else row_totals(self.values)

    @property
    def effective_rows(self) -> float:
        """The effective number of rows, 1 / Σ D_t(i)²."""
        return 1 / total(self.values**2)

    def heaviest(self, k: int = 10) -> list[tuple[int, float]]:
        """Return the k rows of the largest weight, as pairs of row number and weight."""
        order = np.argsort(-self.by_row, kind="stable")[: positive_whole("k", k)]
        return [(int(row), float(self.by_row[row])) for row in order]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype)

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[float]:
        return iter(self.values.tolist())

    def __str__(self) -> str:
        rows = ", ".join(f"row {row}: {weight:.4g}" for row, weight in self.heaviest(5))
        return (
            f"D_{self.round} over {len(self)} rows, worth {self.effective_rows:.1f} rows of equal "
            f"weight; the heaviest: {rows}"
        )


@explains_input
def weights(
    model: BaseEstimator, t: int, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> RowWeights:
    """Return D_t, the weights of the training rows in round t.

    Parameters
    ----------
    model : fitted classifier
        One of the boosters "adaboost", "adaboost_v", "arc_gv" and "gentle", whose potential is
        exp(-margin), or "filter_boost", "mada", "measure", "smooth" or, for two classes, "logit"
        (the weights 1 - p(y|x), by which its record measures rules).
    t : int
        The round, from 1; the number of rounds plus 1 gives the weights after the last round.
    X, y : array-like
        The training rows and their labels, in the order of the fit.
    sample_weight : array-like of shape (n_rows,), default=None
        The weights of the fit.

    Returns
    -------
    RowWeights
    """
    log_weights, _ = _unwrapped(model, X, y, sample_weight)
    if not positive_whole("t", t) <= len(log_weights):
        last = len(log_weights)
        raise ParameterError(f"t is {t}; the vote has {last - 1} rounds, so give 1 to {last}")
    return RowWeights(t, _distribution(log_weights[t - 1]))


def _unwrapped(
    model: BaseEstimator, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[list[Doubles], list[Doubles]]:
    """Return ln of the weights before each round and after the last, and each gain of margins.

    Both have shape (rows,) or (rows, outputs).
    """
    sample, gains = _gained(model, X, y, sample_weight)
    shape = gains[0].shape if gains else (sample.n_rows,)
    base = np.broadcast_to(sample.base, (sample.n_rows,)).reshape(-1, *[1] * (len(shape) - 1))
    log_base = log(base) + np.zeros(shape)  # a row without weight has none in any round
    log_base -= _log_total(log_base)
    ledger, margins, log_weights = model.model_.ledger, np.zeros(shape), [log_base]
    weigh: LogWeight = LOG_WEIGHTS.get(ledger.booster, lambda margins, rounds, vote: -margins)
    vote = ledger.rounds[0].vote if ledger.rounds else 0.0
    first = weigh(margins, 0, vote)  # ln ½ for logistic weights
    for rounds, gained in enumerate(gains, start=1):
        margins = margins + gained
        log_weights.append(log_base + weigh(margins, rounds, vote) - first)
    # The mean potential equals ∏ Z_t, which the ledger records.
    recorded = math.fsum(math.log(entry.normaliser) for entry in ledger.rounds)
    cost = COSTS.get(ledger.potential)
    mean = log_weights[-1] if cost is None else log_base + log(cost(margins))
    close = abs(_log_total(mean) - recorded) <= TOLERANCE * (1 + abs(recorded))
    counted = sample.n_rows - int((sample.base == 0).sum())
    if counted != ledger.rows or not close:
        raise DataError(
            f"these {sample.n_rows} rows are not the {ledger.rows} rows, labels and weights "
            "of the training set. Give the same X, y and sample_weight as to fit, without the rows "
            "that were held out for validation, calibration or certificates"
        )
    return log_weights, gains


def _gained(
    model: BaseEstimator, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Sample, list[Doubles]]:
    """Return the training rows with their weights, and what each round added to their margins."""
    check_is_fitted(model)
    _refuse_others(model.model_)
    sample = judging.labelled(model, X, y)
    balance = getattr(model, "class_weight", None)
    base = training_weights(y, sample.n_rows, sample_weight, balance)
    sample = sample if base is None else replace(sample, base=base)
    with using(model.n_jobs):
        return sample, list(_gains(model.model_, sample))


def _gains(model: Model, sample: Sample) -> Iterator[Doubles]:
    """Yield what each round added to the margins, of shape (rows,) or (rows, outputs)."""
    naming = sample.labels is not None and method_of(model.ledger.multiclass).names_class
    for rule, vote in zip(model.vote.hypotheses, model.vote.votes, strict=True):
        if naming:
            yield vote * agreement(rule, sample).astype(np.float64)
        else:
            gained = vote * rule.values[rule.cells(sample)] * sample.signs
            yield gained[:, 0] if gained.shape[1] == 1 else gained


def _distribution(costs: Doubles) -> Doubles:
    return np.asarray(exp(costs - _log_total(costs)))


def _log_total(costs: Doubles) -> float:
    top = float(costs.max())
    return top + log_of(total(exp(costs - top)))


def _refuse_others(model: Model) -> None:
    ledger = model.ledger
    known = ledger.potential == "exponential" or ledger.booster in LOG_WEIGHTS
    if not known or ledger.revised or method_of(ledger.multiclass).shares:
        raise ParameterError(
            f"the weights of {ledger.booster} do not follow from its final votes; they do for "
            f"'adaboost', 'adaboost_v', 'arc_gv', 'gentle', {', '.join(map(repr, LOG_WEIGHTS))} "
            "('logit' for two classes)"
        )
    if len(model.vote.votes) != len(ledger.rounds):
        raise ParameterError(
            "compress changed the votes after the fit, so they no longer give the weights of the "
            "rounds; give the classifier before compress"
        )


ROWS_SHOWN = 12


@dataclass(frozen=True, eq=False)
class ProofStep:
    """One round of the proof."""

    number: int
    rule: str
    weights: NDArray[np.float64]
    """D_t."""
    wrong: NDArray[np.bool_]
    """The rows on which the rule is wrong."""
    error: float
    """ε_t, the weight of those rows, and half of the weight of rows on which the rule abstains."""
    vote: float
    """α_t; the largest, if each cell has its own vote."""
    normaliser: float
    """Z_t = Σ D_t(i) exp(-α_t y_i h_t(x_i))."""
    product: float
    """Z_1 · … · Z_t."""
    training_error: float
    """The error of the vote of rounds 1 to t under D_1, with ties counted as wrong."""
    error_after: float
    """The error of the same rule under D_{t+1}: ½ if the vote is the best one."""

    @property
    def abstained(self) -> float:
        """W₀, the weight under D_t of the rows on which the rule abstains."""
        return 2 * (self.error - total(self.weights[self.wrong]))

    @property
    def by_formula(self) -> float:
        """W₀ + 2√(W₊W₋), the normaliser at the best vote: 2√(ε_t(1 - ε_t)) if no row abstains."""
        half = self.abstained / 2
        return self.abstained + 2 * math.sqrt(
            max(0.0, self.error - half) * max(0.0, 1 - self.error - half)
        )

    def __str__(self) -> str:
        shown = self.weights[:ROWS_SHOWN]
        marks = [f"{d:.4f}{'*' if w else ' '}" for d, w in zip(shown, self.wrong, strict=False)]
        formula = "W₀ + 2√(W₊W₋)" if self.abstained else "2√(ε(1 − ε))"
        ellipsis = f" … ({self.weights.size} rows)" if self.weights.size > ROWS_SHOWN else ""
        return (
            f"round {self.number}: {self.rule}\n"
            f"  D_{self.number} = {' '.join(marks).rstrip()}{ellipsis}   (* the rule is wrong)\n"
            f"  ε = {self.error:.4f}   α = {self.vote:.4f}\n"
            f"  Z = {self.normaliser:.4f}   {formula} = {self.by_formula:.4f}\n"
            f"  training error {self.training_error:.4f} ≤ ∏Z = {self.product:.4f}\n"
            f"  error of this rule under D_{self.number + 1} = {self.error_after:.4f}"
        )


@dataclass(frozen=True)
class Proof:
    """The steps of all rounds; ``print`` shows them."""

    steps: tuple[ProofStep, ...]

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, place: int) -> ProofStep:
        return self.steps[place]

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.steps))


@explains_input
def proof(
    model: BaseEstimator, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> Any:
    """Return every quantity of a booster's proof, round by round; ``print`` shows them.

    For AdaBoost they are D_t, the rule's error, its vote α, the normaliser Z, the product of all Z
    so far, which bounds the training error, and the error of the rule under D_{t+1}, which is ½.
    For the measure of lecture 003 they are the floors N, the measure M with its mean μ, the
    advantage, what each row has collected, and the crossings of floors, in fractions.

    Parameters
    ----------
    model : fitted classifier of two classes
        One of the boosters "adaboost", "adaboost_v", "arc_gv" and "measure".
    X, y, sample_weight
        As in ``weights``.

    Returns
    -------
    Proof, or MeasureProof for the measure
    """
    check_is_fitted(model)
    if model.model_.vote.outputs > 1:
        raise ParameterError("the proof is shown for two classes; fit y == k, one against the rest")
    if model.model_.ledger.booster == Measure.name:
        sample, gains = _gained(model, X, y, sample_weight)
        base = np.broadcast_to(sample.base, (sample.n_rows,))
        return proof_of(
            as_booster(getattr(model, "booster", Measure.name)), gains, base, model.model_.ledger
        )
    if model.model_.ledger.potential != "exponential":
        raise ParameterError(
            f"the proof is AdaBoost's, and the booster is {model.model_.ledger.booster}; fit "
            "'adaboost', 'adaboost_v', 'arc_gv' or 'gentle', or see theory.weights"
        )
    log_weights, gains = _unwrapped(model, X, y, sample_weight)
    product = 1.0
    steps: list[ProofStep] = []
    entries = model.model_.ledger.rounds
    for entry, gained, now, later in zip(
        entries, gains, log_weights, log_weights[1:], strict=False
    ):
        before, after = _distribution(now), _distribution(later)
        normaliser = total(before * exp(-gained))
        product *= normaliser
        wrong, abstains = gained < 0, gained == 0
        # a rule that abstains is neither right nor wrong: half of the weight keeps edge = 1 -
        # 2·error
        error, error_after = (
            total(weights[wrong]) + total(weights[abstains]) / 2 for weights in (before, after)
        )
        steps.append(
            ProofStep(
                len(steps) + 1, entry.rule, before, wrong, error, entry.vote, normaliser, product,
                entry.training_error, error_after,
            )
        )  # fmt: skip
    return Proof(tuple(steps))


@explains_input
def staged_margins(model: BaseEstimator, X: ArrayLike, y: ArrayLike) -> Iterator[Doubles]:
    """Yield the margins of rows after each round, by the votes of the rounds so far."""
    model = judging.vote_of(model)
    yield from judging.staged_margins(model.model_, judging.labelled(model, X, y))


@explains_input
def ranking(model: BaseEstimator, X: ArrayLike, y: ArrayLike) -> answers.Ranking:
    """Measure how well a classifier ranks the labels of rows: Hamming loss, one-error and others.

    With one label per row the one-error is the error, with ties counted as wrong.
    """
    model = judging.vote_of(model)
    sample, classes = judging.labelled(model, X, y), model.classes_
    with using(model.n_jobs):
        scores = model.model_.vote.scores(sample.table)
    decided, right = model.model_.decide(scores), sample.signs > 0
    scores = scores.reshape(len(right), -1)
    if classes.size == 2 and decided.ndim == 1:  # one score, of the second class
        scores, right = np.hstack([-scores, scores]), np.hstack([~right, right])
    predicted = decided > 0 if decided.ndim == 2 else decided[:, None] == classes
    return answers.ranking(scores, right, predicted)
