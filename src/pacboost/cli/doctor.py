"""``pacboost doctor``: is everything in place on this machine?"""

from __future__ import annotations

import click

from pacboost.cli import options
from pacboost.cli.commands import the_answer_is_no


@click.command(epilog=options.example("pacboost doctor"))
@options.as_json
def command(as_json: bool) -> None:
    """Look at versions, cores, the cache of compiled code, and what is installed besides.

    Ends with 1 if something does not work.
    """
    from pacboost.cli import telling
    from pacboost.cli.examining import findings

    with telling.working("looking at this machine"):
        found = list(findings())
    well = all(one.well for one in found)
    if as_json:
        telling.tell_json({"well": well, "findings": [vars(one) for one in found]})
    else:
        marks = {True: "ok", False: "FAILS", None: "–"}
        telling.show(telling.grid([(f"{marks[f.mark]:>5}  {f.name}", f.words) for f in found]))
        telling.show("", "All is well." if well else "Something does not work: see above.")
    if not well:
        raise the_answer_is_no()
