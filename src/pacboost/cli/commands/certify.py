"""``pacboost certify``: an upper bound on the error of a model, by rows that no fit has seen."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pacboost.bounds.known_measures import MEASURES
from pacboost.cli import options
from pacboost.cli.group import THE_ANSWER_IS_NO, option_name
from pacboost.cli.output import answer, bold, certificate_facts, working
from pacboost.errors import NotCertified, ParameterError
from pacboost.numerics.checks import probability

if TYPE_CHECKING:
    from pacboost.bounds.certificate import Certificate
    from pacboost.cli.inputs.files import FittedModel

    Certified = tuple[Certificate, dict[str, Any], list[Any]]
    """A certificate, what JSON adds to it, and the parts to print."""


OPTIONS = ("delta", "models", "ordered", "copies")


@click.command(
    epilog=options.example(
        "pacboost certify income.pacb fresh.csv --target income",
        "pacboost certify income.pacb fresh.csv --target income --epsilon 0.15 && echo good enough",
        "pacboost certify fraud.pacb fresh.csv --target fraud --of recall,precision --by country",
        "pacboost certify calls.pacb fresh.csv --target type --target-error 0.02",
        "pacboost certify answers.csv --said verdict --truth label --by language",
        "pacboost certify parcels.pacb fresh.csv --target late --shares yes=.4,no=.6",
        "pacboost certify income.pacb fresh.csv --target income --new-rows next_month.csv",
    )
)
@options.answers
@options.score
@click.option(
    "--of",
    metavar="NAMES",
    help=f"What to certify, separated by commas: {', '.join(MEASURES)}.  [default: error]",
)
@click.option(
    "--cost",
    metavar="TRUE:SAID=NUMBER",
    multiple=True,
    help="Certify the mean cost: predicting SAID for an example of class TRUE costs this. The "
    "option may be repeated; other pairs cost 0.",
)
@click.option(
    "--positive", metavar="CLASS", help="The class for recall, precision and similar measures."
)
@options.column("--by", help="Certify every group of rows with a value of this.")
@click.option(
    "--end",
    type=click.Choice(["lower", "upper", "both"]),
    help="Which end to certify.  [default: the one that matters]",
)
@click.option("--top-k", default=5, help="For top_k_error: how many classes.")
@click.option("--p-min", default=0.001, help="For log_loss: clip probabilities here.")
@options.real("--clip", help="For absolute_error, of regressors: larger errors count as this.")
@options.real("--larger-than", help="For large_errors, of regressors: count errors above this.")
@options.epsilon
@options.delta
@options.models
@options.column(
    "--groups",
    help="Rows with the same value in this column depend on each other (the same patient).",
)
@options.copies
@options.flag("--ordered", help="The rows are in the order of time.")
@options.column(
    "--ratio-column",
    help="For a distribution shift: this column has the ratio of densities, new to old, of each "
    "row, up to a factor. Rows are kept with probability ratio/bound, and these certify.",
)
@options.real(
    "--ratio-bound",
    help="The largest ratio that is possible, fixed before the rows are seen; learned weights are "
    "clipped there, by default at 10.",
)
@options.new_rows
@options.seed
@options.abstain_below
@options.real(
    "--target-error",
    help="Find the confidence above which at most this share of the answers is wrong.",
)
@click.option(
    "--shares",
    metavar="CLASS=SHARE,...",
    help="Certify the error where the classes have these shares, such as late=.4,early=.6, or lie "
    "between two, as in late=.3:.5,early=.5:.7; any: whatever they are.",
)
@options.text
@options.drop
@options.format_options
@options.skip_unlabelled
@options.report
@options.details
@options.as_json
def command(model_path: Path, data: Path | None, target: str, **given: Any) -> None:
    """Certify the error of a model on new examples, by rows that it was not trained on.

    With --said no model is needed: a column of the file holds answers, whoever gave them.

    With --of, --cost or --by other measures are certified, which all hold together. With
    --abstain-below or --target-error only the confident answers are certified. With --epsilon
    the exit code is 1 if the certified error is larger than that.
    """
    from pacboost.bounds.shift import stays
    from pacboost.cli.inputs.rows import answers_or_rows

    epsilon = given["epsilon"]
    if epsilon is not None:
        probability("epsilon", epsilon)
    confident = given["target_error"] is not None or given["abstain_below"] is not None
    for one, other in (("groups", "ordered"), ("ratio_column", "new_rows")):
        # thresholds of the confidence have theorems for independent rows alone
        # (docs/proofs/selective.md)
        if confident and (given[one] or given[other]):
            raise click.UsageError(
                f"{option_name(one)} and {option_name(other)} cannot be combined with "
                "--abstain-below or --target-error; leave them out"
            )
    measures = any(given[name] for name in ("of", "cost", "by", "end"))
    measures |= given["positive"] is not None and not (confident and given["score"])
    if given["shares"] and (confident or measures):
        raise click.UsageError("--shares certifies the error alone; leave out the other options")
    hint = "certify --of absolute_error --clip NUMBER, or --of large_errors --larger-than NUMBER"
    if measures:
        for name in ("epsilon", "target_error", "abstain_below"):
            if given[name] is not None:
                raise click.UsageError(
                    f"{option_name(name)} certifies the error alone; leave out --of and --by"
                )
    model, X, y, columns = answers_or_rows(
        model_path, data, target, given, given["report"], numbers="" if measures else hint
    )
    if measures:
        _certify_measures(model, X, y, columns, given)
        return
    with working("counting mistakes"):
        certify = _confident_answers if confident else _all_answers
        certificate, content, parts = certify(model, X, y, columns, given)
    met = None if epsilon is None else certificate.value <= epsilon
    until = stays(certificate, epsilon)
    content |= {"met": met, "stays": until, "certificate": certificate.to_dict()}
    wanted = [] if met is None else ["", f"Is this at most {epsilon:g}? {'Yes' if met else 'NO'}."]
    wanted += [until] if until else []
    if given["report"] is not None:
        model.report(given["report"], X, y, certified=certificate)
    answer(given["as_json"], content, *parts, *wanted)
    if met is False:
        sys.exit(THE_ANSWER_IS_NO)


def _certify_measures(
    model: FittedModel, X: object, y: object, columns: Mapping[str, Any],
    given: Mapping[str, Any],
) -> None:  # fmt: skip
    from pacboost.bounds.wording import sentence
    from pacboost.questions.certify import certify_all
    from pacboost.reports.text import grid

    of = _measures(model, given)
    with working("counting"):
        family = certify_all(
            model, X, y, of=of, by=columns["by"], end=given["end"], groups=columns["groups"],
            shift=_shift(columns, given), **{name: given[name] for name in OPTIONS},
        )  # fmt: skip
    alone = None
    parts: list[Any] = [str(family)]
    if len(family) == 1 and columns["by"] is None and len(of) == 1:
        alone = family.certificates[0]
        facts = grid(certificate_facts(alone, details=given["details"]))
        parts = [bold(str(sentence(alone))), "", facts]
    if given["by"] is not None:
        with suppress(NotCertified, ParameterError):  # of several measures none is the worst
            parts += ["", f"Worst group: {family.worst_group}. {family.worst.claim}"]
            parts += [family.gap.claim] if given["end"] == "both" else []
    if given["report"] is not None:
        model.report(given["report"], X, y, certified=alone or family)
    answer(given["as_json"], (alone or family).to_dict(), *parts)


def _measures(model: Any, given: Mapping[str, Any]) -> list[Any]:
    from dataclasses import fields

    from pacboost.bounds.measures.cost import Cost
    from pacboost.cli.inputs.rows import class_named, measure_names

    options = {**given, "positive": class_named(getattr(model, "classes_", ()), given["positive"])}
    of: list[Any] = []
    for name in measure_names(given) or ([] if given["cost"] else ["error"]):
        kind = MEASURES.get(name)
        if kind is None or not {*kind.needed_options()} <= options.keys():
            of.append(name)  # certify_all names what is allowed
        else:
            of.append(kind(**{f.name: options[f.name] for f in fields(kind) if f.name in options}))
    return [*of, Cost(_costs(model, given["cost"]))] if given["cost"] else of


def _shift(columns: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    """Return the distribution shift that options describe; None without such options."""
    from pacboost import shift

    bound, seed = given["ratio_bound"], given["seed"]
    kinds = [name for name in ("ratio", "new_rows") if columns.get(name) is not None]
    # a world moves by one of these, and only one can be claimed (docs/decisions/0032-measures-
    # shifts-and-answers.md)
    if len(kinds) + (given["shares"] is not None) > 1:
        raise click.UsageError(
            "--shares, --ratio-column and --new-rows exclude each other; give one"
        )
    if given["shares"] is not None:
        return shift.shares(_shares(given["shares"]))
    if not kinds:
        if bound is not None:
            raise click.UsageError(
                "--ratio-bound came without --ratio-column or --new-rows; leave it out"
            )
        return None
    if kinds == ["new_rows"]:
        limit = shift.DEFAULT_BOUND if bound is None else bound
        return shift.new_rows(columns["new_rows"], bound=limit, seed=seed)
    if bound is None:
        raise click.UsageError(
            "--ratio-column came without --ratio-bound, a number that no ratio exceeds and that "
            "was fixed before the rows were seen"
        )
    return shift.ratio(columns["ratio"], bound=bound, seed=seed)


def _costs(model: Any, texts: tuple[str, ...]) -> dict[tuple[Any, Any], float]:
    from pacboost.cli.inputs.rows import class_named

    costs, classes = {}, model.classes_
    for text in texts:
        pair, _, number = text.rpartition("=")
        true, _, said = pair.partition(":")
        try:
            cost = float(number)
        except ValueError:
            raise click.UsageError(
                f"--cost is {text!r}; it has the form TRUE:SAID=NUMBER, as in sick:well=10",
            ) from None
        costs[class_named(classes, true), class_named(classes, said)] = cost
    return costs


def _shares(text: str) -> Any:
    """Read the share of each class: a number, or two limits with a colon between them."""
    if text == "any":
        return text
    shares = {}
    try:
        for part in str(text).split(","):
            name, _, ends = part.strip().rpartition("=")
            low, _, high = ends.partition(":")
            # one number is both ends: shares may be known exactly, or within limits
            shares[name] = float(low), float(high or low)
    except ValueError:
        raise click.UsageError(
            f"--shares is {text!r}; it has the form late=.4,early=.6 or late=.3:.5,early=.5:.7",
        ) from None
    return shares


def _all_answers(
    model: FittedModel, X: object, y: object, columns: dict[str, Any], given: Mapping[str, Any]
) -> Certified:
    from pacboost.questions.certify import certify
    from pacboost.reports.text import grid

    options = {name: given[name] for name in OPTIONS}
    shift, groups = _shift(columns, given), columns["groups"]
    certificate = certify(model, X, y, groups=groups, shift=shift, **options)
    sentence = certificate.sentence
    parts = [bold(sentence), "", grid(certificate_facts(certificate, details=given["details"]))]
    return certificate, {"sentence": sentence}, parts


def _confident_answers(
    model: FittedModel, X: object, y: object, _: object, given: Mapping[str, Any]
) -> Certified:
    import numpy as np

    from pacboost.bounds import estimates
    from pacboost.bounds.held_out import HeldOut
    from pacboost.bounds.wording import unanswered
    from pacboost.models.answers import confidence
    from pacboost.questions.answering import certify_answers

    asked = ("delta", "models", "target_error", "abstain_below", "copies")
    answering = certify_answers(model, X, y, **{name: given[name] for name in asked})
    predicted, chances = np.asarray(model.predict(X)), np.asarray(model.predict_proba(X))
    sure = np.asarray(confidence(predicted, chances, np.asarray(model.classes_)))
    rows = sure >= answering.point.threshold
    answered = HeldOut.of(np.asarray(y)[rows], predicted[rows], model.classes_)
    names = [str(name) for name in model.classes_.tolist()]
    claim, note = estimates.in_full(answering.certificate, answered, names)
    for words in unanswered(getattr(model, "details", {})):
        note = f"{words.capitalize()}. {note}"
    sentence = f"{claim} {answering.answers()} {note}"
    content = {"sentence": sentence, "answering": answering.to_dict()}
    return answering.certificate, content, [bold(sentence), "", answering.table()]
