"""Answers that were given already: by a language model, a vendor, a rule or a physician.

Pairs of an answer and the truth that are drawn independently are all that most certificates need,
whoever gave the answers. Here a column of answers becomes what those functions take: a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from pacboost.bounds.wording import ABSTAINED, COUNTED_WRONG, MEASURES
from pacboost.errors import DataError, InputWarning, ParameterError, warn
from pacboost.numerics.checks import meant
from pacboost.questions.measuring import is_list
from pacboost.questions.mistakes import fresh_labels, refuse_other_labels, rows_and_labels
from pacboost.questions.scored_rows import class_place
from pacboost.sources.dataframe import is_frame, open_frame
from pacboost.sources.levels import is_missing
from pacboost.sources.oracles.choose import is_collection

MISSING = ("abstain", "wrong")
Rows = NDArray[np.intp]


class Answers:
    """Answers that were given already, as a model for functions that take one.

    ``predict`` gives them back, whatever the rows are, so this speaks of these rows only. With
    scores, ``certify`` takes "auc", and ``choose_threshold`` finds a threshold. Scores of one of
    two classes that lie between 0 and 1 are also taken as probabilities.

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
        given, absent = _cells(said)
        self.said = _placed(given, absent)
        self.classes_ = np.unique(given if classes is None else np.asarray(classes))
        self.details: dict[str, float] = {}
        """What claims say of rows without an answer."""
        self.scores = None if scores is None else _numbers(scores, self.said.size)
        if scores is not None:
            if positive is None and self.classes_.size != 2:
                raise ParameterError(
                    f"there are {self.classes_.size} classes; say by positive= of which one the "
                    "scores speak"
                )
            label = self.classes_[1] if positive is None else positive
            self._place = class_place(self.classes_, label)

    @property
    def rows(self) -> NDArray[np.float64]:
        """A table without columns, in the place of rows that are not known."""
        return np.empty((self.said.size, 0))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the answers; None where there is none."""
        return self.said

    @property
    def _has_chances(self) -> bool:
        if self.scores is None or self.classes_.size != 2:
            return False
        return bool(((self.scores >= 0) & (self.scores <= 1)).all())

    @available_if(lambda self: self.scores is not None)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores; of more than two classes, those of other classes are missing."""
        assert self.scores is not None
        if self.classes_.size == 2:
            return self.scores if self._place else -self.scores
        found = np.full((self.said.size, self.classes_.size), np.nan)
        found[:, self._place] = self.scores
        return found

    @available_if(lambda self: self._has_chances)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return scores of one of two classes as probabilities."""
        assert self.scores is not None
        other = 1 - self.scores
        return np.column_stack([other, self.scores] if self._place else [self.scores, other])

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

        more = [certified] if isinstance(certified, Certificate | Family) else list(certified)
        classes = getattr(self, "classes_", np.empty(0))
        held_out = None
        if classes.size:
            given = np.array([own is not None for own in self.said.tolist()])
            chances = self.predict_proba(X)[given] if self._has_chances else None
            said = np.array(self.said[given].tolist())
            held_out = HeldOut.of(np.asarray(y)[given], said, classes, chances)
        names = [str(label) for label in classes.tolist()]
        return written(answers_page(names, held_out, more, title), path)


class GivenNumbers(Answers):
    """Numbers that were given already, as a model that predicts them."""

    _estimator_type = "regressor"

    def __init__(self, said: Any) -> None:
        self.said, self.details, self.scores = _placed(*_cells(said)), {}, None


def answered(
    columns: Sequence[Any],
    y: Any,
    missing: str = "abstain",
    *,
    scores: Any = None,
    positive: Any = None,
    numbers: bool = False,
) -> tuple[list[Answers], NDArray[Any], Rows]:
    """Return columns of answers as models, the true labels, and the rows that count.

    With ``missing="abstain"`` these are the rows that all of them answer.
    """
    if missing not in MISSING:
        raise ParameterError(f"missing is {missing!r}; it may be {', '.join(map(repr, MISSING))}")
    truths = fresh_labels(y)
    cells = [_cells(column) for column in columns]
    for _, absent in cells:
        if absent.shape != truths.shape:
            raise DataError(f"there are {absent.size:,} answers for {truths.size:,} labels")
    absent = np.any([absent for _, absent in cells], axis=0)
    kept = np.flatnonzero(~absent) if missing == "abstain" else np.arange(truths.size)
    if kept.size == 0:
        raise DataError("no row has an answer, so there is nothing to certify")
    if scores is not None:
        scores = _numbers(np.asarray(scores)[kept], kept.size)
    models: list[Answers] = []
    for given, lost in cells:
        if numbers:
            model: Answers = GivenNumbers(_placed(given, lost)[kept])
        else:
            labels = _of_kind(given, truths)
            classes = np.concatenate([truths, labels])
            said = _placed(labels, lost)[kept]
            model = Answers(said, scores, positive=positive, classes=classes)
        share = float((absent if missing == "abstain" else lost).mean())
        if share:
            model.details = {ABSTAINED if missing == "abstain" else COUNTED_WRONG: share}
        models.append(model)
    return models, truths[kept], kept


def as_model(
    model: Any, said: Any, X: Any, y: Any, target: str | None, scores: Any, missing: str, of: Any,
    positive: Any, *others: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """Return the model that ``certify`` takes in the place of answers, rows, labels and others.

    Answers and scores may be columns of X. ``others`` have a value for each row, too, or are None
    or the name of a column.
    """
    if model is not None:
        raise ParameterError("a model and said= were both given; said= takes the model's place")
    if is_collection(X):
        raise ParameterError("answers of Dask collections are not read; compute the rows first")
    said, scores = _column(X, said, "said"), _column(X, scores, "scores")
    _, y = rows_and_labels(X, y, target)
    names = [own for own in (of if is_list(of) else [of]) if isinstance(own, str)]
    numbers = any(own in MEASURES and MEASURES[own].numbers for own in names)
    label = positive[0] if isinstance(positive, list | tuple) else positive
    (model,), y, kept = answered([said], y, missing, scores=scores, positive=label, numbers=numbers)
    parts = [own if own is None or isinstance(own, str) else _taken(own, kept) for own in others]
    return model, model.rows if X is None else _taken(X, kept), y, *parts


def _column(X: Any, own: Any, name: str) -> Any:
    """Return a column of X that is named, or values as they are."""
    if not isinstance(own, str):
        return own
    if not is_frame(X):
        raise ParameterError(f"{name} is {own!r}, and X is no data frame; give the values instead")
    frame = open_frame(X)
    if own not in frame.columns:
        columns = ", ".join(map(repr, frame.columns))
        said = f"{name} is {own!r}{meant(own, frame.columns)}; the columns are {columns}"
        raise ParameterError(said)
    return frame[own].to_list()


def _taken(values: Any, kept: Rows) -> Any:
    """Return some rows of a table or of values."""
    if is_frame(values):
        return open_frame(values)[kept.tolist()].to_native()
    return (values if hasattr(values, "shape") else np.asarray(values))[kept]


def _cells(said: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the answers that were given, and which rows have none."""
    if isinstance(said, str) or np.ndim(said) != 1 or not len(said):
        raise DataError("said has to be a list of answers, one for each row, and at least one")
    values: Iterable[Any] = said.tolist() if hasattr(said, "tolist") else list(said)
    cells = [own.strip() if isinstance(own, str) else own for own in values]
    given = [own for own in cells if not (is_missing(own) or own == "")]
    if len({isinstance(own, str) for own in given}) > 1:
        raise DataError("answers are partly text and partly numbers; give them in one way")
    return np.array(given), np.array([is_missing(own) or own == "" for own in cells])


def _placed(given: NDArray[Any], absent: NDArray[np.bool_]) -> NDArray[Any]:
    """Return an answer for each row, None where there is none."""
    if not absent.any():
        return given
    found = np.full(absent.size, None, dtype=object)
    found[~absent] = given
    return found


def _of_kind(found: NDArray[Any], truths: NDArray[Any]) -> NDArray[Any]:
    """Return answers as labels are written: whole numbers, if these are; warn of other spelling."""
    refuse_other_labels(np.unique(found), truths)
    if truths.dtype.kind in "iub" and found.dtype.kind in "iubf":
        whole = found.astype(truths.dtype)
        return whole if (whole == found).all() else found
    spelt = {str(label).casefold(): label for label in np.unique(truths).tolist()}
    for other in sorted(set(found.tolist()) - set(truths.tolist())):
        label = spelt.get(str(other).casefold())
        if label is not None:
            warn(
                f"the answer {other!r} is none of the labels, one of which is {label!r}: it counts "
                "as wrong. Write both in the same way",
                InputWarning,
            )
    return found


def _numbers(scores: Any, rows: int) -> NDArray[np.float64]:
    found = np.asarray(scores, dtype=np.float64)
    if found.shape != (rows,) or not np.isfinite(found).all():
        raise DataError(
            f"scores have shape {found.shape}; a finite number for each of {rows:,} rows is needed"
        )
    return found
