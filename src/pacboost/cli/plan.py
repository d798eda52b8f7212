"""``pacboost plan``: one command for each question, with the question's own parameters."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import click


class Questions(click.Group):
    """Commands made from the functions of questions/plan.py when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the questions."""
        from pacboost.questions.plan import QUESTIONS

        return list(QUESTIONS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Make the command of a question."""
        from pacboost.questions.plan import QUESTIONS

        ask: Any = QUESTIONS.get(cmd_name)
        if ask is None:
            return None
        options: list[click.Parameter] = [
            _option(parameter) for parameter in inspect.signature(ask).parameters.values()
        ]
        options += [
            click.Option(["--json", "as_json"], is_flag=True, help="Answer in JSON."),
            click.Option(
                ["--plot"],
                type=click.Path(path_type=Path),
                help="Draw the answer against the first parameter into this file.",
            ),
        ]

        def answer(as_json: bool, plot: Path | None, **given: Any) -> None:
            _answer(ask, given, as_json, plot)

        return click.Command(cmd_name, callback=answer, params=options, help=_first_line(ask))


def _option(parameter: inspect.Parameter) -> click.Option:
    kind = int if "int" in str(parameter.annotation) else float
    required = parameter.default is inspect.Parameter.empty
    name = f"--{parameter.name.replace('_', '-')}"
    if required:
        return click.Option([name], type=kind, required=True)
    return click.Option([name], type=kind, default=parameter.default, show_default=True)


def _first_line(ask: Any) -> str:
    return (inspect.getdoc(ask) or "").splitlines()[0]


def _answer(ask: Any, given: dict[str, Any], as_json: bool, plot: Path | None) -> None:
    found = ask(**given)
    if as_json:
        click.echo(found.to_json())
    else:
        from rich.console import Console
        from rich.table import Table

        table = Table(title=found.question, title_justify="left", show_header=False)
        for name, text in found.facts():
            table.add_row(name, text)
        Console().print(table)
    if plot is not None:
        from pacboost.questions import needs
        from pacboost.reports.plots import plan_curve

        with needs.skipped():  # the curve shows what is proved, and is asked for at many points
            plan_curve(ask, given, plot)
