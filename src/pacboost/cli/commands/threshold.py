"""``pacboost threshold``: the threshold at which a promise holds, and a model that uses it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pacboost.cli import options
from pacboost.cli.output import answer, bold, working

WISHES = ("recall", "precision", "false_positive_rate", "target_error")


@click.command(
    epilog=options.example(
        "pacboost threshold fraud.pacb fresh.csv --target fraud --positive yes --recall 0.95 "
        "--output careful.pacb",
        "pacboost threshold fraud.pacb fresh.csv --target fraud --cost 100,1 --json",
        "pacboost threshold answers.csv --score risk --truth label --positive bad --recall 0.9",
    )
)
@options.answers
@options.score
@click.option("--positive", metavar="CLASS", help="The class to be found.  [default: the second]")
@options.real("--recall", help="Find at least this share of the class.")
@options.real("--precision", help="At least this share of what is found is right.")
@options.real("--false-positive-rate", help="At most this share of other classes is found.")
@click.option(
    "--cost",
    metavar="MISS,ALARM",
    help="The costs of a missed example and of a false alarm, to minimise the certified mean cost.",
)
@options.real(
    "--target-error",
    help="Answer only where confident, so that at most this share of the answers is wrong.",
)
@options.delta
@options.models
@options.copies
@options.text
@options.drop
@options.format_options
@options.skip_unlabelled
@options.output("Write the model with its threshold to this file.")
@options.as_json
def command(
    model_path: Path, data: Path | None, target: str, output: Path | None, **arguments: Any
) -> None:
    """Choose the threshold of a model so that recall, precision or false alarms are guaranteed.

    With --target-error rows whose confidence is too small get no answer, and the error among the
    answered is guaranteed. The rows have to be new to the model. Prints the guarantee, what is
    certified on the other side, and where the threshold lies. Exit code 1: no threshold keeps this
    promise, or more rows are needed, and how many.
    """
    from pacboost.cli.inputs.rows import answers_or_rows, class_named
    from pacboost.estimators.decisions.choosing import choose_threshold
    from pacboost.estimators.decisions.threshold import ThresholdClassifier

    hint = "only classes have a threshold"
    model, X, y, _ = answers_or_rows(model_path, data, target, arguments, output, numbers=hint)
    # a threshold is chosen for the scores of the model; the one that it had is replaced
    if isinstance(model, ThresholdClassifier):
        model = model.estimator_
    asked = {name: arguments[name] for name in WISHES if arguments[name] is not None}
    cost = arguments["cost"]
    if not asked and cost is None:
        raise click.UsageError(
            "give one goal: --recall, --precision, --false-positive-rate, --target-error or --cost "
            "MISS,ALARM, fixed before the rows are looked at"
        )
    try:
        cost = None if cost is None else tuple(map(float, cost.split(",")))
    except ValueError:
        raise click.UsageError(
            f"--cost is {arguments['cost']!r}; it holds two numbers, MISS,ALARM, as in 100,1",
        ) from None
    asked |= {name: arguments[name] for name in ("delta", "models", "copies")}
    positive = class_named(model.classes_, arguments["positive"])
    with working("choosing"):
        chosen: Any = choose_threshold(model, X, y, positive=positive, cost=cost, **asked)
    if output is not None:
        chosen.save(output)
    content = {"threshold": chosen.threshold_, "sentence": chosen.sentence_}
    content["certificate"] = chosen.certificate_.to_dict()
    if arguments["target_error"] is not None:
        content["answering"], sides = chosen.curve_.to_dict(), chosen.curve_.table()
    else:
        content |= {"positive": chosen.positive, "curve": chosen.curve_.columns}
        content["others"] = [certificate.to_dict() for certificate in chosen.others_]
        sides = chosen.decision.claims.table()
    written = [f"Written to {output}."] if output is not None else []
    answer(arguments["as_json"], content, bold(chosen.sentence_), "", sides, "", *written)
