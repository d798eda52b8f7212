"""``pacboost compare``: which booster does best here?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pacboost.cli import options


@click.command(
    epilog=options.example(
        "pacboost compare adult.csv --target income --boosters adaboost,logit --learner tree"
    )
)
@options.data_file
@options.target
@click.option(
    "--boosters",
    default="adaboost,logit,adaboost_v,lp,erlp",
    show_default=True,
    help="Names of boosters with commas between them, or 'all'.",
)
@click.option(
    "--learner",
    type=click.Choice(["stump", "tree"]),
    default="stump",
    show_default=True,
    help="What is boosted.",
)
@options.leaves
@click.option("--rounds", default=100, show_default=True, help="The most rounds each may run.")
@click.option(
    "--learning-rate", type=float, help="Scales every vote.  [default: 0.1 for trees, else 1]"
)
@options.max_bins
@click.option(
    "--test",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.25,
    show_default=True,
    help="Share of rows that no booster sees, to test on; 0 for none.",
)
@click.option(
    "--share",
    type=float,
    default=0.05,
    show_default=True,
    help="Share of the worst rows whose mean margin is shown.",
)
@options.categories
@options.drop
@options.delta
@options.seed
@options.jobs
@click.option("--plot", type=options.FILE, help="Draw errors and margins into this file.")
@options.as_json
def command(data: Path, target: str, as_json: bool, plot: Path | None, **given: Any) -> None:
    """Boost the rows of a CSV file by several rules, and lay them side by side.

    Prints rounds, seconds, training error against its bound, margins, and the error on rows set
    apart with its interval. A booster that fails says why, and the others go on.
    """
    from pacboost.cli.actions.compare import run_compare

    run_compare(data, target, given, as_json=as_json, plot=plot)
