"""``pacboost doctor``: check the installation."""

from __future__ import annotations

import click

from pacboost.cli import options
from pacboost.cli.group import the_answer_is_no


@click.command(epilog=options.example("pacboost doctor"))
@options.as_json
def command(as_json: bool) -> None:
    """Check versions, cores, the cache of compiled code, and optional packages.

    The exit code is 1 if something does not work.
    """
    from pacboost.cli.actions.doctor import findings
    from pacboost.cli.output import print_json, print_parts, working
    from pacboost.reports.text import grid

    with working("checking the installation"):
        found = list(findings())
    well = all(one.well for one in found)
    if as_json:
        print_json({"well": well, "findings": [vars(one) for one in found]})
    else:
        marks = {True: "ok", False: "FAILS", None: "–"}
        print_parts(grid([(f"{marks[f.mark]:>5}  {f.name}", f.words) for f in found]))
        print_parts(
            "",
            "Everything works." if well else "Something does not work: see the lines marked FAILS.",
        )
    if not well:
        raise the_answer_is_no()
