"""``pacboost ask``: the prediction for one example, with its confidence and the reasons."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pacboost.cli import options
from pacboost.cli.inputs.files import load
from pacboost.cli.output import bold, print_json, print_parts
from pacboost.errors import DataError, FileError, ParameterError
from pacboost.numerics.percent import percent
from pacboost.sources.data_file import DataFile

if TYPE_CHECKING:
    from pacboost.sources.table import Table


ALMOST_SURE = 0.995
Reason = tuple[float, str]
"""What a reason adds to the score of the answer (below 0: takes away), and the reason in words."""


@click.command(
    epilog=options.example(
        'pacboost ask intents.pacb "I lost my card"',
        "pacboost ask income.pacb age=37 education=Masters hours_per_week=50",
        "pacboost ask intents.pacb < questions.txt",
    )
)
@options.model_file
@click.argument("question", nargs=-1)
@click.option("--top", default=5, show_default=True, help="How many reasons to show.")
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

    Shows the answer, the probability that the model gives it, and the reasons for and against it.
    Columns that are not named count as missing. Without a question, every line of the standard
    input is a question.
    """
    model = load(model_path)
    if not hasattr(model, "explain") or not hasattr(model, "classes_"):
        raise FileError(
            f"{model_path}: holds a {type(model).__name__}, which cannot explain its answers; use "
            "`pacboost predict`"
        )
    replies = []
    for number, asked in enumerate(_questions(model, question)):
        reply = _reply(model, asked, top, _threshold(model, abstain_below))
        if as_json:
            replies.append(reply.to_dict())
        else:
            print_parts(*([""] if number else []), *reply.lines())
    if as_json:
        print_json({"model": model_path, "answers": replies})


@dataclass(frozen=True)
class Reply:
    """An answer; None if the model is not sure enough."""

    question: str
    answer: Any
    guess: Any
    confidence: float
    reasons: Sequence[Reason]

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the JSON document."""
        why = [{"words": words, "contribution": added} for added, words in self.reasons]
        known = {name: value for name, value in vars(self).items() if name != "reasons"}
        return {**known, "why": why}

    def lines(self) -> Iterator[Any]:
        """Return the lines to print."""
        said = f"no answer (a guess: {self.guess})" if self.answer is None else str(self.answer)
        yield bold(said)
        over = self.confidence >= ALMOST_SURE
        yield f"  confidence {'over 99 %' if over else percent(self.confidence, 0)}"
        for added, words in self.reasons:
            yield f"  {added:+6.2f}  {words}"


def _threshold(model: Any, asked: float | None) -> float:
    """The confidence below which there is no answer: the option, or the certified threshold."""
    if asked is not None:
        return asked
    answering = getattr(model.model_, "answering", None)
    if answering is None or answering.chosen is None:
        return 0.0
    return float(answering.points[answering.chosen].threshold)


def _questions(model: Any, question: Sequence[str]) -> Iterator[str]:
    from pacboost.cli.inputs.rows import lone_text

    if question and lone_text(model) is not None:
        yield from question
    elif question:
        yield shlex.join(question)
    else:
        if sys.stdin.isatty():
            click.echo("Type one question per line; Ctrl-D ends the input.", err=True)
        for line in sys.stdin:
            if line.strip():
                yield line.strip()


def _reply(model: Any, asked: str, top: int, least: float) -> Reply:
    from pacboost.cli.inputs.rows import lone_text
    from pacboost.sources.columns import Columns
    from pacboost.sources.table import Table

    name = lone_text(model)
    given = _given(model, asked) if name is None else {name: asked}
    X = _rows(model, given)
    answer = model.predict(X).tolist()[0]
    if isinstance(answer, list):
        raise DataError("this model gives several labels per row; use `pacboost predict`")
    place = model.classes_.tolist().index(answer)
    sure = float(model.predict_proba(X)[0, place])
    if isinstance(X, Table) and model.model_.vote.trees:
        reasons = _shares(model, X, given, place)[:top]
    else:
        one = X[0] if isinstance(X, list) else X
        if isinstance(X, Columns):
            one = {name: cells[0] for name, cells in X.cells.items()}
        found = model.explain(one, top, for_class=answer)
        reasons = [(entry.contribution, entry.words) for entry in found.entries]
    return Reply(asked, answer if sure >= least else None, answer, sure, reasons)


def _shares(model: Any, X: Table, given: dict[str, str], place: int) -> list[Reason]:
    """Divide the score among the columns (SHAP): the paths through trees are too long to read."""
    import numpy as np

    shares = model.shap_values(X).values
    own = shares[0, :, place] if shares.ndim == 3 else shares[0] * (1 if place else -1)
    said = [_said(X.name(j), given, float(X.block(j, j + 1)[0, 0])) for j in range(X.n_columns)]
    order = np.argsort(-np.abs(own), kind="stable")
    return [(float(own[j]), said[j]) for j in order if own[j]]


def _said(name: str, given: dict[str, str], value: float) -> str:
    import numpy as np

    from pacboost.sources.cells import part_of

    made = part_of(name)
    if made is not None and made[0] in given:
        return f"{name} = {value:g}"
    if name not in given:
        return f"{name} is missing"
    return f"{name} = {given[name]}" + (
        ", which the model does not know" if np.isnan(value) else ""
    )


def _given(model: Any, asked: str) -> dict[str, str]:
    """Read COLUMN=VALUE pairs."""
    names = _names(model)
    given: dict[str, str] = {}
    for part in shlex.split(asked):
        name, equals, value = part.partition("=")
        if not equals or name not in names:
            raise ParameterError(
                f"{part!r} is not COLUMN=VALUE with a column of this model; its columns are "
                f"{', '.join(names)}"
            )
        given[name] = value
    return given


def _rows(model: Any, given: dict[str, str]) -> Any:
    """Make a row of them; what is not named is missing."""
    from pacboost.cli.inputs.rows import Reader
    from pacboost.sources.cells import Cells, text_column

    names = _names(model)
    columns = {name: text_column([given.get(name, "")]) for name in names}
    cells = Cells(DataFile(Path("question")), columns, [1])
    return Reader(model).rows(cells)


def _names(model: Any) -> tuple[str, ...]:
    """Name the columns to ask by; dates are given as such, not as the numbers made of them."""
    from pacboost.cli.inputs.rows import column_names, lone_text, text_features
    from pacboost.sources.cells import part_of

    names = column_names(model)
    if not names and text_features(model) is not None:
        names = (str(lone_text(model)),)
    names = names or tuple(f"x{j}" for j in range(model.n_features_in_))
    made = ((name, part_of(name)) for name in names)
    return tuple(dict.fromkeys(name if part is None else part[0] for name, part in made))
