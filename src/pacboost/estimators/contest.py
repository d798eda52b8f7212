"""A comparison of boosters in progress: who is fitted, on which rows, and what is measured."""

from __future__ import annotations

import time
import warnings
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from copy import copy
from dataclasses import fields, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone

from pacboost.boosters.booster import Booster
from pacboost.boosters.choose import as_booster
from pacboost.boosters.registry import BOOSTERS
from pacboost.errors import PacboostError, ParameterError
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.inputs.parameters import callables, draw_seed, progress_after
from pacboost.fit.examples import read_examples
from pacboost.fit.roles import draw
from pacboost.learners.choose import as_learner
from pacboost.models.schema import Schema
from pacboost.numerics.checks import positive_whole, probability
from pacboost.parallel.cluster import in_batches, joblib_cluster, send
from pacboost.questions.compare import (
    Compared,
    Comparison,
    Labelled,
    differences,
    measure,
    surely_worse,
)
from pacboost.questions.new_rows import NewRows
from pacboost.reports.progress import RoundsBar
from pacboost.samples.plain_rows import plain_rows
from pacboost.samples.same_example import Examples, check_copies
from pacboost.sources.rows import Rows

Measured = tuple[Compared, NDArray[np.bool_] | None]
"""The measures of a booster, and the test rows that it predicts wrongly."""
Choice: TypeAlias = str | Booster[Any] | BaseEstimator
"""The name of a booster, a booster, or a classifier of scikit-learn's kind."""
Choices: TypeAlias = Choice | Iterable[Choice] | Mapping[str, Choice]
TestRows = float | Sequence[Any] | None
"""The share of rows to test on, or rows and labels."""
ROWS_OF_FIRST_FIT = 200  # enough to load all modules of a fit


class Contest:
    """A comparison in progress; its results so far are available at any time."""

    def __init__(
        self,
        X: object,
        y: ArrayLike,
        boosters: Choices,
        learner: object,
        *,
        n_estimators: int,
        test: TestRows,
        delta: float,
        share: float,
        random_state: int | np.random.RandomState | None,
        copies: str = "draws",
        verbose: bool | int | str = "auto",
        **parameters: Any,
    ) -> None:
        self.entries: list[Compared] = []
        self._wrong: dict[str, NDArray[np.bool_]] = {}
        self._choices = _named(boosters)
        self._learner = learner
        self._learner_name = as_learner(learner, "learner").name
        self._rounds = positive_whole("n_estimators", n_estimators)
        self._delta, self._share = probability("delta", delta), probability("share", share)
        self._verbose = verbose
        seed = draw_seed(random_state)
        # all boosters learn from the same rows, and none of them holds some back
        self._parameters = {"early_stopping": False, "random_state": seed, **parameters}
        options = BoostClassifier(**parameters)._column_options()
        examples, _ = read_examples(Schema.learn(X, options)[1], y)
        self._n_rows = examples.n_rows
        self._assumptions: tuple[str, ...] = ()
        self._training, self._test = self._split(X, y, test, check_copies(copies), seed)

    def run(self) -> None:
        """Fit and measure one booster after the other, or several at once on a cluster."""
        cluster, numbers = joblib_cluster(), range(len(self._choices))
        measured: Generator[Measured] = (self.numbered(k) for k in numbers)
        if cluster is not None:  # workers fit, and show no progress
            elsewhere = copy(self)
            elsewhere._verbose = False
            work = send(cluster, elsewhere, "the rows and the boosters")
            measured = in_batches(cluster, Contest.numbered, work, ((k,) for k in numbers))
        with closing(measured) as entries:
            for entry, wrong in entries:
                self.entries.append(entry)
                if wrong is not None:
                    self._wrong[entry.name] = wrong
        failures = [entry for entry in self.entries if entry.failed]
        if len(failures) == len(self.entries):
            raise PacboostError(f"every booster failed; {failures[0].name}: {failures[0].stopped}")

    def comparison(self) -> Comparison:
        """Compare the finished boosters."""
        worse = surely_worse(self._wrong, self._delta)
        return Comparison(
            tuple(replace(entry, worse=worse.get(entry.name)) for entry in self.entries),
            learner=self._learner_name,
            train_rows=len(self._training.y),
            test_rows=0 if self._test is None else len(self._test.y),
            delta=self._delta,
            share=self._share,
            differences=differences(self._wrong, self._delta, self._assumptions),
            assumptions=self._assumptions,
        )

    def _split(
        self, X: object, y: ArrayLike, test: TestRows, copies: str, seed: int
    ) -> tuple[Labelled, Labelled | None]:
        labels = np.asarray(y)
        if test is None:
            return Labelled(X, labels), None
        if isinstance(test, tuple | list):
            if len(test) != 2:
                raise ParameterError(
                    f"test holds {len(test)} items; it may be a pair of rows and labels, a share, "
                    "or None",
                    parameter="test",
                )
            new = NewRows.beside(plain_rows(X), plain_rows(test[0]), test[0], test[1], copies)
            self._assumptions = new.assumptions
            return Labelled(X, labels), _rows(test[0], np.asarray(test[1]), new.kept)
        share = probability("test", test)
        examples = Examples.from_rows(X, labels.shape[0], copies)
        self._assumptions = examples.assumptions
        # copies of an example are on one side, and one of them is tested: intervals count draws
        learned, tested = map(examples.rows_of, draw(examples.count, "test", share, seed))
        return _rows(X, labels, learned), _rows(X, labels, examples.once(tested))

    def numbered(self, number: int) -> Measured:
        """Fit and measure the booster with this number."""
        return self._one(*list(self._choices.items())[number])

    def _one(self, name: str, choice: Choice) -> Measured:
        """Fit and measure one booster; record an error instead of raising it."""
        wrong = None
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                entry, wrong = self._fitted(name, choice)
            except Exception as problem:  # a learner of the user may raise anything
                kind = "" if isinstance(problem, PacboostError) else f"{type(problem).__name__}: "
                entry = Compared(name, stopped=f"{kind}{problem}", failed=True)
        messages = dict.fromkeys(str(warning.message) for warning in warned)
        return replace(entry, notes=(*entry.notes, *messages)), wrong

    def _fitted(self, name: str, choice: Choice) -> Measured:
        if isinstance(choice, str | Booster):
            model = BoostClassifier(choice, self._learner, self._rounds, **self._parameters)
            seconds = self._boost(name, model)
        else:
            model = clone(choice)
            seconds = self._timed(model)
        entry, wrong = measure(
            name,
            model,
            self._training,
            self._test,
            share=self._share,
            delta=self._delta,
            boosters=len(self._choices),
        )
        return replace(entry, seconds=seconds), wrong

    def _boost(self, name: str, model: BoostClassifier) -> float:
        """Fit with a progress bar if verbose; modules are loaded before the clock runs."""
        labels = self._training.y
        first = np.unique(labels.astype(str), axis=0, return_index=True)[1]
        rows = np.unique(np.concatenate([first, np.arange(min(ROWS_OF_FIRST_FIT, len(labels)))]))
        first_rows = _rows(self._training.X, labels, rows)
        with warnings.catch_warnings(), suppress(Exception):  # the next fit raises it again
            warnings.simplefilter("ignore")
            clone(model).set_params(n_estimators=2, callbacks=None).fit(first_rows.X, first_rows.y)
        after = progress_after(self._verbose)
        if after is None:
            return self._timed(model)
        before = model.callbacks
        with RoundsBar(self._rounds, title=name, after=after) as bar:
            model.callbacks = [*callables("callbacks", before), bar]
            seconds = self._timed(model)
        model.callbacks = before
        return seconds

    def _timed(self, model: BaseEstimator) -> float:
        started = time.perf_counter()
        model.fit(self._training.X, self._training.y)
        return time.perf_counter() - started


def _rows(X: object, labels: NDArray[Any], numbers: NDArray[np.intp]) -> Labelled:
    return Labelled(Rows.of(X).take(numbers).given, labels[numbers])


def _named(boosters: Choices) -> dict[str, Choice]:
    """Give every booster a distinct name; raise if something is not a booster."""
    if isinstance(boosters, str):
        names = BOOSTERS if boosters == "all" else boosters.split(",")
        boosters = [name.strip() for name in names]
    if isinstance(boosters, Mapping):
        pairs = [(str(name), choice) for name, choice in boosters.items()]
    elif isinstance(boosters, Iterable):
        pairs = [(_description(choice), choice) for choice in boosters]
    else:
        pairs = [(_description(boosters), boosters)]
    if not pairs:
        raise ParameterError(
            "there are no boosters to compare; name at least one", parameter="boosters"
        )
    choices: dict[str, Choice] = {}
    for name, choice in pairs:
        if isinstance(choice, type) or not (hasattr(choice, "fit") and hasattr(choice, "predict")):
            as_booster(choice)
        number = sum(earlier.partition(" #")[0] == name for earlier in choices) + 1
        choices[name if number == 1 else f"{name} #{number}"] = choice
    return choices


def _description(choice: Choice) -> str:
    """Return a line of text on a booster, with the parameters that were changed."""
    if isinstance(choice, Booster):
        record: Any = choice
        values = ((f.name, getattr(record, f.name), f.default) for f in fields(record))
        changed = [f"{name}={value!r}" for name, value, default in values if value != default]
        return f"{type(choice).__name__}({', '.join(changed)})"
    if isinstance(choice, str):
        return choice
    return getattr(choice, "__name__", "") or " ".join(repr(choice).split())
