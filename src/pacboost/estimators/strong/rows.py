"""Rows for StrongClassifier: what users hand to it, and which rows learn, watch and certify.

Named columns that are labels, groups or times are taken out of the rows. Texts are found where they
are: in a list of strings, or in columns whose cells read like sentences.

Certifying rows are chosen first, by chance, by groups or as the latest in time, and nothing but the
final count of mistakes ever looks at them. How many there are follows from epsilon and delta alone:
so many that a classifier wrong half as often as it may be is expected to pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import holdout
from pacboost.errors import DataError, FileError, ParameterError
from pacboost.estimators.inputs.documented import guess
from pacboost.samples.same_example import REPEATS, Examples, warn_uncounted
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.columns import Columns
from pacboost.sources.data_file import DataFile, read_as_a_whole
from pacboost.sources.dataframe import is_frame, open_frame
from pacboost.sources.file_rows import read_csv
from pacboost.sources.frame_table import CellOrigin, FrameTable
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.sources.table import Table
from pacboost.sources.written import Spelling, orders, read_dates

ORDERS = {"auto": None, "day-first": True, "month-first": False}
"""How dates such as 1/2/2024 are written, if no date of their column shows it."""


@dataclass(frozen=True, eq=False)
class Reading:
    """What was read: rows as they came, or as a table, and what is known of each row."""

    X: Any
    y: Any
    groups: Any = None
    time: Any = None
    sample_weight: Any = None
    dropped: tuple[str, ...] = ()
    """Columns that are no features, where rows have them: target, groups, time and weights."""


def is_source(X: Any) -> bool:
    """Check whether rows have to be drawn: they are too many, or come one after the other."""
    if isinstance(X, AbstractOracle) or callable(X):
        return True
    if isinstance(X, str | Path):
        return not read_as_a_whole(Path(X))
    if hasattr(X, "cursor") or hasattr(X, "as_oracle"):
        return True
    return isinstance(X, list | tuple) and bool(X) and all(isinstance(x, Path) for x in X)


def is_texts(X: Any) -> bool:
    """Check whether rows are texts: a list, an array or a series of strings."""
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and isinstance(_first(X), str)
    if isinstance(X, list | tuple):
        return isinstance(_first(X), str)
    series = nw.from_native(X, pass_through=True, series_only=True)
    return isinstance(series, nw.Series) and len(series) > 0 and isinstance(series[0], str)


def _first(cells: Iterable[Any]) -> Any:
    """The first cell that is not missing; whoever reads texts names the rows that hold none."""
    return next((cell for cell in cells if cell is not None), None)


def day_first(dates: Any) -> bool | None:
    """Return which number of dates with slashes is the day; None if each column has to show it.

    >>> [day_first(asked) for asked in ("auto", "day-first", "month-first")]
    [None, True, False]
    """
    if not isinstance(dates, str) or dates not in ORDERS:
        raise ParameterError(f"dates is {dates!r}; it may be {', '.join(map(repr, ORDERS))}")
    return ORDERS[dates]


def read(
    X: Any, y: Any, groups: Any, time: Any, sample_weight: Any = None, dates: Any = "auto"
) -> Reading:
    """Read a file if one is named, and take named columns out of the rows."""
    order = day_first(dates)
    if isinstance(X, str | Path):
        file = DataFile(Path(X), day_first=order)
        if not isinstance(y, str):
            raise ParameterError(f"{file}: name the column that holds the labels, as y")
        if not file.path.exists():
            raise FileError(f"{file}: there is no such file")
        texts = {name for name in (groups, time) if isinstance(name, str)}
        examples = read_csv(file, y, categories=True, raw=texts)
        reading = read(examples.table, examples.labels, groups, time, sample_weight)
        return replace(reading, dropped=(*reading.dropped, y))
    known = {"y": y, "groups": groups, "time": time, "sample_weight": sample_weight}
    if isinstance(X, Table) and X.names is not None:
        return _from_columns(X, X.names, X.cells, _of_table, known)
    if is_frame(X):
        frame = open_frame(X)
        names = tuple(str(name) for name in frame.columns)
        reading = _from_columns(
            X, names, lambda number: np.asarray(frame[:, number].to_numpy()),
            lambda _, kept: frame[:, kept].to_native(), known,
        )  # fmt: skip
        if order is None:
            return reading
        origin = CellOrigin(Spelling(day_first=order))
        return replace(reading, X=FrameTable.learn(reading.X, origin=origin, note=True))
    if order is not None:
        raise ParameterError(
            f"dates is {dates!r}, which says how text writes dates, but X is neither a file "
            "nor a frame"
        )
    for name, value in known.items():
        if isinstance(value, str):
            raise ParameterError(
                f"{name} is {value!r}, but the columns of X have no names; give the values "
                "themselves, a data frame or a file"
            )
    return Reading(X, **known)


def columns_of(X: Any) -> Columns | None:
    """Return the columns by name as they came; None where they have no names."""
    if isinstance(X, FrameTable):
        return Columns(X.as_given, X.origin)
    if isinstance(X, Table) and X.names is not None:
        return Columns({name: X.cells(j) for j, name in enumerate(X.names)})
    return Columns.of(X) if is_frame(X) else None


def without(X: Any, columns: Sequence[str]) -> Any:
    """Leave columns out that are no features, where X has them."""
    if not columns or not is_frame(X):
        return X
    frame = open_frame(X)
    return frame.drop([name for name in columns if name in frame.columns]).to_native()


def _from_columns(
    X: Any,
    names: tuple[str, ...],
    cells: Callable[[int], NDArray[Any]],
    keep: Callable[[Any, list[int]], Any],
    known: dict[str, Any],
) -> Reading:
    taken = {role: name for role, name in known.items() if isinstance(name, str)}
    for role, name in taken.items():
        if name not in names:
            raise DataError(
                f"{role} names {name!r}, which is not a column; the columns are "
                f"{', '.join(repr(other) for other in names)}{guess(name, names)}"
            )
        known = {**known, role: cells(names.index(name))}
    kept = [j for j, name in enumerate(names) if name not in taken.values()]
    return Reading(keep(X, kept) if taken else X, dropped=tuple(taken.values()), **known)


def _of_table(table: Table, kept: list[int]) -> Table:
    """Copy some columns; the levels of those that have some move with them."""
    assert table.names is not None
    if isinstance(table, ArrayTable | FrameTable):
        return table.columns(kept)
    values = np.column_stack([table.block(j, j + 1)[:, 0] for j in kept])
    return ArrayTable(values, tuple(table.names[j] for j in kept), table.levels.of(kept))


Rows = NDArray[np.intp]

FEWEST = 40
"""Of fewer rows none is set apart: what they could certify is worth less than what they teach."""
SHARE, SHARE_OF_FEW, LARGEST_SHARE = 0.05, 0.1, 0.2
"""Every row that certifies is missing where rows are learned from. On 5,000 rows a tenth makes
certificates .86 times those by a twentieth, and errors 1.02 times; on 500 to 2,000 rows a fifth
makes certificates .84 times those by a tenth, and errors and log losses 1.02 to 1.04 times."""
FEWEST_CERTIFYING, FEW = 20, 100
"""Where a twentieth would be fewer than the second number, a tenth is set apart; where that would
be fewer than the first, a fifth."""
MOST = 10_000
"""With so many, a certificate is mostly within half a point of the mistakes counted."""
ENDLESS = 10**12
LOOKS = 2
"""At most so often certifying rows are looked at; planned for the worst."""
WATCHING, MOST_WATCHING = 0.1, 10_000


@dataclass(frozen=True, eq=False)
class Parts:
    """Row numbers, each in order: to learn from, to watch the rounds, to certify."""

    learn: Rows
    watch: Rows
    certify: Rows

    @property
    def known(self) -> Rows:
        """All rows that may be learned from in the end."""
        return np.sort(np.concatenate([self.learn, self.watch]))


def certifying_rows(
    rows: int,
    epsilon: float | None,
    delta: float,
    bound: Callable[..., float] = holdout.clopper_pearson,
    looks: int = LOOKS,
    share: float = SHARE_OF_FEW,
) -> int:
    """How many of the rows (or groups) to set apart for the certificate.

    A twentieth, but at least ``share`` up to 100, and at most 10,000; with epsilon more, if an
    error of epsilon/2 needs as many to be certified; never more than a fifth.

    >>> [certifying_rows(rows, None, 0.05) for rows in (100, 500, 1000, 5000, 20_000)]
    [20, 50, 100, 250, 1000]
    >>> certifying_rows(10_000, 0.01, 0.05), certifying_rows(30, None, 0.05)
    (1705, 0)
    """
    if rows < FEWEST:
        return 0
    few = min(FEW, round(share * rows))
    wanted = max(FEWEST_CERTIFYING, few, min(MOST, round(SHARE * rows)))
    if epsilon is not None:
        needed = holdout.examples_for(bound, epsilon, delta, epsilon / 2, looks)
        wanted = max(wanted, needed)
    return min(wanted, round(LARGEST_SHARE * rows))


def certifying_draws(rows: int | None, epsilon: float | None, delta: float) -> int:
    """How many to set apart of rows that are drawn; None means that there is no end of them.

    >>> certifying_draws(None, None, 0.05), certifying_draws(1000, 0.1, 0.05)
    (10000, 154)
    """
    return certifying_rows(ENDLESS if rows is None else rows, epsilon, delta)


def watching_rows(rows: int) -> int:
    """How many of the rows that are left say when to stop.

    >>> watching_rows(1000), watching_rows(1_000_000), watching_rows(5)
    (100, 10000, 0)
    """
    return min(MOST_WATCHING, round(WATCHING * rows)) if rows >= FEWEST else 0


def by_chance(
    rows: int, epsilon: float | None, delta: float, seed: int, *, threshold: bool = False
) -> Parts:
    """Set rows apart at random; a fifth of them if they are to choose a threshold.

    Rows watch if there is an error to be reached; else the estimator holds its own back for a time.
    """
    certify = certifying_rows(rows, epsilon, delta)
    if threshold and certify:
        certify = round(LARGEST_SHARE * rows)
    order = np.random.default_rng(seed).permutation(rows)
    return _parts(order[certify:], order[:certify], watched=epsilon is not None)


def rows_of(parts: Parts, examples: Examples) -> Parts:
    """Return the rows of parts that hold examples; of each that certifies, one row is kept."""
    learn, watch, certify = map(examples.rows_of, vars(parts).values())
    counted = examples.once(certify)
    warn_uncounted(certify.size - counted.size, certify.size, REPEATS)
    return Parts(learn, watch, counted)


def all_known(rows: int) -> Parts:
    """Set no row apart."""
    return _parts(np.arange(rows), np.arange(0), watched=False)


def by_time(times: NDArray[np.intp], epsilon: float | None, delta: float) -> Parts:
    """Certify by the latest rows, and watch by those before them.

    Rows of one moment stay together, so that whatever is learned from is earlier.

    >>> by_time(np.repeat(np.arange(8), 50), None, 0.05).certify.tolist() == list(range(350, 400))
    True
    """
    certify = certifying_rows(times.size, epsilon, delta, holdout.hoeffding, 1)
    order = np.argsort(times, kind="stable")[::-1]
    if certify:
        first = times[order[certify - 1]]
        later, also = (int(np.count_nonzero(own)) for own in (times > first, times >= first))
        certify = also if also <= 2 * certify or not later else later
        if 2 * certify > times.size:
            raise DataError(
                f"{certify:,} of {times.size:,} rows have the latest time, too many to be set "
                "apart; give finer times, or none"
            )
    return _parts(order[certify:], order[:certify])


def by_groups(groups: Rows, epsilon: float | None, delta: float, seed: int) -> Parts:
    """Set whole groups apart; how many depends on the number of groups alone."""
    number = int(groups.max()) + 1
    certify = certifying_rows(number, epsilon, delta, holdout.chernoff_kl, 1, LARGEST_SHARE)
    order = np.random.default_rng(seed).permutation(number)
    parts = _parts(order[certify:], order[:certify])
    return Parts(*(np.flatnonzero(np.isin(groups, part)) for part in vars(parts).values()))


def _parts(known: Rows, certify: Rows, *, watched: bool = True) -> Parts:
    watch = watching_rows(known.size) if watched else 0
    return Parts(np.sort(known[watch:]), np.sort(known[:watch]), np.sort(certify))


def _moments(texts: NDArray[Any]) -> NDArray[Any]:
    """Read times that are written as text, as dates in files are."""
    try:
        return texts.astype("datetime64")
    except ValueError:
        written = [str(text).strip() for text in texts]
    found = orders(written)
    if len(found) > 1:
        raise DataError(
            f"time holds dates such as {written[0]!r}, of which either number may be the day; "
            "write them as in 2024-01-31"
        )
    moments = read_dates(written, found[0]) if found else None
    if moments is None:
        strange = next((text for text in written if not orders([text])), written[0])
        raise DataError(
            f"time holds {strange!r}, which is not a date; give numbers, dates, or text such as "
            "2024-01-31 or 31.1.2024"
        )
    return np.array(moments, dtype="datetime64[us]")


def ordered(times: NDArray[Any], rows: int) -> Rows:
    """Return every row its place in time; text has to be dates that sort as they read."""
    if times.shape != (rows,):
        raise DataError(f"time has shape {times.shape}; one value for each of {rows} rows")
    missing = sum(value is None or value != value for value in times.tolist())  # noqa: PLR0124
    if missing:
        raise DataError(
            f"time holds missing values in {missing:,} of {rows:,} rows; give every row its time, "
            "or leave those rows out"
        )
    if times.dtype.kind in "OUT" and isinstance(times[0], str):
        times = _moments(times)
    return np.unique(times, return_inverse=True)[1].astype(np.intp)
