"""The live view of filtering, and the words and tables after it."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from pacboost.bounds import holdout
from pacboost.bounds.certificate import Certificate
from pacboost.ledgers.ledger import Ledger, Refill, Round
from pacboost.reports.progress import FilteringView, tell_batch
from pacboost.reports.text import MOST_ROWS, refills_table, summary


def a_refill(number: int = 0, **changes: Any) -> Refill:
    values: dict[str, Any] = {
        "number": number,
        "rounds": 10 * number,
        "draws": 1_000,
        "fresh": 1_000,
        "accepted": 250,
        "scale": 1.0,
        "mean": 0.25,
        "lower": 0.2,
        "upper": 0.3125,
        "error": 0.125,
        "error_upper": 0.625 if number else 1.0,
        "loss": 0.5,
        "delta": 0.025,
        "smoothness": 4.0,
        "seconds": 0.5,
        "mistakes": 125,
    }
    return Refill(**(values | changes))


def a_round(number: int) -> Round:
    return Round(number, 0.25, 0.5, 0.5, 0.9, 0.1, 100.0, 1000, [], "x > 0 → yes", 0.1)


def a_ledger(refills: list[Refill]) -> Ledger:
    return Ledger(
        "logit", "logistic", "Tree", 1_000, 1, False, False, stopped="all 12 rounds are done",
        rounds=[a_round(k + 1) for k in range(12)], refills=refills,
    )  # fmt: skip


def a_certificate() -> Certificate:
    return holdout.certificate(10, 1_000, 0.05)


def printed(thing: object, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(thing)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def lines(text: str) -> dict[str, str]:
    """The lines of a view by the name they begin with."""
    split = (line.split("  ") for line in text.splitlines())
    return {parts[0].strip(): "  ".join(parts[1:]).strip() for parts in split}


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_view_begins_with_what_is_to_be_done() -> None:
    clock = Clock()
    view = FilteringView(20, clock=clock)
    clock.now += 3
    shown = lines(printed(view.picture()))
    assert shown["rounds"] == "0 of at most 20, 3 s"
    assert "is being drawn" in shown["draws"]


def test_the_view_shows_what_was_drawn_and_what_is_known() -> None:
    clock = Clock()
    view = FilteringView(20, clock=clock)
    view(a_refill(0))
    view(a_round(1))
    clock.now += 4
    view(a_refill(1, accepted=150))
    view(a_round(11))
    clock.now += 5  # which are spent on boosting, not on draws
    shown = lines(printed(view.picture()))
    assert shown["rounds"] == "11 of at most 20, 9 s"
    assert shown["draws"] == "2,000 in 2 samples, 500 a second"
    assert shown["kept"] == "15.0 % of the last sample's draws, 20.0 % of all"
    assert shown["mean weight μ"] == "0.2500, from 0.2000 to 0.3125"
    assert shown["error seen"] == "12.50 % after 10 rounds"
    assert shown["certified"] == "at most 62.50 %"


def test_nothing_is_claimed_before_the_first_round() -> None:
    view = FilteringView(20)
    view(a_refill(0))
    shown = lines(printed(view.picture()))
    assert (shown["error seen"], shown["certified"]) == ("none yet", "nothing yet")


def test_in_the_end_the_certificate_counts() -> None:
    view = FilteringView(20)
    view(a_refill(1))
    view.certified(a_certificate())
    assert lines(printed(view.picture()))["certified"] == "at most 1.70 %"
    view.certified(holdout.certificate(1_000, 1_000, 0.05))
    assert lines(printed(view.picture()))["certified"] == "nothing"


def test_rows_that_came_before_certify_their_source_alone() -> None:
    view = FilteringView(20)
    view(a_refill(1, fresh=0, again=1_000))
    assert "of this source" in printed(view.picture())


def test_draws_of_a_run_that_goes_on_are_counted_but_not_its_time() -> None:
    clock = Clock()
    view = FilteringView(20, earlier=[a_refill(0)], clock=clock)
    clock.now += 4
    view(a_refill(1))
    shown = lines(printed(view.picture()))
    assert shown["draws"] == "2,000 in 2 samples, 250 a second"


def test_the_view_is_a_context_and_its_last_picture_stays() -> None:
    console = Console(file=io.StringIO(), width=80)
    with FilteringView(20, console) as view:
        view(a_refill(1))
        wish = view(a_round(11))  # type: ignore[func-returns-value]
    assert wish is None  # a watcher that returns True stops the run
    assert isinstance(console.file, io.StringIO)
    assert "11 of at most 20" in console.file.getvalue()


def test_a_batch_is_one_line() -> None:
    console = Console(file=io.StringIO(), width=100)
    tell_batch(a_ledger([a_refill(0)]), console)
    tell_batch(a_ledger([a_refill(0), a_refill(1, draws=1, accepted=1)]), console)
    assert isinstance(console.file, io.StringIO)
    first, second = console.file.getvalue().splitlines()
    assert first == "batch 1: 1,000 rows, 25.0 % kept; 12 rounds so far"
    assert second.startswith("batch 2: 1 row, 100.0 % kept, 12.50 % errors before")


def test_every_refill_is_one_line_of_eighty_columns() -> None:
    refills = [a_refill(k, draws=100_000_000 + k) for k in range(MOST_ROWS)]
    text = printed(refills_table(a_ledger(refills), "data"))
    assert max(map(len, text.splitlines())) <= 80
    assert all(f"{refill.draws:,}" in text for refill in refills)
    assert "…" not in text
    assert "*" not in text


def test_of_many_refills_the_first_and_the_last_are_shown() -> None:
    text = printed(refills_table(a_ledger([a_refill(k) for k in range(MOST_ROWS + 5)])))
    before = [line.split()[0] for line in text.splitlines() if "0.2500" in line]
    assert before == [str(10 * k) for k in (*range(10), *range(15, 25))]
    assert "…" in text


def test_refills_without_new_rows_are_marked() -> None:
    text = printed(refills_table(a_ledger([a_refill(0), a_refill(1, fresh=0, again=1_000)])))
    assert "62.50 %*" in text
    assert "about this source only" in text


def words(thing: object) -> str:
    return " ".join(printed(thing, width=200).split())


def test_the_summary_says_what_happened_and_what_holds() -> None:
    certificate = a_certificate()
    text = words(summary(a_ledger([a_refill(0), a_refill(1)]), certificate, None))
    for part in (
        "12 (booster logit, learner tree)",
        "2,000 examples",
        "1,000 new examples, in the last test",
        "500 of them (25.0 %), in 2 samples",
        "stopped all 12 rounds are done",
        "12.50 % of the examples drawn after 10 rounds",
        certificate.claim,
        f"assumes {certificate.assumptions[0]}",
        "probability 0.05",
    ):
        assert part in text


def test_the_summary_estimates_by_new_rows_only() -> None:
    refills = [a_refill(0), a_refill(1), a_refill(2, fresh=0, again=1_000, error=0.01)]
    assert "12.50 % of the examples drawn after 10 rounds" in words(summary(a_ledger(refills)))


def test_the_summary_of_a_run_that_certifies_nothing() -> None:
    text = words(summary(a_ledger([a_refill(0)]), None, None))
    assert "certificate none" in text
    assert "error seen" not in text


def test_the_summary_of_nothing_at_all() -> None:
    assert "0 examples" in words(summary(a_ledger([])))


def test_the_busiest_workers_are_named() -> None:
    view = FilteringView(20, workers={f"tcp://w:{k}": k for k in range(6)})
    text = printed(view.picture())
    shown = "tcp://w:5 5, tcp://w:4 4, tcp://w:3 3, tcp://w:2 2, and 2 more workers"
    assert shown in " ".join(text.split())
