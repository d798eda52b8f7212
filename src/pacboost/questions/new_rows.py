"""Select the rows that may certify a model: those it was not trained on.

All rows count (``copies="draws"``), or every distinct row once (``"distinct"``; training rows that
are recognised are then left out). If more rows equal training rows than chance explains, nothing is
certified (samples/overlap.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.wording import HAVE_TIMES, equal_to_learned, unanswered
from pacboost.errors import InputWarning, NotCertified, ParameterError, warn
from pacboost.questions.inner_models import Inner, answers_alone, inner_models
from pacboost.questions.served_alone import refuse_batches
from pacboost.samples.time_order import have_times

if TYPE_CHECKING:
    from pacboost.samples.overlap import Overlap
    from pacboost.samples.sketch import Sketch
    from pacboost.sources.table import Table

MIN_ROWS_COMPARED = 10
"""Of a large training set only a sample is remembered, and as large a share of new rows compared
with it. If fewer are compared, a half of all rows may be training rows without any being found."""

Rows = NDArray[np.intp]
Match: TypeAlias = "tuple[Sketch, Table, Overlap]"
"""What a model remembers of its training rows, other rows as it reads them, and their overlap."""


@dataclass(frozen=True, eq=False)
class NewRows:
    """The rows that count, and what a certificate states about them."""

    rows: int
    kept: Rows
    left_out: int = 0
    distinct: bool = False
    share_learned: float = 0.0
    """The share of rows that equal training rows, where these may be copies."""
    assumptions: tuple[str, ...] = ()
    checked: bool = True
    """Whether all models remember all rows that they were trained on."""
    details: Mapping[str, float] = field(default_factory=dict)
    """What claims say of the rows: how many have no answer, or that they have times."""
    coins: Mapping[str, float | int] = field(default_factory=dict)
    """By which coins rows were chosen (questions/moved.py), if they were."""
    chosen: Mapping[str, Any] = field(default_factory=dict)
    """Facts on the choice, for certificates."""

    @classmethod
    def select(
        cls,
        models: Sequence[object],
        X: object,
        y: ArrayLike,
        copies: str = "draws",
        *,
        each: bool = True,
    ) -> NewRows:
        """Raise if rows are training rows of one of the models, and decide which rows count.

        Unless ``each`` row is an example, all rows count: groups say which belong together.
        """
        if copies != "draws":
            from pacboost.samples.same_example import check_copies  # loads the kernels

            check_copies(copies)
        if copies == "distinct" and not each:
            raise ParameterError(
                "copies was given with groups or ordered, which already say how rows depend on "
                "each other; leave copies out",
                parameter="copies",
            )
        compared = [ComparedRows.with_fit(model, X) for model in models]
        checked = [rows.refuse_training_rows(copies) for rows in compared]
        rows = len(np.asarray(y))
        new = cls(rows, np.arange(rows))
        if each:  # groups and time say themselves which rows belong together
            new = cls._among([match for one in compared for match in one.matches], X, rows, copies)
        for model in models:
            refuse_batches(model, X)
        details = {k: v for fitted in models for k, v in getattr(fitted, "details", {}).items()}
        assumptions = (*new.assumptions, *unanswered(details))
        if each and have_times(X):
            details[HAVE_TIMES] = 1
        return replace(new, checked=all(checked), details=details, assumptions=assumptions)

    @classmethod
    def beside(cls, learned: Table, table: Table, X: object, y: ArrayLike, copies: str) -> NewRows:
        """Compare the rows of a table, passed as X, with all training rows."""
        from pacboost.samples.same_example import check_copies
        from pacboost.samples.sketch import Sketch

        sketch = Sketch.from_table(learned)
        match = sketch, table, sketch.overlap(table)
        _refuse(match, check_copies(copies), 1)
        return cls._among([match], X, len(np.asarray(y)), copies)

    @classmethod
    def _among(cls, matches: Iterable[Match], X: object, rows: int, copies: str) -> NewRows:
        if copies == "draws":
            share = max(map(_share_equal, matches), default=0.0)
            if not share:
                return cls(rows, np.arange(rows))
            warn(equal_to_learned(share), InputWarning)
            return cls(rows, np.arange(rows), share_learned=share)
        from pacboost.samples.same_example import REPEATS, Examples, warn_uncounted

        new = np.ones(rows, dtype=np.bool_)
        for sketch, table, _ in matches:
            new[sketch.equal_rows(table)] = False
        if not new.any():
            raise NotCertified(
                "the model was trained on all of these rows. A certificate needs rows that had no "
                "part in fitting: hold some back before you fit"
            )
        examples = Examples.from_rows(X, rows, copies)
        fresh = np.flatnonzero(new)
        counted_rows = examples.once(fresh)
        left_out = rows - fresh.size
        warn_uncounted(left_out, rows, "the model was trained on them")
        warn_uncounted(fresh.size - counted_rows.size, rows, REPEATS)
        return cls(rows, counted_rows, left_out, True, assumptions=examples.assumptions)

    def sample(self, kind: str) -> dict[str, Any]:
        """Return facts on which rows were counted (bounds/counted_rows.py)."""
        left_out = {"training": self.left_out, "of": self.rows} if self.left_out else {}
        return {"rows": kind, **left_out, **self.chosen}

    def marked(self, certificate: Certificate) -> Certificate:
        """Return a certificate with the assumptions about these rows."""
        marked = certificate.filtered(self.coins).assuming(*self.assumptions)
        marked = marked.detailed(self.details).repeating_learned(self.share_learned)
        marked = marked.of_distinct_rows() if self.distinct else marked
        return marked if self.checked else marked.unchecked()


@dataclass(frozen=True, eq=False)
class ComparedRows:
    """Rows compared with the training rows of a model, and of models within it, once."""

    model: object
    inside: list[tuple[Inner, list[Match]]]
    """The pacboost models within, each with the overlap of these rows and its training rows."""

    @classmethod
    def with_fit(cls, model: object, X: object) -> ComparedRows:
        """Compare rows with those of a fit, also of fits within pipelines and other wrappers."""
        return cls(model, [(inner, _compared(inner)) for inner in inner_models(model, X)])

    @property
    def matches(self) -> list[Match]:
        """The overlap with each sketch of every model within."""
        return [match for _, matches in self.inside for match in matches]

    def refuse_training_rows(self, copies: str = "draws") -> bool:
        """Raise if more rows are training rows than chance explains; return if all was checked.

        The answer is True if the model remembers all rows that it was trained on.
        """
        tests = len(self.matches)
        n_checked = 0
        for _, matches in self.inside:
            for match in matches:
                _refuse(match, copies, tests)
            n_checked += any(_would_notice(match, tests) for match in matches)
        alone = answers_alone(self.model)
        if alone is None or not self.inside or n_checked < len(self.inside):
            return False
        return all(sketch.complete for sketch in alone._sketches)


def _refuse(match: Match, copies: str, tests: int) -> None:
    """Raise if more rows are training rows than chance explains and they cannot be left out."""
    sketch, table, overlap = match
    if not overlap.suspicious_among(tests):
        return
    can_leave_out = sketch.share == 1  # of a sample, only some training rows are recognised
    if copies == "distinct" and can_leave_out:
        others = np.delete(np.arange(table.n_rows), sketch.equal_rows(table))
        if not sketch.overlap(table.take(others)).suspicious_among(tests):
            return
    advice = (
        ". If these rows equal training rows because both have copies, leave those out: "
        "copies='distinct', or --copies distinct on the command line"
    )
    raise NotCertified(
        f"{overlap.shared:,} of {overlap.compared:,} rows were used to train this model. "
        "A certificate needs rows that it was not trained on: hold "
        f"some back before you fit{advice if can_leave_out and copies == 'draws' else ''}"
    )


def _would_notice(match: Match, tests: int) -> bool:
    """Check whether the test would refuse rows of this number if all were training rows."""
    sketch, _, overlap = match
    if sketch.share < 1 and overlap.compared < MIN_ROWS_COMPARED:
        return False
    return sketch.would_notice(overlap.compared, tests)


def _share_equal(match: Match) -> float:
    """Return the share of the rows compared that equal training rows, if they may be copies.

    Rows are equal by their exact values, as the model reads them.
    """
    sketch, table, overlap = match
    if not overlap.shared:
        return 0.0
    from pacboost.samples.same_example import told_apart

    apart = told_apart(table)
    return (
        np.count_nonzero(apart[sketch.equal_rows(table)]) / overlap.compared if apart.any() else 0.0
    )


def _compared(inner: Inner) -> list[Match]:
    """Compare rows with those of a model; None if it has no sketch or reads other rows."""
    if not inner.model._sketches:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # wrappers hand frames on as arrays, or the reverse
        try:
            table = inner.model._rows_to_compare(inner.X)
            return [(sketch, table, sketch.overlap(table)) for sketch in inner.model._sketches]
        except (TypeError, ValueError):
            return []
