"""``pacboost ask``: the prediction for one example, with its confidence and the reasons."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from pacboost.cli import options
from pacboost.cli.inputs.files import FittedModel, load
from pacboost.cli.output import bold, print_json, print_parts
from pacboost.errors import DataError, FileError
from pacboost.numerics.checks import meant
from pacboost.numerics.percent import percent
from pacboost.sources.data_file import DataFile

# "100 %" would be read as certain, and no probability of a vote is.
ALMOST_SURE = 0.995
Reason = tuple[float, str]
"""The contribution of a reason to the score of the answer, and the reason in words."""


@click.command(
    epilog=options.example(
        'pacboost ask calls.pacb "charge this to my card"',
        "pacboost ask income.pacb age=37 education=Masters hours_per_week=50",
        "pacboost ask calls.pacb < questions.txt",
    )
)
@options.model_file
@click.argument("question", nargs=-1)
@click.option("--top", default=5, help="How many reasons to show.")
@options.abstain_below
@options.as_json
def command(
    model_path: Path,
    question: tuple[str, ...],
    top: int,
    abstain_below: float | None,
    as_json: bool,
) -> None:
    """Ask a model about one text, or about one row as COLUMN=VALUE.

    Shows the answer, the probability that the model gives it, its share of the held-out rows, and
    the reasons for (+) and against (-) it. Columns that are not named count as missing. Without a
    question, every line of the standard input is a question.
    """
    from pacboost.cli.inputs.rows import lone_text

    model = load(model_path)
    if not hasattr(model, "explain") or not hasattr(model, "classes_"):
        raise FileError(
            f"{model_path}: holds a {type(model).__name__}, which cannot explain its answers; use "
            "`pacboost predict`"
        )
    answering = getattr(model.model_, "answering", None)
    min_confidence = abstain_below or 0.0
    # a model with a threshold keeps it here: its certificate is about the answers above it
    if abstain_below is None and answering is not None and answering.chosen is not None:
        min_confidence = float(answering.points[answering.chosen].threshold)
    questions: Iterable[str] = question
    if question and lone_text(model) is None:
        questions = [shlex.join(question)]
    elif not question:
        if sys.stdin is None or sys.stdin.isatty():
            click.echo("Type one question per line; Ctrl-D ends the input.", err=True)
        questions = (line.strip() for line in sys.stdin if line.strip())
    replies = []
    for number, asked in enumerate(questions):
        guess, sure, base, reasons = _reply(model, asked, top)
        answer = guess if sure >= min_confidence else None
        if as_json:
            why = [{"words": words, "contribution": added} for added, words in reasons]
            replies.append({"question": asked, "answer": answer, "guess": guess,
                            "confidence": sure, "base_rate": base, "why": why})  # fmt: skip
            continue
        shown = f"no answer (a guess: {guess})" if answer is None else str(answer)
        share = "over 99 %" if sure >= ALMOST_SURE else percent(sure, 0)
        if base is not None:
            share += f"; of the held-out rows {percent(base, 0)} are {guess}"
        lines = [f"  {added:+6.2f}  {words}" for added, words in reasons]
        head = [f"asked: {asked}"] if not question else []
        head += [f"not given: {', '.join(absent)}"] if (absent := _absent(model, asked)) else []
        details = [f"  {line}" for line in (f"confidence {share}", *head)]
        print_parts(*([""] if number else []), bold(shown), *details, *lines)
    if as_json:
        print_json({"model": model_path, "answers": replies})


def _reply(
    model: FittedModel, asked: str, top: int
) -> tuple[Any, float, float | None, list[Reason]]:
    from pacboost.cli.inputs.rows import Reader, column_names, lone_text
    from pacboost.sources.arrow import text_column
    from pacboost.sources.cells import Cells
    from pacboost.sources.columns import Columns
    from pacboost.sources.levels import NO_LEVELS

    name, names = lone_text(model), _names(model)
    values = {name: asked} if name is not None else _pairs(asked, names)
    columns = {name: text_column([values.get(name, "")]) for name in names}  # "" is missing
    X = Reader(model).rows(Cells(DataFile(Path("question")), columns, [1]))
    answer = model.predict(X).tolist()[0]
    if isinstance(answer, list):
        raise DataError("this model gives several labels per row; use `pacboost predict`")
    place = model.classes_.tolist().index(answer)
    sure = float(model.predict_proba(X)[0, place])
    one = X[0] if isinstance(X, list) else X
    if isinstance(X, Columns):
        one = {name: cells[0] for name, cells in X.cells.items()}
    entries = model.explain(one, top, for_class=answer).entries
    # numbers as they were typed; a category has its spelling already, and a rare one a remark
    columns_with_levels = getattr(model, "levels_", NO_LEVELS).columns
    categories = {name for j, name in enumerate(column_names(model)) if j in columns_with_levels}
    typed = {name: cell for name, cell in values.items() if name not in categories}
    reasons = [
        (entry.contribution, f"{entry.column} = {typed[entry.column]}")
        if entry.column in typed
        else (entry.contribution, entry.words)
        for entry in entries
    ]
    return answer, sure, _base_rate(model, place), reasons


def _base_rate(model: FittedModel, place: int) -> float | None:
    """Return the share of a class among the held-out rows, if the model has them."""
    held_out = getattr(model.model_, "held_out", None)
    if held_out is None or held_out.labels or not held_out.rows:
        return None
    return float(held_out.count[held_out.own == place].sum()) / float(held_out.rows)


def _absent(model: FittedModel, asked: str) -> list[str]:
    from pacboost.cli.inputs.rows import lone_text

    if lone_text(model) is not None:
        return []
    names = _names(model)
    return [name for name in names if name not in _pairs(asked, names)]


def _pairs(asked: str, names: Sequence[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for part in shlex.split(asked):
        name, equals, value = part.partition("=")
        if not equals or name not in names:
            close = meant(name, names) if equals else ""
            raise click.UsageError(
                f"{part!r} is not COLUMN=VALUE with a column of this model{close}; its columns are "
                f"{', '.join(names)}",
            )
        values[name] = value
    return values


def _names(model: FittedModel) -> tuple[str, ...]:
    """Return the columns that a question may name: a date itself, not the numbers made from it."""
    from pacboost.cli.inputs.rows import column_names, lone_text, text_features
    from pacboost.sources.levels import NO_LEVELS
    from pacboost.sources.mixed import MixedFeatures

    features = text_features(model)
    if isinstance(features, MixedFeatures):
        levels, others = features.reading()
        return (*features.text, *dict.fromkeys(levels.sources(others)))
    names = column_names(model)
    if not names and features is not None:
        names = (str(lone_text(model)),)
    names = names or tuple(f"x{j}" for j in range(model.n_features_in_))
    return tuple(dict.fromkeys(getattr(model, "levels_", NO_LEVELS).sources(names)))
