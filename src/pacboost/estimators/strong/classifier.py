"""PAC learning as an interface: ask for an error and a confidence.

Nothing that is learned depends on the certifying rows: no levels, words or kinds of columns, and
not when to stop.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.certificate import Certificate
from pacboost.errors import ParameterError, invalid
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.boosting.text import word_rules
from pacboost.estimators.decisions.threshold import from_threshold, with_threshold
from pacboost.estimators.fitted.classifier import Classifier, MistakesAndPredictions
from pacboost.estimators.fitting.attempt import all_or_nothing
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import described_by, documented
from pacboost.estimators.inputs.rows import fits_rows, takes_rows
from pacboost.estimators.parameters.trials import TrialParameters
from pacboost.estimators.parameters.values import Values
from pacboost.estimators.strong import reading, wishes
from pacboost.estimators.strong.drawing import drawn
from pacboost.estimators.strong.learning import StrongFit, learned
from pacboost.hypotheses.vote import Scores
from pacboost.kernels.threads import using
from pacboost.models.file.format import save
from pacboost.models.model import Model
from pacboost.samples.same_example import check_copies
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.mixed import MixedFeatures
from pacboost.sources.text import TextFeatures


@accepts_aliases
@documented
@dataclass(eq=False, repr=False)
class StrongClassifier(TrialParameters, Classifier):
    """Ask for an error and a confidence; get a classifier, and a sentence that states its error.

    The classifier picks booster and learner from the data, and holds out as many rows for the
    certificate as epsilon and delta require. It boosts until the certificate reaches epsilon or
    more rounds cannot help, and says which. Nothing else uses the rows that certify.

    All methods of BoostClassifier are available (``rules``, ``explain``, ``report`` and so on).

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
    learner : None, function, learner or scikit-learn classifier, default=None
        The weak learner; None: chosen by the data. A function (X, y) or (X, y, weights), or an
        object with ``fit`` and ``predict``, gets rows as they came: texts, mappings, graphs, data
        frames, images (docs/extending/index.md, "A learner").
    edge : float, default=None
        The edge 1 - 2·error that the learner promises under every weighting of the rows. The fit
        then ends with a vote whose margin is at least half of it on every training row, or with
        ``counterexample_``: weighted rows under which no rule that was found has the edge.
    n_estimators : int, default=None
        The maximum number of rounds; None: automatic (docs/choosing.md), with ``edge`` as many as
        its theorem needs.
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
    counterexample_ : rows and weights that break the promise of ``edge``; None if it is kept
    proper_ : whether the vote lies in the weak learner's own class
    choice_ : which booster and learner were chosen, and why
    parts_ : how many rows were for training, for validation ("watch"), and for the certificate
    evidence_ : what was measured: rounds, training error, edge and noise on validation rows
    model_ : the vote, which ``save`` writes; ``load`` gives a BoostClassifier or the like back
    decision_ : with ``recall`` or ``precision`` the chosen threshold, if it could be certified
    settings_ : the values that were used of all parameters that may be automatic
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
    learner: Any = None
    edge: float | None = None
    n_estimators: int | None = None
    text_columns: Any = "auto"
    dates: str = "auto"
    categorical_features: Any = "from_dtype"
    class_weight: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    device: str = "cpu"
    verbose: bool | int | str = "auto"

    _keeps_sparse = True
    _dropped = ()
    """Columns of the rows of the fit that are no features: labels, groups, times and weights."""

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
                asked = self._asked()
                read = reading.read(X, y, groups, time, sample_weight, self.dates)
                with using(self.n_jobs):
                    self._keep(learned(asked, read, copies))
                return self
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
        with all_or_nothing(self):
            fitted, self.stop_certificate_ = drawn(
                self._asked(), source, target, classes, copies=copies, options=options
            )
            self._keep(fitted)
        return self

    @property
    def sentence_(self) -> str:
        """The certificate and what was asked for, in a sentence."""
        self._fitted("sentence_")
        return str(self.verdict_.sentence)

    @described_by(BoostClassifier.rules)
    def rules(self, k: int | None = 20, label: Any = None) -> list[str]:
        """Return every rule in words; of texts, the ``k`` words that add most."""
        if self._fitted("rules").text is None:
            return super().rules()
        return word_rules(self.model_, k, label)

    @property
    def features_(self) -> TextFeatures | MixedFeatures:
        """The options for reading texts, and the vocabulary, if rows hold texts."""
        text = self._fitted("features_").text
        if text is None:
            raise AttributeError("features_ is missing: the rows of the fit held no texts")
        return text

    @property
    def certificate_(self) -> Certificate:
        """The certificate: of the error, or of the rate that was asked for."""
        self._fitted("certificate_")
        return super().certificate_ if self.decision_ is None else self.decision_.certificate

    @property
    def threshold_(self) -> float:
        """The probability of the positive class from which it is predicted, if it was chosen."""
        self._fitted("threshold_")
        if self.decision_ is None:
            raise AttributeError("threshold_ is missing: no threshold is certified")
        return float(self.decision_.threshold)

    @takes_rows
    def report(  # type: ignore[override]
        self, path: str | Path | None = None, X: object = None, y: object = None, *,
        title: str | None = None,
    ) -> Any:  # fmt: skip
        """Write a page about the model that begins with ``sentence_``; without a path, show it."""
        from pacboost.reports.page.document import Sentence

        self._fitted("report")
        verdict: Any = self.verdict_
        before, strong, after = verdict.headline
        said = Sentence(before, strong, after, verdict.note)
        return super().report(path, X, y, title=title, sentence=said, decision=self.decision_)

    @explains_input
    def save(self, path: str | Path, *, remember_rows: bool = True) -> None:
        """Write model and certificate to a file; ``pacboost.load`` gives a vote of its kind back.

        ``remember_rows=False`` leaves the sketch of the training rows out.
        """
        model = self._fitted("save")
        if self.decision_ is not None:
            model = with_threshold(model, self.decision_)
        save(model, path, self._sketches if remember_rows else ())

    def _asked(self) -> Values:
        """Check what parameters mean together, and forget an earlier fit."""
        asked = Values.of(self.get_params(deep=False))
        wishes.read_wishes(asked.recall, asked.precision, asked.epsilon)
        if isinstance(asked.text_columns, str) and asked.text_columns != "auto":
            raise invalid(
                "text_columns",
                asked.text_columns,
                "may be 'auto', None, or a list of the columns that hold texts",
            )
        for name in [name for name in vars(self) if name.endswith("_") or name == "_dropped"]:
            del self.__dict__[name]
        return asked

    def _keep(self, fitted: StrongFit) -> None:
        """Keep what was learned and certified as attributes."""
        self.model_, self.classes_ = fitted.model, fitted.model.classes
        self.__dict__ |= fitted.attributes

    def _decide(self, model: Model, scores: Scores) -> NDArray[Any]:
        if self.decision_ is None:
            return super()._decide(model, scores)
        return from_threshold(self.decision_, model.classes, model.probabilities(scores))

    def _mistakes_and_predictions(self, X: object, y: object) -> MistakesAndPredictions:
        if self.decision_ is None:
            return super()._mistakes_and_predictions(X, y)
        predictions = self.predict(X)
        return np.asarray(predictions != np.asarray(y)), predictions

    def _features(self, X: object) -> object:
        """Drop the columns that are no features; texts are found by their names."""
        return X if self.model_.text is not None else reading.without(X, self._dropped)
