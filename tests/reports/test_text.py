"""The tables that people see in the terminal."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import islice

from rich.console import Console

from pacboost.boosters.adaboost import AdaBoost
from pacboost.bounds.training import training_error
from pacboost.learners.stump import Stump
from pacboost.ledgers.ledger import Ledger
from pacboost.reports.progress import RoundsBar
from pacboost.reports.text import MOST_ROWS, certificate_panel, rounds_table
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


def test_numbers_stay_whole_beside_long_rules() -> None:
    ledger = a_ledger(4)
    long = "a feature with a long name > 0.123 → the second class, else the first"
    ledger.rounds = [replace(entry, rule=long, validation=0.25) for entry in ledger.rounds]
    text = printed(rounds_table(ledger))
    for entry in ledger.rounds:
        for number in (entry.error, entry.edge, entry.vote, entry.normaliser):
            assert f"{number:.4f}" in text
    assert "0.2500" in text


def test_a_long_run_shows_its_first_and_last_rounds() -> None:
    text = printed(rounds_table(a_ledger(60)))
    first = [line.split()[0] for line in text.splitlines() if line.strip()]
    assert "1" in first
    assert "60" in first
    assert "30" not in first
    assert "…" in first
    assert sum(part.isdigit() for part in first) == MOST_ROWS


def test_the_panel_begins_with_the_claim() -> None:
    ledger = a_ledger(30)
    certificate = training_error(ledger)
    text = printed(certificate_panel(certificate, ledger), width=120)
    assert certificate.claim in text.splitlines()[1]
    assert "margin of at most" in text


def test_the_bar_ends_at_the_last_round() -> None:
    console = Console(file=io.StringIO(), width=100)
    ledger = a_ledger(7)
    with RoundsBar(7, console) as bar:
        for entry in ledger.rounds:
            bar(entry)
    assert isinstance(console.file, io.StringIO)
    assert "7/7" in console.file.getvalue()
