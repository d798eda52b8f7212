"""What simulations say of a learner is true where it nearly is not."""

import re
from decimal import Decimal

from pacboost import theory
from pacboost.bounds.holdout import clopper_pearson, clopper_pearson_lower
from pacboost.theory.worlds import Boxes


def test_the_ends_of_a_simulation_are_paid_for_before_the_runs() -> None:
    """Whether all risks were found exactly is seen in the runs, so it must not choose the level."""
    world, delta, trials = Boxes((0.2, 0.3), (0.7, 0.9)), 0.05, 100
    found = theory.pac(world, 60, theory.RectangleClassifier(), trials=trials, delta=delta)
    assert found.undecided == 0
    level = (delta - 0.1 * delta) / 2
    assert found.lower == clopper_pearson_lower(found.failures, trials, level)
    assert found.upper == clopper_pearson(found.failures, trials, level)


def test_printed_ends_are_rounded_outward() -> None:
    world = Boxes((0.2, 0.3), (0.7, 0.9))
    for seed in range(5):
        found = theory.pac(world, 50, theory.RectangleClassifier(), trials=40, seed=seed)
        ends = re.search(r"between (\S+) and (\S+) ", found.sentence)
        assert ends is not None
        low, high = (Decimal(end) for end in ends.groups())
        assert low <= Decimal(found.lower)
        assert Decimal(found.upper) <= high
        for bound, line in zip(found.bounds, str(found).splitlines()[2:], strict=True):
            assert Decimal(line.split()[0]) >= Decimal(bound.value)
