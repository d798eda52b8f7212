"""The test for shared rows: exact on small tables, silent in honest worlds, loud for old rows."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost.samples.overlap import FALSE_ALARM, Overlap, ValueCounts
from tests.runs import several_runs

Values = NDArray[np.generic]
Draw = Callable[[np.random.Generator, int], Values]


def overlap(learned: Values, new: Values, *, filtered: bool = False) -> Overlap:
    return ValueCounts.of(learned).overlap(ValueCounts.of(new), filtered=filtered)


def without_price(found: Overlap) -> float:
    """The broken twin: rows take sides by coins, although their numbers are fixed."""
    return replace(found, single=sum(found.sides)).p_value


def of_pairs(found: Overlap) -> float:
    """The broken twin: each value that comes again is taken for a pair."""
    q = found.training_rows / (found.training_rows + found.compared)
    return replace(found, expected=found.values * 2 * q * (1 - q)).p_value


@pytest.mark.parametrize(
    ("values", "learned"),
    [
        ("aabbccddee", 5), ("aabbccddee", 3), ("aaabbbccc", 4), ("aabbccdefg", 5),
        ("aaaabbcdef", 2), ("abcdefghij", 4), ("aaaaaaaaaa", 5), ("aabbcdefgh", 2),
    ],
)  # fmt: skip
def test_the_p_value_holds_in_every_split_of_small_tables(values: str, learned: int) -> None:
    """Of all ways to choose the training rows, at most a share p has a p-value of p or less."""
    rows = np.array(list(values))
    p_values = []
    for chosen in combinations(range(rows.size), learned):
        others = np.delete(np.arange(rows.size), chosen)
        p_values.append(overlap(rows[list(chosen)], rows[others]).p_value)
    ordered = np.sort(p_values)
    shares = np.searchsorted(ordered, ordered, side="right") / ordered.size
    assert (shares <= ordered + 1e-12).all()


def test_fixed_numbers_have_their_price() -> None:
    """Ten pairs are divided: 2**10 of 184,756 ways, five times what coins would say."""
    found = overlap(np.arange(10), np.arange(10))
    exact = 2**10 / 184_756
    assert without_price(found) < 0.5 * exact
    assert found.p_value == pytest.approx(exact, rel=1e-9)  # here the bound is exact


WORLDS: dict[str, Draw] = {
    "30 values": lambda draw, rows: draw.integers(30, size=rows),
    "300 values": lambda draw, rows: draw.integers(300, size=rows),
    "10,000 values": lambda draw, rows: draw.integers(10_000, size=rows),
    "long tail": lambda draw, rows: draw.zipf(1.5, rows),
    "visits": lambda draw, rows: draw.permutation(np.repeat(np.arange(rows), 3))[:rows],
}


@several_runs(300, 3000)
@pytest.mark.parametrize("world", WORLDS)
def test_honest_rows_are_not_suspected(world: str, runs: int) -> None:
    below = np.zeros(3, dtype=np.intp)
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        sizes = (10 ** generator.uniform(1.5, 3.3, size=2)).astype(int)
        rows = WORLDS[world](generator, int(sizes.sum()))
        below += overlap(rows[: sizes[0]], rows[sizes[0] :]).p_value < np.array([0.05, 0.01, 1e-3])
    allowed = runs * np.array([0.05, 0.01, 1e-3])
    assert (below <= allowed + 3 * np.sqrt(allowed)).all()


def test_values_are_no_pairs() -> None:
    """The twin refuses honest rows of a long tail, whose values come more than twice."""
    alarms = 0
    for seed in range(20):
        rows = np.random.default_rng(seed).zipf(1.5, 4000)
        alarms += of_pairs(overlap(rows[:2000], rows[2000:])) < FALSE_ALARM
    assert alarms >= 15


@pytest.mark.parametrize(
    ("learned", "again", "new", "largest"),
    [(500, 500, 9500, 1e-300), (500, 6, 9994, 6e-7), (2000, 20, 1980, 1e-6)],
)
def test_old_rows_among_new_ones(learned: int, again: int, new: int, largest: float) -> None:
    rows = np.random.default_rng(0).random(learned + new)
    assert overlap(rows[:learned], np.append(rows[:again], rows[learned:])).p_value < largest
    assert overlap(rows[:learned], rows[learned:]).p_value == 1


def test_tables_with_every_row_twice() -> None:
    rows = np.random.default_rng(0).random(800)
    assert overlap(np.repeat(rows[:400], 2), rows[:400]).p_value < 1e-68
    assert overlap(np.repeat(rows[:400], 2), np.repeat(rows[:400], 2)).suspicious
    assert overlap(np.repeat(rows[:400], 2), np.repeat(rows[400:], 2)).p_value == 1


def test_rows_chosen_by_weight_are_no_sample() -> None:
    """Half of all rows have one of 2,000 values, and only these are learned from."""
    alarms = careless = 0
    for seed in range(20):
        generator = np.random.default_rng(seed)
        learned, often = generator.integers(2000, size=1000), generator.integers(2000, size=10_000)
        new = np.append(often, generator.integers(10**6, 10**9, size=10_000))
        alarms += overlap(learned, new, filtered=True).suspicious
        careless += overlap(learned, new).suspicious
        assert overlap(new[-1000:], new, filtered=True).suspicious
    assert alarms == 0
    assert careless > 5


def test_what_could_not_be_noticed() -> None:
    many, few = np.ones(400, dtype=np.int64), np.full(4, 100)
    assert Overlap.if_all_learned(many, 200).suspicious
    assert Overlap.if_all_learned(many, 4000).suspicious
    assert not Overlap.if_all_learned(many, 2).suspicious
    assert not Overlap.if_all_learned(few, 200).suspicious
    assert not Overlap.if_all_learned(many[:0], 200).suspicious
