"""``pacboost predict``: predict a class for every row of a file."""

from __future__ import annotations

import csv
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from pacboost.cli import options
from pacboost.cli.inputs.files import check_output, data_file, load, model_first
from pacboost.cli.output import echo, print_json, working
from pacboost.errors import FileError, NotCertified
from pacboost.numerics.percent import guarded, percent, visible
from pacboost.sources.optional import atomic_write

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pacboost.sources.cells import Cells


MOST_CLASSES = 10
"""The summary names at most this many classes."""
NO_ANSWER = "no answer"


@click.command(
    epilog=options.example(
        "pacboost predict income.pacb people.csv",
        "pacboost predict income.pacb people.csv --sets",
        "pacboost predict income.pacb people.csv --proba --keep id --output answers.csv",
    )
)
@options.model_file
@options.data_file
@click.option("--proba", is_flag=True, help="Also give the probability of each class.")
@click.option(
    "--sets",
    is_flag=True,
    help="Also give the prediction set of each row, its classes separated by |. `pacboost sets` "
    "has to come first.",
)
@click.option(
    "--by",
    metavar="COLUMN",
    help="With --sets: the column of groups, if every group has sets of its own.",
)
@click.option(
    "--intervals",
    is_flag=True,
    help="Also give the two ends of the interval of each row. `pacboost intervals` has to come "
    "first.",
)
@click.option(
    "--keep", metavar="COLUMN", multiple=True, help="Copy this column. The option may be repeated."
)
@click.option(
    "--target",
    metavar="COLUMN",
    help="The column of labels, if there is one: errors are then counted.",
)
@click.option(
    "--raw",
    is_flag=True,
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
    model_path: Path,
    data: Path,
    output: Path | None,
    proba: bool,
    keep: Sequence[str],
    target: str | None,
    abstain_below: float | None,
    text: Sequence[str],
    drop: Sequence[str],
    raw: bool,
    as_json: bool,
    sets: bool,
    by: str | None,
    intervals: bool,
    **given: Any,
) -> None:
    """Predict a class for every row of a file.

    The file is read in blocks of rows, so it may be larger than memory. Columns are found by their
    names; other columns are ignored. The output is CSV with the column "prediction" and, with
    --proba, one more column for each class; with --sets the column "set", and with --intervals the
    columns "low" and "high".
    """
    from pacboost.cli.inputs.rows import Reader
    from pacboost.sources.file_rows import blocks

    model_path, data = model_first(model_path, data)
    check_output(output, model_path, data)
    model = load(model_path)
    if (proba or abstain_below is not None) and not hasattr(model, "predict_proba"):
        raise FileError(f"{model_path}: predicts numbers, for which there are no probabilities")
    file_of_rows = data_file(data, given)
    others = [name for name in (target, by) if name is not None]
    reader = Reader(model, text, [*keep, *drop, *others])
    covering = Covering(model, model_path, sets=sets, by=by, intervals=intervals)
    tally = PredictionCounts()
    collected = Answers(model, keep, abstain_below, proba=proba, covering=covering)
    everything: list[list[Any]] = []
    with _writing(output, nothing=as_json) as file, working("predicting") as progress:
        writer = csv.writer(file, lineterminator="\n")
        terminal = output is None and sys.stdout.isatty()

        def safe(cell: object) -> object:
            """Make a cell safe for a spreadsheet, or for a terminal."""
            shown = visible(cell) if terminal and isinstance(cell, str) else cell
            return shown if raw else guarded(shown)

        for number, cells in enumerate(blocks(file_of_rows)):
            predicted, rows = collected.of(reader.rows(cells), cells)
            if number == 0:  # after what can be wrong with all rows
                writer.writerow([safe(name) for name in collected.header])
            writer.writerows([safe(cell) for cell in row] for row in rows)
            tally.count(predicted, model, cells, target)
            if as_json and output is None:
                everything += rows
            progress(f"predicting: {tally.rows:,} rows")
    reader.warn_of_unknown()
    if as_json:
        content: dict[str, Any] = {"rows": tally.rows, "counts": tally.counts, "wrong": tally.wrong}
        if output is None:
            header = collected.header
            content["predictions"] = [dict(zip(header, row, strict=True)) for row in everything]
        else:
            content["output"] = output
        print_json(content)
        return
    for said in tally.sentences():
        echo(said, err=output is None)
    if output is not None:
        echo(f"The predictions are in {output}.")


class Covering:
    """Sets or intervals of rows, as columns to write."""

    def __init__(
        self, model: Any, path: Path, *, sets: bool, by: str | None, intervals: bool
    ) -> None:
        from pacboost.estimators.decisions.intervals import intervals as read_intervals
        from pacboost.estimators.decisions.sets import sets as read_sets

        self._by = by
        self._sets = _known(read_sets, model, path, "sets") if sets else None
        self._intervals = _known(read_intervals, model, path, "intervals") if intervals else None
        self.names = [*(["set"] if sets else []), *(["low", "high"] if intervals else [])]

    def columns(self, X: Any, cells: Cells) -> list[Sequence[Any]]:
        """Return the columns of some rows."""
        found: list[Sequence[Any]] = []
        if self._sets is not None:
            by = None if self._by is None else [str(own) for own in cells.of(self._by)]
            labels = self._sets.label_sets(X, by)
            found.append(["|".join(map(str, own)) for own in labels])
        if self._intervals is not None:
            found += self._intervals.predict_interval(X).T.tolist()
        return found


def _known(read: Callable[[Any], Any], model: Any, path: Path, what: str) -> Any:
    """Return the sets or intervals that came with a model file."""
    try:
        return read(model)
    except NotCertified:
        raise FileError(
            f"{path}: holds no {what}; calibrate them by new rows: pacboost {what} {path} "
            "fresh.csv --target COLUMN --output FILE"
        ) from None


@dataclass
class PredictionCounts:
    """How often each class was predicted so far, and how many predictions were wrong."""

    rows: int = 0
    counts: Counter[Any] = field(default_factory=Counter)
    wrong: int | None = None

    def count(self, given: list[Any], model: Any, cells: Cells, target: str | None) -> None:
        """Count the predictions of some rows, and those that differ from the labels."""
        from pacboost.cli.inputs.rows import labels

        self.rows += cells.n_rows
        if not hasattr(model, "classes_") or isinstance(given[0], list):
            return
        self.counts.update(NO_ANSWER if answer is None else answer for answer in given)
        if target is not None:
            known = labels(cells.labels(target), model.classes_, target).tolist()
            differ = (a is not None and a != b for a, b in zip(given, known, strict=True))
            self.wrong = (self.wrong or 0) + sum(differ)

    def sentences(self) -> Iterator[str]:
        """Return the sentences of the summary."""
        from pacboost.reports.text import counted

        parts = [
            f"{label} {count:,} ({percent(count / self.rows, 2)})"
            for label, count in self.counts.most_common(MOST_CLASSES)
        ]
        more = len(self.counts) - len(parts)
        said = ", ".join(parts) + (f" and {more} more" if more > 0 else "")
        yield f"{counted(self.rows, 'row')}: {said}" if said else f"{self.rows:,} rows"
        if self.wrong is not None:
            given = self.rows - self.counts[NO_ANSWER]
            share = percent(self.wrong / max(1, given), 2)
            yield f"{self.wrong:,} of {given:,} predictions differ from the labels ({share})."


class Answers:
    """The columns of the output: those kept, the prediction, the probabilities."""

    def __init__(
        self, model: Any, keep: Sequence[str], abstain_below: float | None, *, proba: bool,
        covering: Covering,
    ) -> None:  # fmt: skip
        import numpy as np

        self._model, self._keep, self._proba = model, tuple(keep), proba
        self._below, self._covering = abstain_below, covering
        classes = getattr(model, "classes_", np.empty(0)).tolist()
        several = bool(getattr(model, "several_labels_", False))
        asked = [str(label) for label in classes] if several else ["prediction"]
        chances = [f"probability of {label}" for label in classes] if proba else []
        self.header = [*self._keep, *asked, *covering.names, *chances]

    def of(self, X: Any, cells: Cells) -> tuple[list[Any], list[list[Any]]]:
        """Predict some rows; also give the rows to write. A prediction is None if it is unsure."""
        import numpy as np

        from pacboost.models.answers import confidence

        predicted = np.asarray(self._model.predict(X))
        given = predicted.tolist()
        chances: NDArray[Any] | None = None
        if self._proba or self._below is not None:
            chances = self._model.predict_proba(X)
        if chances is not None and self._below is not None:
            sure = confidence(predicted, chances, self._model.classes_) >= self._below
            unknown = [None] * predicted.shape[1] if predicted.ndim > 1 else None
            given = [own if kept else unknown for own, kept in zip(given, sure, strict=True)]
        columns: list[Sequence[Any]] = [cells.of(name) for name in self._keep]
        columns += zip(*given, strict=True) if predicted.ndim > 1 else [given]
        columns += self._covering.columns(X, cells)
        if chances is not None and self._proba:
            columns += chances.T.tolist()
        return given, [list(row) for row in zip(*columns, strict=True)]


@contextmanager
def _writing(output: Path | None, *, nothing: bool) -> Iterator[IO[str]]:
    """Open where CSV goes; a file is written whole or not at all."""
    if output is None:
        if nothing:
            with Path(os.devnull).open("w", encoding="utf-8") as file:
                yield file
        else:
            yield sys.stdout
        return
    with atomic_write(output) as part, part.open("w", encoding="utf-8", newline="") as file:
        yield file
