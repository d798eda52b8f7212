"""Labelled rows of a file, for training, and warnings about columns that look misread."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from pacboost.cli.output import working
from pacboost.errors import FileError, InputWarning, ParameterError
from pacboost.numerics.checks import meant
from pacboost.reports.text import counted
from pacboost.sources.columns import Columns
from pacboost.sources.data_file import DataFile
from pacboost.sources.file_rows import LabelledTable, blocks, read_csv
from pacboost.sources.frame_table import FrameTable
from pacboost.sources.kinds.dates import orders
from pacboost.sources.kinds.order import KINDS
from pacboost.sources.kinds.texts import MIN_ROWS_FOR_ID
from pacboost.sources.spelling import spoilt
from pacboost.sources.table import Table, refuse_text

UNREAD_DATE = re.compile(
    r"(?:\d{1,2}([./-])\d{1,2}\1(?:\d{2}|\d{4})|\d{1,2}[-. ]*[A-Za-z]{3,9}[-., ]*(?:\d{2}|\d{4})"
    r"|[A-Za-z]{3,9}\.? \d{1,2},? \d{4})(?:[T ,].*)?"
)
"""Dates that are read as categories: 31/12/24, 31-12-2024, 31-Dec-2024, Dec 31, 2024."""


def note_categories(data: DataFile, table: FrameTable, others: Collection[str]) -> None:
    """Warn about categories that look like numbers or dates."""
    spelling = table.origin.spelling
    for j, levels in table.levels.columns.items():
        name, texts = table.name(j), [str(level) for level in levels]
        if name in others:
            continue
        odd = spoilt(texts, spelling)
        if texts and all(map(UNREAD_DATE.fullmatch, texts)) and not orders(texts):
            _warn(
                f"{data}: column {name!r} holds dates such as {texts[0]!r} and is read as "
                "categories. Write them as in 2024-01-31, 31.1.2024 or 31/1/2024 to have them read "
                "as dates"
            )
        elif odd is not None:
            _warn(
                f"{data}: column {name!r} holds mostly numbers and is read as categories, because "
                f"{odd!r} is not a number. Write plain numbers, leave such cells empty, or name "
                "the word by --missing if it stands for a missing value"
            )


def note_classes(data: DataFile, target: str, labels: Collection[str]) -> None:
    """Warn about classes that differ in small and capital letters only."""
    first_spelling: dict[str, str] = {}
    for label in sorted(labels):
        other = first_spelling.setdefault(label.casefold(), label)
        if other != label:
            _warn(
                f"{data}: the classes {other!r} and {label!r} in {target!r} differ in small and "
                "capital letters only, and are learned as two classes. Spell them alike if they "
                "are one"
            )


def _warn(message: str) -> None:
    warnings.warn(message, InputWarning, stacklevel=3)


# Prices taken for classes would give thousands of classes with a row or two each.
MAX_NUMBERS_AS_CLASSES = 200
"""A target with more different numbers is taken for regression."""


def read_examples(
    data: DataFile,
    target: str,
    drop: Sequence[str] = (),
    *,
    categories: bool = True,
    text: Sequence[str] | None = None,
    others: Collection[str] = (),
    classes: bool = True,
) -> LabelledTable:
    """Read a file without the columns ``drop``; columns of text become categories.

    ``text`` names columns that hold texts; columns that read like sentences are detected as well.
    If ``text`` is None, no column is read as texts. ``others`` are columns that are not features,
    and are returned unmodified. Without ``classes``, the target may hold any numbers.
    """
    with working(f"reading {data.name}"):
        _check_names(data, target, drop, text or ())
        not_features = (*others, *(text or ()))
        examples = read_csv(
            data, target, categories=True, drop=drop, raw=not_features, reads_text=text is not None
        )
    numbers = _as_numbers(examples)
    if classes:
        whole_or_real = numbers is not None and numbers.dtype.kind in "iuf"
        different = np.unique(numbers).size if numbers is not None and whole_or_real else 0
        if different > MAX_NUMBERS_AS_CLASSES:
            raise FileError(
                f"{data}: column {target!r} holds {different:,} different numbers. Is this "
                "regression? To predict numbers, add --loss squared_error to `pacboost fit` (or "
                "use pacboost.BoostRegressor in Python), or name another column by --target; if "
                "the numbers are names of classes, write them as text, such as c17"
            )
        if examples.labels.dtype.kind == "U":
            note_classes(data, target, {*examples.labels.tolist()})
    elif numbers is not None:
        examples = LabelledTable(examples.table, numbers)
    table = examples.table
    _note_constant(data, table, not_features)
    _note_numbered(data, table, not_features)
    columns = Columns(table.as_given, table.origin)
    text_columns = set() if text is None else {*text, *columns.sentences()}
    levels = [
        table.name(j)
        for j, column_levels in table.levels.columns.items()
        if column_levels and table.name(j) not in {*text_columns, *others}
    ]
    if levels and not categories:
        raise FileError(f"{data}: {refuse_text(levels)}")
    note_categories(data, table, {*text_columns, *not_features})
    return LabelledTable(table, examples.labels)


def take_weights(
    data: DataFile, examples: LabelledTable, name: str | None
) -> tuple[LabelledTable, NDArray[np.float64] | None]:
    """Take the column of weights out of the rows, if one is named."""
    if name is None:
        return examples, None
    table, names = examples.table, examples.table.names or ()
    _refuse_unknown([name], names, "--weight")
    place = names.index(name)
    weights = np.asarray(table.block(place, place + 1)[:, 0], dtype=np.float64)
    if place in table.levels or np.isnan(weights).any():
        raise FileError(
            f"{data}: column {name!r} holds text or missing values; weights have to be numbers, "
            "one for every row"
        )
    features = [j for j in range(table.n_columns) if j != place]
    if not features:
        raise FileError(f"{data}: holds no column to learn from beside label and weight")
    return LabelledTable(table.columns(features), examples.labels), weights


ONLY_TARGET = "the file holds nothing but the target, and at least one more column is needed"


def _check_names(data: DataFile, target: str, drop: Sequence[str], text: Sequence[str]) -> None:
    """Check that the columns that options name exist, before all rows are read."""
    if not drop and not text:
        return
    # a typing error in a name is told after a block and not after ten gigabytes
    first = next(blocks(data))
    first.of(target)
    names = [name for name in first.columns if name != target]
    _refuse_unknown(drop, names, "--drop")
    _refuse_unknown(text, [name for name in names if name not in drop], "--text")


def _refuse_unknown(asked: Sequence[str], columns: Collection[str], option: str) -> None:
    for name in asked:
        if name not in columns:
            raise ParameterError(
                f"{option} names {name!r}, which is not a column{meant(name, columns)}; "
                + (f"the columns are {', '.join(map(repr, columns))}" if columns else ONLY_TARGET),
            )


def _as_numbers(examples: LabelledTable) -> NDArray[np.generic] | None:
    """Read the labels as numbers, also if they have commas; None if one of them is not a number."""
    labels = examples.labels
    if labels.dtype.kind in "iufb":
        return labels
    values = examples.table.origin.spelling.numbers(map(str, labels.tolist()))
    return values if values is not None and np.isfinite(values).all() else None


def _note_constant(data: DataFile, table: FrameTable, others: Collection[str]) -> None:
    phrases = ("no values", "the same value in every row")
    for names, phrase in zip(_unused(table), phrases, strict=True):
        named = [name for name in names if name not in others]
        if named and table.n_rows > 1:
            _warn(f"{data}: columns that hold {phrase} are not used: {', '.join(map(repr, named))}")


def _unused(table: Table) -> tuple[list[str], list[str]]:
    """Return the names of empty columns, and of columns that hold one value only."""
    empty, constant = [], []
    for j, name in enumerate(table.names or ()):
        values = table.column(j)
        missing = np.isnan(values)
        if table.levels.columns.get(j) == () or j in table.levels.kinds:
            continue
        if missing.all():
            empty.append(name)
        elif not missing.any() and (values == values[0]).all():
            constant.append(name)
    return empty, constant


def _note_numbered(data: DataFile, table: FrameTable, others: Collection[str]) -> None:
    """Warn about columns that only number the rows."""
    numbered = []
    for j, name in enumerate(table.names):
        values = table.column(j)
        is_other = j in table.levels or j in table.levels.kinds or name in others
        if not is_other and values.size >= MIN_ROWS_FOR_ID and (values == np.rint(values)).all():
            # whole numbers from a to a + n - 1, each once: the order of the file, which new rows do
            # not have
            counted_up = bool(np.ptp(values) == values.size - 1)
            numbered += [name] if counted_up and np.unique(values).size == values.size else []
    if numbered:
        _warn(
            f"{data}: {', '.join(map(repr, numbered))} looks like the number of a row, because "
            "every row has another one. If it is, leave it out by --drop: what is learned from it "
            "does not carry over to new rows"
        )


def about(
    data: DataFile, table: Table, text: Collection[str] = (), others: Collection[str | None] = ()
) -> str:
    """Describe how a file was read; ``others`` are columns that are not features.

    The description shows columns of numbers that became categories by a typing error.
    """
    kinds: dict[str, dict[str, None]] = {kind.plural: {} for kind in KINDS}
    kinds["texts"] = dict.fromkeys(text)
    names = table.names or ()
    unused = set().union(*_unused(table)) if table.n_rows > 1 else set()
    for j, name in enumerate(table.levels.sources(names)):
        is_unused = name in unused or table.levels.columns.get(j) == ()
        if name not in text and name not in others and not is_unused:
            kinds[table.levels.kind(j).plural][name] = None
    parts = [
        f"{len(columns)} of {kind}"
        + ("" if kind == "numbers" else f" ({', '.join(map(repr, columns))})")
        for kind, columns in kinds.items()
        if columns
    ]
    columns = counted(sum(map(len, kinds.values())), "column")
    *before, last = parts or ["none used"]
    summary = f"{', '.join(before)} and {last}" if before else last
    return f"{data.name}: {counted(table.n_rows, 'row')} of {columns}, {summary}"
