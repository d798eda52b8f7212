"""``pacboost plan``: one command for each question, with the parameters of that question."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from pacboost.cli import options
from pacboost.cli.group import WholeSentences, option_name

if TYPE_CHECKING:
    from pacboost.theory.plan_learning import Plan

EXAMPLES = {
    "finite": "--epsilon 0.1 --delta 0.05 --size 1000",
    "vc": "--epsilon 0.1 --delta 0.05 --dimension 4",
    "rectangle": "--epsilon 0.1 --delta 0.05 --dimensions 2",
    "stumps": "--epsilon 0.1 --delta 0.05 --features 20",
    "rounds": "--edge 0.4 --rows 100",
    "filtering": "--epsilon 0.1 --delta 0.05 --edge 0.2 --threshold 0.75",
    "confidence": "--failure 0.9 --delta 0.05 --epsilon 0.1 --gap 0.1",
    "resample": "--edge 0.2 --delta 0.05 --rounds 100 --log-size 8",
    "holdout": "--epsilon 0.1 --delta 0.05 --error 0.05 --power 0.9",
    "recall": "--recall 0.9 --delta 0.05 --true-recall 0.95 --share 0.01",
    "coverage": "--coverage 0.9 --delta 0.05 --excess 0.02",
    "monitor": "--before 0.05 --after 0.08 --delta 0.05",
    "no_free_lunch": "--domain 1024",
    "strong": "--epsilon 0.1 --delta 0.05 --edge 0.4 --dimension 3",
}
MEANINGS = {
    "epsilon": "The largest error that is accepted.",
    "delta": "The probability with which the result is allowed to fail.",
    "error": "The true error of the classifier, by default half of epsilon; for rounds, the "
    "training error to reach.",
    "power": "The probability that the classifier passes, or that each class has enough rows.",
    "edge": "The edge 1 - 2·error that every weak rule has, at least.",
    "dimension": "The VC dimension of the class of hypotheses.",
    "dimensions": "The number of columns.",
    "features": "The number of columns.",
    "size": "The number of hypotheses.",
    "log_size": "The natural logarithm of the number of hypotheses.",
    "rows": "The number of training rows.",
    "rounds": "The number of rounds.",
    "price": "The price of a label; the answer then names the cost of all draws.",
    "threshold": "The run stops when the mean weight is below this share of epsilon.",
    "failure": "The probability with which one run of the learner fails.",
    "gap": "How much larger than epsilon the error of the chosen run may be.",
    "before": "The certified error.",
    "after": "The error after the jump that is to be seen.",
    "run_length": "The average number of rows to a false alarm of the change detector, at least.",
    "domain": "The number of different examples that exist.",
    "recall": "The least share of positive examples to be found.",
    "true_recall": "The share of positive examples that the classifier really finds.",
    "share": "The share of positive examples among all, or of those of the rarest class.",
    "coverage": "The least share of examples whose set holds the true class.",
    "excess": "How much more than the coverage asked for is accepted on average.",
    "classes": "The number of classes that are each to be covered.",
}


class Questions(WholeSentences):
    """One command for each function of theory/plan.py."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the questions."""
        from pacboost.theory.plan import QUESTIONS

        return list(QUESTIONS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Make the command of a question."""
        from pacboost.theory.plan import QUESTIONS

        ask: Any = QUESTIONS.get(cmd_name)
        if ask is None:
            return None
        parameters: list[click.Parameter] = [
            _option(parameter)
            for parameter in inspect.signature(ask, eval_str=True).parameters.values()
        ]
        parameters += [
            click.Option(
                ["--plot"],
                type=options.FILE,
                help="Draw the answer as a function of the first parameter, into this file.",
            ),
            click.Option(["--json", "as_json"], is_flag=True, help=options.JSON),
        ]

        first = (inspect.getdoc(ask) or "").partition("\n\n")[0]
        return click.Command(
            cmd_name,
            callback=partial(_answer, ask),
            params=parameters,
            help=" ".join(first.split()).replace("``", ""),
            epilog=options.example(f"pacboost plan {cmd_name} {EXAMPLES[cmd_name]}"),
        )


@click.group(
    cls=Questions,
    epilog=options.example(
        "pacboost plan holdout --epsilon 0.05 --delta 0.05 --error 0.03",
        "pacboost plan rectangle --epsilon 0.1 --delta 0.05 --dimensions 2 --json",
    ),
)
def command() -> None:
    """Compute how many examples, rounds, draws or runs are needed."""


def _option(parameter: inspect.Parameter) -> click.Option:
    kinds = (parameter.annotation, *get_args(parameter.annotation))  # int, or int | None
    kind = int if int in kinds else float
    required = parameter.default is inspect.Parameter.empty
    default = {} if required else {"default": parameter.default, "show_default": True}
    name, meaning = option_name(parameter.name), MEANINGS.get(parameter.name)
    return click.Option([name], type=kind, required=required, help=meaning, **default)


def _answer(ask: Callable[..., Plan], as_json: bool, plot: Path | None, **arguments: Any) -> None:
    if plot is not None and not any(isinstance(value, float) for value in arguments.values()):
        raise click.UsageError(
            "--plot draws the answer against a parameter that is a fraction, and this question has "
            "none. Leave --plot out."
        )
    plan = ask(**arguments)
    if as_json:
        click.echo(plan.to_json())
    else:
        from rich.table import Table

        from pacboost.cli.output import print_parts

        table = Table(title=plan.question, title_justify="left", show_header=False)
        for name, text in plan.facts():
            table.add_row(name, text)
        print_parts(table)
    if plot is not None:
        from pacboost.reports.plots import plan_curve
        from pacboost.theory import needs

        with needs.skipped():  # the curve shows what is proved, and is asked for at many points
            plan_curve(ask, arguments, plot)
