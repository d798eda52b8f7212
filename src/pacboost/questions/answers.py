"""Answers that were given already: by a language model, a vendor, a rule or a physician.

Pairs of an answer and the truth that are drawn independently are all that most certificates need,
whoever gave the answers. Here a column of answers becomes what those functions take: a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.wording import MEASURES
from pacboost.errors import DataError, InputWarning, ParameterError, warn
from pacboost.questions.measuring import is_list
from pacboost.questions.mistakes import fresh_labels, refuse_other_labels, rows_and_labels
from pacboost.questions.scored_rows import class_place
from pacboost.sources.dataframe import is_frame, open_frame
from pacboost.sources.levels import is_missing
from pacboost.sources.oracles.dask_collections import is_collection

MISSING = ("abstain", "wrong")


class Answers:
    """Answers that were given already, as a model for functions that take one.

    ``predict`` gives them back, whatever the rows are, so this speaks of these rows only. With
    scores there is ``decision_function``, for "auc" and ``choose_threshold``; and if they are of
    one of two classes and lie between 0 and 1, ``predict_proba``.

    Parameters
    ----------
    said : array
        The answer for every row. None, NaN or an empty text is no answer, and counts as wrong.
    scores : array of numbers, default=None
        The larger, the more likely a row is of the class ``positive``.
    positive : label, default=None
        The class that the scores speak of. None: the second of two classes.
    classes : array, default=None
        All classes. None: those that occur among the answers.

    Examples
    --------
    >>> judge = Answers(["ok", "bad", ""], scores=[0.1, 0.8, 0.3], positive="bad")
    >>> judge.predict(judge.rows).tolist(), judge.classes_.tolist()
    (['ok', 'bad', None], ['bad', 'ok'])
    """

    def __init__(
        self, said: Any, scores: Any = None, *, positive: Any = None, classes: Any = None
    ) -> None:
        cells = _cells(said)
        answers = np.array([cell for cell in cells if cell is not None])
        self.said = answers if answers.size == cells.size else cells
        self.classes_ = np.unique(answers if classes is None else np.asarray(classes))
        share = 1 - answers.size / cells.size
        self.details = {"missing_wrong": share} if share and scores is None else {}
        """What claims say of rows without an answer."""
        self.scores: NDArray[np.float64] | None = None
        """(rows, classes); those of a third class are missing."""
        if scores is None:
            return
        count = self.classes_.size
        if positive is None and count != 2:
            raise ParameterError(
                f"there are {count} classes; positive has to name the one that the scores rank",
                parameter="positive",
            )
        place = 1 if positive is None else class_place(self.classes_, positive)
        numbers = np.asarray(scores, dtype=np.float64)
        if numbers.shape != self.said.shape or not np.isfinite(numbers).all():
            raise DataError(
                f"scores have shape {numbers.shape}; a finite number for each of "
                f"{self.said.size:,} rows is needed"
            )
        self.scores = np.full((self.said.size, count), np.nan)
        self.scores[:, : 2 if count == 2 else 0] = 1 - numbers[:, None]
        self.scores[:, place] = numbers

    @property
    def rows(self) -> NDArray[np.float64]:
        """A table without columns, for functions that need rows."""
        return np.empty((self.said.size, 0))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the answers; None where there is none."""
        return self.said

    def __getattr__(self, name: str) -> Any:
        scores = self.__dict__.get("scores")
        if scores is not None and (
            name == "decision_function"
            or (name == "predict_proba" and ((scores >= 0) & (scores <= 1)).all())
        ):
            return lambda X: scores
        raise AttributeError(f"{type(self).__name__} has no {name}")

    def report(
        self, path: str | Path | None = None, X: Any = None, y: Any = None, *, certified: Any,
        title: str | None = None,
    ) -> Any:  # fmt: skip
        """Write a page about answers: claims, confusion and groups; return its path.

        ``certified`` holds what ``certify`` and ``certify_all`` gave, one or a list of these, and
        y the true labels. Without a path the page itself is returned, which a notebook shows.
        """
        from pacboost.bounds.certificate import Certificate
        from pacboost.bounds.family import Family
        from pacboost.bounds.held_out import HeldOut
        from pacboost.reports.page.document import answers_page, written

        claims = [certified] if isinstance(certified, Certificate | Family) else list(certified)
        classes = getattr(self, "classes_", np.empty(0))
        scores = self.scores if classes.size == 2 else None
        held_out = HeldOut.of(y, self.said, classes, scores)
        names = [str(label) for label in classes.tolist()]
        return written(answers_page(names, held_out, claims, title), path)


class GivenNumbers(Answers):
    """Numbers that were given already, as a model that predicts them."""

    _estimator_type = "regressor"

    def __init__(self, said: Any) -> None:
        self.said, self.details, self.scores = said, {}, None


def as_models(
    columns: Sequence[Any], X: Any, y: Any, target: str | None = None, scores: Any = None,
    missing: str = "abstain", of: Any = "error", positive: Any = None, *others: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """Return columns of answers as models, then rows, labels and others, of the rows that count.

    With ``missing="abstain"`` these are the rows that all columns answer. Answers and scores may be
    columns of X. ``others`` have a value for each row, too, or are None or the name of a column.
    """
    from pacboost.questions.certify import by_column

    if missing not in MISSING:
        raise ParameterError(
            f"missing is {missing!r}; it may be {', '.join(map(repr, MISSING))}",
            parameter="missing",
        )
    if is_collection(X):
        raise ParameterError(
            "answers of Dask collections are not read; compute the rows first", parameter="X"
        )
    truths = fresh_labels(rows_and_labels(X, y, target)[1])
    if truths.dtype.kind == "f" and (truths == np.rint(truths)).all():
        truths = truths.astype(np.int64)
    answers = [_cells(by_column(None, X, column, "said")[1]) for column in columns]
    if other := next((values.size for values in answers if values.size != truths.size), 0):
        raise DataError(f"there are {other:,} answers for {truths.size:,} labels")
    absent = [np.array([cell is None for cell in values]) for values in answers]
    lost = np.any(absent, axis=0)
    counted_rows = np.flatnonzero(~lost) if missing == "abstain" else np.arange(truths.size)
    if counted_rows.size == 0:
        raise DataError("no row has an answer, so there is nothing to certify")
    scores, *others = [  # type: ignore[assignment]
        values
        if values is None or isinstance(values, str)
        else _taken(values, counted_rows, truths.size)
        for values in (by_column(None, X, scores, "scores")[1], *others)
    ]
    names = [values for values in (of if is_list(of) else [of]) if isinstance(values, str)]
    numbers = any(values in MEASURES and MEASURES[values].numbers for values in names)
    label = positive[0] if isinstance(positive, list | tuple) else positive
    models: list[Answers] = []
    for values, none in zip(answers, absent, strict=True):
        if numbers:
            models.append(GivenNumbers(values[counted_rows]))
        else:
            classes = _classes(values, truths)
            models.append(Answers(values[counted_rows], scores, positive=label, classes=classes))
        if share := float((lost if missing == "abstain" else none).mean()):
            models[-1].details = {f"missing_{missing}": share}
    rows = np.empty((counted_rows.size, 0)) if X is None else _taken(X, counted_rows, truths.size)
    return models, rows, truths[counted_rows], *others


def _taken(values: Any, counted_rows: NDArray[np.intp], rows: int) -> Any:
    """Return some rows of a table or of values."""
    frame = is_frame(values)
    table: Any = open_frame(values) if frame else values
    table = table if frame or hasattr(values, "tocsr") else np.asarray(values)
    if table.shape[0] != rows:
        raise DataError(f"there are {rows:,} labels, and {table.shape[0]:,} rows, scores or groups")
    return table[counted_rows.tolist()].to_native() if frame else table[counted_rows]


def _cells(said: Any) -> NDArray[Any]:
    """Return the answers; None where there is none."""
    if isinstance(said, str) or np.ndim(said) != 1 or not len(said):
        raise DataError("said has to be a list of answers, one for each row, and at least one")
    values = said.tolist() if hasattr(said, "tolist") else list(said)
    cells = np.full(len(values), None, dtype=object)
    for place, cell in enumerate(values):
        if not is_missing(cell) and not (isinstance(cell, str) and not cell.strip()):
            cells[place] = cell.strip() if isinstance(cell, str) else cell
    if len({isinstance(cell, str) for cell in cells if cell is not None}) > 1:
        raise DataError("answers are partly text and partly numbers; give them in one way")
    return cells


def _classes(said: NDArray[Any], truths: NDArray[Any]) -> NDArray[Any]:
    """Return all classes, written as labels are; warn of answers that only spell them otherwise."""
    labels = set(truths.tolist())
    others = sorted({cell for cell in said if cell is not None} - labels)
    refuse_other_labels([cell for cell in said if cell is not None], truths)
    spelt = {str(label).casefold(): label for label in labels}
    for other in others:
        if label := spelt.get(str(other).casefold()):
            warn(
                f"the answer {other!r} is not a label, although {label!r} is: it counts "
                "as wrong. Write both in the same way",
                InputWarning,
            )
    return np.array([*truths.tolist(), *others])
