"""Rows of a file in the form that a fitted model expects: columns, levels, kind of labels."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from pacboost.cli.inputs.files import check_output, data_file, open_model
from pacboost.cli.output import working
from pacboost.errors import DataError, FileError, InputWarning, ParameterError
from pacboost.questions.answers import MISSING, Answers, as_models
from pacboost.reports.text import counted
from pacboost.sources.arrow import text_column
from pacboost.sources.cells import Cells
from pacboost.sources.columns import Columns
from pacboost.sources.data_file import DataFile
from pacboost.sources.file_rows import whole
from pacboost.sources.frame_table import FrameTable
from pacboost.sources.levels import NO_LEVELS
from pacboost.sources.mixed import MixedFeatures
from pacboost.sources.optional import need
from pacboost.sources.text import TextFeatures
from pacboost.sources.written import Spelling, read_labels


class Reader:
    """Reads for one model; ``others`` are columns of the file that are no features."""

    def __init__(self, model: Any, text: Sequence[str] = (), others: Sequence[str] = ()) -> None:
        self._model, self._text, self._others = model, tuple(text), set(others)
        self._unknown: dict[str, list[str]] = {}

    def rows(self, cells: Cells) -> Any:
        """Return what the model's ``predict`` takes."""
        features = text_features(self._model)
        if isinstance(features, MixedFeatures):
            levels, names = features.reading()
            _refuse_lacking(cells, [*features.text, *levels.sources(names)])
            return Columns(cells.series, cells.origin)
        if features is not None:
            return list(cells.of(self._text_column(cells)))
        rows = self._table(cells)
        self._note_unknown(cells, rows)
        return rows

    def as_written(self, cells: Cells) -> Columns:
        """Return the columns of the model with their categories as the file names them."""
        features = text_features(self._model)
        if features is not None and not isinstance(features, MixedFeatures):
            return Columns({(name := self._text_column(cells)): cells.texts(name)})
        if isinstance(features, MixedFeatures):
            levels, names = features.reading()
            _refuse_lacking(cells, [*features.text, *levels.sources(names)])
            rows, texts = cells.like(names, levels), features.text
        else:
            rows, texts = self._table(cells), ()
        found = {
            name: cells.texts(name) if j in rows.levels else rows.column(j)
            for j, name in enumerate(rows.names)
        }
        return Columns({**{name: cells.texts(name) for name in texts}, **found})

    def _table(self, cells: Cells) -> FrameTable:
        """Read the columns of a model that was fitted on a table."""
        model, levels = self._model, getattr(self._model, "levels_", NO_LEVELS)
        names = column_names(model) or self._in_order(cells)
        bins = getattr(getattr(model, "model_", None), "bins", None)
        sources = levels.sources(names)
        if bins is not None:  # what a model does not look at need not be there
            for cuts, name, source in zip(bins.sizes, names, sources, strict=True):
                if source not in cells.columns and name == source and not cuts:
                    cells.columns[source] = text_column([""] * cells.n_rows)
        _refuse_lacking(cells, sources)
        return cells.like(names, levels)

    def _note_unknown(self, cells: Cells, rows: FrameTable) -> None:
        """Collect the levels that the model does not know."""
        for j, known in rows.levels.columns.items():
            if not known:  # a column that is not used
                continue
            name = rows.names[j]
            given = cells.texts(name, known)[np.isnan(rows.column(j))]
            found = [str(cell) for cell in given if cell is not None]
            if found:
                self._unknown.setdefault(name, []).extend(found)

    def warn_of_unknown(self) -> None:
        """Name the columns that held levels unknown to the model."""
        for name, found in self._unknown.items():
            rows = counted(len(found), "row")
            warnings.warn(
                f"column {name!r} holds levels that the model does not know in {rows}, such as "
                f"{found[0]!r}: they did not occur in training, or too rarely. They are treated as "
                "one, like missing values",
                InputWarning,
                stacklevel=2,
            )

    def _text_column(self, cells: Cells) -> str:
        if self._text:
            return self._text[0]
        left = [name for name in cells.columns if name not in self._others]
        if len(left) != 1:
            raise FileError(
                f"{cells.file}: the model reads texts; name the column of texts with --text. "
                f"The columns are {', '.join(map(repr, cells.columns))}"
            )
        return left[0]

    def _in_order(self, cells: Cells) -> tuple[str, ...]:
        """Take the columns as they stand, for a model that was fitted on columns without names."""
        left = tuple(name for name in cells.columns if name not in self._others)
        if len(left) != self._model.n_features_in_:
            raise FileError(
                f"{cells.file}: has {len(left)} feature columns, but the model expects "
                f"{self._model.n_features_in_} (it was fitted on columns without names). Name the "
                "columns that are not features with --target or --drop"
            )
        return left


def text_features(model: Any) -> TextFeatures | MixedFeatures | None:
    """Return how a model reads texts, if it does."""
    features: TextFeatures | MixedFeatures | None
    features = getattr(getattr(model, "model_", None), "text", None)
    return features


def lone_text(model: Any) -> str | None:
    """Name the text column of a model whose rows are one text each; None for other models."""
    features = text_features(model)
    if isinstance(features, MixedFeatures):
        return features.text[0] if features.text == features.names else None
    return None if features is None else "text"


def column_names(model: Any) -> tuple[str, ...]:
    """Return the names of the columns that a model was fitted on, if they had names."""
    features = text_features(model)
    if features is not None:
        return features.names if isinstance(features, MixedFeatures) else ()
    return tuple(str(name) for name in getattr(model, "feature_names_in_", ()))


def _refuse_lacking(cells: Cells, names: Sequence[str]) -> None:
    """Raise if a file lacks columns that the model was fitted on."""
    lacking = [name for name in dict.fromkeys(names) if name not in cells.columns]
    if lacking:
        raise FileError(
            f"{cells.file}: has no column{'s' if len(lacking) > 1 else ''} "
            f"{', '.join(map(repr, lacking))}, which the model was fitted on; its columns are "
            f"{', '.join(map(repr, cells.columns))}. Add what is missing, with empty cells if its "
            "values are not known"
        )


def labels(texts: Sequence[str], classes: NDArray[Any], target: str) -> NDArray[Any]:
    """Read labels as the classes are, numbers or text; one that is not a class stays a mistake.

    >>> labels(["1", "0.0", "7"], np.array([0, 1]), "y").tolist()
    [1, 0, 7]
    """
    found = np.array(texts)
    if classes.dtype.kind in "iuf":
        with suppress(ValueError):
            found = read_labels(texts, float)
            found = found.astype(np.int64) if (found == np.rint(found)).all() else found
    elif classes.dtype.kind == "b":
        found = np.array([text.lower() == "true" for text in texts])
    known = set(classes.tolist())
    if not any(label in known for label in found.tolist()):
        shown = ", ".join(map(repr, classes.tolist()[:5]))
        raise DataError(
            f"column {target!r} holds none of the classes of the model, {shown}; it holds "
            f"{texts[0]!r}. Name the column that holds the labels with --target"
        )
    return found


def numbers(texts: Sequence[str], target: str, spelling: Spelling) -> NDArray[np.float64]:
    """Read the targets of a model that predicts numbers, written as numbers of the file are.

    >>> numbers(["1", "1,200.5"], "y", Spelling()).tolist()
    [1.0, 1200.5]
    """
    values = spelling.numbers(texts)
    if values is not None:
        return values
    other = next(text for text in texts if not spelling.is_number(text))
    raise DataError(
        f"column {target!r} does not hold numbers (it holds {other!r}), and the "
        "model predicts numbers. Name the column that holds them with --target"
    )


def read_all(
    model: Any, data: DataFile, target: str, text: Sequence[str], others: Sequence[str]
) -> tuple[Any, NDArray[Any], Cells]:
    """Read a whole file with labels: what the model takes, the label of each row, all cells."""
    with working(f"reading {data.name}"):
        cells = whole(data, target)
        reader = Reader(model, text, [target, *others])
        X = reader.rows(cells)
        reader.warn_of_unknown()
        if not hasattr(model, "classes_"):
            return X, numbers(cells.labels(target), target, cells.spelling), cells
        return X, labels(cells.labels(target), model.classes_, target), cells


def class_named(known: Any, name: str | None) -> Any:
    """Return the class, one of the known labels, that prints as this name."""
    if name is None:
        return None
    classes = np.unique(np.asarray(known)).tolist()
    for label in classes:
        if str(label) == name:
            return label
    names = ", ".join(map(str, classes[:20]))
    raise ParameterError(f"--positive is {name}; the classes are {names}")


def fresh_rows(
    model: Any, data: Path, target: str, given: Mapping[str, Any]
) -> tuple[Any, NDArray[Any], dict[str, Any]]:
    """Read rows that are new to a model as the options say.

    Gives what the model takes, the labels, and the columns of --groups and --by if they are named
    (and that of --ratio-column, and --new-rows).
    """
    ratio, new = given.get("ratio_column"), given.get("new_rows")
    known, beside = column_names(model), (given.get("groups"), given.get("by"), ratio)
    outside = [column for column in beside if column and column not in known]
    file, others = data_file(data, given), [*given["drop"], *outside]
    X, y, cells = read_all(model, file, target, given["text"], others)
    columns = {
        name: cells.texts(given[name]).tolist() if given.get(name) else None
        for name in ("groups", "by")
    }
    if ratio is not None:
        texts = ["" if text is None else str(text) for text in cells.texts(ratio)]
        columns["ratio"] = cells.spelling.numbers(texts)
        if columns["ratio"] is None:
            raise DataError(f"column {ratio!r} does not hold numbers; --ratio-column names ratios")
    if new is not None:
        reader = Reader(model, given["text"], [target, *others])
        columns["new_rows"] = reader.rows(whole(data_file(new, given)))
    return X, y, columns


def answers_or_rows(
    path: Path, data: Path | None, target: str, given: Mapping[str, Any], *outputs: Path | None,
    numbers: str = "",
) -> tuple[Any, Any, NDArray[Any], dict[str, Any]]:  # fmt: skip
    """Return a model, and its new rows as ``fresh_rows`` does; answers are a model, too."""
    if not (given.get("said") or given.get("score")):
        model, _, data = open_model(path, data, *outputs, numbers=numbers)
        return model, *fresh_rows(model, data, target, given)
    if given.get("ratio_column") or given.get("new_rows"):
        raise click.UsageError("--ratio-column and --new-rows are for models; leave them out")
    if data is not None:
        raise click.UsageError("--said and --score speak of one file of answers, and two came")
    for output in outputs:
        check_output(output, path)
    (model,), *rows = answered_rows(path, target, [given["said"] or target], given)
    return model, *rows


def answered_rows(
    path: Path, target: str, columns: Sequence[str], given: Mapping[str, Any]
) -> tuple[list[Answers], Any, NDArray[Any], dict[str, Any]]:
    """Read a file of answers: one model for each column, and the rest as ``fresh_rows`` does."""
    words = given["missing"]
    others = tuple(word for word in words if word not in MISSING)
    with working(f"reading {path.name}"):
        cells = whole(data_file(path, {**given, "missing": others}), target)
        labels = read_labels(cells.labels(target))
        frame = as_frame(cells, given["drop"], {target, *columns})
    beside = [cells.texts(given[n]) if given.get(n) else None for n in ("groups", "by")]
    models, X, y, groups, by = as_models(
        columns, frame, None, target, given.get("score"),
        next((word for word in words if word in MISSING), MISSING[0]), measure_names(given),
        class_named(labels, given.get("positive")), *beside,
    )  # fmt: skip
    return models, X, y, {"groups": groups, "by": by}


def as_frame(cells: Cells, drop: Collection[str], together: Collection[str] = ()) -> Any:
    """Return columns of numbers and of texts; those that come ``together`` are of one kind."""
    found = {name: cells.spelling.numbers(cells.of(name)) for name in {*cells.columns} - {*drop}}
    if any(found.get(name) is None for name in together):
        found |= dict.fromkeys({*together} & {*found})
    columns = {n: cells.texts(n) if own is None else own for n, own in found.items()}
    return need("pyarrow").table({name: columns[name] for name in cells.columns if name in found})


def measure_names(given: Mapping[str, Any]) -> list[str]:
    """Return the measures that --of names."""
    return [name.strip() for name in (given.get("of") or "").split(",") if name.strip()]
