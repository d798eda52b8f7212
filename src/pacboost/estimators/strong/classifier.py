"""PAC learning as an interface: ask for an error and a confidence.

Nothing that is learned depends on the certifying rows: no levels, words or kinds of columns, and
not when to stop.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds.certificate import Certificate
from pacboost.errors import DataError, NotCertified, ParameterError, invalid
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.decisions.choosing import positive_class
from pacboost.estimators.decisions.threshold import ThresholdClassifier
from pacboost.estimators.filtering.filter_boost import FilterBoostClassifier
from pacboost.estimators.fitted.classifier import MistakesAndPredictions
from pacboost.estimators.fitted.estimator import Estimator
from pacboost.estimators.fitted.predicting import accuracy
from pacboost.estimators.fitting.attempt import all_or_nothing
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import described_by, documented
from pacboost.estimators.inputs.parameters import draw_seed
from pacboost.estimators.inputs.rows import fits_rows, takes_rows
from pacboost.estimators.strong import reading, wishes
from pacboost.estimators.strong.reading import Reading
from pacboost.estimators.strong.search import EpsilonSearch, choose, set_apart, weights_of
from pacboost.fit import taking
from pacboost.fit.role_sizes import certifying_draws
from pacboost.fit.roles import Roles, RolesAsk, Rows
from pacboost.fit.targets import read_labels
from pacboost.models.model import Model
from pacboost.models.schema import ColumnOptions, Schema
from pacboost.numerics.checks import probability
from pacboost.questions import verdict
from pacboost.questions.verdict import FitMeasurements
from pacboost.samples.overlap import Overlap
from pacboost.samples.same_example import check_copies
from pacboost.samples.sketch import Sketch
from pacboost.sources.columns import Columns, read_texts
from pacboost.sources.explained_errors import explains_input, named_among
from pacboost.sources.oracles.choose import as_oracle
from pacboost.sources.table import Table

ROUNDS_OF_FILTERING = 300
OF_THE_VOTE = ("ledger_", "rules", "explain", "feature_importances_", "levels_")
"""What a chosen threshold does not change is asked of the vote itself."""


@accepts_aliases
@documented
@dataclass(eq=False, repr=False)
class StrongClassifier(ClassifierMixin, Estimator):  # type: ignore[misc]
    """Ask for an error and a confidence; get a classifier, and a sentence that states its error.

    The classifier picks booster and learner from the data, and holds out as many rows for the
    certificate as epsilon and delta require. It boosts until the certificate reaches epsilon or
    more rounds cannot help, and says which. Nothing else uses the rows that certify.

    All other methods of ``estimator_`` (``rules``, ``explain``, ``report``, ``ledger_`` and so on)
    are available, too.

    Parameters
    ----------
    epsilon : float, default=None
        The error on new examples to reach; boosting stops when it is certified. None: as small as
        possible.
    recall : float, default=None
        Find at least this share of the positive class: the certifying rows, a fifth of all, then
        choose the threshold (``pacboost.choose_threshold``), and the sentence states it.
    precision : float, default=None
        At least this share of the rows predicted positive is positive. Only one of ``epsilon``,
        ``recall`` and ``precision`` may be given.
    positive : label, default=None
        The class for ``recall`` and ``precision``; None: the second of two.
    n_estimators : int, default=None
        The maximum number of rounds; None: automatic (docs/choosing.md).
    quality : "fast", "auto" or "best", default="auto"
        How much time the automatic values of tables may take. "fast": 100 rounds and no trial.
        "auto": a trial for tables of any size. "best": three to ten times the time of "auto".
    text_columns : "auto", list of str or None, default="auto"
        For data frames and files: the columns that hold texts. "auto": those that read like
        sentences. None: no column does.
    dates : "auto", "day-first" or "month-first", default="auto"
        For files: which number is the day in dates such as 1/2/2024. "auto": the column shows it,
        as 31/12/2024 does; if no date of a column does, its dates are categories, with a warning.
    class_weight : mapping, "balanced" or None, default=None
        The weight of the rows of each class in training; "balanced" gives all classes the same sum.
        Set it if mistakes on a rare class cost more. The certificate counts rows without weights.

    Attributes
    ----------
    sentence_ : str
        What is certified, whether epsilon was reached, and if not, what is missing; also how wrong
        it would be to always predict the most common class, as estimated on the certifying rows.
    verdict_ : the same as numbers
    certificate_ : the certificate; of training rows, if no rows could be held out
    proper_ : whether the vote lies in the weak learner's own class
    choice_ : which booster and learner were chosen, and why
    parts_ : how many rows were for training, for validation ("watch"), and for the certificate
    evidence_ : what was measured: rounds, training error, edge and noise on validation rows
    estimator_ : the fitted estimator that does the work; ``save`` writes it, ``load`` gives it
        back. With ``recall`` or ``precision`` a ThresholdClassifier, if the promise could be kept
    classes_ : the labels of the rows learned from

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = StrongClassifier(epsilon=0.15, random_state=0).fit(X, y)
    >>> print(model.sentence_)  # doctest: +NORMALIZE_WHITESPACE
    At most 12.3 % wrong on future examples like these (95 % confidence; 114 held-out rows, 7
    wrong). 15 % was asked for, and reached after 10 rounds. It stays below 15 % as long as at most
    3.14 % of new examples are unlike the certified rows. Always saying '1' would be 33.3 % wrong on
    these rows (an estimate).
    """

    epsilon: float | None = None
    delta: float = 0.05
    _: KW_ONLY
    recall: float | None = None
    precision: float | None = None
    positive: Any = None
    n_estimators: int | None = None
    quality: str = "auto"
    text_columns: Any = "auto"
    dates: str = "auto"
    categorical_features: Any = "from_dtype"
    class_weight: Any = None
    time_limit: str | float | None = None
    random_state: Any = None
    n_jobs: int | None = None
    device: str = "cpu"
    verbose: bool | int | str = "auto"

    _leaves_model = False  # ``estimator_`` has it

    @fits_rows
    def fit(
        self,
        X: object,
        y: Any = None,
        sample_weight: object = None,
        *,
        groups: Any = None,
        time: Any = None,
        copies: str = "draws",
    ) -> Self:
        """Learn, certify, and compare the certificate with epsilon.

        X is an array, a data frame, a sparse matrix, a list of texts, the path of a CSV file, or
        anything that FilterBoostClassifier draws from: files too large to be read, folders,
        databases, worlds, oracles. y holds the labels, or names their column. ``groups`` (rows of
        one group depend on each other) and ``time`` (rows come one after the other) are values or
        names of columns too: whole groups, or the latest rows, are then set apart.

        ``sample_weight`` holds the weight of each row in training, or names the column that does.
        Which rows certify does not depend on weights, and mistakes on them are counted without:
        the certificate is about unweighted rows.

        ``copies`` says what equal rows are: "draws", each of which counts, or "distinct", copies of
        one example that count once (docs/certificates.md, "Equal rows").
        """
        check_copies(copies)
        with all_or_nothing(self):
            if not reading.is_source(X):
                self._start()
                read = reading.read(X, y, groups, time, sample_weight, self.dates)
                return self._fit(read, copies)
            if any(given is not None for given in (groups, time, sample_weight)):
                raise ParameterError(
                    "groups, time and sample_weight need rows in memory; a source has an order of "
                    "its own, and equal weights. Leave them out",
                    parameter="groups",
                )
            return self.fit_source(X, y, copies=copies)

    @fits_rows
    def fit_source(
        self,
        source: Any,
        target: str | None = None,
        classes: Any = None,
        *,
        copies: str = "draws",
        **options: Any,
    ) -> Self:
        """Learn from rows that are drawn: files of any size, databases, streams, worlds, oracles.

        The parameters are those of ``FilterBoostClassifier.fit_source``.
        """
        self._start()
        if self.class_weight is not None:
            raise ParameterError(
                "class_weight needs rows in memory; all rows of a source are drawn alike. "
                "Set class_weight=None",
                parameter="class_weight",
            )
        if self._wish is not None:
            raise ParameterError(
                "recall and precision need rows in memory; fit the source without them, and "
                "call pacboost.choose_threshold with new rows",
                parameter="recall",
            )
        if reading.day_first(self.dates) is not None:
            raise ParameterError(
                "dates is for files that are read as a whole; write the dates of a source as in "
                "2024-01-31, and leave dates at 'auto'",
                parameter="dates",
            )
        seed = draw_seed(self.random_state)
        oracle = as_oracle(source, target, seed, **options)
        model = FilterBoostClassifier(
            epsilon=self.epsilon,
            delta=self.delta,
            n_certify=certifying_draws(oracle.about_rows, self.epsilon, self.delta),
            n_estimators=self.n_estimators or ROUNDS_OF_FILTERING,
            random_state=seed,
            n_jobs=self.n_jobs,
            device=self.device,
            verbose=self.verbose,
            time_limit=self.time_limit,
        )
        model.fit_source(oracle, classes=classes, copies=copies)
        self.choice_ = "trees by boosting by filtering, because rows are drawn from a source"
        rounds = model.ledger_.rounds
        own = rounds[-1].training_error if rounds else 1.0
        evidence = FitMeasurements(len(rounds), own, improving=len(rounds) >= model.n_estimators)
        self._keep(model, model.model_.certificate, evidence, "no rows were set apart")
        return self

    @property
    def sentence_(self) -> str:
        """The certificate and what was asked for, in a sentence."""
        check_is_fitted(self)
        return self.verdict_.sentence

    @explains_input
    def save(self, path: str | Path, *, remember_rows: bool = True) -> None:
        """Write model and certificate to a file; ``pacboost.load`` gives ``estimator_`` back.

        ``remember_rows=False`` leaves the sketch of the training rows out.
        """
        self._ready().save(path, remember_rows=remember_rows)

    @takes_rows
    def report(  # type: ignore[override]
        self, path: str | Path | None = None, X: object = None, y: object = None, *,
        title: str | None = None,
    ) -> Any:  # fmt: skip
        """Write a page about the model that begins with ``sentence_``; without a path, show it."""
        from pacboost.reports.page.document import Sentence

        rows, model = None if X is None else self._inner_rows(X), self._ready()
        said = Sentence(*self.verdict_.headline, self.verdict_.note)
        return model.report(path, rows, y, title=title, sentence=said)

    @takes_rows
    @described_by(BoostClassifier.predict)
    def predict(self, X: object) -> NDArray[Any]:
        """Return the class of each row."""
        rows = self._inner_rows(X)
        return self.estimator_.predict(rows)

    @takes_rows
    @described_by(BoostClassifier.predict_proba)
    def predict_proba(self, X: object) -> NDArray[np.float64]:
        """Return the probability of each class."""
        rows = self._inner_rows(X)
        return self.estimator_.predict_proba(rows)

    @takes_rows
    @described_by(BoostClassifier.decision_function)
    def decision_function(self, X: object) -> NDArray[np.float64]:
        """Return the score of each row."""
        rows = self._inner_rows(X)
        return self.estimator_.decision_function(rows)

    @takes_rows
    @described_by(BoostClassifier.score)
    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return the accuracy."""
        return accuracy(self, X, y, sample_weight)

    @takes_rows
    @described_by(BoostClassifier.mistakes)
    def mistakes(self, X: object, y: object) -> NDArray[np.bool_]:
        """Return which rows are wrong."""
        rows = self._inner_rows(X)
        return self.estimator_.mistakes(rows, y)

    def _mistakes_and_predictions(self, X: object, y: object) -> MistakesAndPredictions:
        return self.estimator_._mistakes_and_predictions(self._inner_rows(X), y)

    @takes_rows
    def margins(self, X: object, y: object) -> NDArray[np.float64]:
        """Return the margin of every row, from -1 to 1; of every label, if a row has several."""
        rows = self._inner_rows(X)
        return self.estimator_.margins(rows, y)  # type: ignore[no-any-return]

    @takes_rows
    @described_by(BoostClassifier.overlap)
    def overlap(self, X: object) -> Overlap | None:
        """Compare rows with the rows of the fit."""
        rows = self._inner_rows(X)
        return self.estimator_.overlap(rows)

    def forget_rows(self) -> None:
        """Drop the sketches of the rows of the fit."""
        self._ready().forget_rows()

    def _start(self) -> None:
        """Check the parameters, and forget an earlier fit."""
        _ = self._wish
        if self.epsilon is not None:
            probability("epsilon", self.epsilon)
        if isinstance(self.text_columns, str) and self.text_columns != "auto":
            raise invalid(
                "text_columns",
                self.text_columns,
                "may be 'auto', None, or a list of the columns that hold texts",
            )
        for name in [name for name in vars(self) if name.endswith("_") or name == "_schema"]:
            del self.__dict__[name]

    def _fit(self, given: Reading, copies: str) -> Self:
        seed = draw_seed(self.random_state)
        columns = self._columns(given.X)
        number = taking.number_of_rows(columns)
        if not number:
            raise DataError("X has no rows; at least one is needed")
        labels = read_labels(given.y, number, several=True)
        several, wish = labels.ndim > 1, self._wish
        if wish and not several:
            positive_class(np.unique(labels), self.positive)
        ask = RolesAsk(
            seed, epsilon=self.epsilon, delta=self.delta, chooses_threshold=wish is not None
        )
        roles, promise, why = set_apart(given, labels, ask, copies)
        weights = weights_of(given.sample_weight, self.class_weight, labels, roles)
        promise = replace(promise, weighted=weights is not None)
        rows, texts = self._open_rows(columns, given.X, roles)
        common: dict[str, Any] = {
            name: getattr(self, name) for name in ("n_jobs", "device", "verbose")
        }
        common |= {"random_state": seed}
        self._texts = not isinstance(rows, Table)
        named = " and ".join(repr(name) for name in texts)
        why_texts = f"{named} {'hold' if len(texts) > 1 else 'holds'} texts" if texts else None
        choice = choose(
            texts=why_texts or "rows are texts" if self._texts else None,
            rows=number,
            several_labels=several,
            rounds=self.n_estimators,
            quality=self.quality,
            common=common | ({"text_columns": texts} if texts else {}),
        )

        def take(chosen: Rows) -> Any:
            return [rows[i] for i in chosen] if isinstance(rows, list) else rows.take(chosen)

        seconds: Any = self.time_limit  # read as the fit began
        outcome = EpsilonSearch(choice, take, labels, roles, promise, weights, seconds).run()
        self.choice_ = f"{choice.words}, because {choice.why}"
        parts = {"learn": roles.learn, "watch": roles.validate, "certify": roles.certify}
        self.parts_ = {name: int(part.size) for name, part in parts.items()}
        self._dropped, estimator = given.dropped, outcome.estimator
        # all rows are remembered, certifying ones included: no later certificate may use them
        remembered = estimator.schema_.comparable(rows) if self._texts else rows
        estimator._sketches = (Sketch.from_table(remembered),)
        self._keep(estimator, outcome.certificate, outcome.evidence, why)
        if wish is None:
            return self
        try:
            certify = roles.certify
            decision = wishes.decided(
                estimator, take(certify), labels[certify], wish, self.positive, self.delta,
                roles.examples,
            )  # fmt: skip
        except NotCertified as reason:
            self.verdict_ = wishes.missed(wish, reason, self.delta)
        else:
            self.verdict_ = wishes.verdict_of(decision, self.delta)
            self.estimator_ = ThresholdClassifier.of(estimator, decision)
        return self

    @property
    def _wish(self) -> tuple[str, float] | None:
        return wishes.read_wishes(self.recall, self.precision, self.epsilon)

    def _columns(self, X: object) -> Any:
        """Prepare X so that rows can be counted and selected: texts, named columns, or X."""
        if reading.is_texts(X):
            return read_texts(X)
        columns = None if self.text_columns is None else reading.columns_of(X)
        return X if columns is None else columns

    def _open_rows(self, given: Any, X: object, roles: Roles) -> tuple[Any, list[str]]:
        """Return rows and the names of their text columns; rows without text become a table."""
        if reading.is_texts(X):
            return given, []
        found = self.text_columns
        if not isinstance(given, Columns):
            found = None
        elif found == "auto":
            found = given.take(roles.known).sentences()
        if found:
            return given, list(found)
        owner = type(self).__name__
        options = ColumnOptions(owner, self.categorical_features, keeps_sparse=True)
        if not roles.certify.size:
            self._schema, table = Schema.learn(X, options)
            return table, []
        # kinds and levels of columns come from rows that may be learned from
        with named_among(X, lambda rows: Schema.learn(rows, options)):
            self._schema, _ = Schema.learn(taking.alone(X, roles.known), options)
        return self._schema.read(X), []

    def _keep(
        self, estimator: Any, certificate: Certificate | None, evidence: FitMeasurements, why: str
    ) -> None:
        model = estimator.model_
        kept = certificate or model.certificate
        if kept is not None:
            estimator.model_ = replace(model, certificate=kept.of(model.digest()))
        if certificate is None:
            self.verdict_ = verdict.nothing_certified(why, self.delta, self.epsilon)
        else:
            names = [str(name) for name in estimator.classes_.tolist()]
            self.verdict_ = verdict.judge(
                certificate, self.delta, self.epsilon, evidence, model.held_out, names
            )
        self.estimator_, self.evidence_ = estimator, evidence
        self.classes_ = estimator.classes_
        self.proper_ = wishes.is_proper(estimator.model_.vote)

    @property
    def model_(self) -> Model:  # type: ignore[override]
        """The model of ``estimator_``."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError("model_ is available after fit; this estimator is not fitted yet")
        return self.estimator_.model_  # type: ignore[no-any-return]

    @property
    def schema_(self) -> Schema:
        """The schema of ``estimator_``."""
        return self.estimator_.schema_

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the columns that were learned from, if they have names."""
        # rows of a source are not divided, and the words of texts are no names of columns
        schema = vars(self).get("_schema", None if hasattr(self, "parts_") else self.schema_)
        names = None if schema is None else schema.feature_names
        if names is None:
            raise AttributeError("feature_names_in_ is missing: the columns of X had no names")
        return np.array(names, dtype=object)

    @property
    def _sketches(self) -> Any:  # type: ignore[override]
        return self.estimator_._sketches

    def _rows_to_compare(self, X: object) -> Any:
        return self._ready()._rows_to_compare(self._inner_rows(X))

    def _ready(self) -> Any:
        check_is_fitted(self)
        return self.estimator_

    def _inner_rows(self, X: object) -> Any:
        """Read rows as in fit; texts, and rows for a model of a source, are returned unchanged."""
        check_is_fitted(self)
        if not hasattr(self, "parts_") or self._texts:
            return X
        return self._schema.read(reading.without(X, self._dropped))

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags

    def __getattr__(self, name: str) -> Any:
        own = name.startswith("_") or name == "feature_names_in_"
        if own or "estimator_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = self.estimator_
        if isinstance(found, ThresholdClassifier) and name in OF_THE_VOTE:
            found = found.estimator_
        try:
            return getattr(found, name)
        except AttributeError as problem:
            if hasattr(type(found), name):
                raise  # the estimator has it, and says why it is of no use now
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}"
            ) from problem

    def __dir__(self) -> list[str]:
        """List the attributes of the chosen estimator, too, such as ``ledger_``."""
        inner = self.__dict__.get("estimator_")
        more = [
            name
            for name in dir(inner)
            if name.endswith("_") or callable(getattr(type(inner), name, None))
        ]
        return [*super().__dir__(), *(name for name in more if name[0] != "_")]
