"""The tables that people see in the terminal."""

from __future__ import annotations

import io
import re
from itertools import islice
from typing import Any

from rich.console import Console

from pacboost.boosters.adaboost import AdaBoost
from pacboost.learners.stump import Stump
from pacboost.ledgers.ledger import Ledger, Refill, Round
from pacboost.reports.progress import FilteringView
from pacboost.reports.text import MAX_ROWS, refills_table, rounds_table
from pacboost.training.run.loop import Run
from tests.worlds import make_sample, noisy


def a_ledger(rounds: int) -> Ledger:
    X, signs = noisy(120, 3, seed=1)
    run = Run(make_sample(X, signs), Stump(), AdaBoost())
    list(islice(run, rounds))
    return run.ledger()


def printed(thing: object, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(thing)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_every_round_of_a_short_run_is_one_line_of_eighty_columns() -> None:
    lines = printed(rounds_table(a_ledger(5))).splitlines()
    for number in range(1, 6):
        assert sum(line.split()[:1] == [str(number)] for line in lines) == 1
    assert max(len(line) for line in lines) <= 80


def test_a_long_run_shows_its_first_and_last_rounds() -> None:
    text = printed(rounds_table(a_ledger(60)))
    first = [line.split()[0] for line in text.splitlines() if line.strip()]
    assert "1" in first
    assert "60" in first
    assert "30" not in first
    assert "…" in first
    assert sum(part.isdigit() for part in first) == MAX_ROWS


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


def drawn_ledger(refills: list[Refill]) -> Ledger:
    return Ledger(
        "logit", "logistic", "Tree", 1_000, 1, False, False, stopped="all 12 rounds are done",
        rounds=[a_round(k + 1) for k in range(12)], refills=refills,
    )  # fmt: skip


def lines(text: str) -> dict[str, str]:
    """The lines of a view by the name they begin with."""
    split = (line.split("  ") for line in text.splitlines())
    return {parts[0].strip(): "  ".join(parts[1:]).strip() for parts in split}


def test_the_view_shows_what_was_drawn_and_what_is_known() -> None:
    now = [100.0]
    view = FilteringView(20, clock=lambda: now[0])
    assert "is being drawn" in lines(printed(view.picture()))["draws"]
    view(a_refill(0))
    view(a_round(1))
    shown = lines(printed(view.picture()))
    assert (shown["error seen"], shown["certified"]) == ("none yet", "nothing yet")
    now[0] += 4
    view(a_refill(1, accepted=150))
    view(a_round(11))
    now[0] += 5  # which are spent on boosting, not on draws
    shown = lines(printed(view.picture()))
    assert shown["rounds"] == "11 of at most 20, 9 s"
    assert shown["draws"] == "2,000 in 2 samples, 500 a second"
    assert re.findall(r"[\d.]+ %", shown["kept"]) == ["15.0 %", "20.0 %"]
    assert shown["mean weight μ"] == "0.2500, from 0.2000 to 0.3125"
    assert shown["error seen"] == "12.50 % after 10 rounds"
    assert shown["certified"] == "at most 62.50 %"


def test_rows_that_came_before_certify_their_source_alone() -> None:
    view = FilteringView(20)
    view(a_refill(1, fresh=0, again=1_000))
    assert "of this source" in printed(view.picture())


def test_the_view_is_a_context_and_its_last_picture_stays() -> None:
    console = Console(file=io.StringIO(), width=80)
    with FilteringView(20, console) as view:
        view(a_refill(1))
        wish = view(a_round(11))  # type: ignore[func-returns-value]
    assert wish is None  # a watcher that returns True stops the run
    assert isinstance(console.file, io.StringIO)
    assert "11 of at most 20" in console.file.getvalue()


def test_every_refill_is_one_line_of_eighty_columns() -> None:
    refills = [a_refill(k, draws=100_000_000 + k) for k in range(MAX_ROWS)]
    text = printed(refills_table(drawn_ledger(refills), "data"))
    assert max(map(len, text.splitlines())) <= 80
    assert all(f"{refill.draws:,}" in text for refill in refills)
    assert "…" not in text
    assert "*" not in text
