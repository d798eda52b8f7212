"""What claims about prediction sets and intervals say; bounds/coverage.py makes them."""

from __future__ import annotations

from pacboost.bounds.quantity import Quantity


class SetCoverage(Quantity):
    """How often a prediction set holds the true class."""

    name = "set_coverage"
    words = "the prediction set holds the true class for {at} {value} of {new}"
    higher_is_better = True


class ClassCoverage(Quantity):
    """The same among the examples of one class."""

    name = "class_coverage"
    words = "of the {new} of class {c}, {at} {value} get a prediction set that holds it"
    higher_is_better = of_class = True


class IntervalCoverage(Quantity):
    """How often a prediction interval holds the true number."""

    name = "interval_coverage"
    words = "the prediction interval holds the true number for {at} {value} of {new}"
    higher_is_better = of_numbers = True


COVERAGES: dict[str, type[Quantity]] = {
    kind.name: kind for kind in (SetCoverage, ClassCoverage, IntervalCoverage)
}
