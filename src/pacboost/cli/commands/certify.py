"""``pacboost certify``: an upper bound on the error of a model, by rows that no fit has seen."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pacboost.cli import options
from pacboost.cli.group import the_answer_is_no
from pacboost.cli.inputs.files import load, model_first
from pacboost.cli.output import (
    bold,
    certificate_facts,
    certificate_sentence,
    print_json,
    print_parts,
    working,
)
from pacboost.errors import FileError, NotCertified, ParameterError
from pacboost.numerics.checks import probability

if TYPE_CHECKING:
    from pacboost.bounds.answering import Answering
    from pacboost.bounds.certificate import Certificate
    from pacboost.bounds.family import Family
    from pacboost.bounds.held_out import HeldOut

    Certified = tuple[Certificate, dict[str, Any], list[Any]]
    """A certificate, what JSON adds to it, and the parts to print."""


OPTIONS = ("end", "top_k", "p_min", "clip", "larger_than", "delta", "models", "ordered", "copies")


@click.command(
    epilog=options.example(
        "pacboost certify income.pacb fresh.csv --target income",
        "pacboost certify income.pacb fresh.csv --target income --epsilon 0.15 && echo good enough",
        "pacboost certify fraud.pacb fresh.csv --target fraud --of recall,precision --by country",
        "pacboost certify intents.pacb fresh.csv --target intent --target-error 0.02",
    )
)
@options.model_file
@options.data_file
@options.target
@click.option(
    "--of",
    metavar="NAMES",
    help="What to certify, separated by commas: error, recall, precision, false_positive_rate, "
    "false_negative_rate, f1, jaccard, balanced_error, top_k_error, auc, brier, log_loss; of "
    "regressors absolute_error, large_errors.  [default: error]",
)
@click.option(
    "--cost",
    metavar="TRUE:SAID=NUMBER",
    multiple=True,
    help="Certify the mean cost, where calling the class TRUE by the name SAID costs this. The "
    "option may be repeated; what is not named costs 0.",
)
@click.option("--positive", metavar="CLASS", help="The class that recall and the like speak of.")
@click.option("--by", metavar="COLUMN", help="Certify every group of rows with a value of this.")
@click.option(
    "--end",
    type=click.Choice(["lower", "upper", "both"]),
    help="Which end to certify.  [default: the one that matters]",
)
@click.option("--top-k", default=5, show_default=True, help="For top_k_error: how many classes.")
@click.option(
    "--p-min", default=0.001, show_default=True, help="For log_loss: clip probabilities here."
)
@click.option("--clip", type=float, help="For absolute_error: larger errors count as this.")
@click.option("--larger-than", type=float, help="For large_errors: count errors above this.")
@options.epsilon
@options.delta
@options.models
@click.option(
    "--groups",
    metavar="COLUMN",
    help="Rows with the same value in this column depend on each other (the same patient).",
)
@options.copies
@options.order
@click.option("--ordered", is_flag=True, help="The rows are in the order of time.")
@options.abstain_below
@click.option(
    "--target-error",
    type=float,
    help="Find the confidence above which at most this share of the answers is wrong.",
)
@options.text
@options.drop
@options.format_options
@options.skip_unlabelled
@options.as_json
def command(model_path: Path, data: Path, target: str, **given: Any) -> None:
    """Certify the error of a model on new examples, by rows that it was not trained on.

    With --of, --cost or --by other measures are certified, which all hold together. With
    --abstain-below or --target-error only the confident answers are certified. With --epsilon
    the exit code is 1 if the certified error is larger than that.
    """
    from pacboost.cli.inputs.rows import fresh_rows

    model_path, data = model_first(model_path, data)
    epsilon = given["epsilon"]
    if epsilon is not None:
        probability("epsilon", epsilon)
    confident = given["target_error"] is not None or given["abstain_below"] is not None
    if confident and (given["groups"] or given["ordered"]):
        raise click.UsageError(
            "--groups and --ordered cannot be combined with --abstain-below or --target-error; "
            "leave them out"
        )
    model = load(model_path)
    if any(given[name] for name in ("of", "cost", "by", "end", "positive")):
        run_measures(model, data, target, given)
        return
    if not hasattr(model, "classes_"):
        raise FileError(
            f"{model_path}: predicts numbers; certify --of absolute_error --clip NUMBER, or "
            "--of large_errors --larger-than NUMBER"
        )
    X, y, columns, order = fresh_rows(model, data, target, given)
    with working("counting mistakes"):
        if confident:
            certificate, document, parts = _of_confident_answers(model, X, y, given)
        else:
            certificate, document, parts = _of_all_answers(model, X, y, columns["groups"], given)
    met = None if epsilon is None else certificate.value <= epsilon
    if given["as_json"]:
        content = {**document, **order, "met": met, "certificate": certificate.to_dict()}
        print_json(content)
    else:
        wanted = "" if met is None else f"Is this at most {epsilon:g}? {'Yes' if met else 'NO'}."
        print_parts(*parts, *(["", wanted] if wanted else []))
    if met is False:
        raise the_answer_is_no()


def run_measures(model: Any, data: Path, target: str, given: Mapping[str, Any]) -> None:
    """Read the rows, certify what was asked for, and print it."""
    from pacboost.bounds.wording import sentence
    from pacboost.cli.inputs.rows import class_named, fresh_rows
    from pacboost.questions.certify import certify_all
    from pacboost.questions.measuring import is_list
    from pacboost.reports.text import grid

    for name in ("epsilon", "target_error", "abstain_below"):
        if given[name] is not None:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} speaks of the error alone; leave out --of and --by")
    X, y, columns, order = fresh_rows(model, data, target, given)
    of = _of(model, given)
    with working("counting"):
        found = certify_all(
            model, X, y, of=of, **columns,
            positive=class_named(getattr(model, "classes_", ()), given["positive"]),
            **{name: given[name] for name in OPTIONS},
        )  # fmt: skip
    plain = columns["by"] is None and not is_list(of)
    alone = found.certificates[0] if len(found) == 1 and plain else None
    if given["as_json"]:
        print_json({**(alone or found).to_dict(), **order})
    elif alone is None:
        print_parts(str(found), *_about_groups(found, given))
    else:
        print_parts(bold(str(sentence(alone))), "", grid(certificate_facts(alone)))


def _of(model: Any, given: Mapping[str, Any]) -> Any:
    names = [name.strip() for name in (given["of"] or "").split(",") if name.strip()]
    if not given["cost"]:
        return names[0] if len(names) == 1 else names or "error"
    return [*names, _costs(model, given["cost"])] if names else _costs(model, given["cost"])


def _costs(model: Any, texts: tuple[str, ...]) -> dict[tuple[Any, Any], float]:
    from pacboost.cli.inputs.rows import class_named

    found, classes = {}, model.classes_
    for text in texts:
        pair, _, number = text.rpartition("=")
        true, _, said = pair.partition(":")
        try:
            cost = float(number)
        except ValueError:
            raise ParameterError(
                f"--cost is {text!r}; it has the form TRUE:SAID=NUMBER, as in sick:well=10"
            ) from None
        found[class_named(classes, true), class_named(classes, said)] = cost
    return found


def _about_groups(found: Family, given: Mapping[str, Any]) -> list[str]:
    if given["by"] is None:
        return []
    try:
        said = ["", f"Worst group: {found.worst_group}. {found.worst.claim}"]
        return [*said, found.gap.claim] if given["end"] == "both" else said
    except (NotCertified, ParameterError):  # of several measures none is the worst
        return []


def _of_all_answers(model: Any, X: Any, y: Any, groups: Any, given: Mapping[str, Any]) -> Certified:
    from pacboost.bounds.held_out import HeldOut
    from pacboost.questions.certify import certify
    from pacboost.reports.text import grid

    options = {name: given[name] for name in ("delta", "models", "ordered", "copies")}
    found = certify(model, X, y, groups=groups, **options)
    counted = HeldOut.of(y, model.predict(X), model.classes_)
    said = certificate_sentence(found, counted, model.classes_.tolist())
    parts = [bold(said), "", grid(certificate_facts(found))]
    return found, {"sentence": said}, parts


def _of_confident_answers(model: Any, X: Any, y: Any, given: Mapping[str, Any]) -> Certified:
    from pacboost.bounds import estimates
    from pacboost.questions.selective import certify_answers

    asked = ("delta", "models", "target_error", "abstain_below", "copies")
    options = {name: given[name] for name in asked}
    answering = certify_answers(model, X, y, **options)
    found, names = answering.certificate, [str(name) for name in model.classes_.tolist()]
    claim, note = estimates.in_full(found, _answered(model, X, y, answering), names)
    said = f"{claim} {answering.answers()} {note}"
    parts = [bold(said), "", answering.table()]
    return found, {"sentence": said, "answering": answering.to_dict()}, parts


def _answered(model: Any, X: Any, y: Any, answering: Answering) -> HeldOut | None:
    """Count the rows that are answered."""
    import numpy as np

    from pacboost.bounds.held_out import HeldOut
    from pacboost.models.answers import confidence

    decided, chances = np.asarray(model.predict(X)), np.asarray(model.predict_proba(X))
    sure = np.asarray(confidence(decided, chances, np.asarray(model.classes_)))
    rows = sure >= answering.point.threshold
    return HeldOut.of(np.asarray(y)[rows], decided[rows], model.classes_)
