"""Answers that exist already: from a language model, a vendor, a rule or a physician.

Most certificates need only independent pairs of an answer and the truth, whoever gave the answers.
This module turns a column of answers into a model that those functions take.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.bounds.scored_rows import class_place
from pacboost.errors import DataError, ParameterError, invalid
from pacboost.questions.labelled_rows import by_column, rows_and_labels
from pacboost.questions.mistakes import check_answers, fresh_labels, refuse_other_labels
from pacboost.sources.optional import is_collection
from pacboost.sources.rows import PlainRows, Rows
from pacboost.sources.values import is_missing

MISSING = ("abstain", "wrong")


def answers(
    said: ArrayLike | Sequence[object] | None = None,
    scores: ArrayLike | str | None = None,
    *,
    positive: object = None,
    classes: ArrayLike | None = None,
    missing: str = "abstain",
) -> Answers:
    """Use answers that somebody has given in place of a model.

    ``certify``, ``certify_all`` and ``compare_models`` take them as a model, with X or without it;
    copies of rows are found by the columns of X alone. Claims begin with "If these rows are new".

    Parameters
    ----------
    said : array, or the name of a column of X
        The answer for every row; None, NaN or an empty text is no answer.
    scores : array, or the name of a column of X, default=None
        For "auc", thresholds and similar: the larger, the more likely a row is of the class
        ``positive``.
    positive : label, default=None
        The class that large scores indicate. None: the second of two classes.
    classes : array, default=None
        All classes that new examples can have. None: those that occur among answers and labels.
    missing : "abstain" or "wrong", default="abstain"
        What no answer is. "abstain": the claim is about the answers that are given. "wrong": it
        counts as a mistake. Both say how many are missing.

    Examples
    --------
    >>> from pacboost import certify
    >>> truth = ["ok", "bad", "bad", "ok"] * 30
    >>> print(certify(answers(["ok", "bad", "ok", ""] * 30), y=truth).claim)
    If these rows are new: the classifier is wrong on at most 42.40 % of new examples, empty \
answers (25.0 %) do not count.
    """
    if not isinstance(missing, str) or missing not in MISSING:
        raise invalid("missing", missing, f"may be {', '.join(map(repr, MISSING))}")
    if said is None:
        raise ParameterError(
            "scores came without said=: scores only rank rows. Give the answers, too, as in "
            "answers(scores > 0.5, scores)"
            if scores is not None
            else "said is missing; give an answer for each row, or the name of a column of X",
            parameter="said",
        )
    return Answers(said, scores, positive=positive, classes=classes, missing=missing)


class Answers:
    """Given answers as a model; made by ``pacboost.answers``.

    ``predict`` returns them for any rows, so claims are about these rows only. With scores there is
    ``decision_function``, for "auc" and ``choose_threshold``; and if they are of one of two classes
    and lie between 0 and 1, ``predict_proba``. Functions other than ``certify``, ``certify_all``
    and ``compare_models`` count a missing answer as wrong.

    Examples
    --------
    >>> judge = answers(["ok", "bad", ""], scores=[0.1, 0.8, 0.3], positive="bad")
    >>> judge.predict(judge.rows).tolist(), judge.classes_.tolist()
    (['ok', 'bad', None], ['bad', 'ok'])
    """

    def __init__(
        self, said: Any, scores: Any = None, *, positive: Any = None, classes: Any = None,
        missing: str | None = None,
    ) -> None:  # fmt: skip
        self.columns, self.positive = (said, scores), positive
        self.missing = missing
        """None for answers of the rows that count, which ``joined`` makes."""
        self.classes = classes
        """Those that were named; ``classes_`` are these, or those that occur."""
        self.details: dict[str, float] = {}
        """What claims say of rows without an answer."""
        self.scores: NDArray[np.float64] | None = None
        """(rows, classes); those of a third class are missing."""
        if isinstance(said, str) or isinstance(scores, str):  # columns of rows that are to come
            return
        cells = _cells(said)
        present = np.array([cell for cell in cells if cell is not None])
        self.said = present if present.size == cells.size else cells
        self.classes_ = np.unique(present if classes is None else np.asarray(classes))
        if present.size < cells.size and scores is None:
            self.details = {"missing_wrong": 1 - present.size / cells.size}
        if scores is not None:
            self.scores = self._matrix(scores)

    def _matrix(self, scores: ArrayLike) -> NDArray[np.float64]:
        count = self.classes_.size
        if self.positive is None and count != 2:
            raise ParameterError(
                f"there are {count} classes; name by positive= the class that the scores rank",
                parameter="positive",
            )
        place = 1 if self.positive is None else class_place(self.classes_, self.positive)
        numbers = np.asarray(scores, dtype=np.float64)
        if numbers.shape != self.said.shape or not np.isfinite(numbers).all():
            raise DataError(
                f"scores have shape {numbers.shape}; a finite number for each of "
                f"{self.said.size:,} rows is needed"
            )
        matrix = np.full((self.said.size, count), np.nan)
        matrix[:, : 2 if count == 2 else 0] = 1 - numbers[:, None]
        matrix[:, place] = numbers
        return matrix

    @property
    def rows(self) -> NDArray[np.float64]:
        """A table without columns, for functions that need rows."""
        return np.empty((self.said.size, 0))

    def predict(self, X: object) -> NDArray[Any]:
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
        self, path: str | Path | None = None, X: object = None, y: Any = None, *, certified: Any,
        title: str | None = None,
    ) -> Any:  # fmt: skip
        """Write a page about answers: claims of ``certify`` and ``certify_all``, and confusion.

        Return its path, or without a path the page itself, which a notebook shows.
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
    """Given numbers as a model that predicts them."""

    _estimator_type = "regressor"

    def __init__(self, values: NDArray[Any]) -> None:
        self.said, self.details, self.scores, self.missing = values, {}, None, None


def joined(
    several: Sequence[Answers], X: object, y: object, *others: Any, numbers: bool = False
) -> tuple[Any, ...]:
    """Return answers as models, and the rows, labels and other values of the rows that count.

    With ``missing="abstain"``, only rows that all models answer count. Other values are arrays,
    None or names of columns.
    """
    if is_collection(X):
        raise ParameterError(
            "answers of Dask collections are not read; compute the rows first", parameter="X"
        )
    truths = fresh_labels(rows_and_labels(X, y)[1])
    if truths.dtype.kind == "f" and (truths == np.rint(truths)).all():
        truths = truths.astype(np.int64)
    columns = [_cells(by_column(None, X, one.columns[0], "said")[1]) for one in several]
    if other := next((cells.size for cells in columns if cells.size != truths.size), 0):
        raise DataError(f"there are {other:,} answers for {truths.size:,} labels")
    absent = [np.array([cell is None for cell in cells]) for cells in columns]
    lost = np.any(absent, axis=0)
    abstains = several[0].missing == "abstain"
    counted_rows = np.flatnonzero(~lost) if abstains else np.arange(truths.size)
    if counted_rows.size == 0:
        raise DataError("no row has an answer, so there is nothing to certify")
    models: list[Answers] = []
    for one, cells, none in zip(several, columns, absent, strict=True):
        if numbers:
            models.append(GivenNumbers(cells[counted_rows]))
        else:
            scores = _taken(by_column(None, X, one.columns[1], "scores")[1], counted_rows, lost)
            classes = _classes(cells, truths, one.classes)
            # what is none of the labels is wrong in every measure, as no answer is: "Yes" for
            # "yes" must not pass for one that was right to say nothing
            known = {None, *classes.tolist()}
            is_label = np.array([cell in known for cell in cells.tolist()])
            cells[~is_label] = None
            models.append(
                Answers(cells[counted_rows], scores, positive=one.positive, classes=classes)
            )
            models[-1].details = {}
        if share := float((lost if abstains else none).mean()):
            models[-1].details = {f"missing_{several[0].missing}": share}
    rows = np.empty((counted_rows.size, 0)) if X is None else _taken(X, counted_rows, lost)
    return (
        models,
        rows,
        truths[counted_rows],
        *(_taken(values, counted_rows, lost) for values in others),
    )


def _taken(values: Any, counted_rows: NDArray[np.intp], lost: NDArray[np.bool_]) -> Any:
    """Select rows of a table or of values; None and names of columns are returned unchanged."""
    if values is None or isinstance(values, str):
        return values
    rows = Rows.of(values)
    if isinstance(rows, PlainRows):
        rows = PlainRows(np.asarray(values))
    if rows.count != lost.size:
        raise DataError(f"there are {lost.size:,} labels for {rows.count:,} rows, scores or groups")
    return rows.take(counted_rows).given


def _cells(values: Any) -> NDArray[Any]:
    if isinstance(values, str) or np.ndim(values) != 1 or not len(values):
        raise DataError("answers must be a list that is not empty, with an answer for each row")
    answers = values.tolist() if hasattr(values, "tolist") else list(values)
    cells = np.full(len(answers), None, dtype=object)
    for place, cell in enumerate(answers):
        if not is_missing(cell) and not (isinstance(cell, str) and not cell.strip()):
            cells[place] = cell.strip() if isinstance(cell, str) else cell
    if len({isinstance(cell, str) for cell in cells if cell is not None}) > 1:
        raise DataError("answers are partly text and partly numbers; give them in one way")
    return cells


def _classes(cells: NDArray[Any], truths: NDArray[Any], named: ArrayLike | None) -> NDArray[Any]:
    """Return all classes, those of labels; warn of answers that are none of them."""
    labels = {*truths.tolist(), *(() if named is None else np.asarray(named).tolist())}
    if named is not None and len(labels) > len(set(np.asarray(named).tolist())):
        other = sorted(labels - set(np.asarray(named).tolist()))[0]
        raise ParameterError(
            f"y holds {other!r}, which classes= does not name; name all classes",
            parameter="classes",
        )
    present = [cell for cell in cells if cell is not None]
    refuse_other_labels(present, truths)
    check_answers(cells, truths, list(labels))
    # of one class, anything else may be another class
    others = sorted(set(present) - labels) if len(labels) == 1 else []
    return np.array([*labels, *others])
