"""The options that several commands have, with the same words in all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]

FILE = click.Path(path_type=Path)

JSON = "Print one JSON document instead of text."

as_json = click.option("--json", "as_json", is_flag=True, help=JSON)
target = click.option(
    "--target", metavar="COLUMN", required=True, help="The column that holds the labels."
)
text = click.option(
    "--text",
    metavar="COLUMN",
    multiple=True,
    help="This column holds text, which is read word by word. The option may be repeated.",
)
abstain_below = click.option(
    "--abstain-below",
    type=click.FloatRange(0, 1),
    help="Give no answer where the model's confidence is below this.",
)
drop = click.option(
    "--drop",
    metavar="COLUMN",
    multiple=True,
    help="Ignore this column. The option may be repeated.",
)
categories = click.option(
    "--categories/--no-categories",
    default=True,
    show_default=True,
    help="Treat columns of text as categories, or reject them.",
)
delta = click.option(
    "--delta",
    type=float,
    default=0.05,
    show_default=True,
    help="The probability with which the certificate is allowed to be wrong.",
)
epsilon = click.option(
    "--epsilon",
    type=float,
    help="The largest error that you accept. If the certified error is larger, the exit code is 1.",
)
seed = click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Seed of the random number generator.",
)
jobs = click.option(
    "--jobs", default=-1, show_default=True, help="Number of threads; -1 means all cores."
)
max_bins = click.option(
    "--max-bins", default=255, show_default=True, help="Maximum number of bins per feature."
)
leaves = click.option(
    "--leaves", type=int, help="Maximum number of leaves of a tree.  [default: 31]"
)
model_file = click.argument("model", type=FILE)
data_file = click.argument("data", type=FILE)


def output(help: str) -> Decorator[Any]:  # noqa: A002 - the name that click uses
    """Give the option that names the file to write."""
    return click.option("--output", "-o", type=FILE, help=help)


def together(*options: Decorator[Any]) -> Decorator[Any]:
    """Give several options as one decorator, shown in this order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def example(*lines: str) -> str:
    """Give the examples that end the help of a command, one a line."""
    return "\n".join(
        ["\b", "Example:" if len(lines) == 1 else "Examples:", *(f"  {x}" for x in lines)]
    )
