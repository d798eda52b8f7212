"""When the world moves: worlds with known truth, adversaries that meet the bounds, and twins."""

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost import certify, measures, shift, verify
from pacboost.bounds import holdout
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.class_shares import shares_upper
from pacboost.bounds.measured import certificate
from pacboost.bounds.rates import rate_upper
from pacboost.bounds.shift import MOVES, farthest, largest_error, stays
from pacboost.errors import NotCertified, ParameterError
from tests.bounds.coverage import check_coverage, check_rejected
from tests.data import real_data
from tests.runs import several_runs

DELTA = 0.05
RUNS = 300
SIZES = {"contamination": 0.05, "total_variation": 0.05, "ratio": 3.0, "kl": 0.1, "chi2": 0.1}
EVERY = pytest.mark.parametrize("move", MOVES)
shares = st.floats(1e-6, 1.0)


def sizes(P: NDArray[np.float64], Q: NDArray[np.float64]) -> dict[str, float]:
    """How far Q is from P, in every way, by the definitions."""
    return {
        "contamination": 1 - float((Q / P).min()),
        "total_variation": float(abs(P - Q).sum() / 2),
        "ratio": float((Q / P).max()),
        "kl": float((Q * np.log(Q / P)).sum()),
        "chi2": float(((Q - P) ** 2 / P).sum()),
    }


@given(st.lists(st.tuples(shares, shares, st.booleans()), min_size=2, max_size=6))
def test_no_event_becomes_likelier_than_the_maps_say(
    points: list[tuple[float, float, bool]],
) -> None:
    before, after, event = (np.array(part, dtype=float) for part in zip(*points, strict=True))
    P, Q, event = before / before.sum(), after / after.sum(), event > 0
    for move, by in sizes(P, Q).items():
        none = MOVES[move].none
        bound = largest_error(min(1.0, float(P[event].sum())), move, max(none, by * (1 + 1e-9)))
        assert float(Q[event].sum()) <= bound * (1 + 1e-9) + 1e-12, move


@EVERY
def test_maps_rise_and_their_inverses_are_inverses(move: str) -> None:
    none, most = MOVES[move].none, min(MOVES[move].upper_end, 4.0)
    errors = [0.0, 1e-9, 0.001, 0.05, 0.3, 0.5, 0.9, 0.999, 1.0]
    steps = [none, *(none + (most - none) * part for part in (1e-9, 0.01, 0.2, 0.5, 1))]
    table = np.array([[largest_error(error, move, by) for by in steps] for error in errors])
    assert (np.diff(table, axis=0) >= 0).all()
    assert (np.diff(table, axis=1) >= 0).all()
    assert table[:, 0].tolist() == errors  # nothing has moved
    assert table.max() == 1
    for error in (1e-9, 0.001, 0.05, 0.3, 0.79):
        for goal in (error, error * 1.0001, 0.8, 0.99):
            by = farthest(error, goal, move)
            assert largest_error(error, move, by) <= goal
            assert largest_error(error, move, by * (1 + 1e-6) + 1e-9) > goal
        assert farthest(error, 0.8, move) < farthest(error, 0.9, move)
    by = none + 0.25 * (most - none)
    assert farthest(0.1, largest_error(0.1, move, by), move) == pytest.approx(by, rel=1e-6)


@pytest.mark.parametrize(
    ("move", "by"),
    [("contamination", 1.1), ("total_variation", -0.1), ("ratio", 0.9), ("kl", -1), ("chi2", True),
     ("kl", math.nan), ("ratio", "3")],
)  # fmt: skip
def test_sizes_that_are_none_are_refused(move: str, by: Any) -> None:
    with pytest.raises(ParameterError, match=move):
        holdout.certificate(3, 100, DELTA).under(**{move: by})


@EVERY
def test_adversaries_that_meet_the_bound(move: str) -> None:
    """Two points, right and wrong: every map is attained, so that the bound fails as often as e."""
    generator = np.random.default_rng(3)
    error, moved, n = 0.05, 0.12, 400
    by = sizes(np.array([1 - error, error]), np.array([1 - moved, moved]))[move]
    assert largest_error(error, move, by) == pytest.approx(moved)
    mistakes = generator.binomial(n, error, RUNS).tolist()
    bounds = {k: holdout.certificate(k, n, DELTA) for k in set(mistakes)}
    moved_ones = {k: own.under(**{move: by}).value for k, own in bounds.items()}
    check_coverage(f"moved by {move}", sum(moved_ones[k] < moved for k in mistakes), RUNS, DELTA)
    assert min(moved_ones.values()) < moved  # it is sharp
    twin = sum(bounds[k].value < moved for k in mistakes)
    check_rejected(f"twin: {move} forgotten", twin, RUNS, DELTA)
    found = {k: recall(n - k, n).under(**{move: by}).value for k in set(mistakes)}
    violations = sum(found[k] > 1 - moved for k in mistakes)
    check_coverage(f"recall moved by {move}", violations, RUNS, DELTA)


def recall(k: int, n: int) -> Certificate:
    inputs = {"k": k, "n": n, "delta": DELTA, "claims": 1}
    return certificate("recall", "rates.rate_lower", inputs, size=n, **{"class": "late"})


class Told:
    """Answers what the last column says."""

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return X[:, -1]


ERRORS = np.array([0.02, 0.1, 0.3])


def drawn(
    generator: np.random.Generator, n: int, chances: Any, errors: NDArray[np.float64] = ERRORS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows of classes with these shares, each wrong as often as its class is."""
    y = generator.choice(errors.size, size=n, p=chances).astype(float)
    wrong = generator.random(n) < errors[y.astype(int)]
    return np.column_stack([generator.random(n), np.where(wrong, y + 1, y) % errors.size]), y


@several_runs(120, 300)
def test_shares_of_classes_change(runs: int) -> None:
    generator = np.random.default_rng(5)
    new = {0: 0.1, 1: 0.2, 2: 0.7}
    truth = float(ERRORS @ list(new.values()))
    boxes = {0: (0.1, 0.4), 1: (0.0, 0.2), 2: (0.5, 0.7)}
    counts = dict.fromkeys(("exact", "boxes", "any", "old"), 0)
    for _ in range(runs):
        X, y = drawn(generator, 300, [0.6, 0.3, 0.1])
        named: dict[str, Any] = {"exact": new, "boxes": boxes, "any": "any"}
        for name, chances in named.items():
            counts[name] += certify(Told(), X, y, shift=shift.shares(chances)).value < truth
        counts["old"] += certify(Told(), X, y).value < truth
    for name in ("exact", "boxes", "any"):
        check_coverage(f"shares: {name}", counts[name], runs, DELTA)
    check_rejected("twin: shares that changed forgotten", counts["old"], runs, DELTA)


@several_runs(120, 300)
def test_twin_shares_taken_from_the_certifying_rows(runs: int) -> None:
    """One class is always wrong, so that the error is its share, which the rows only estimate."""
    generator = np.random.default_rng(7)
    errors, known, taken = np.array([0.0, 1.0]), 0, 0
    for _ in range(runs):
        X, y = drawn(generator, 400, [0.5, 0.5], errors)
        share = float(y.mean())
        known += certify(Told(), X, y, shift=shift.shares({0: 0.5, 1: 0.5})).value < 0.5
        taken += certify(Told(), X, y, shift=shift.shares({0: 1 - share, 1: share})).value < 0.5
    check_coverage("shares known beforehand", known, runs, DELTA)
    check_rejected("twin: shares found on the certifying rows", taken, runs, DELTA)


def test_twin_delta_not_divided_among_classes() -> None:
    """Shares may be all of the class that happened to look best: every class is bounded at once."""
    generator = np.random.default_rng(11)
    classes, n, error, divided, undivided = 20, 100, 0.1, 0, 0
    for _ in range(RUNS):
        mistakes = generator.binomial(n, error, classes)
        parts = [[int(k), n] for k in mistakes]
        best = {str(c): [float(c == mistakes.argmin())] * 2 for c in range(classes)}
        divided += shares_upper(parts, best, DELTA) < error
        undivided += rate_upper(int(mistakes.min()), n, DELTA) < error
    check_coverage("shares of the class that looks best", divided, RUNS, DELTA)
    check_rejected("twin: delta not divided among classes", undivided, RUNS, DELTA)


@given(st.lists(st.tuples(shares, shares, shares), min_size=2, max_size=5))
def test_boxes_are_filled_as_the_linear_program_would(
    classes: list[tuple[float, float, float]],
) -> None:
    from scipy.optimize import linprog

    lows, widths, errors = (np.array(part) for part in zip(*classes, strict=True))
    lows = lows / lows.sum() * 0.6
    highs = np.minimum(1.0, lows + widths + 0.4 / lows.size)
    parts = [(int(40 * error), 40) for error in errors]
    uppers = [rate_upper(k, n, DELTA, len(parts)) for k, n in parts]
    best = linprog(-np.array(uppers), A_eq=np.ones((1, lows.size)), b_eq=[1],
                   bounds=list(zip(lows, highs, strict=True)))  # fmt: skip
    boxes = {str(c): [low, high] for c, (low, high) in enumerate(zip(lows, highs, strict=True))}
    found = shares_upper(parts, boxes, DELTA)
    assert found == pytest.approx(-float(best.fun or 0), abs=1e-7)


@pytest.mark.parametrize(
    ("given_shares", "problem"),
    [
        ({0: 0.5, 1: 0.2, 2: 0.2}, "sum to 0.9"),
        ({0: (0.0, 0.2), 1: (0.1, 0.3), 2: 0.1}, "sum to 0.2 to 0.6"),
        ({0: (0.5, 0.6), 1: 0.6, 2: 0.0}, "sum to 1.1 to 1.2"),
        ({0: (0.7, 0.3), 1: 0.5, 2: 0.0}, "share of '0.0'"),
        ({0: 0.5, 1: 0.5}, "each has to be named"),
        ({0: 0.5, 1: 0.5, 2: 0, 3: 0}, "names '0.0', '1.0', '2.0', '3'"),
        ({0: "half", 1: 0.5, 2: 0}, "one number, or two"),
        ("every", "'any', or a mapping"),
    ],
)
def test_shares_that_are_none_are_refused(given_shares: Any, problem: str) -> None:
    X, y = drawn(np.random.default_rng(0), 300, [0.6, 0.3, 0.1])
    with pytest.raises(ParameterError, match=problem):
        certify(Told(), X, y, shift=shift.shares(given_shares))


def test_classes_without_rows() -> None:
    X, y = drawn(np.random.default_rng(0), 300, [0.6, 0.4, 0.0])
    model = Told()
    model.classes_ = np.arange(3.0)  # type: ignore[attr-defined]
    with pytest.raises(NotCertified, match=r"no rows of class '2\.0'"):
        certify(model, X, y, shift=shift.shares("any"))
    assert certify(model, X, y, shift=shift.shares({0: 0.5, 1: 0.5, 2: 0})).value < 0.3
    with pytest.raises(ParameterError, match="certifies the error"):
        certify(model, X, y, shift=shift.shares("any"), of="recall")


def test_moved_certificates_are_verified() -> None:
    X, y = drawn(np.random.default_rng(0), 300, [0.6, 0.3, 0.1])
    before = [
        holdout.certificate(3, 100, DELTA).counted_without_weights().of_distinct_rows(),
        holdout.groups_certificate([0.0, 0.5, 0.0], DELTA),
        recall(97, 100).unchecked(),
        certify(Told(), X, y, models=3),
        certify(Told(), X, y, of=measures.false_negative_rate(1.0)),
    ]
    made = [own.under(**{move: by}) for own in before for move, by in SIZES.items()]
    made += [
        certify(Told(), X, y, shift=shift.shares(own)) for own in ("any", {0: 0.2, 1: 0.3, 2: 0.5})
    ]
    for own in made:
        [check] = verify(Certificate.from_json(own.to_json()))
        assert check.holds, check.words
        certain = '{"0.0": [1, 1], "1.0": [0, 0], "2.0": [0, 0]}'
        lies = {"by": 1.5} if "by" in own.inputs else {"shares": certain}
        for lie in (
            replace(own, inputs={**own.inputs, **lies}),
            replace(own, value=own.value * 0.99),
        ):
            assert not verify(lie)[0].holds
    for own in before:
        assert own.under(kl=0.0).value == pytest.approx(own.value)
        assert own.under(kl=0.1).delta == own.delta


def test_words() -> None:
    made = holdout.certificate(30, 1000, DELTA)
    assert re.findall(r"[\d.]+ %", made.under(contamination=0.05).claim) == ["8.85 %", "5 %"]
    assert not any("from the distribution of" in text for text in made.under(kl=1).assumptions)
    X, y = drawn(np.random.default_rng(0), 300, [0.6, 0.3, 0.1])
    found = certify(Told(), X, y, shift=shift.shares({0: 0.2, 1: (0.2, 0.4), 2: (0.4, 0.6)}))
    shares = re.findall(r"(\d[\d %to]* %) are of class '(\d.0)'", found.claim)
    assert shares == [("20 %", "0.0"), ("20 % to 40 %", "1.0"), ("40 % to 60 %", "2.0")]
    assert "whatever the shares" in certify(Told(), X, y, shift=shift.shares("any")).claim
    until = made.holds_until(0.1)
    assert "at most 6.2 %" in str(until)
    assert made.under(ratio=until.ratio).value <= 0.1
    least = recall(97, 100)
    assert 0.8 <= least.under(chi2=least.holds_until(0.8).chi2).value < 0.8 + 1e-9
    assert "above 80 %" in str(least.holds_until(0.8))
    assert stays(made, 0.04) == stays(made, None) == ""


def certificates_of_something_else() -> list[Certificate]:
    X, y = drawn(np.random.default_rng(0), 300, [0.6, 0.3, 0.1])
    costs = measures.cost(np.ones((3, 3)) - np.eye(3))
    return [
        *(certify(Told(), X, y, of=of) for of in (measures.f1(1.0), "balanced_error", costs)),
        certify(Told(), X, y, ordered=True),
        certify(Told(), X, y, end="upper", ordered=True),
        certify(Told(), X, y, shift=shift.shares("any")),
        holdout.certificate(3, 100, DELTA).under(ratio=2),
        replace(holdout.certificate(3, 100, DELTA), of_what="training rows"),
        replace(holdout.certificate(3, 100, DELTA), of_what="this file"),
    ]


def test_what_is_no_error_or_rate_is_refused() -> None:
    for own in certificates_of_something_else():
        with pytest.raises(NotCertified):
            own.under(ratio=2)
        with pytest.raises(NotCertified):
            own.holds_until(0.5)
    with pytest.raises(ParameterError, match="contamination="):
        holdout.certificate(3, 100, DELTA).under()
    with pytest.raises(ParameterError, match="contamination"):
        holdout.certificate(3, 100, DELTA).under(contaminaton=0.1)
    with pytest.raises(NotCertified, match="above"):
        holdout.certificate(30, 100, DELTA).holds_until(0.1)


def test_electricity_by_time() -> None:
    """Rows of the first half certify; then later rows are mixed in, or the shares are others."""
    from sklearn.tree import DecisionTreeClassifier

    labelled = real_data("electricity", "class")
    X, y = np.asarray(labelled.table.rows()), np.asarray(labelled.labels)
    half, generator = len(y) // 2, np.random.default_rng(0)
    X = X[:, 2:]  # without the date
    learned, held, rest = np.split(generator.permutation(half), [6000, 9000])
    model = DecisionTreeClassifier(max_leaf_nodes=60, random_state=0).fit(X[learned], y[learned])
    wrong = model.predict(X) != y
    made = certify(model, X[held], y[held], copies="draws")
    later = float(wrong[half:].mean())
    for share in (0.05, 0.2, 0.5):
        seen = (1 - share) * float(wrong[rest].mean()) + share * later
        bound = made.under(contamination=share).value
        assert seen <= bound, (share, seen, bound)
    assert later > made.value  # the unmoved certificate does not hold there
    errors = {name: float(wrong[rest][y[rest] == name].mean()) for name in model.classes_}
    for first in (0.1, 0.5, 0.9):
        chances = dict(zip(model.classes_.tolist(), (first, 1 - first), strict=True))
        seen = sum(share * errors[name] for name, share in chances.items())
        bound = certify(model, X[held], y[held], copies="draws", shift=shift.shares(chances)).value
        assert seen <= bound <= seen + 0.05
