"""Plans for learning: the examples a learner needs, and the rows that certify its result."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from pacboost.bounds import deciding, monitoring, passing
from pacboost.bounds.coverage import average_rank, covering_rank, rows_to_cover
from pacboost.bounds.rounding import confidence_number
from pacboost.bounds.search import smallest
from pacboost.errors import ParameterError, invalid
from pacboost.numerics.checks import plain_numbers, positive_whole, probability
from pacboost.numerics.growth import log_stump_growth, vc_of_stumps
from pacboost.numerics.markup import bold, facts
from pacboost.theory import needs, sample_sizes
from pacboost.theory.finite import examples_for_consistent
from pacboost.theory.vc import growth_of_dimension, pessimistic, realizable


@dataclass(frozen=True)
class Plan:
    """Numbers that suffice, that are needed in the worst case, and that a simulation needed."""

    question: str
    theorem: str
    examples: int | None = None
    rounds: int | None = None
    draws: int | None = None
    runs: int | None = None
    lower: int | None = None
    """The number needed in the worst case by the learners in ``lower_for``; None if unknown."""
    lower_for: str = ""
    simulated: int | None = None
    """The number that a simulation needed, in the unit of the answer; None if there is none."""
    details: Mapping[str, float | int | str] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [self.question, ""]
        lines += [f"  {name:<22} {text}" for name, text in self.facts()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return bold(self.question) + facts(self.facts())

    def facts(self) -> list[tuple[str, str]]:
        """Return all fields as pairs of a name and a text.

        A simulation that needed fewer than the worst case is omitted: its distribution is easier,
        and the two numbers would seem to contradict each other.
        """
        numbers = {name: getattr(self, name) for name in ("examples", "rounds", "draws", "runs")}
        facts = [(name, f"{number:,}") for name, number in numbers.items() if number is not None]
        if self.lower is not None:
            facts.append(("needed in worst case", f"{self.lower:,}, by {self.lower_for}"))
        shown = self.simulated is not None and self.simulated >= (self.lower or 0)
        if shown:
            facts.append(("a simulation needed", f"{self.simulated:,}"))
        facts += [("theorem", self.theorem)]
        facts += [
            (name, f"{value:.6g}" if isinstance(value, float) else str(value))
            for name, value in self.details.items()
            if shown or name != "world"
        ]
        return facts

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False)


WORST_CASE = "deterministic learners on the worst distribution of such a class"
"""The learners to which the lower bounds of Blumer et al. and of Ehrenfeucht et al. apply: a
randomised learner may need fewer examples, and so may an easier distribution."""


@plain_numbers
def finite(
    *, epsilon: float, delta: float, size: int | None = None, log_size: float | None = None
) -> Plan:
    """Examples for a consistent learner of finitely many hypotheses.

    >>> finite(epsilon=0.1, delta=0.05, size=1000).examples
    94
    """
    if (size is None) == (log_size is None):
        raise ParameterError("give either size or log_size = ln(size)", parameter="size")
    nats = math.log(positive_whole("size", size)) if size is not None else float(log_size or 0.0)
    examples = examples_for_consistent(epsilon, delta, nats)
    parted = nats > math.log(2.5)  # two of three concepts agree on some point and differ elsewhere
    lower = math.ceil(sample_sizes.blumer(epsilon, delta)) if parted else 1
    simulated = None
    if nats > 0:
        simulated = needs.thresholds_on_a_grid(epsilon, delta, nats, 4 * examples)
    return Plan(
        question=f"Examples for error ≤ {epsilon:g} with confidence {confidence_number(delta)}, "
        f"consistent learner, ln(hypotheses) = {nats:.4g}",
        theorem="R ≤ 1 - (δ/|H|)^(1/m)",
        examples=examples,
        lower=lower if nats > 0 else None,
        lower_for=WORST_CASE,
        simulated=simulated,
        details={
            "lecture": f"m ≥ (ln|H| + ln(1/δ))/ε = {(nats - math.log(delta)) / epsilon:.1f}",
            "world": "evenly spaced thresholds on a line, uniform points, worst fit",
        },
    )


@plain_numbers
def vc(*, epsilon: float, delta: float, dimension: int) -> Plan:
    """Examples for a consistent learner of a class of this VC dimension.

    >>> vc(epsilon=0.1, delta=0.05, dimension=4).lower
    27
    """
    growth = growth_of_dimension(positive_whole("dimension", dimension))
    examples = min(
        sample_sizes.blumer_upper(epsilon, delta, dimension),
        smallest(lambda n: realizable(n, delta, growth) <= epsilon, dimension, "the VC bound"),
    )
    return Plan(
        question=f"Examples for error ≤ {epsilon:g} with confidence {confidence_number(delta)}, "
        f"consistent learner of VC dimension {dimension}",
        theorem="R ≤ (2/m)(log₂ Π(2m) + log₂(2/δ)), or Blumer et al.'s closed form if smaller",
        examples=examples,
        lower=sample_sizes.examples_needed(epsilon, delta, dimension),
        lower_for=WORST_CASE,
        simulated=needs.tight_fit(epsilon, delta, dimension, 4 * examples),
        details={"world": f"tightest box with {dimension} sides around uniform points"},
    )


@plain_numbers
def rectangle(*, epsilon: float, delta: float, dimensions: int) -> Plan:
    """Examples for the tightest axis-parallel box.

    >>> plan = rectangle(epsilon=0.1, delta=0.05, dimensions=2)
    >>> plan.examples, plan.details["by strips"]
    (76, 176)
    """
    positive_whole("dimensions", dimensions)
    examples = sample_sizes.examples_for_sharp(epsilon, delta, dimensions)
    return Plan(
        question=f"Examples for error ≤ {epsilon:g} with confidence {confidence_number(delta)}, "
        f"tightest box in {dimensions} dimensions",
        theorem="R ≤ BinInv(2d - 1, m, δ)",
        examples=examples,
        lower=sample_sizes.examples_needed(epsilon, delta, 2 * dimensions),
        lower_for=WORST_CASE,
        simulated=needs.tight_fit(epsilon, delta, 2 * dimensions, 4 * examples),
        details={
            "by strips": sample_sizes.examples_for_strip(epsilon, delta, dimensions),
            "world": "uniform points that fill the box",
        },
    )


@plain_numbers
def stumps(*, epsilon: float, delta: float, features: int) -> Plan:
    """Examples until every stump's error is known to within epsilon.

    >>> stumps(epsilon=0.1, delta=0.05, features=20).details["VC dimension"]
    7
    """
    p = positive_whole("features", features)
    probability("epsilon", epsilon)
    examples = smallest(
        lambda n: pessimistic(0, n, delta, lambda m: log_stump_growth(m, p)) <= epsilon,
        2,
        "the VC bound",
    )
    return Plan(
        question=f"Examples until every stump on {features} features errs at most {epsilon:g} more "
        f"than on its sample, with confidence {confidence_number(delta)}",
        theorem="R ≤ R̂ + 1/m + √((ln Π(2m) + ln(4/δ))/m)",
        examples=examples,
        simulated=needs.noisy_stumps(epsilon, delta, p, examples),
        details={"VC dimension": vc_of_stumps(p), "world": "labels by the toss of a coin"},
    )


@plain_numbers
def no_free_lunch(*, domain: int) -> Plan:
    """Examples below which every learner fails on some labelling of a finite domain.

    >>> no_free_lunch(domain=1024).lower
    512
    """
    needed = sample_sizes.examples_for_no_free_lunch(domain)
    return Plan(
        question=f"Examples to learn every labelling of {domain:,} points",
        theorem="with fewer than half the points seen, some labelling gives risk ≥ 1/8 with "
        "probability ≥ 1/7",
        lower=needed,
        lower_for="every learner, on some labelling and distribution",
        simulated=needs.labelling_learned(domain),
        details={
            "mean risk at that size": sample_sizes.no_free_lunch_risk(needed, domain),
            "world": "uniform over all labellings",
        },
    )


def _passes(power: float, *, sure: bool) -> str:
    return "always passes" if sure else f"passes with probability {power:g} or more"


@plain_numbers
def holdout(
    *, epsilon: float, delta: float, error: float | None = None, power: float = 0.9
) -> Plan:
    """Rows to hold out so that a classifier of this true error is certified at epsilon.

    With this number of rows, and with every larger one, it is certified with probability ``power``
    or more. Its mistakes on the rows are random, so no number of rows makes this certain unless its
    error is 0. The default ``error`` is half of epsilon.

    >>> holdout(epsilon=0.01, delta=0.05, error=0).examples
    299
    >>> answer = holdout(epsilon=0.1, delta=0.05, error=0.05)
    >>> answer.examples, round(answer.details["passes with"], 3)
    (263, 0.929)
    """
    half = " (half of epsilon, as none was given)" if error is None else ""
    error = epsilon / 2 if error is None else error
    rows = passing.rows_to_pass(epsilon, delta, error, power)
    return Plan(
        question=f"At least this many held-out rows to certify error ≤ {epsilon:g} with confidence "
        f"{confidence_number(delta)}, if the classifier's true error is {error:g}{half}; it then "
        f"{_passes(power, sure=error == 0)}",
        theorem="R ≤ BinInv(K, n, δ), K ~ Bin(n, error)",
        examples=rows,
        details={
            "passes with": passing.chance_to_pass(rows, epsilon, delta, error),
            "passes half the time with": passing.rows_to_pass(epsilon, delta, error, 0.5),
            "with no mistake at all": passing.rows_to_pass(epsilon, delta),
            "by Chernoff": passing.rows_to_pass_by_chernoff(epsilon, delta, error, power),
        },
    )


@plain_numbers
def recall(
    *,
    recall: float,
    delta: float,
    true_recall: float = 1.0,
    power: float = 0.9,
    share: float | None = None,
) -> Plan:
    """Positive rows to hold out so that a recall is certified, or rows of both classes.

    ``true_recall`` is the recall of the classifier; with this number of positives, and with every
    larger one, it passes with probability ``power`` or more. With ``share``, the positives are a
    random number of rows of both classes. A threshold that these rows choose
    (``choose_threshold``) needs only the ``fewest positives``, because it is set to pass.

    >>> recall(recall=0.95, delta=0.05).examples
    59
    >>> answer = recall(recall=0.9, delta=0.05, true_recall=0.95, share=0.01)
    >>> answer.details["positives"], answer.examples
    (263, 25352)
    """
    target = probability("recall", recall)
    if not target < true_recall <= 1:
        allowed = f"must be above the recall of {target:g} to certify, and at most 1"
        raise invalid("true_recall", true_recall, allowed)
    missed = 1 - true_recall
    positives = passing.rows_to_pass(1 - target, delta, missed, power)
    if share is None:
        what, number, rows, sure = "positives", "n", positives, missed == 0
        chance = passing.chance_to_pass(positives, 1 - target, delta, missed)
    else:
        what, number, sure = f"rows, {share:g} of them positive", "n ~ Bin(rows, share)", False
        rows = passing.rows_of_all_to_pass(share, 1 - target, delta, missed, power)
        chance = passing.chance_of_all_to_pass(rows, share, 1 - target, delta, missed)
    return Plan(
        question=f"At least this many held-out {what} to certify recall ≥ {target:g} with "
        f"confidence {confidence_number(delta)}, if the true recall is {true_recall:g}; it "
        f"then {_passes(power, sure=sure)}",
        theorem=f"recall ≥ 1 - BinInv(K, n, δ), K ~ Bin(n, missed), {number} positives",
        examples=rows,
        details={
            "positives": positives,
            "passes with": chance,
            "fewest positives": deciding.fewest_rows(1 - target, delta),
        },
    )


@plain_numbers
def coverage(
    *,
    coverage: float,
    delta: float,
    excess: float = 0.02,
    classes: int = 1,
    share: float | None = None,
    power: float = 0.9,
) -> Plan:
    """Plan the number of calibration rows for prediction sets with a certified, tight coverage.

    The sets contain every label whose score is at most the k-th smallest of n calibration rows.
    Their coverage is at least ``coverage`` except with probability delta, and k/(n + 1) on average,
    which exceeds it by at most ``excess``, for this n and every larger one. With ``classes``, every
    class has its share of delta and its own rows, whose number is random: with probability
    ``power`` each class has enough, if the rarest is a ``share`` of all rows (1/``classes``).

    >>> answer = coverage(coverage=0.9, delta=0.05)
    >>> answer.examples, answer.details["rank"], answer.details["fewest rows"]
    (638, 587, 29)
    """
    target, level = probability("coverage", coverage), probability("delta", delta)
    level /= positive_whole("classes", classes)
    rarest = 1 / classes if share is None else share
    if not 0 < rarest <= 1 / classes:
        allowed = f"must be above 0 and at most 1/{classes}, for the rarest of {classes} classes"
        raise invalid("share", share, allowed)
    examples = rows = rows_to_cover(target, level, excess)
    note = ""
    if classes > 1:
        # Boole over classes: each may have too few rows
        lack = (1 - probability("power", power)) / classes
        examples = passing.rows_of_all(rows, rarest, 1 - lack)
        note = f"; each of {classes} classes has enough rows with probability {power:g} or more"
    rank = covering_rank(rows, target, level)
    return Plan(
        question=f"Calibration rows for prediction sets that cover at least {target:g} with "
        f"confidence {confidence_number(delta)}, and at most {excess:g} more on average{note}",
        theorem="P[coverage < 1 - a] ≤ P[Bin(n, 1 - a) ≥ k] ≤ δ",
        examples=examples,
        details={
            "rows of each class": rows,
            "rank": rank,
            "mean coverage": rank / (rows + 1),
            "fewest rows": deciding.fewest_rows(1 - target, level),
            "rank for coverage on average only": average_rank(rows, target),
        },
    )


@plain_numbers
def monitor(
    *, before: float, after: float, delta: float, power: float = 0.9, run_length: int = 100_000
) -> Plan:
    """Labelled rows until ``Monitor`` detects a jump of the error above the certified one.

    ``before`` is the certified error, ``after`` the error from the jump on. The certificate is
    refuted within ``examples`` rows with probability ``power`` if the model has this error from the
    first row on. Over a long time without a jump the evidence against it shrinks; the change
    detector raises an alarm within "rows after a late jump" of ``details``, whenever that is.

    >>> answer = monitor(before=0.05, after=0.08, delta=0.05)
    >>> answer.examples, answer.details["rows after a late jump"]
    (1313, 2576)
    """
    level = probability("delta", delta)
    late = math.log(positive_whole("run_length", run_length))
    return Plan(
        question=f"Labelled rows until an error of {after:g} is detected where {before:g} is "
        f"certified, with probability {power:g} or more",
        theorem="P[ever K_t ≥ 1/δ] ≤ δ while the certificate holds; K_t by Bin(t, after)",
        examples=monitoring.rows_to_see(before, after, -math.log(level), power),
        details={
            "rows after a late jump": monitoring.rows_to_see(
                before, after, late, power, detector=True
            ),
            "average run length": run_length,
            "false alarm ever": level,
        },
    )
