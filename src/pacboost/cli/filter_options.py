"""The options of ``pacboost fit`` that only boosting by filtering knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

OPTIONS = [
    click.option("--filter", "filtering", is_flag=True, help="Boost a CSV file by filtering, too."),
    click.option("--memory", help="The most memory the process may hold, such as 2GB."),
    click.option("--time", "time_limit", help="Stop after so long, such as 60s or 5m."),
    click.option(
        "--edge",
        type=float,
        help="The correlation 1 - 2·error that the learner promises: follow the theorems to the "
        "letter, with a sample of its own for every round.",
    ),
    click.option(
        "--sample-rows",
        type=int,
        help="The most rows kept at a time.  [default: 200000, or what --memory leaves room for]",
    ),
    click.option(
        "--checkpoint",
        type=click.Path(path_type=Path),
        help="Write how far it came to this file, now and then and on Ctrl-C; go on from it if it "
        "is there.",
    ),
    click.option("--table", help="The table of a .duckdb file."),
    click.option("--query", help="A query to a .duckdb file, instead of a table."),
    click.option(
        "--classes",
        help="All labels, separated by commas, where a rare one may come late.",
    ),
]

MEAN_FILTERING = (
    "filtering",
    "memory",
    "time_limit",
    "edge",
    "sample_rows",
    "checkpoint",
    "table",
    "query",
    "classes",
)
"""Whoever gives one of these wants to filter, whatever the file is."""


OF_THE_SOURCE = ("table", "query", "drop", "classes")


def source_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Pick the options that say how the source is read."""
    return {name: given[name] for name in OF_THE_SOURCE}


def filter_options(command: Command) -> Command:
    """Add the options to a command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command
