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

from pacboost.bounds.known_measures import MEASURES
from pacboost.cli.inputs.files import FittedModel, check_output, data_file, open_model
from pacboost.cli.output import working
from pacboost.errors import DataError, FileError, InputWarning
from pacboost.numerics.checks import meant
from pacboost.questions.answers import MISSING, Answers, answers, joined
from pacboost.reports.text import counted
from pacboost.sources.arrow import number_column, text_column
from pacboost.sources.cells import Cells
from pacboost.sources.columns import Columns
from pacboost.sources.data_file import DataFile
from pacboost.sources.file_rows import whole
from pacboost.sources.frame_table import FrameTable
from pacboost.sources.level_means import LevelMeans
from pacboost.sources.levels import NO_LEVELS, Levels
from pacboost.sources.mixed import MixedFeatures
from pacboost.sources.optional import need
from pacboost.sources.spelling import Spelling
from pacboost.sources.targets import label_kind, read_labels
from pacboost.sources.text import TextFeatures


class Reader:
    """Reads rows for one model; ``others`` are columns of the file that are not features."""

    def __init__(
        self, model: FittedModel, text: Sequence[str] = (), others: Sequence[str] = ()
    ) -> None:
        self._model, self._text, self._others = model, tuple(text), set(others)
        self._unknown: dict[str, list[str]] = {}

    def rows(self, cells: Cells) -> Any:
        """Return rows as input for ``predict``."""
        features = text_features(self._model)
        if isinstance(features, MixedFeatures):
            self._mixed(cells, features)
            return Columns(cells.series, cells.origin)
        if features is not None:
            return list(cells.of(self._text_column(cells)))
        rows = self._table(cells)
        self._note_unknown(cells, rows)
        return rows

    def as_written(self, cells: Cells) -> Columns:
        """Return the columns of the model, with the names of categories."""
        features = text_features(self._model)
        if features is not None and not isinstance(features, MixedFeatures):
            return Columns({(name := self._text_column(cells)): cells.texts(name)})
        columns: dict[str, Any] = {}
        if isinstance(features, MixedFeatures):
            columns = {name: cells.texts(name) for name in features.text}
            rows = cells.like(*self._mixed(cells, features))
        else:
            rows = self._table(cells)
        for j, name in enumerate(rows.names):
            columns[name] = cells.texts(name) if j in rows.levels else rows.column(j)
        return Columns(columns)

    def _mixed(self, cells: Cells, features: MixedFeatures) -> tuple[list[str], Levels]:
        levels, names = features.reading()
        _refuse_lacking(cells, [*features.text, *levels.sources(names)])
        return names, levels

    def _table(self, cells: Cells) -> FrameTable:
        model, levels = self._model, getattr(self._model, "levels_", NO_LEVELS)
        names = column_names(model) or self._in_order(cells)
        bins = getattr(getattr(model, "model_", None), "bins", None)
        sources = levels.sources(names)
        if bins is not None:  # columns that no rule uses may be absent; derived ones come last
            for cuts, name, source in zip(bins.sizes, names, sources, strict=False):
                # a column without cuts is asked by no rule, so new files need not have it
                if source not in cells.columns and name == source and not cuts:
                    cells.columns[source] = text_column([""] * cells.n_rows)
        _refuse_lacking(cells, sources)
        return cells.like(names, levels)

    def _note_unknown(self, cells: Cells, rows: FrameTable) -> None:
        derived = getattr(getattr(self._model, "schema_", None), "derived", ())
        means = {made.first: {*made.levels} for made in derived if isinstance(made, LevelMeans)}
        for j, levels in rows.levels.columns.items():
            if not levels:  # a column that is not used
                continue
            name = rows.names[j]
            texts = cells.texts(name, levels)[np.isnan(rows.column(j))]
            unknown = [
                str(cell) for cell in texts if cell is not None and cell not in means.get(j, ())
            ]
            if unknown:
                self._unknown.setdefault(name, []).extend(unknown)

    def warn_of_unknown(self) -> None:
        """Warn about columns with levels unknown to the model."""
        for name, cells in self._unknown.items():
            rows = counted(len(cells), "row")
            warnings.warn(
                f"column {name!r} holds levels that the model does not know in {rows}, such as "
                f"{cells[0]!r}: they did not occur in training, or too rarely. They are treated "
                "as missing",
                InputWarning,
                stacklevel=2,
            )

    def _text_column(self, cells: Cells) -> str:
        if self._text:
            return self._text[0]
        names = [name for name in cells.columns if name not in self._others]
        if len(names) != 1:
            raise FileError(
                f"{cells.file}: the model reads texts; name the column of texts with --text. "
                f"The columns are {', '.join(map(repr, cells.columns))}"
            )
        return names[0]

    def _in_order(self, cells: Cells) -> tuple[str, ...]:
        """Return the columns in their order, for a model fitted on columns without names."""
        names = tuple(name for name in cells.columns if name not in self._others)
        if len(names) != self._model.n_features_in_:
            raise FileError(
                f"{cells.file}: has {len(names)} feature columns, but the model expects "
                f"{self._model.n_features_in_} (it was fitted on columns without names). Name the "
                "columns that are not features with --target or --drop"
            )
        return names


def text_features(model: object) -> TextFeatures | MixedFeatures | None:
    """Return the text features of a model, if it reads texts."""
    features: TextFeatures | MixedFeatures | None
    features = getattr(getattr(model, "model_", None), "text", None)
    return features


def lone_text(model: object) -> str | None:
    """Return the text column of a model whose rows are one text each; None for other models."""
    features = text_features(model)
    if isinstance(features, MixedFeatures):
        return features.text[0] if features.text == features.names else None
    return None if features is None else "text"


def column_names(model: object) -> tuple[str, ...]:
    """Return the names of the columns that a model was fitted on; empty if they had none."""
    features = text_features(model)
    if features is not None:
        return features.names if isinstance(features, MixedFeatures) else ()
    schema = getattr(getattr(model, "model_", None), "schema", None)
    return tuple(getattr(schema, "feature_names", None) or ())


def _refuse_lacking(cells: Cells, names: Sequence[str]) -> None:
    lacking = [name for name in dict.fromkeys(names) if name not in cells.columns]
    if lacking:
        raise FileError(
            f"{cells.file}: has no column{'s' if len(lacking) > 1 else ''} "
            f"{', '.join(map(repr, lacking))}, which the model was fitted on; its columns are "
            f"{', '.join(map(repr, cells.columns))}. Add what is missing, with empty cells if its "
            "values are not known"
        )


def labels(texts: Sequence[str], classes: NDArray[Any], target: str) -> NDArray[Any]:
    """Convert labels to the type of the classes; a label that is not a class is a mistake."""
    values = np.array(texts)
    # a label "1" of a file would never equal the class 1, and every row would be wrong
    if classes.dtype.kind in "iuf":
        with suppress(ValueError):
            values = read_labels(texts, float)
            values = values.astype(np.int64) if (values == np.rint(values)).all() else values
    elif classes.dtype.kind == "b":
        try:
            values = read_labels(texts, bool)
        except ValueError:
            other = next(text for text in texts if text.lower() not in {"true", "false"})
            raise DataError(
                f"column {target!r} holds {other!r}, and the classes of the model are False and "
                "True; write labels as true and false, or leave the cell empty"
            ) from None
    names = set(classes.tolist())
    if not any(label in names for label in values.tolist()):
        shown = ", ".join(map(repr, classes.tolist()[:5]))
        raise DataError(
            f"column {target!r} holds none of the classes of the model, {shown}; it holds "
            f"{texts[0]!r}. Name the column that holds the labels with --target"
        )
    return values


def numbers(texts: Sequence[str], target: str, spelling: Spelling) -> NDArray[np.float64]:
    """Read the targets of a model that predicts numbers, in the number format of the file."""
    values = spelling.numbers(texts)
    if values is not None:
        return values
    other = next(text for text in texts if not spelling.is_number(text))
    raise DataError(
        f"column {target!r} does not hold numbers (it holds {other!r}), and the "
        "model predicts numbers. Name the column that holds them with --target"
    )


def read_all(
    model: FittedModel, data: DataFile, target: str, text: Sequence[str], others: Sequence[str]
) -> tuple[Any, NDArray[Any], Cells]:
    """Read a file with labels; return the rows for the model, the labels, and all cells."""
    with working(f"reading {data.name}"):
        cells = whole(data, target)
        reader = Reader(model, text, [target, *others])
        X = reader.rows(cells)
        reader.warn_of_unknown()
        if not hasattr(model, "classes_"):
            return X, numbers(cells.labels(target), target, cells.spelling), cells
        return X, labels(cells.labels(target), model.classes_, target), cells


def class_named(labels: object, name: str | None) -> Any:
    """Return the class whose text is this name."""
    if name is None:
        return None
    classes = np.unique(np.asarray(labels)).tolist()
    for label in classes:
        # an option is text, and the class may be a number or a truth value
        if str(label) == name or (isinstance(label, bool) and str(label).lower() == name.lower()):
            return label
    names = ", ".join(map(str, classes[:20]))
    close = meant(name, map(str, classes))
    raise click.UsageError(f"--positive is {name}{close}; the classes are {names}")


def fresh_rows(
    model: FittedModel, data: Path, target: str, arguments: Mapping[str, Any]
) -> tuple[Any, NDArray[Any], dict[str, Any]]:
    """Read rows that are new to a model.

    Returns the rows for the model, the labels, and the columns of --groups, --by, --ratio-column
    and --new-rows by name.
    """
    ratio, new = arguments.get("ratio_column"), arguments.get("new_rows")
    names, beside = column_names(model), (arguments.get("groups"), arguments.get("by"), ratio)
    outside = [column for column in beside if column and column not in names]
    file, others = data_file(data, arguments), [*arguments["drop"], *outside]
    X, y, cells = read_all(model, file, target, arguments["text"], others)
    columns = {
        name: cells.texts(arguments[name]).tolist() if arguments.get(name) else None
        for name in ("groups", "by")
    }
    if ratio is not None:
        texts = ["" if text is None else str(text) for text in cells.texts(ratio)]
        columns["ratio"] = cells.spelling.numbers(texts)
        if columns["ratio"] is None:
            raise DataError(f"column {ratio!r} does not hold numbers; --ratio-column names ratios")
    if new is not None:
        reader = Reader(model, arguments["text"], [target, *others])
        columns["new_rows"] = reader.rows(whole(data_file(new, arguments)))
    return X, y, columns


def answers_or_rows(
    path: Path, data: Path | None, target: str, arguments: Mapping[str, Any], *outputs: Path | None,
    numbers: str = "",
) -> tuple[Any, Any, NDArray[Any], dict[str, Any]]:  # fmt: skip
    """Return a model (or answers as a model), and new rows as ``fresh_rows`` does."""
    if not (arguments.get("said") or arguments.get("score")):
        model, _, data = open_model(path, data, *outputs, numbers=numbers)
        return model, *fresh_rows(model, data, target, arguments)
    if arguments.get("ratio_column") or arguments.get("new_rows"):
        raise click.UsageError("--ratio-column and --new-rows are for models; leave them out")
    if data is not None:
        raise click.UsageError("--said and --score read one file of answers, but two were given")
    for output in outputs:
        check_output(output, path)
    (model,), *rows = answered_rows(path, target, [arguments["said"] or target], arguments)
    return model, *rows


def answered_rows(
    path: Path, target: str, columns: Sequence[str], arguments: Mapping[str, Any]
) -> tuple[list[Answers], Any, NDArray[Any], dict[str, Any]]:
    """Return answers in a file as one model per column, and the rest as ``fresh_rows`` does."""
    words = arguments["missing"]
    # "wrong" and "abstain" say how empty answers count; all other words are those of missing cells
    others = tuple(word for word in words if word not in MISSING)
    with working(f"reading {path.name}"):
        cells = whole(data_file(path, {**arguments, "missing": others}), target)
        texts = cells.labels(target)
        labels = np.array(texts) if label_kind(texts) is bool else read_labels(texts)
        truths, *predictions = _alike(cells, [target, *columns])
        compared = arguments.get("copies") == "distinct"
        X = as_frame(cells, [*arguments["drop"], target]) if compared else None
    score = arguments.get("score")
    scores = None if score is None else _alike(cells, [score])[0]
    beside = [cells.texts(arguments[n]) if arguments.get(n) else None for n in ("groups", "by")]
    missing = next((word for word in words if word in MISSING), MISSING[0])
    positive = class_named(labels, arguments.get("positive"))
    several = [
        answers(column, scores, positive=positive, missing=missing) for column in predictions
    ]
    kinds = [MEASURES.get(name) for name in measure_names(arguments)]
    numbers = any(kind is not None and kind.of_numbers for kind in kinds)
    models, X, y, groups, by = joined(several, X, truths, *beside, numbers=numbers)
    return models, X, y, {"groups": groups, "by": by}


def _alike(cells: Cells, names: Sequence[str]) -> Sequence[NDArray[Any]]:
    """Return columns as numbers if all of them hold numbers, else as texts."""
    numbers = [cells.spelling.numbers(cells.of(name)) for name in names]
    columns = [column for column in numbers if column is not None]
    return columns if len(columns) == len(names) else [cells.texts(name) for name in names]


def as_frame(cells: Cells, drop: Collection[str]) -> Any:
    """Return a table of numbers and texts."""
    columns = {name: _alike(cells, [name])[0] for name in cells.columns if name not in drop}
    return need("pyarrow").table(
        {
            name: text_column(column.tolist()) if column.dtype == object else number_column(column)
            for name, column in columns.items()
        }
    )


def measure_names(arguments: Mapping[str, Any]) -> list[str]:
    """Return the measures that --of names."""
    return [name.strip() for name in (arguments.get("of") or "").split(",") if name.strip()]
