"""The fits of ``pacboost fit`` in memory: chosen automatically, by options, or of numbers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from numpy.typing import NDArray

from pacboost.cli.group import THE_ANSWER_IS_NO
from pacboost.cli.inputs.examples import about, read_examples, take_weights
from pacboost.cli.inputs.files import check_output, data_file
from pacboost.cli.inputs.given import given
from pacboost.cli.inputs.rows import class_named, text_features
from pacboost.cli.output import (
    bold,
    certificate_facts,
    certificate_of,
    make_console,
    print_json,
    print_parts,
    report_model,
    report_saved,
    save_model,
    sentence_of,
)
from pacboost.errors import FileError
from pacboost.estimators.boosting.adaboost import AdaBoostClassifier
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.boosting.regressor import BoostRegressor
from pacboost.estimators.strong.classifier import StrongClassifier
from pacboost.fit.role_sizes import NO_CERTIFYING_BELOW
from pacboost.numerics.checks import probability
from pacboost.numerics.percent import percent
from pacboost.reports.text import certificate_panel, grid, hardest_table, listed, rounds_table
from pacboost.sources.mixed import MixedFeatures

PARTS = {"learn": "for training", "watch": "for early stopping", "certify": "to certify"}
CLASSES_NAMED = 6
RULES = {"pairwise": "pairwise", "no-interactions": "no_interactions"}
SLOPES = {"+1": 1, "1": 1, "-1": -1}


def run_in_memory(
    way: str, data: Path, target: str, output: Path | None, arguments: Mapping[str, Any]
) -> None:
    """Read the rows, fit, save and show the model; after Ctrl-C, that of the finished rounds."""
    check_output(output, data)
    make, show_result = WAYS[way]
    file, weight, numbers = data_file(data, arguments), arguments["weight"], way == "numbers"
    columns: dict[str, Any] = {}
    if way == "chosen":
        for name in ("epsilon", "delta", "recall", "precision"):
            if arguments[name] is not None:
                probability(name, arguments[name])
        columns = {"groups": arguments["groups"], "time": arguments["time_column"]}
    examples = read_examples(
        file, target, arguments["drop"], categories=arguments["categories"], classes=not numbers,
        text=arguments["text"] if way == "chosen" else None,
        others=[name for name in (*columns.values(), weight) if name is not None],
    )  # fmt: skip
    if numbers and examples.labels.dtype.kind not in "iufb":
        raise FileError(
            f"{file}: column {target!r} holds text, such as {str(examples.labels[0])!r}, and "
            "--loss predicts numbers; name another column by --target, or leave --loss out to "
            "predict classes"
        )
    examples, weights = take_weights(file, examples, weight)
    table, labels = examples.table, examples.labels
    model = make(arguments, labels)
    try:
        model.fit(table, labels, weights, copies=arguments["copies"], **columns)
    finally:
        # after Ctrl-C the rounds that are done make a model, which is saved before anything is
        # printed
        if hasattr(model, "model_"):
            save_model(model, output, forget_rows=arguments["forget_rows"])
            features = text_features(model)
            texts = features.text if isinstance(features, MixedFeatures) else ()
            description = about(file, table, texts, tuple(columns.values()))
            show_result(model, description, output, {**arguments, "target": target})


def _chosen_model(arguments: Mapping[str, Any], labels: NDArray[Any]) -> StrongClassifier:
    """Return the estimator that chooses booster and learner."""
    return StrongClassifier(
        **given("StrongClassifier", arguments)
        | {"positive": class_named(labels, arguments["positive"])},
        text_columns=list(arguments["text"]) or "auto",
    )


def _show_chosen(
    model: StrongClassifier, description: str, output: Path | None, arguments: Mapping[str, Any]
) -> None:
    """Print the sentence and the facts; exit with 1 if epsilon was not reached."""
    if not arguments["as_json"]:
        print_parts(bold(model.sentence_), "", grid(_facts(model, description, arguments)), "")
    verdict = {"sentence": model.sentence_, "verdict": model.verdict_.to_dict()}
    report_model(model, description, output, as_json=arguments["as_json"], **verdict)
    if model.verdict_.reached is False:
        sys.exit(THE_ANSWER_IS_NO)


def _facts(
    model: StrongClassifier, description: str, arguments: Mapping[str, Any]
) -> list[tuple[str, str]]:
    ledger, certificate = model.ledger_, certificate_of(model)
    parts = [f"{rows:,} {PARTS[part]}" for part, rows in model.parts_.items() if rows]
    facts = [
        ("data", description),
        ("classes", listed(model.classes_.tolist(), CLASSES_NAMED)),
        ("rows", ", ".join(parts)),
        ("chosen", model.choice_),
        ("rounds", _rounds(model)),
    ]
    if len(ledger):
        error = percent(ledger.rounds[-1].training_error, 2)
        how = ", counted by their weights" if ledger.weighted else ""
        facts.append(("training error", f"{error} of the training rows{how}"))
    if certificate is not None and certificate.delta > 0:
        facts += certificate_facts(certificate, details=arguments["details"])
    return facts


def _rounds(model: StrongClassifier | BoostRegressor) -> str:
    """Say how many rounds the model has, and why."""
    rounds = len(model.ledger_)
    best: int = getattr(model, "best_iteration_", rounds)
    if best >= rounds or getattr(model, "parts_", {}).get("watch"):
        return f"{rounds:,}; {model.ledger_.stopped}"
    return f"{rounds:,} ({best:,} were best in the trial; the refit on all rows runs longer)"


def constraints(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the constraints on trees as parameters of the estimator; empty without options."""
    parameters = {
        "monotone_constraints": slopes(arguments["monotone"]),
        "interaction_constraints": interactions(arguments["interact"]),
    }
    return {name: value for name, value in parameters.items() if value}


def slopes(asked: Sequence[str]) -> dict[str, int]:
    """Read the columns in which predictions may only rise or only fall."""
    signs: dict[str, int] = {}
    for each in asked:
        name, _, slope = each.rpartition("=")
        if not name or slope not in SLOPES:
            raise click.UsageError(
                f"--monotone is {each!r}; write a column and +1 (may only rise) or -1 (may only "
                "fall), as in --monotone age=+1"
            )
        if signs.setdefault(name, SLOPES[slope]) != SLOPES[slope]:
            raise click.UsageError(f"--monotone sets both +1 and -1 on {name!r}; give one of them")
    return signs


def interactions(asked: Sequence[str]) -> str | list[list[str]]:
    """Read which columns may be used together on the way to a leaf."""
    if len(asked) == 1 and asked[0] in RULES:
        return RULES[asked[0]]
    rule = next((each for each in asked if each in RULES), None)
    if rule is not None:
        raise click.UsageError(f"--interact {rule} stands alone; leave the other --interact out")
    return [[name.strip() for name in each.split(",") if name.strip()] for each in asked]


def _named_model(
    arguments: Mapping[str, Any], labels: NDArray[Any]
) -> AdaBoostClassifier | BoostClassifier:
    """Return the estimator for --booster and --learner, with the defaults of its class."""
    certify = arguments["certify"] or (
        "train-error" if len(labels) < NO_CERTIFYING_BELOW else "holdout"
    )
    more = _stopping(arguments) | {"certify": None if certify == "train-error" else certify}
    names = arguments["booster"], arguments["learner"]
    if names[1] == "stump" and (arguments["monotone"] or arguments["interact"]):
        raise click.UsageError(
            "--monotone and --interact are for trees; add --learner tree, or --loss for numbers"
        )
    if arguments["resample"]:
        strange = [arguments[name] for name in ("class_weight", "max_leaves", "quality", "derive")]
        if names != ("adaboost", "stump") or any(each is not None for each in strange):
            raise click.UsageError(
                "--resample requires --booster adaboost and --learner stump, without "
                "--class-weight, --leaves, --quality and --derive"
            )
        return AdaBoostClassifier(**given("AdaBoostClassifier", arguments) | more)
    return BoostClassifier(**given("BoostClassifier", arguments) | more | constraints(arguments))


def _stopping(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Read --validation, the share of rows by which a run stops early."""
    share = arguments["validation"]
    return {"early_stopping": True, "validation_fraction": share} if share > 0 else {}


def _show_votes(
    model: AdaBoostClassifier | BoostClassifier,
    description: str,
    output: Path | None,
    arguments: Mapping[str, Any],
) -> None:
    if not arguments["as_json"]:
        print_parts(*([bold(sentence), ""] if (sentence := sentence_of(model)) else []))
        ledger, console = model.ledger_, make_console()
        console.print(rounds_table(ledger, description))
        console.print(f"Stopped: {ledger.stopped}.")
        if arguments["details"]:
            console.print(certificate_panel(model.certificate_, ledger))
        if number := arguments["hardest"]:
            rows = ledger.hardest(min(number, len(ledger.hard) or 1))
            console.print(hardest_table(rows, "hardest rows, numbered from 0"))
    report_model(model, description, output, as_json=arguments["as_json"])


def _number_model(arguments: Mapping[str, Any], labels: NDArray[Any]) -> BoostRegressor:
    """Return the estimator for --loss, which predicts numbers."""
    own = {name: value for name, value in arguments.items() if name not in ("quantile", "alpha")}
    parameters = given("BoostRegressor", own) | _shares(arguments) | _stopping(arguments)
    return BoostRegressor(**parameters | constraints(arguments))


def _shares(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Read --quantile and --alpha, which belong to one or two losses."""
    quantile, alpha, loss = arguments["quantile"], arguments["alpha"], arguments["loss"]
    if alpha is not None and loss not in ("huber", "quantile"):
        raise click.UsageError(f"--alpha belongs to --loss huber and quantile, not to {loss}")
    if alpha is not None and quantile is not None:
        raise click.UsageError("--alpha and --quantile were both given; leave one of them out")
    # scikit-learn's name for it
    if loss == "quantile" and alpha is not None:
        return {"quantile": alpha}
    shares = {"quantile": quantile, "alpha": alpha}
    return {name: share for name, share in shares.items() if share is not None}


def _show_numbers(
    model: BoostRegressor, description: str, output: Path | None, arguments: Mapping[str, Any]
) -> None:
    ledger = model.ledger_
    last = ledger.rounds[-1] if len(ledger) else None
    loss = None if last is None else last.training_error
    curves = getattr(model, "validation_curves_", {}).values()
    best = min(map(min, curves), default=None)
    if arguments["as_json"]:
        content = {"data": description, "estimator": type(model).__name__, "loss": model.loss}
        content |= {"quantile": model.quantile, "rounds": len(ledger), "stopped": ledger.stopped}
        content |= {"training_loss": loss, "validation_loss": best, "model": output}
        print_json(content)
        return
    facts = [("data", description), ("rounds", _rounds(model))]
    if loss is not None:
        facts.append((f"mean {model.loss}", f"{loss:.6g} on the training rows"))
    if best is not None:
        facts.append(("", f"{best:.6g} on the validation rows, which chose the number of rounds"))
    path = "MODEL" if output is None else output
    sentence = (
        f"It predicts numbers. Certify it by new rows: pacboost certify {path} NEW.csv --target "
        "COLUMN --of absolute_error --clip LARGEST, or pacboost intervals."
    )
    print_parts(bold(sentence), "", grid(facts), "")
    report_saved(output)


WAYS: dict[str, tuple[Callable[..., Any], Callable[..., None]]] = {
    "chosen": (_chosen_model, _show_chosen),
    "by_hand": (_named_model, _show_votes),
    "numbers": (_number_model, _show_numbers),
}
"""By the way of a fit: the function that makes the estimator, and the one that shows the result."""
