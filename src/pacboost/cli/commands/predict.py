"""``pacboost predict``: predict a class for every row of a file."""

from __future__ import annotations

import csv
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from pacboost.cli import options
from pacboost.cli.inputs.files import FittedModel, data_file, open_model
from pacboost.cli.output import echo, print_json, working
from pacboost.errors import FileError, NotCertified
from pacboost.numerics.percent import guarded, percent, visible
from pacboost.sources.optional import atomic_write

if TYPE_CHECKING:
    from pacboost.sources.cells import Cells


MAX_CLASSES_NAMED = 10
NO_ANSWER = "no answer"
COUNTED = ("rows", "counts", "wrong")


@click.command(
    epilog=options.example(
        "pacboost predict income.pacb people.csv",
        "pacboost predict income.pacb people.csv --sets",
        "pacboost predict income.pacb people.csv --proba --keep id --output answers.csv",
    )
)
@options.model_file
@options.data_file
@options.flag("--proba", help="Also give the probability of each class.")
@options.flag(
    "--sets",
    help="Also give the prediction set of each row, its classes separated by |. `pacboost sets` "
    "has to come first.",
)
@options.column(
    "--by", help="With --sets: the column of groups, if sets were calibrated for each group."
)
@options.flag(
    "--intervals",
    help="Also give the two ends of the interval of each row. `pacboost intervals` has to come "
    "first.",
)
@options.columns("--keep", help="Copy this column.")
@options.column("--target", help="The column of labels, if there is one: errors are then counted.")
@options.flag(
    "--raw",
    help="Write texts that begin with =, +, - or @ as they are. Otherwise an apostrophe is put "
    "before them, so that no spreadsheet runs them as formulas.",
)
@options.abstain_below
@options.text
@options.drop
@options.format_options
@options.output("Write CSV to this file instead of the standard output.")
@options.as_json
def command(
    model_path: Path, data: Path, output: Path | None, raw: bool, as_json: bool, **arguments: Any
) -> None:
    """Predict a class for every row of a file.

    The file is read in blocks of rows, so it may be larger than memory. Columns are found by their
    names; other columns are ignored. The output is CSV with the column "prediction" and, with
    --proba, one more column for each class; with --sets the column "set", and with --intervals the
    columns "low" and "high".
    """
    from pacboost.cli.inputs.rows import Reader
    from pacboost.sources.file_rows import blocks

    chances = arguments["proba"] or arguments["abstain_below"] is not None
    hint = "there are no probabilities of those" if chances else ""
    model, model_path, data = open_model(model_path, data, output, numbers=hint)
    others = [arguments[name] for name in ("target", "by") if arguments[name] is not None]
    reader = Reader(model, arguments["text"], [*arguments["keep"], *arguments["drop"], *others])
    predictions = Predictions(model, model_path, arguments)
    everything: list[list[Any]] = []
    with _writing(output, nothing=as_json) as file, working("predicting") as progress:
        writer = csv.writer(file, lineterminator="\n")
        terminal = output is None and sys.stdout.isatty()

        def safe(cell: object) -> object:
            """Make a cell safe for a spreadsheet, or for a terminal."""
            # in a file control characters are data, on a terminal they act
            shown = visible(cell) if terminal and isinstance(cell, str) else cell
            return shown if raw else guarded(shown)

        for number, cells in enumerate(blocks(data_file(data, arguments))):
            rows = predictions.of(reader.rows(cells), cells)
            if number == 0:  # only after the first block could be read and predicted
                writer.writerow([safe(name) for name in predictions.header])
            writer.writerows([safe(cell) for cell in row] for row in rows)
            if as_json and output is None:
                everything += rows
            progress(f"predicting: {predictions.rows:,} rows")
    reader.warn_of_unknown()
    if as_json:
        content: dict[str, Any] = {name: getattr(predictions, name) for name in COUNTED}
        if output is None:
            header = predictions.header
            content["predictions"] = [dict(zip(header, row, strict=True)) for row in everything]
        else:
            content["output"] = output
        print_json(content)
        return
    for sentence in predictions.sentences():
        echo(sentence, err=output is None)
    if output is not None:
        echo(f"The predictions are in {output}.")


class Predictions:
    """Predicts blocks of rows, and counts the predictions and those that were wrong.

    Columns of the output are those kept, the prediction, sets or intervals, and probabilities.
    """

    def __init__(self, model: FittedModel, path: Path, arguments: Mapping[str, Any]) -> None:
        from pacboost.estimators.decisions.intervals import intervals
        from pacboost.estimators.decisions.sets import sets

        self.rows, self.counts = 0, Counter[Any]()
        self.wrong: int | None = None
        self.compared = 0
        self._model, self._arguments = model, arguments
        self._sets = _saved(sets, model, path, "sets") if arguments["sets"] else None
        self._intervals = None
        if arguments["intervals"]:
            self._intervals = _saved(intervals, model, path, "intervals")
        classes = [str(label) for label in getattr(model, "classes_", ())]
        several = getattr(model, "several_labels_", False)
        self.header = [
            *arguments["keep"],
            *(classes if several else ["prediction"]),
            *(["set"] if arguments["sets"] else []),
            *(["low", "high"] if arguments["intervals"] else []),
            *(f"probability of {label}" for label in classes if arguments["proba"]),
        ]

    def of(self, X: object, cells: Cells) -> list[list[Any]]:
        """Predict a block of rows, and return the rows to write; None stands for no answer."""
        from pacboost.models.answers import confidence

        model, arguments = self._model, self._arguments
        predicted, below, by = model.predict(X), arguments["abstain_below"], arguments["by"]
        labels = predicted.tolist()
        columns: list[Sequence[Any]] = []
        if self._sets is not None:
            groups = None if by is None else cells.texts(by).tolist()
            columns.append(["|".join(map(str, one)) for one in self._sets.label_sets(X, groups)])
        if self._intervals is not None:
            columns += self._intervals.predict_interval(X).T.tolist()
        if arguments["proba"] or below is not None:
            chances = model.predict_proba(X)
            columns += chances.T.tolist() if arguments["proba"] else []
            if below is not None:
                sure = confidence(predicted, chances, model.classes_) >= below
                unknown = [None] * predicted.shape[1] if predicted.ndim > 1 else None
                labels = [
                    a if is_sure else unknown for a, is_sure in zip(labels, sure, strict=True)
                ]
        self._count(labels, cells)
        answers = zip(*labels, strict=True) if predicted.ndim > 1 else [labels]
        copied = [cells.of(name) for name in arguments["keep"]]
        return [list(row) for row in zip(*copied, *answers, *columns, strict=True)]

    def _count(self, labels: list[Any], cells: Cells) -> None:
        from pacboost.cli.inputs.rows import labels as read_labels

        self.rows += cells.n_rows
        if not hasattr(self._model, "classes_") or isinstance(labels[0], list):
            return
        self.counts.update(NO_ANSWER if label is None else label for label in labels)
        target = self._arguments["target"]
        if target is not None:
            rows = cells.labelled_rows(target)
            answers = [labels[row] for row in rows]
            texts = cells.take(rows).labels(target)
            true = read_labels(texts, self._model.classes_, target).tolist() if rows else []
            self.wrong = (self.wrong or 0) + sum(
                a is not None and a != b for a, b in zip(answers, true, strict=True)
            )
            self.compared += sum(a is not None for a in answers)

    def sentences(self) -> Iterator[str]:
        """Return the sentences of the summary."""
        from pacboost.reports.text import counted

        parts = [
            f"{label} {count:,} ({percent(count / self.rows, 2)})"
            for label, count in self.counts.most_common(MAX_CLASSES_NAMED)
        ]
        n_others = len(self.counts) - len(parts)
        classes = ", ".join(parts) + (f" and {n_others} more" if n_others > 0 else "")
        yield f"{counted(self.rows, 'row')}: {classes}" if classes else f"{self.rows:,} rows"
        if self.wrong is not None:
            differ = f"{self.wrong:,} of {self.compared:,} predictions differ from the labels"
            yield f"{differ} ({percent(self.wrong / max(1, self.compared), 2)})."


def _saved(find: Callable[[Any], Any], model: object, path: Path, what: str) -> Any:
    try:
        return find(model)
    except NotCertified:
        raise FileError(
            f"{path}: holds no {what}; calibrate them by new rows: pacboost {what} {path} "
            "fresh.csv --target COLUMN --output FILE"
        ) from None


@contextmanager
def _writing(output: Path | None, *, nothing: bool) -> Iterator[IO[str]]:
    """Open the output; a file is written completely or not at all."""
    if output is not None:
        # a reader of the output must never take the first half of it for all
        with atomic_write(output) as part, part.open("w", encoding="utf-8", newline="") as file:
            yield file
    elif nothing:
        with Path(os.devnull).open("w", encoding="utf-8") as file:
            yield file
    else:
        yield sys.stdout
