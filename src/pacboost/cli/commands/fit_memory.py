"""The fits of ``pacboost fit`` in memory: chosen automatically, by options, or of numbers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from numpy.typing import NDArray
from rich.console import Console

from pacboost.cli.group import THE_ANSWER_IS_NO
from pacboost.cli.inputs.examples import about, read_examples, take_weights
from pacboost.cli.inputs.files import check_output, data_file
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
from pacboost.estimators.boosting.base import Boosting
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.boosting.regressor import BoostRegressor
from pacboost.estimators.strong.classifier import StrongClassifier
from pacboost.fit.roles import NO_CERTIFYING_BELOW
from pacboost.numerics.checks import probability
from pacboost.numerics.percent import percent
from pacboost.reports.text import certificate_panel, grid, hardest_table, listed, rounds_table
from pacboost.sources.mixed import MixedFeatures

PARTS = {"learn": "for training", "watch": "for early stopping", "certify": "to certify"}
CLASSES_NAMED = 6
RULES = {"pairwise": "pairwise", "no-interactions": "no_interactions"}
SLOPES = {"+1": 1, "1": 1, "-1": -1}


def run_in_memory(
    way: str, data: Path, target: str, output: Path | None, given: Mapping[str, Any]
) -> None:
    """Read the rows, fit, save the model and tell of it; after Ctrl-C, of the rounds so far."""
    check_output(output, data)
    make, tell = WAYS[way]
    file, weight, numbers = data_file(data, given), given["weight"], way == "numbers"
    columns: dict[str, Any] = {}
    if way == "chosen":
        for name in ("epsilon", "delta", "recall", "precision"):
            if given[name] is not None:
                probability(name, given[name])
        columns = {"groups": given["groups"], "time": given["time_column"]}
    examples = read_examples(
        file,
        target,
        given["drop"],
        categories=given["categories"],
        text=given["text"] if way == "chosen" else None,
        others=[name for name in (*columns.values(), weight) if name is not None],
        classes=not numbers,
    )
    if numbers and examples.labels.dtype.kind not in "iufb":
        raise FileError(
            f"{file}: column {target!r} holds text, such as {str(examples.labels[0])!r}, and "
            "--loss predicts numbers; name another column by --target, or leave --loss out to "
            "predict classes"
        )
    examples, weights = take_weights(file, examples, weight)
    table, labels = examples.table, examples.labels
    model = make(given, labels)
    try:
        model.fit(table, labels, weights, copies=given["copies"], **columns)
    finally:
        if hasattr(model, "model_"):
            save_model(model, output, forget_rows=given["forget_rows"])
            features = text_features(model)
            texts = features.text if isinstance(features, MixedFeatures) else ()
            tell(model, about(file, table, texts, tuple(columns.values())), output, given)


def _common(given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "random_state": given["seed"],
        "n_jobs": given["jobs"],
        "device": given["device"],
        "verbose": sys.stderr.isatty(),
    }


def chosen_model(given: Mapping[str, Any], labels: NDArray[Any]) -> StrongClassifier:
    """Make the estimator that chooses booster and learner."""
    same = ("epsilon", "delta", "recall", "precision", "class_weight")
    return StrongClassifier(
        **{name: given[name] for name in same},
        **_common(given),
        positive=class_named(labels, given["positive"]),
        n_estimators=given["rounds"],
        text_columns=list(given["text"]) or "auto",
    )


def _show_chosen(model: Any, said: str, output: Path | None, given: Mapping[str, Any]) -> None:
    """Print the sentence and the facts; the answer is no if epsilon was missed."""
    if not given["as_json"]:
        print_parts(bold(model.sentence_), "", grid(_facts(model, said, given)), "")
    more = {"sentence": model.sentence_, "verdict": model.verdict_.to_dict()}
    report_model(model, said, output, as_json=given["as_json"], **more)
    if model.verdict_.reached is False:
        sys.exit(THE_ANSWER_IS_NO)


def _facts(model: StrongClassifier, said: str, given: Mapping[str, Any]) -> list[tuple[str, str]]:
    ledger, certificate = model.ledger_, certificate_of(model)
    parts = [f"{rows:,} {PARTS[part]}" for part, rows in model.parts_.items() if rows]
    facts = [
        ("data", said),
        ("classes", listed(model.classes_.tolist(), CLASSES_NAMED)),
        ("rows", ", ".join(parts)),
        ("chosen", model.choice_),
        ("rounds", f"{len(ledger):,}; {ledger.stopped}"),
    ]
    if len(ledger):
        error = percent(ledger.rounds[-1].training_error, 2)
        how = ", counted by their weights" if ledger.weighted else ""
        facts.append(("training error", f"{error} of the training rows{how}"))
    if certificate is not None and certificate.delta > 0:
        facts += certificate_facts(certificate, details=given["details"])
    return facts


def constraints(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the estimator that the options stand for; none if none was given."""
    found = {
        "monotone_constraints": slopes(given["monotone"]),
        "interaction_constraints": interactions(given["interact"]),
    }
    return {name: value for name, value in found.items() if value}


def slopes(asked: Sequence[str]) -> dict[str, int]:
    """Read the columns in which predictions may only rise or only fall.

    >>> slopes(["age=+1", "price=-1"])
    {'age': 1, 'price': -1}
    """
    found: dict[str, int] = {}
    for each in asked:
        name, _, slope = each.rpartition("=")
        if not name or slope not in SLOPES:
            raise click.UsageError(
                f"--monotone is {each!r}; write a column and +1 (may only rise) or -1 (may only "
                "fall), as in --monotone age=+1"
            )
        if found.setdefault(name, SLOPES[slope]) != SLOPES[slope]:
            raise click.UsageError(f"--monotone sets both +1 and -1 on {name!r}; give one of them")
    return found


def interactions(asked: Sequence[str]) -> str | list[list[str]]:
    """Read which columns may be used together on the way to a leaf.

    >>> interactions(["age,income", "place"]), interactions(["pairwise"])
    ([['age', 'income'], ['place']], 'pairwise')
    """
    if len(asked) == 1 and asked[0] in RULES:
        return RULES[asked[0]]
    rule = next((each for each in asked if each in RULES), None)
    if rule is not None:
        raise click.UsageError(f"--interact {rule} stands alone; leave the other --interact out")
    return [[name.strip() for name in each.split(",") if name.strip()] for each in asked]


def named_model(
    given: Mapping[str, Any], labels: NDArray[Any]
) -> AdaBoostClassifier | BoostClassifier:
    """Make the estimator of the booster and the learner that the options name."""
    booster, learner = given["booster"] or "adaboost", given["learner"] or "stump"
    validation = given["validation"]
    certify = given["certify"] or (
        "train-error" if len(labels) < NO_CERTIFYING_BELOW else "holdout"
    )
    common: dict[str, Any] = {
        "n_estimators": 50 if given["rounds"] is None else given["rounds"],
        "max_bins": given["max_bins"],
        "early_stopping": validation > 0,
        "validation_fraction": validation or 0.1,
        "certify": None if certify == "train-error" else certify,
        "delta": given["delta"],
        **_common(given),
    }
    if learner != "tree" and (given["monotone"] or given["interact"]):
        raise click.UsageError(
            "--monotone and --interact are for trees; add --learner tree, or --loss for numbers"
        )
    rate, leaves, resample = given["learning_rate"], given["leaves"], given["resample"]
    balance = given["class_weight"]
    if (booster, learner) == ("adaboost", "stump") and leaves is None and balance is None:
        return AdaBoostClassifier(
            learning_rate=1.0 if rate is None else rate, resample=resample, **common
        )
    if resample:
        raise click.UsageError(
            "--resample requires --booster adaboost and --learner stump, without --class-weight"
        )
    common["class_weight"] = balance
    common |= constraints(given)
    return BoostClassifier(booster, learner, learning_rate=rate, max_leaves=leaves, **common)


def show(model: Boosting, title: str, console: Console, *, details: bool = True) -> None:
    """Print the rounds, why they ended, and with details the certificate."""
    ledger = model.ledger_
    console.print(rounds_table(ledger, title))
    console.print(f"Stopped: {ledger.stopped}.")
    if details:
        console.print(certificate_panel(model.certificate_, ledger))


def _show_votes(model: Any, said: str, output: Path | None, given: Mapping[str, Any]) -> None:
    if not given["as_json"]:
        print_parts(*([bold(sentence), ""] if (sentence := sentence_of(model)) else []))
        ledger, console = model.ledger_, make_console()
        show(model, said, console, details=given["details"])
        if number := given["hardest"]:
            found = ledger.hardest(min(number, len(ledger.hard) or 1))
            console.print(hardest_table(found, "hardest rows, numbered from 0"))
    report_model(model, said, output, as_json=given["as_json"])


def number_model(given: Mapping[str, Any], labels: NDArray[Any]) -> BoostRegressor:
    """Make the estimator that predicts numbers."""
    validation, shares = given["validation"], _shares(given)
    return BoostRegressor(
        given["loss"],
        given["rounds"],
        given["learning_rate"],
        **shares,
        **constraints(given),
        max_leaves=given["leaves"],
        max_bins=given["max_bins"],
        early_stopping=True if validation > 0 else "auto",
        validation_fraction=validation or 0.1,
        **_common(given),
    )


def _shares(given: Mapping[str, Any]) -> dict[str, Any]:
    """Read --quantile and --alpha, which belong to one or two losses."""
    quantile, alpha, loss = given["quantile"], given["alpha"], given["loss"]
    if alpha is not None and loss not in ("huber", "quantile"):
        raise click.UsageError(f"--alpha belongs to --loss huber and quantile, not to {loss}")
    if alpha is not None and quantile is not None:
        raise click.UsageError("--alpha and --quantile were both given; leave one of them out")
    if loss == "quantile" and alpha is not None:
        return {"quantile": alpha}
    found = {"quantile": quantile, "alpha": alpha}
    return {name: share for name, share in found.items() if share is not None}


def _show_numbers(model: Any, said: str, output: Path | None, given: Mapping[str, Any]) -> None:
    ledger = model.ledger_
    last = ledger.rounds[-1] if len(ledger) else None
    loss = None if last is None else last.training_error
    best = min(
        (min(own) for own in model.__dict__.get("validation_curves_", {}).values()), default=None
    )
    if given["as_json"]:
        print_json(
            {
                "data": said,
                "estimator": type(model).__name__,
                "loss": model.loss,
                "quantile": model.quantile,
                "rounds": len(ledger),
                "stopped": ledger.stopped,
                "training_loss": loss,
                "validation_loss": best,
                "model": output,
            }
        )
        return
    facts = [("data", said), ("rounds", f"{len(ledger):,}; {ledger.stopped}")]
    if loss is not None:
        facts.append((f"mean {model.loss}", f"{loss:.6g} on the training rows"))
    if best is not None:
        facts.append(("", f"{best:.6g} on the validation rows, which chose the number of rounds"))
    sentence = "It predicts numbers, for which a fit gives no certificate; measure it on new rows."
    print_parts(bold(sentence), "", grid(facts), "")
    report_saved(output)


WAYS: dict[str, tuple[Callable[..., Any], Callable[..., None]]] = {
    "chosen": (chosen_model, _show_chosen),
    "by_hand": (named_model, _show_votes),
    "numbers": (number_model, _show_numbers),
}
"""How the estimator of a fit is made, and how its result is shown."""
