"""How StrongClassifier fits: read and divide the rows, boost, certify; or draw from a source.

Nothing that is learned sees the certifying rows: not the levels of categories, not the words of
texts, not which columns are texts, not when to stop. They are counted on when all is settled.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from pacboost.bounds.certificate import Certificate
from pacboost.errors import NotCertified, ParameterError
from pacboost.estimators.boosting.text import fingerprints
from pacboost.estimators.decisions.choosing import positive_class
from pacboost.estimators.filtering.filter_boost import FilterBoostClassifier
from pacboost.estimators.fitting.atomic import all_or_nothing
from pacboost.estimators.inputs import division
from pacboost.estimators.inputs.collecting import collects_lazy_frames
from pacboost.estimators.inputs.examples import class_weights
from pacboost.estimators.inputs.labels import read_labels, read_weights
from pacboost.estimators.inputs.parameters import draw_seed, positive_integer
from pacboost.estimators.inputs.tables import open_table
from pacboost.estimators.strong import reading, row_roles, wishes
from pacboost.estimators.strong.candidates import choose
from pacboost.estimators.strong.reading import Reading
from pacboost.estimators.strong.row_roles import Parts, Rows
from pacboost.estimators.strong.search import EpsilonSearch, Promise
from pacboost.estimators.strong.wishes import is_proper
from pacboost.numerics.checks import probability
from pacboost.questions import verdict
from pacboost.questions.verdict import FitMeasurements, Verdict
from pacboost.samples.copies import numbered, places_of_rows
from pacboost.samples.equal_rows import Examples, check_copies
from pacboost.samples.sketch import Sketch
from pacboost.sources.columns import Columns, read_texts
from pacboost.sources.oracles.choose import as_oracle
from pacboost.sources.table import Table

ROUNDS_OF_FILTERING = 300


@collects_lazy_frames
class StrongFitting(BaseEstimator):  # type: ignore[misc]
    """The part of StrongClassifier that fits."""

    epsilon: float | None
    delta: float
    recall: float | None
    precision: float | None
    positive: Any
    n_estimators: int | None
    text_columns: Any
    dates: str
    class_weight: Any
    random_state: Any
    n_jobs: int | None
    device: str
    verbose: bool | int | str
    estimator_: Any
    evidence_: FitMeasurements
    verdict_: Verdict
    classes_: NDArray[Any]
    parts_: dict[str, int]
    _keeps_sparse = True

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        time: Any = None,
        copies: str = "auto",
    ) -> Self:
        """Learn, certify, and compare the certificate with epsilon.

        X is an array, a data frame, a sparse matrix, a list of texts, the path of a CSV file, or
        anything that FilterBoostClassifier draws from: files too large to be read, folders,
        databases, worlds, oracles. y holds the labels, or names their column. ``groups`` (rows of
        one group depend on each other) and ``time`` (rows come one after the other) are values or
        names of columns too: whole groups, or the latest rows, are then set apart.

        ``sample_weight`` holds the weight of each row in training, or names the column that does.
        Which rows certify does not depend on weights, and mistakes on them are counted without:
        the certificate speaks of rows as they come, each counted once.

        ``copies`` says what equal rows are: "draws", "distinct" (copies of one example), or "auto",
        which finds out (docs/certificates.md, "Equal rows").
        """
        check_copies(copies)
        with all_or_nothing(self):
            if not reading.is_source(X):
                self._start()
                read = reading.read(X, y, groups, time, sample_weight, self.dates)
                return self._fit(read, copies)
            if any(given is not None for given in (groups, time, sample_weight)):
                raise ParameterError(
                    "groups, time and sample_weight go with rows in memory; a source is drawn from "
                    "in an order of its own, and all of its rows alike. Leave them out"
                )
            return self.fit_source(X, y, copies=copies)

    def fit_source(
        self,
        source: Any,
        target: str | None = None,
        classes: Any = None,
        *,
        copies: str = "auto",
        **options: Any,
    ) -> Self:
        """Learn from what is drawn: files of any size, databases, streams, worlds, oracles.

        The parameters are those of ``FilterBoostClassifier.fit_source``.
        """
        self._start()
        if self.class_weight is not None:
            raise ParameterError(
                "class_weight goes with rows in memory; all rows of a source are drawn alike. "
                "Set class_weight=None"
            )
        if wishes.read_wishes(self.recall, self.precision, self.epsilon) is not None:
            raise ParameterError(
                "recall and precision go with rows in memory; fit the source without them, and "
                "call pacboost.choose_threshold with new rows"
            )
        if reading.day_first(self.dates) is not None:
            raise ParameterError(
                "dates goes with files that are read as a whole; write the dates of a source as in "
                "2024-01-31, and leave dates at 'auto'"
            )
        seed = draw_seed(self.random_state)
        oracle = as_oracle(source, target, seed, **options)
        model = FilterBoostClassifier(
            epsilon=self.epsilon,
            delta=self.delta,
            n_certify=row_roles.certifying_draws(oracle.about_rows, self.epsilon, self.delta),
            n_estimators=self.n_estimators or ROUNDS_OF_FILTERING,
            random_state=seed,
            n_jobs=self.n_jobs,
            device=self.device,
            verbose=self.verbose,
        )
        model.fit_source(oracle, classes=classes, copies=copies)
        self.choice_ = "trees by boosting by filtering, because rows are drawn from a source"
        rounds = model.ledger_.rounds
        own = rounds[-1].training_error if rounds else 1.0
        evidence = FitMeasurements(len(rounds), own, improving=len(rounds) >= model.n_estimators)
        self._keep(model, model.model_.certificate, evidence, "no rows were set apart")
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_
        return self

    def _start(self) -> None:
        """Refuse parameters before any work, and forget an earlier fit."""
        wishes.read_wishes(self.recall, self.precision, self.epsilon)
        probability("delta", self.delta)
        if self.epsilon is not None:
            probability("epsilon", self.epsilon)
        if self.n_estimators is not None:
            positive_integer("n_estimators", self.n_estimators)
        if isinstance(self.text_columns, str) and self.text_columns != "auto":
            raise ParameterError(
                f"text_columns is {self.text_columns!r}; it may be 'auto', None, or a list of the "
                "columns that hold texts"
            )
        for name in [name for name in vars(self) if name.endswith("_")]:
            del self.__dict__[name]

    def _fit(self, reading: Reading, copies: str) -> Self:
        seed = draw_seed(self.random_state)
        given = self._columns(reading.X)
        number = division.number_of_rows(given)
        labels = read_labels(reading.y, number, several=True)
        if wishes.read_wishes(self.recall, self.precision, self.epsilon) and labels.ndim == 1:
            positive_class(np.unique(labels), self.positive)
        parts, promise, why = self._set_apart(reading, labels, seed, copies)
        weights, regularised = self._weights(reading.sample_weight, labels, parts)
        promise = replace(promise, weighted=weights is not None)
        rows, columns = self._open_rows(given, reading.X, parts)
        common: dict[str, Any] = {
            "random_state": seed,
            "n_jobs": self.n_jobs,
            "device": self.device,
            "verbose": self.verbose,
        }
        common |= regularised
        texts = not isinstance(rows, Table)
        choice = choose(
            texts=_texts(columns) if texts else None,
            rows=number,
            classes=labels.shape[1] if labels.ndim > 1 else np.unique(labels[parts.known]).size,
            several_labels=labels.ndim > 1,
            rounds=self.n_estimators,
            weighted=weights is not None,
            common=common | ({"text_columns": columns} if columns else {}),
        )

        def take(chosen: Rows) -> Any:
            return [rows[i] for i in chosen] if isinstance(rows, list) else rows.take(chosen)

        outcome = EpsilonSearch(choice, take, labels, parts, promise, weights).run()
        self.choice_ = f"{choice.candidate.words}, because {choice.why}"
        self.parts_ = {name: int(own.size) for name, own in vars(parts).items()}
        self._dropped, self._texts = reading.dropped, texts
        _remember(outcome.estimator, rows)
        self._keep(outcome.estimator, outcome.certificate, outcome.evidence, why)
        self._keep_wish(take(parts.certify), labels[parts.certify], promise)
        return self

    def _weights(
        self, sample_weight: Any, labels: NDArray[Any], parts: Parts
    ) -> tuple[NDArray[np.float64] | None, dict[str, float]]:
        """Return the weights of the rows that may be learned from, and 0 to those that certify.

        Balanced weights follow from how often classes occur, so certifying rows are left out. Also
        give the regularisation: one row of weight 1, so that whole weights stand for repeated rows.
        Where all weights are smaller, it is the heaviest row.
        """
        rows, known = len(labels), parts.known
        read_weights(sample_weight, rows)  # raises where they are no weights
        given = 1.0 if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        raw = np.broadcast_to(given, rows)[known]
        if self.class_weight is not None:
            raw = raw * class_weights(self.class_weight, labels[known])
        found = read_weights(raw, known.size)
        if found is None:
            return None, {}
        weights = np.zeros(rows)
        weights[known] = found
        return weights, {} if labels.ndim > 1 else {"l2": 1 / max(1.0, float(raw.max()))}

    def _keep_wish(self, X: Any, labels: NDArray[Any], promise: Promise) -> None:
        """Choose the threshold that was asked for, if one was, by the certifying rows."""
        wish = wishes.read_wishes(self.recall, self.precision, self.epsilon)
        if wish is None:
            return
        try:
            found = wishes.decided(self.estimator_, X, labels, wish, self.positive, promise)
        except NotCertified as reason:
            self.verdict_ = wishes.missed(wish, reason, self.delta)
            return
        self.verdict_ = wishes.verdict_of(found, wish, self.delta)
        self.estimator_ = wishes.with_threshold(self.estimator_, found)

    def _columns(self, X: Any) -> Any:
        """Read so far that rows can be counted and taken: texts, named columns, or X as it is."""
        if reading.is_texts(X):
            return read_texts(X)
        columns = None if self.text_columns is None else reading.columns_of(X)
        return X if columns is None else columns

    def _open_rows(self, given: Any, X: Any, parts: Parts) -> tuple[Any, list[str]]:
        """Find the columns of texts, in rows that may be learned from; without, read a table."""
        if reading.is_texts(X):
            return given, []
        found = self.text_columns
        if not isinstance(given, Columns):
            found = None
        elif found == "auto":
            found = reading.text_columns(given.take(parts.known))
        return (given, list(found)) if found else (self._open_table(X, parts), [])

    def _open_table(self, X: Any, parts: Parts) -> Table:
        """Learn kinds and levels of columns from rows that may be learned from; then read all."""
        if parts.certify.size:
            open_table(self, division.alone(X, parts.known), reset=True)
        return open_table(self, X, reset=not parts.certify.size)

    def _set_apart(
        self, reading: Reading, labels: NDArray[Any], seed: int, copies: str
    ) -> tuple[Parts, Promise, str]:
        """Divide the rows; also say why none certify, if none do."""
        asked, rows = (self.epsilon, self.delta), len(labels)
        wished = wishes.read_wishes(self.recall, self.precision, self.epsilon) is not None
        if wished and (reading.groups is not None or reading.time is not None):
            raise ParameterError(
                "recall and precision need independent rows; leave groups and time out, or fit "
                "without a wish"
            )
        if reading.groups is not None and reading.time is not None:
            raise ParameterError("groups and time were both given; rows are one or the other")
        groups = None if reading.groups is None else numbered(np.asarray(reading.groups), rows)
        few = f"{rows} rows are too few to set any apart"
        some, X = np.arange(rows), reading.X
        if groups is not None:  # equal rows of one group are no concern
            place = places_of_rows(X).astype(np.int64)
            some = np.sort(np.unique(place * (groups.max() + 1) + groups, return_index=True)[1])
            X = division.taken(X, some)
        try:
            examples = Examples.of(X, copies, labels[some])
        except NotCertified as problem:
            return row_roles.all_known(rows, seed), Promise(*asked), str(problem).removesuffix(".")
        if groups is not None:
            groups = row_roles.joined(groups, some, examples)
            few = f"{int(groups.max()) + 1} groups are too few to set any apart"
            return (
                row_roles.by_groups(groups, *asked, seed),
                Promise(*asked, examples, groups),
                few,
            )
        if reading.time is not None:
            times = row_roles.ordered(np.asarray(reading.time), rows)
            parts = row_roles.by_time(times, *asked)
            return parts, Promise(*asked, examples, again=_again(times, examples)), few
        parts = row_roles.by_chance(examples.count, *asked, seed, threshold=wished)
        if examples.copied:
            few = f"{examples.count} distinct rows are too few to set any apart"
        return row_roles.rows_of(parts, examples), Promise(*asked, examples), few

    def _keep(
        self, estimator: Any, certificate: Certificate | None, evidence: FitMeasurements, why: str
    ) -> None:
        """Put the certificate into the model, and compare it with epsilon."""
        model = estimator.model_
        kept = certificate or model.certificate
        if kept is not None:
            estimator.model_ = replace(model, certificate=kept.of(model.ledger.digest()))
        if certificate is None:
            self.verdict_ = verdict.nothing_certified(why, self.delta, self.epsilon)
        else:
            names = [str(name) for name in estimator.classes_.tolist()]
            self.verdict_ = verdict.judge(
                certificate, self.delta, self.epsilon, evidence, model.held_out, names
            )
        self.estimator_, self.evidence_ = estimator, evidence
        self.classes_ = estimator.classes_
        self.proper_ = is_proper(estimator.model_.vote)
        self.n_features_in_ = estimator.n_features_in_


def _remember(estimator: Any, rows: Any) -> None:
    """Remember all rows, certifying ones included: no later certificate may use them."""
    if not isinstance(rows, Table):
        rows = fingerprints(estimator.features_.lines(rows))
    estimator._sketches = (Sketch.of(rows),)


def _again(times: Rows, examples: Examples) -> NDArray[np.bool_]:
    """Return which rows are copies of earlier ones."""
    again = np.zeros(times.size, dtype=np.bool_)
    if examples.number is not None:
        order = np.argsort(times, kind="stable")
        again[:] = True
        again[order[np.unique(examples.number[order], return_index=True)[1]]] = False
    return again


def _texts(columns: list[str]) -> str:
    """Return which columns hold texts."""
    if not columns:
        return "rows are texts"
    named = " and ".join(repr(name) for name in columns)
    return f"{named} {'holds' if len(columns) == 1 else 'hold'} texts"
