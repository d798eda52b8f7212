"""``pacboost lab``: boosting to play with, in the browser."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from pacboost.cli import options


@click.command(
    epilog=options.example(
        "pacboost lab --story elevator", "pacboost lab iris.csv --target species --no-browser"
    )
)
@click.argument("data", type=options.FILE, required=False)
@options.column("--target", help="The column of the file that holds the labels.")
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help="The port to listen on.  [default: 8642, or any free one]",
)
@click.option("--story", help="The story to begin with, such as elevator.")
@click.option("--browser/--no-browser", default=True, help="Whether to open the page.")
@options.as_json
def command(
    data: Path | None,
    target: str | None,
    port: int | None,
    story: str | None,
    browser: bool,
    as_json: bool,
) -> None:
    """Open a page that shows boosting at work, round by round, on points that you can change.

    DATA is a CSV file whose columns of numbers can be looked at two at a time; without it, the page
    offers example data sets. The server listens on this machine only and needs the token in the
    address that it prints. Ctrl-C ends it.
    """
    from pacboost.cli.output import echo, print_json
    from pacboost.lab.page_files import stories
    from pacboost.lab.server import serve

    if target is not None and data is None:
        raise click.UsageError("--target names a column of a file; name the file, too")

    if data is not None and not data.exists():
        raise click.UsageError(f"{data}: there is no such file")
    if story is not None and story not in stories():
        raise click.UsageError(f"there is no story {story!r}; choose {', '.join(stories())}")

    def say(address: str) -> None:
        if as_json:
            print_json({"address": address})
            return
        echo(f"The lab is at {address}")
        echo("Press Ctrl-C to end it.")

    serve(data, target, port, story=story, browser=browser, say=say)
    sys.stdout.flush()
    os._exit(0)  # an answer may still be in C++ code, which Python's usual end would abort
