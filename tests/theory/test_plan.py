"""Planning: the vectors of the theorems, both directions, shape, and bad parameters."""

import json
import math
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import pacboost
from pacboost import Monitor
from pacboost.bounds import monitoring
from pacboost.bounds.coverage import covering_rank
from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.rates import rate_lower
from pacboost.errors import NotCertified, ParameterError
from pacboost.numerics.growth import log_cover, log_sauer
from pacboost.theory import needs, plan
from pacboost.theory.plan_learning import Plan
from pacboost.theory.sample_sizes import selection_size
from pacboost.theory.vc import realizable
from pacboost.training.filtering.plan import share_of
from tests.bounds.coverage import check_coverage
from tests.cli.running import answer
from tests.grids import each_value

ASKED: dict[str, dict[str, Any]] = {
    "finite": {"epsilon": 0.1, "delta": 0.05, "size": 1000},
    "vc": {"epsilon": 0.1, "delta": 0.05, "dimension": 4},
    "rectangle": {"epsilon": 0.1, "delta": 0.05, "dimensions": 2},
    "stumps": {"epsilon": 0.1, "delta": 0.05, "features": 20},
    "rounds": {"edge": 0.3, "rows": 100},
    "filtering": {"epsilon": 0.1, "delta": 0.05, "edge": 0.2},
    "confidence": {"failure": 0.9, "delta": 0.05, "epsilon": 0.1, "gap": 0.1},
    "resample": {"edge": 0.2, "delta": 0.05, "rounds": 100, "log_size": 8.0},
    "holdout": {"epsilon": 0.1, "delta": 0.05, "error": 0.05, "power": 0.9},
    "recall": {"recall": 0.9, "delta": 0.05, "true_recall": 0.95},
    "coverage": {"coverage": 0.9, "delta": 0.05},
    "monitor": {"before": 0.05, "after": 0.08, "delta": 0.05},
    "no_free_lunch": {"domain": 1024},
    "strong": {"epsilon": 0.1, "delta": 0.05, "edge": 0.4, "dimension": 3},
}
WITH_EPSILON = [
    name for name, parameters in ASKED.items() if {"epsilon", "delta"} <= set(parameters)
]


@pytest.fixture
def only_proofs() -> Iterator[None]:
    """Leave simulations out, which take most of the time, where a test looks at theorems alone."""
    with needs.skipped():
        yield


def ask(name: str, **changes: Any) -> Plan:
    question: Callable[..., Plan] = getattr(plan, name)
    return question(**{**ASKED[name], **changes})


def test_every_question_is_tried_here() -> None:
    assert set(plan.QUESTIONS) == set(ASKED)
    assert pacboost.theory.plan is plan


@pytest.mark.parametrize("name", ASKED)
def test_an_answer_prints_and_goes_through_json(name: str) -> None:
    answer = ask(name)
    loaded = Plan(**json.loads(answer.to_json()))
    assert loaded == answer
    text = str(answer)
    assert text.splitlines()[0] == answer.question
    assert answer.theorem in text
    numbers = (answer.examples, answer.rounds, answer.draws, answer.runs, answer.lower)
    assert any(number is not None for number in numbers)
    for number in numbers:
        assert number is None or (isinstance(number, int) and number >= 1)
        assert number is None or f"{number:,}" in text


@pytest.mark.parametrize(
    ("name", "values", "words", "right"),
    [
        (
            "confidence",
            {"failure": 0.9, "delta": 0.05},
            "so 5: right if δ₀ is the chance to succeed",
            36,
        ),
        ("finite", {"epsilon": 0.1, "delta": 0.05, "size": 16}, "= 57.7", 55),
        ("finite", {"epsilon": 0.1, "delta": 0.05, "size": 256}, "= 85.4", 82),
        ("rounds", {"edge": 0.4, "rows": 100}, "= 57.6", 53),
        ("filtering", ASKED["filtering"], "= 5,000 if μ is known; half", 4445),
        ("strong", ASKED["strong"], "where Π(2m) is needed: 6,583", 140),
    ],
)
@pytest.mark.usefixtures("only_proofs")
def test_a_plan_shows_what_the_lecture_says(
    name: str, values: dict[str, Any], words: str, right: int
) -> None:
    plan_of = getattr(plan, name)(**values)
    assert words in str(plan_of.details["lecture"])
    assert right in (plan_of.runs, plan_of.rounds, plan_of.examples)


def test_confidence_vectors() -> None:
    assert plan.confidence(failure=0.9, delta=0.05).examples is None
    answer = plan.confidence(failure=0.9, delta=0.05, epsilon=0.1, gap=0.1)
    assert answer.examples == selection_size(0.1, 0.1, 36, 0.05)
    assert 700 < answer.examples < 722  # 722 for 37 runs


def test_holdout_vectors() -> None:
    assert plan.holdout(epsilon=0.0029912, delta=0.05, error=0).examples in {1000, 1001}
    perfect = plan.holdout(epsilon=0.01, delta=0.05, error=0)
    assert perfect.details["passes half the time with"] == perfect.examples == 299
    assert perfect.details["passes with"] == 1
    assert "then always passes" in perfect.question
    default = plan.holdout(epsilon=0.1, delta=0.05)
    assert "0.05 (half of epsilon" in default.question
    assert (default.examples, default.details["by Chernoff"]) == (263, 572)
    assert default.details["passes half the time with"] == 116
    n = plan.holdout(epsilon=0.116992, delta=0.05, error=0.1, power=0.5).examples
    assert n is not None
    assert clopper_pearson(math.floor(0.1 * n), n, 0.05) <= 0.116992
    assert 900 <= n <= 1100


@each_value
@pytest.mark.parametrize("edge", [0.1, 0.2, 0.5])
@pytest.mark.parametrize("rows", [10, 100, 1000])
def test_rounds_are_the_fewest_of_the_theorem(edge: float, rows: int) -> None:
    answer = plan.rounds(edge=edge, rows=rows)
    assert answer.rounds is not None
    assert (1 - edge**2) ** (answer.rounds / 2) < 1 / rows
    assert (1 - edge**2) ** ((answer.rounds - 1) / 2) >= 1 / rows
    assert answer.rounds <= math.floor(2 * math.log(rows) / edge**2) + 1
    assert answer.simulated is not None
    assert 1 <= answer.simulated <= answer.rounds


def test_rounds_to_an_error() -> None:
    """Errors of 0.3 leave at most 0.012793 after 50 rounds."""
    assert plan.rounds(edge=0.4, error=0.0128).rounds == 50
    assert plan.rounds(edge=0.4, error=0.0127).rounds == 51
    assert plan.rounds(edge=0.4, rows=1).rounds == 1
    assert plan.rounds(edge=0.4, rows=10**6).simulated is None
    # (1 - 0.75)^(T/2) = 1/16 at T = 4 exactly: 4 rounds do not do for 16 rows, 5 do.
    assert plan.rounds(edge=math.sqrt(0.75), rows=16).rounds == 5
    assert plan.rounds(edge=math.sqrt(0.75), error=1 / 16).rounds in {4, 5}


def test_filtering_vectors() -> None:
    for epsilon, edge, c in [(0.1, 0.2, 0.75), (0.05, 0.3, 0.5), (0.1, 0.4, 0.9)]:
        answer = plan.filtering(epsilon=epsilon, delta=0.05, edge=edge, threshold=c)
        assert answer.rounds is not None
        assert answer.rounds - 1 <= 1 / (c * epsilon * edge) ** 2 <= answer.rounds * (1 + 1e-9)
    # Rounds of lecture 003 for error and advantage; the advantage is half the edge.
    for epsilon, advantage, lecture in [(0.1, 0.1, 5000), (0.1, 0.2, 1250), (0.05, 0.15, 8889)]:
        answer = plan.filtering(epsilon=epsilon, delta=0.05, edge=2 * advantage)
        assert f"= {lecture:,.0f} if" in str(answer.details["lecture"])
        nearly = plan.filtering(epsilon=epsilon, delta=0.05, edge=2 * advantage, threshold=0.9999)
        assert nearly.rounds == pytest.approx(lecture / 2, rel=1e-3, abs=1)


@pytest.mark.usefixtures("only_proofs")
@pytest.mark.parametrize(("c", "factor"), [(0.75, 111.0), (0.5, 23.2)])
def test_the_length_of_a_test(c: float, factor: float) -> None:
    """For small ε a test takes about 111 B/ε or 23.2 B/ε draws, B = ln(2√n/d)."""
    epsilon = 1e-5
    answer = plan.filtering(epsilon=epsilon, delta=0.05, edge=0.5, threshold=c)
    n = int(answer.details["draws a test"])
    assert answer.rounds is not None
    spent = share_of(0.05 / 2, answer.rounds) / 2  # as Tally shares it
    assert n * epsilon / math.log(2 * math.sqrt(n) / spent) == pytest.approx(factor, rel=0.01)
    assert answer.draws == answer.rounds * n


def test_resample_vectors() -> None:
    answer = plan.resample(edge=0.2, delta=0.05, rounds=100, log_size=8.0)
    assert answer.examples == math.ceil(8 * (math.log(2 * 100 / 0.05) + 8) / 0.1**2) == 13_036
    assert answer.draws == 1_303_600


def test_no_free_lunch() -> None:
    assert plan.no_free_lunch(domain=2**100).lower == 2**99
    answer = plan.no_free_lunch(domain=1024)
    assert answer.examples is None
    assert float(answer.details["mean risk at that size"]) > 0.25


@pytest.mark.usefixtures("only_proofs")
def test_lower_bounds() -> None:
    assert plan.vc(epsilon=0.05, delta=0.05, dimension=10).lower == 57
    assert plan.vc(epsilon=0.05, delta=0.01, dimension=1000).lower == math.ceil(999 / 1.6)
    answer = plan.vc(epsilon=0.05, delta=0.05, dimension=10)
    assert answer.examples is not None
    assert answer.examples <= 12_836
    assert plan.vc(epsilon=0.6, delta=0.05, dimension=2).lower == 2


@pytest.mark.parametrize("power", [10, 20, 60, 100])
def test_classes_of_doubly_exponential_size(power: int) -> None:
    log_size = 2.0**power * math.log(2)
    answer = plan.finite(epsilon=0.1, delta=0.05, log_size=log_size)
    assert answer.examples is not None
    exact = (log_size + math.log(20)) / -math.log(0.9)
    assert exact * (1 - 1e-15) <= answer.examples <= exact * (1 + 1e-9) + 1
    assert json.loads(answer.to_json())["examples"] == answer.examples


@each_value
@pytest.mark.parametrize("epsilon", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("delta", [0.2, 0.05, 0.01])
def test_what_a_world_needs_lies_between(epsilon: float, delta: float) -> None:
    answers = [plan.vc(epsilon=epsilon, delta=delta, dimension=d) for d in (1, 2, 3, 10)]
    answers += [plan.rectangle(epsilon=epsilon, delta=delta, dimensions=d) for d in (1, 2, 5)]
    answers += [plan.finite(epsilon=epsilon, delta=delta, log_size=s) for s in (7.0, 50.0)]
    for result in answers:
        assert result.lower is not None
        assert result.simulated is not None
        assert result.examples is not None
        # Simulated with 4000 runs: a few per cent of scatter, more at small delta.
        assert result.lower * 0.85 <= result.simulated <= result.examples * 1.1 + 1
        assert result.lower <= result.examples


@each_value
@pytest.mark.usefixtures("only_proofs")
@pytest.mark.parametrize("name", WITH_EPSILON)
@pytest.mark.parametrize("parameter", ["epsilon", "delta"])
def test_more_is_needed_for_less_error_and_less_doubt(name: str, parameter: str) -> None:
    values = (0.4, 0.2, 0.1, 0.06)
    answers = [ask(name, **{parameter: value}) for value in values]
    for field in ("examples", "rounds", "draws", "runs", "lower"):
        numbers = [getattr(answer, field) for answer in answers]
        if (name, parameter) == ("confidence", "epsilon"):
            continue  # a gap of the same width is harder to see near 1/2
        for smaller, larger in pairwise(numbers):
            assert (smaller is None and larger is None) or smaller <= larger


@each_value
@pytest.mark.usefixtures("only_proofs")
@pytest.mark.parametrize("dimension", [1, 3])
@pytest.mark.parametrize("edge", [0.2, 0.5])
def test_weak_implies_strong(edge: float, dimension: int) -> None:
    """All parts of the theorem fit together, and one example fewer would not do."""

    def risk(m: int) -> float:
        per_round = -0.5 * math.log1p(-(edge**2))
        needed = math.floor(math.log(m) / per_round) + 1
        growth = needed * log_sauer(dimension, 2 * m) + log_cover(2 * m, needed)
        return realizable(m, 0.05 / 2, growth)

    answer = plan.strong(epsilon=0.1, delta=0.05, edge=edge, dimension=dimension)
    assert answer.examples is not None
    assert answer.rounds is not None
    assert (1 - edge**2) ** (answer.rounds / 2) < 1 / answer.examples
    assert (1 - edge**2) ** ((answer.rounds - 1) / 2) >= 1 / answer.examples
    assert risk(answer.examples) <= 0.1 < risk(answer.examples - 1)
    share = answer.details["failure left to each weak call"]
    assert share == pytest.approx(0.05 / (2 * answer.rounds))
    assert answer.lower is not None
    assert answer.lower < answer.examples


BAD_VALUES = {
    (0.0, 1.0, -0.1, 1.5, math.nan): "epsilon delta edge failure threshold power coverage recall",
    (0, -3, 2.5, True): "size dimension dimensions features rows rounds domain",
}


@pytest.mark.parametrize("name", ASKED)
def test_refuses_numbers_out_of_range(name: str) -> None:
    for values, parameters in BAD_VALUES.items():
        for parameter, bad in product(set(parameters.split()) & set(ASKED[name]), values):
            with pytest.raises(ParameterError, match=parameter.rstrip("s")):
                ask(name, **{parameter: bad})


@pytest.mark.parametrize(
    ("question", "values", "parameter"),
    [
        (plan.finite, {"epsilon": 0.1, "delta": 0.05}, "size"),
        (plan.finite, {"epsilon": 0.1, "delta": 0.05, "size": 10, "log_size": 2.0}, "size"),
        (plan.rounds, {"edge": 0.2}, "error"),
        (plan.rounds, {"edge": 0.2, "error": 0.1, "rows": 10}, "error"),
        (plan.confidence, {"failure": 0.5, "delta": 0.05, "epsilon": 0.1}, "gap"),
        (plan.confidence, {"failure": 0.5, "delta": 0.05, "epsilon": 0.1, "gap": 0.95}, None),
        (plan.holdout, {"epsilon": 0.1, "delta": 0.05, "error": -0.1}, None),
        (plan.recall, {"recall": 0.95, "delta": 0.05, "true_recall": 0.9}, "true_recall"),
    ],
)
def test_refuses_what_does_not_go_together(
    question: Callable[..., Plan], values: dict[str, float], parameter: str | None
) -> None:
    with pytest.raises(ParameterError) as problem:
        question(**values)
    assert problem.value.parameter == parameter


def test_a_classifier_that_is_not_better_than_epsilon_never_passes() -> None:
    with pytest.raises(NotCertified, match="no number of rows"):
        plan.holdout(epsilon=0.1, delta=0.05, error=0.1)


def test_fewest_positives() -> None:
    result = [plan.recall(recall=r, delta=0.05).examples for r in (0.9, 0.95, 0.99)]
    assert result == [29, 59, 299]


def test_it_passes_as_often_as_planned() -> None:
    result = plan.recall(recall=0.9, delta=0.05, true_recall=0.95, power=0.9)
    n = int(result.details["positives"])
    for rows in (n, n + 1, n + 50):
        chance = sum(
            binom.pmf(k, rows, 0.95) for k in range(rows + 1) if rate_lower(k, rows, 0.05) >= 0.9
        )
        assert chance >= 0.9


@pytest.mark.parametrize(
    ("n", "a", "rank"), [(100, 0.1, 96), (500, 0.1, 462), (1000, 0.1, 916), (1000, 0.05, 962)]
)
def test_vectors_of_coverage(n: int, a: float, rank: int) -> None:
    assert covering_rank(n, 1 - a, 0.05) == rank
    assert binom.sf(rank - 1, n, 1 - a) <= 0.05 < binom.sf(rank - 2, n, 1 - a)


def test_coverage_and_what_a_mean_would_promise() -> None:
    result = plan.coverage(coverage=0.9, delta=0.05, excess=0.025)
    n, rank = int(result.details["rows of each class"]), int(result.details["rank"])
    assert 0 < rank / (n + 1) - 0.9 <= 0.025
    marginal = int(result.details["rank for coverage on average only"])
    assert binom.sf(marginal - 1, n, 0.9) > 0.05


@pytest.mark.parametrize(
    ("words", "examples"),
    [
        ("recall --recall 0.95", 59),
        ("coverage --coverage 0.9", 638),
        ("monitor --before 0.05 --after 0.08", 1313),
    ],
)
def test_the_command(words: str, examples: int) -> None:
    assert answer("plan", *words.split(), "--delta", "0.05")["examples"] == examples


def test_the_fewest_rows() -> None:
    goal = math.log(20)
    rows = monitoring.rows_to_see(0.1, 0.3, goal)
    fewest = next(k for k in range(rows) if monitoring.log_capital(k, rows, 0.1) >= goal)
    rng = np.random.default_rng(0)
    assert (rng.binomial(rows, 0.3, size=4000) >= fewest).mean() > 0.88


def test_a_late_jump_is_seen_in_time() -> None:
    rows = int(plan.monitor(before=0.05, after=0.15, delta=0.05).details["rows after a late jump"])
    late = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        monitor = Monitor(error=0.05).update_mistakes(rng.random(5000) < 0.03)
        late += not monitor.update_mistakes(rng.random(rows) < 0.15).status().sounded
    check_coverage("monitor: a late jump is seen too late", late, 200, 0.1)


def test_rounds_needed_in_the_worst_case_are_those_of_independent_rules() -> None:
    """The majority of one round fewer errs more than ``error``, as simulated votes do."""
    answer = plan.rounds(edge=0.2, error=0.1)
    assert answer.lower is not None
    assert answer.rounds is not None
    assert answer.lower == 41 < answer.rounds
    right = np.random.default_rng(0).random((100_000, answer.lower)) < 0.6
    errors = [(2 * right[:, :k].sum(axis=1) < k).mean() for k in (answer.lower, answer.lower - 4)]
    assert errors[0] < 0.1 < errors[1]
    assert dict(answer.facts())["needed in worst case"].startswith("41, by every vote")
