"""certify in a world that has moved: by a ratio that is known, or learned on rows set apart."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import pacboost
from pacboost import certify, certify_all, measures, shift
from pacboost.bounds.holdout import clopper_pearson
from pacboost.errors import DataError, NotCertified, ParameterError
from pacboost.questions.moved import LearnedRatio
from tests.bounds.coverage import check_coverage, check_rejected
from tests.data import HOME
from tests.runs import several_runs

Floats = NDArray[np.float64]
RUNS = several_runs(100, 300)
ROWS, DELTA = 400, 0.1
GRID = (np.arange(4000) + 0.5) / 4000


class Zeros:
    """Says 0 of every row, so that the labels are its mistakes."""

    classes_ = np.array([0, 1])

    def predict(self, X: Any) -> NDArray[np.int64]:
        return np.zeros(len(X), dtype=np.int64)


def error_at(x: Floats) -> Floats:
    return 0.02 + 0.3 * x


def draw(seed: int, rows: int = ROWS) -> tuple[Floats, NDArray[np.int64]]:
    """A row is uniform on [0, 1), and wrong with the chance that belongs to it."""
    generator = np.random.default_rng(seed)
    x = generator.random(rows)
    return x[:, None], (generator.random(rows) < error_at(x)).astype(np.int64)


def truth(weights: Callable[[Floats], Floats]) -> float:
    """The error among the examples that weights describe."""
    w = weights(GRID[:, None])
    return float((w * error_at(GRID)).sum() / w.sum())


RATIOS: dict[str, tuple[Callable[[Floats], Floats], float]] = {
    "bounded": (lambda X: 2 * X[:, 0], 2.0),
    "clipped": (lambda X: np.minimum(0.2 / (1 - X[:, 0]), 4.0), 4.0),
    "times 1.7": (lambda X: 3.4 * X[:, 0], 4.0),
    "divided by 50": (lambda X: 0.04 * X[:, 0], 0.05),
    "nothing elsewhere": (lambda X: np.where(X[:, 0] > 0.5, 2.0, 0.0), 2.0),
}


@pytest.mark.parametrize("name", RATIOS)
@RUNS
def test_a_known_ratio_certifies_the_moved_world(runs: int, name: str) -> None:
    ratio, bound = RATIOS[name]
    known = truth(ratio)
    found = [
        certify(Zeros(), *draw(seed), shift=shift.ratio(ratio, bound=bound), delta=DELTA).value
        for seed in range(runs)
    ]
    check_coverage(f"known ratio, {name}", sum(own < known for own in found), runs, DELTA)
    assert np.mean(found) < known + 0.1


def test_a_factor_of_the_ratio_changes_nothing() -> None:
    X, y = draw(1)
    one, other = (
        certify(Zeros(), X, y, shift=shift.ratio(c * 2 * X[:, 0], bound=c * 2.0)) for c in (1, 1024)
    )
    assert one.value == pytest.approx(other.value, abs=0.05)  # other coins, the same world
    every = certify(Zeros(), X, y, shift=shift.ratio(np.full(ROWS, 3.0), bound=3))
    assert every.inputs == certify(Zeros(), X, y).inputs  # a constant ratio keeps all rows


@RUNS
def test_rows_of_few_values_have_coins_of_their_own(runs: int) -> None:
    """All rows are one of four points: coins by values alone would keep all or none of a point."""
    known = float(np.sum([0, 1, 2, 3] * error_at(np.arange(4) / 4)) / 6)
    violations, kept = 0, []
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        x = generator.integers(4, size=ROWS)
        y = (generator.random(ROWS) < error_at(x / 4)).astype(np.int64)
        found = certify(Zeros(), x[:, None], y, shift=shift.ratio(x / 3, bound=1), delta=DELTA)
        violations += found.value < known
        kept.append(found.size)
    check_coverage("known ratio, rows of four values", violations, runs, DELTA)
    assert np.std(kept) == pytest.approx(np.sqrt(ROWS / 4), rel=0.3)


def test_the_order_of_rows_has_no_part_in_coins() -> None:
    generator = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"a": generator.integers(3, size=300), "b": generator.choice(["u", "v"], 300)}
    )
    y, w = generator.integers(2, size=300), generator.choice([0.3, 1.2, 2.0], 300)
    order = generator.permutation(300)

    def family(rows: pd.DataFrame, labels: Any, weights: Any, seed: int = 5) -> Any:
        moved = shift.ratio(weights, bound=2, seed=seed)
        return certify_all(Zeros(), rows, labels, of=["error", "recall"], shift=moved)

    one = family(frame, y, w)
    assert one.to_dict() == family(frame.iloc[order], y[order], w[order]).to_dict()
    assert one != family(frame, y, w, seed=6)


def test_the_record_says_what_was_kept_and_verify_computes_it_again() -> None:
    X, y = draw(2)
    found = certify(Zeros(), X, y, shift=shift.ratio(lambda rows: 2 * rows[:, 0], bound=2, seed=7))
    assert dict(found.details) == {"ratio_bound": 2.0, "offered": ROWS, "seed": 7}
    assert 0 < found.inputs["n"] == found.size < ROWS
    assert found.value == clopper_pearson(found.inputs["k"], found.size, 0.05)
    assert "ratio describes" in found.claim
    assert not any("distribution of new examples" in own for own in found.assumptions)
    again = type(found).from_json(found.to_json())
    assert again == found
    assert all(check.holds for check in pacboost.verify(again))
    further = found.under(contamination=0.05)
    assert further.claim.startswith("If these rows are new: ")
    assert pacboost.verify(further)[0].holds
    content = found.to_dict()
    content["details"] = {**content["details"], "offered": found.size - 1}
    assert not pacboost.verify(type(found).from_dict(content))[0].holds
    family = certify_all(
        Zeros(), X, y, shift=shift.ratio(2 * X[:, 0], bound=2), by=X[:, 0] > 0.5, end="both"
    )
    assert all(check.holds for check in [*pacboost.verify(family), *pacboost.verify(family.gap)])
    assert "ratio describes" in family.gap.claim


@pytest.mark.parametrize(
    ("moved", "error", "words"),
    [
        (shift.ratio(np.full(ROWS, 3.0), bound=2), ParameterError, "may not be raised"),
        (shift.ratio(np.full(ROWS, -1.0), bound=2), DataError, "negative"),
        (shift.ratio(np.full(ROWS, np.nan), bound=2), DataError, "missing"),
        (shift.ratio(np.ones(3), bound=2), DataError, "shape"),
        (shift.ratio(np.zeros(ROWS), bound=2), NotCertified, "none of 400"),
        (shift.new_rows(np.ones((9, 1))), DataError, "60 of each"),
        (shift.new_rows(np.ones((900, 2))), DataError, "columns"),
    ],
)
def test_what_no_theorem_covers_is_refused(moved: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        certify(Zeros(), *draw(0), shift=moved)


def test_options_of_a_shift_are_checked() -> None:
    with pytest.raises(ParameterError, match="bound is 0"):
        shift.ratio(np.ones(ROWS), bound=0)
    with pytest.raises(ParameterError, match="seed is -1"):
        shift.new_rows(np.ones(ROWS), seed=-1)
    with pytest.raises(ParameterError, match="ordered") as problem:
        certify(Zeros(), *draw(0), shift=shift.ratio(np.ones(ROWS), bound=2), ordered=True)
    assert problem.value.parameter == "shift"


# Broken twins: each gives a false certificate far more often than delta.


def rare_and_heavy(seed: int) -> tuple[Floats, NDArray[np.int64], Floats]:
    """One row in 500 is always wrong and 100 times as likely in the moved world."""
    generator = np.random.default_rng(seed)
    rare = generator.random(ROWS) < 0.002
    y = (generator.random(ROWS) < np.where(rare, 1.0, 0.02)).astype(np.int64)
    return np.stack([rare, generator.random(ROWS)], 1), y, np.where(rare, 100.0, 0.8 / 0.998)


@RUNS
def test_twin_that_takes_the_bound_from_the_sample(runs: int) -> None:
    known = 0.2 + 0.8 * 0.02
    good = broken = 0
    for seed in range(runs):
        X, y, w = rare_and_heavy(seed)
        # With the true bound most samples are too small to keep any row: then nothing is claimed.
        with contextlib.suppress(NotCertified):
            good += (
                certify(Zeros(), X, y, shift=shift.ratio(w, bound=100), delta=DELTA).value < known
            )
        largest = float(w.max())
        broken += (
            certify(Zeros(), X, y, shift=shift.ratio(w, bound=largest), delta=DELTA).value < known
        )
    check_coverage("known ratio, rare and heavy rows", good, runs, DELTA)
    check_rejected("known ratio, bound from the sample", broken, runs, DELTA)


@several_runs(200, 300)
def test_twin_that_normalises_weights_by_their_mean(runs: int) -> None:
    def ratio(X: Floats) -> Floats:
        return np.where(X[:, 0] > 0.9, 10.0, 0.0)

    known, broken, good = truth(ratio), 0, 0
    for seed in range(runs):
        X, y = draw(seed)
        w = ratio(X)
        k = int(np.ceil(np.sum(w * y) / np.mean(w)))
        broken += clopper_pearson(min(k, ROWS), ROWS, DELTA) < known
        good += certify(Zeros(), X, y, shift=shift.ratio(w, bound=10), delta=DELTA).value < known
    check_coverage("known ratio, a tenth of the rows", good, runs, DELTA)
    check_rejected("weights divided by their mean", broken, runs, DELTA)


def cells(seed: int, rows: int) -> tuple[Floats, NDArray[np.int64]]:
    """Three rows in ten are of rare kinds, which are always wrong; the others hardly ever."""
    generator = np.random.default_rng(seed)
    kind = np.where(generator.random(rows) < 0.3, generator.integers(1, 2000, rows), 0)
    y = (generator.random(rows) < np.where(kind > 0, 1.0, 0.02)).astype(np.int64)
    return kind.astype(np.float64)[:, None], y


def counted_ratio(old: Floats, new: Floats) -> Floats:
    """The weight of every kind, as new rows and old rows were counted."""
    times = [np.bincount(own[:, 0].astype(int), minlength=2000) for own in (new, old)]
    return np.asarray(np.minimum((times[0] + 1) / (times[1] + 1), 3.0))


@RUNS
def test_twin_that_learns_the_ratio_on_the_rows_that_certify(runs: int) -> None:
    shares = np.r_[0.7, np.full(1999, 0.3 / 1999)]
    errors = np.r_[0.02, np.ones(1999)]
    broken = good = 0
    for seed in range(runs):
        X, y = cells(seed, ROWS)
        new, other = cells(seed + 10**6, ROWS)[0], cells(seed + 2 * 10**6, ROWS)[0]
        for apart in (False, True):
            w = counted_ratio(other if apart else X, new)
            known = np.sum(shares * w * errors) / np.sum(shares * w)
            moved = shift.ratio(w[X[:, 0].astype(int)], bound=3)
            found = certify(Zeros(), X, y, shift=moved, delta=DELTA)
            good, broken = (
                good + (apart and found.value < known),
                broken + (not apart and found.value < known),
            )
    check_coverage("ratio learned on other rows", good, runs, DELTA)
    check_rejected("ratio learned on the certifying rows", broken, runs, DELTA)


# A ratio that is learned from rows without labels.


def target(seed: int, rows: int = ROWS) -> Floats:
    """Rows of the world whose ratio is 2x."""
    return np.sqrt(np.random.default_rng(seed + 10**6).random(rows))[:, None]


@RUNS
def test_a_learned_ratio_certifies_what_its_weights_describe(
    runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned: list[LearnedRatio] = []
    of = LearnedRatio.of

    def recorded(*given: Any) -> LearnedRatio:
        learned.append(of(*given))
        return learned[-1]

    monkeypatch.setattr(LearnedRatio, "of", recorded)
    violations, errors = 0, []
    for seed in range(runs):
        found = certify(
            Zeros(), *draw(seed, 900), shift=shift.new_rows(target(seed, 900)), delta=DELTA
        )
        ratio = learned[-1]
        assert ratio.found == ("learned" in found.details)
        errors.append(truth(ratio) if ratio.found else error_at(GRID).mean())
        violations += found.value < errors[-1]
    check_coverage("learned ratio, new rows", violations, runs, DELTA)
    assert np.mean([own.found for own in learned]) > 0.9
    assert np.mean(errors) == pytest.approx(0.22, abs=0.01)  # 0.17 here, 0.22 in the moved world


def test_no_shift_is_said_and_changes_no_weights() -> None:
    found = [
        certify(Zeros(), *draw(seed), shift=shift.new_rows(draw(seed + 999)[0]))
        for seed in range(200)
    ]
    false = [own for own in found if "learned" in own.details]
    check_coverage("no shift, but found", len(false), 200, 0.05)
    still = next(own for own in found if "learned" not in own.details)
    assert "no shift was found" in still.rows_in_words
    assert still.details.keys() == {"unmoved_pairs"}
    assert still.claim.endswith("of new examples.")
    assert "Among" not in still.claim
    assert still.size == pytest.approx(ROWS * 2 / 3, abs=40)


def test_columns_that_moved_are_named() -> None:
    generator = np.random.default_rng(0)
    rows, new = generator.random((2, 1500, 3))
    frames = [pd.DataFrame(own, columns=["one", "two", "three"]) for own in (rows, new)]
    frames[1]["two"] **= 0.5
    y = generator.integers(2, size=1500)
    found = certify(Zeros(), frames[0], y, shift=shift.new_rows(frames[1]))
    assert "by two (" in found.rows_in_words
    assert "learned weights describe" in found.claim
    assert pacboost.verify(found)[0].holds
    order = generator.permutation(1500)
    again = certify(
        Zeros(), frames[0].iloc[order], y[order], shift=shift.new_rows(frames[1].iloc[order])
    )
    assert again == found
    one = certify_all(Zeros(), frames[0], y, of=measures.recall(0), shift=shift.new_rows(frames[1]))
    assert one.certificates[0].size < found.size


def test_sets_and_intervals_cover_the_moved_world() -> None:
    from sklearn.linear_model import LinearRegression, LogisticRegression

    X, y = draw(0, 3000)
    model = LogisticRegression().fit(*draw(1, 500))
    found = pacboost.sets(model, X, y, coverage=0.8, new_rows=target(0, 2000))
    rows, labels = target(5, 20_000), np.random.default_rng(9).random(20_000)
    held = found.predict_set(rows)[np.arange(20_000), (labels < error_at(rows[:, 0])).astype(int)]
    assert "learned weights describe" in found.sentence_
    assert held.mean() > 0.79
    generator = np.random.default_rng(2)
    numbers = X[:, 0] + X[:, 0] * generator.normal(size=3000)
    line = LinearRegression().fit(X[:500], numbers[:500])
    plain = pacboost.intervals(line, X[500:], numbers[500:])
    wider = pacboost.intervals(line, X[500:], numbers[500:], new_rows=target(0, 2000))
    spread = [np.diff(own.predict_interval(X[:1]))[0, 0] for own in (plain, wider)]
    assert spread[1] > spread[0]
    assert "learned" in wider.certificate_.details


# Real sets: the error that was seen in the moved part, beside what the other part certifies of it.


def real_rows(name: str, file: str) -> pd.DataFrame:
    path = HOME / name / file
    if not path.exists():
        pytest.skip(f"needs the data set {name}; set PACBOOST_DATA to the folder that has it")
    return pd.read_csv(path)


def beside(
    rows: pd.DataFrame, y: NDArray[Any], old: NDArray[Any], new: NDArray[Any], ratio: Any = None
) -> list[float]:
    """Return the bound here, the bounds of the moved world, and the error seen there."""
    order = np.random.default_rng(0).permutation(np.flatnonzero(old))
    train, held = np.split(order, [order.size * 3 // 5])
    model = pacboost.BoostClassifier(n_estimators=60, random_state=0).fit(
        rows.iloc[train], y[train]
    )
    moves: list[Any] = [None, shift.new_rows(rows[new])]
    moves += [] if ratio is None else [shift.ratio(ratio[held], bound=1)]
    bounds = [certify(model, rows.iloc[held], y[held], shift=move).value for move in moves]
    return [*bounds, float((model.predict(rows[new]) != y[new]).mean())]


def test_adult_by_age() -> None:
    rows = real_rows("adult", "train.csv.gz")
    y, age = rows.pop("income").to_numpy(), rows["age"].to_numpy()
    coin = np.random.default_rng(1).random((2, len(y)))
    old, chance = coin[0] >= 0.5, np.clip((age - 17) / 60, 0, 1)
    for ratio in (chance, (age >= 50).astype(float)):
        new = ~old & (coin[1] < ratio)
        here, learned, known, seen = beside(rows, y, old, new, ratio)
        assert here < seen < min(learned, known)  # nothing but the ages has changed
        assert max(learned, known) < seen + 0.1


def test_electricity_by_time() -> None:
    """Also what follows from prices has changed, which no weights of rows can show."""
    rows = real_rows("electricity", "data.csv.gz").drop(columns="date")
    y, place = rows.pop("class").to_numpy(), np.arange(len(rows)) / len(rows)
    old, new = (place >= 0.4) & (place < 0.7), place >= 0.7
    here, learned, seen = beside(rows, y, old, new)
    assert max(here, learned) < seen
