"""The options of ``pacboost fit`` that apply to boosting by filtering only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

OPTIONS = [
    click.option(
        "--filter", "filtering", is_flag=True, help="Boost by filtering, also from a CSV file."
    ),
    click.option("--memory", help="Memory limit of the whole process, such as 2GB."),
    click.option("--time", "time_limit", help="Time limit, such as 60s or 5m."),
    click.option(
        "--edge",
        type=float,
        help="The edge 1 - 2·error that the learner is assumed to have. The theorems are then "
        "followed exactly: every round draws a new sample.",
    ),
    click.option(
        "--sample-rows",
        type=int,
        help="Maximum number of rows kept at a time.  [default: 200000, or what --memory allows]",
    ),
    click.option(
        "--checkpoint",
        type=click.Path(path_type=Path),
        help="Save the state of the run to this file from time to time and on Ctrl-C. If the file "
        "exists, continue from it.",
    ),
    click.option("--table", help="The table of a .duckdb file to read."),
    click.option("--query", help="A query on a .duckdb file, instead of a table."),
    click.option(
        "--classes",
        help="All labels, separated by commas, if a rare one may appear late in the data.",
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
"""Any of these options selects boosting by filtering, whatever the kind of file."""


OF_THE_SOURCE = ("table", "query", "drop", "classes")


def source_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Select the options that say how the source is read."""
    return {name: given[name] for name in OF_THE_SOURCE}


def filter_options(command: Command) -> Command:
    """Add the options to a command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command
