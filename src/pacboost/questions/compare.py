"""Compare boosters on the same rows.

The number of test errors of a booster is binomial, so each error has an exact interval; as any
booster may be picked after looking, all intervals hold together. Whether one is better than another
is tested on the rows on which they differ: if both were equally good, each of those would be a fair
coin (the sign test; McNemar 1947). That distinguishes more pairs than the intervals do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from io import StringIO
from itertools import combinations
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, RenderableType

from pacboost.bounds.exact_tests import Difference, sign_test_p
from pacboost.bounds.holdout import clopper_pearson, clopper_pearson_lower
from pacboost.bounds.rounding import confidence_number
from pacboost.errors import NotCertified, ParameterError
from pacboost.models.answers import asked
from pacboost.models.training_claim import learned_otherwise, training_certificate
from pacboost.numerics.checks import positive_whole, probability
from pacboost.numerics.soft_margin import soft_margin
from pacboost.questions.answers import Answers, joined
from pacboost.questions.compare_numbers import LossDifference
from pacboost.questions.mistakes import check_order, fresh_labels, mistakes, predicts_numbers
from pacboost.questions.new_rows import NewRows
from pacboost.reports.text import html_table, picture, table
from pacboost.sources.explained_errors import explains_input

Wrong = NDArray[np.bool_]


@dataclass(frozen=True)
class Compared:
    """The results of one booster on training rows and on test rows."""

    name: str
    rounds: int | None = None
    seconds: float | None = None
    training_error: float | None = None
    bound: float | None = None
    """What the training-error theorem says it is at most; None where none applies."""
    least_margin: float | None = None
    soft_margin: float | None = None
    """The mean margin of the worst rows; ``Comparison.share`` is their share of all rows."""
    median_margin: float | None = None
    test_error: float | None = None
    lower: float | None = None
    upper: float | None = None
    """All intervals of a comparison hold together with probability 1 - delta."""
    worse: bool | None = None
    """Whether it is surely worse than the one with the smallest test error."""
    stopped: str = ""
    failed: bool = False
    notes: tuple[str, ...] = ()
    """What it warned of, and why no bound applies."""
    model: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Labelled:
    """Rows with their labels."""

    X: Any
    y: Any


@dataclass(frozen=True, repr=False)
class Comparison:
    """The results of all boosters, in the order in which they were named."""

    entries: tuple[Compared, ...]
    learner: str
    train_rows: int
    test_rows: int
    delta: float
    share: float
    differences: tuple[Difference, ...] = ()
    """Every pair on the rows on which the two differ; all intervals hold together."""
    assumptions: tuple[str, ...] = ()

    def difference(self, one: str, other: str) -> Difference:
        """Return the difference of the risks of two boosters, the first less the second."""
        for difference in self.differences:
            if (difference.one, difference.other) == (one, other):
                return difference
            if (difference.one, difference.other) == (other, one):
                b, c = difference.only_one_wrong, difference.only_other_wrong
                return replace(
                    difference, one=one, other=other, only_one_wrong=c, only_other_wrong=b
                )
        tested = sorted({name for each in self.differences for name in (each.one, each.other)})
        raise KeyError(f"{one!r} and {other!r} were not tested on the same rows; {tested} were")

    def __iter__(self) -> Iterator[Compared]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, name: str) -> Compared:
        for entry in self.entries:
            if entry.name == name:
                return entry
        names = ", ".join(repr(entry.name) for entry in self.entries)
        raise KeyError(f"{name!r} was not compared; {names} were")

    def columns(self) -> dict[str, list[Any]]:
        """Return everything but notes and models as columns."""
        names = [f.name for f in fields(Compared) if f.name not in ("notes", "model")]
        return {name: [getattr(entry, name) for entry in self.entries] for name in names}

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return everything but notes and models as a data frame of pandas, polars or pyarrow."""
        import narwhals as nw

        return nw.from_dict(self.columns(), backend=backend).to_native()  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the models as plain values for JSON."""
        lists = ("entries", "differences", "assumptions")
        about = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in lists}
        return about | {
            "boosters": [
                {f.name: getattr(entry, f.name) for f in fields(entry) if f.name != "model"}
                | {"notes": list(entry.notes)}
                for entry in self.entries
            ],
            "differences": [difference.to_dict() for difference in self.differences],
            "assumptions": list(self.assumptions),
        }

    def to_json(self) -> str:
        """Return everything but the models as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def table(self) -> RenderableType:
        """Return a table for the terminal, with notes below it."""
        return table(self.columns(), self._title(), self.share, self._caption(), self._lines())

    def plot(self, ax: Any = None) -> Any:
        """Draw errors and margins side by side; if a single axes is given, the errors only."""
        return picture(self.columns(), self.share, ax)

    def __str__(self) -> str:
        console = Console(file=StringIO(), width=100, color_system=None, force_jupyter=False)
        with console.capture() as text:
            console.print(self.table())
        return "\n".join(line.rstrip() for line in text.get().splitlines())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(self.columns(), self._title(), self.share, self._caption(), self._lines())

    def _title(self) -> str:
        title = f"{self.learner}: {self.train_rows:,} rows to learn from"
        return title + (f", {self.test_rows:,} to test on" if self.test_rows else "")

    def _lines(self) -> list[str]:
        names_by_words: dict[str, list[str]] = {}
        for entry in self.entries:
            for words in (entry.stopped, *entry.notes):
                names_by_words.setdefault(words, []).append(entry.name)
        return [f"{', '.join(names)}: {words}" for words, names in names_by_words.items() if words]

    def _caption(self) -> str:
        if not self.test_rows:
            return ""
        assumed = "".join(f" Assumed: {words}." for words in self.assumptions)
        return (
            f"All intervals hold together with probability {confidence_number(self.delta)}; so do "
            f"all stars. *: not surely worse than the best (sign test).{assumed}"
        )


def measure(
    name: str,
    model: Any,
    training: Labelled,
    test: Labelled | None,
    *,
    share: float,
    delta: float,
    boosters: int,
) -> tuple[Compared, Wrong | None]:
    """Measure a classifier on training and test rows; also return which test rows are wrong.

    Only pacboost models have margins, rounds and the bound; ``boosters`` share ``delta``.
    """
    ledger = getattr(model, "ledger_", None)
    rounds = getattr(model, "estimators_", None) if ledger is None else ledger
    results: dict[str, Any] = {"rounds": None if rounds is None else len(rounds)}
    if ledger is not None:
        results["stopped"] = ledger.stopped
        try:
            results["bound"] = training_certificate(model.model_).value
        except NotCertified as reason:
            results["notes"] = (str(reason),)
        if ledger.several_labels:
            results["notes"] = (
                "training error and bound are of labels, the test error is of rows",
            )
    recorded = ledger is not None and len(ledger) and not ledger.refills
    if ledger is not None and recorded and not learned_otherwise(model.model_):
        results["training_error"] = ledger.rounds[-1].training_error
    else:
        results["training_error"] = float(mistakes(model, training.X, training.y).mean())
    if hasattr(model, "margins"):
        margins = np.asarray(model.margins(training.X, training.y)).reshape(-1, 1)
        results["least_margin"] = float(margins.min())
        results["soft_margin"] = soft_margin(margins, np.ones(1), share)
        results["median_margin"] = float(np.median(margins))
    wrong = None if test is None else mistakes(model, test.X, test.y)
    if wrong is not None:
        mistaken, n = int(wrong.sum()), wrong.size
        results["test_error"] = float(wrong.mean())
        # any of the boosters may be picked after looking, so that all intervals hold at once
        results["lower"] = clopper_pearson_lower(mistaken, n, delta / 2, boosters)
        results["upper"] = clopper_pearson(mistaken, n, delta / 2, boosters)
    return Compared(name, model=model, **results), wrong


def surely_worse(wrong: Mapping[str, Wrong], delta: float) -> dict[str, bool]:
    """Return which boosters are worse than the one with the fewest mistakes, by sign tests."""
    if not wrong:
        return {}
    best = min(wrong.values(), key=lambda mask: int(mask.sum()))
    # the best is known only after looking, so all pairs are paid for
    pairs = max(1, len(wrong) * (len(wrong) - 1) // 2)
    return {name: sign_test(best, mask) < delta / pairs for name, mask in wrong.items()}


def sign_test(one: Wrong, other: Wrong) -> float:
    """Return the p-value of the sign test on the rows where two classifiers differ."""
    return sign_test_p(only_first(one, other), only_first(other, one))


def only_first(one: Wrong, other: Wrong) -> int:
    """Count the rows on which only the first of two classifiers is wrong."""
    return int((one & ~other).sum())


def differences(
    wrong: Mapping[str, Wrong], delta: float, assumptions: tuple[str, ...] = ()
) -> tuple[Difference, ...]:
    """Compare all pairs on the rows on which they differ; all intervals hold together."""
    pairs = list(combinations(wrong.items(), 2))
    return tuple(
        Difference(
            one, other, only_first(a, b), only_first(b, a), a.size, delta, len(pairs), assumptions
        )
        for (one, a), (other, b) in pairs
    )


@overload
def compare_models(
    one: object,
    other: object,
    X: object,
    y: Any,
    *,
    delta: float = 0.05,
    models: int = 2,
    names: tuple[str, str] | None = None,
    copies: str = "draws",
    clip: None = None,
) -> Difference: ...


@overload
def compare_models(
    one: object,
    other: object,
    X: object,
    y: Any,
    *,
    delta: float = 0.05,
    models: int = 2,
    names: tuple[str, str] | None = None,
    copies: str = "draws",
    clip: float,
) -> LossDifference: ...


@explains_input
def compare_models(
    one: object,
    other: object,
    X: object,
    y: Any,
    *,
    delta: float = 0.05,
    models: int = 2,
    names: tuple[str, str] | None = None,
    copies: str = "draws",
    clip: float | None = None,
) -> Difference | LossDifference:
    """Compare two fitted models by rows that neither of them has seen.

    ``p_value`` of the result is that of the exact sign test on the rows on which they differ;
    ``interval`` encloses the risk of the first minus that of the second, except with probability
    delta; ``sentence`` states both. If you try more ``models`` than these two on the rows and
    report any pair, all pairs share delta. Equal rows count as in ``certify``. By default ``names``
    are those of the models' classes.

    Models of numbers are compared by their mean absolute errors, of which those above ``clip``,
    fixed beforehand, count as it.

    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.arange(400.0)[:, None]
    >>> y = X[:, 0] > 250
    >>> tree, guess = (m.fit(X[::2], y[::2]) for m in (DecisionTreeClassifier(), DummyClassifier()))
    >>> found = compare_models(guess, tree, X[1::2], y[1::2])
    >>> found.only_one_wrong, found.only_other_wrong, found.significant
    (74, 0, True)
    """
    probability("delta", delta)
    if positive_whole("models", models) < 2:
        raise ParameterError(
            "models is 1; it counts all that are tried on these rows, so 2 or more",
            parameter="models",
        )
    check_order("compare_models(one, other, X, y)", {"one": one, "other": other}, X, y)
    names = names or _names(one, other)
    # whoever tries ten models and reports the pair that differs most has compared 45
    pairs = models * (models - 1) // 2
    of_numbers = [predicts_numbers(model) for model in (one, other)]
    if any(of_numbers) or clip is not None:
        _check_numbers(of_numbers, clip)
        rows = NewRows.select([one, other], X, y, copies)
        a, b = (np.abs(asked(model, X) - fresh_labels(y))[rows.kept] for model in (one, other))
        assert clip is not None
        return LossDifference.of(names, a, b, clip, delta, pairs, rows.assumptions)
    if isinstance(one, Answers) and isinstance(other, Answers) and one.missing is not None:
        (one, other), X, y = joined([one, other], X, y)
    wrong = [mistakes(model, X, y) for model in (one, other)]
    rows = NewRows.select([one, other], X, y, copies)
    first, second = (mask[rows.kept] for mask in wrong)
    only_one, only_other = only_first(first, second), only_first(second, first)
    return Difference(
        *names, only_one, only_other, first.size, delta, pairs, assumptions=rows.assumptions
    )


def _check_numbers(of_numbers: list[bool], clip: float | None) -> None:
    """Raise unless both models predict numbers, and the largest error that counts is given."""
    if not all(of_numbers):
        which = "one of these models" if any(of_numbers) else "neither of these models"
        raise NotCertified(
            f"{which} predicts numbers; compare two that do by clip=, or two classifiers without"
        )
    if clip is None:
        raise ParameterError(
            "these models predict numbers, which are compared by their mean absolute errors; give "
            "the largest error that counts, as in compare_models(one, other, X, y, clip=120)",
            parameter="clip",
        )


def _names(one: object, other: object) -> tuple[str, str]:
    first, second = (
        type(getattr(model, "steps", [("", model)])[-1][1]).__name__ for model in (one, other)
    )
    return (first, second) if first != second else (f"{first} 1", f"{second} 2")
