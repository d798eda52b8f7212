"""PAC learning as an interface: ask for an error and a confidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.decisions.threshold import ThresholdClassifier
from pacboost.estimators.fitted import explaining
from pacboost.estimators.inputs.documented import accepts_aliases, documented
from pacboost.estimators.inputs.tables import open_table
from pacboost.estimators.strong import reading
from pacboost.estimators.strong.fit import StrongFitting
from pacboost.models.model import Model

# Methods of the chosen estimator that StrongClassifier has as its own, so that Tab finds them.


def passed_on(name: str) -> Any:
    """Make a method that calls that of the chosen estimator; without one, there is no method."""

    def has_it(model: Any) -> bool:
        return "estimator_" in vars(model) and hasattr(model.estimator_, name)

    method: Callable[..., Any] = getattr(BoostClassifier, name)

    @wraps(method)
    def call(self: Any, *args: Any, **options: Any) -> Any:
        return getattr(self.estimator_, name)(*args, **options)

    return available_if(has_it)(call)


OF_THE_VOTE = ("ledger_", "rules", "explain", "feature_importances_", "levels_")
"""What a chosen threshold does not change is asked of the vote itself."""


@accepts_aliases
@documented
@dataclass(eq=False, repr=False)
class StrongClassifier(ClassifierMixin, StrongFitting):  # type: ignore[misc]
    """Ask for an error and a confidence; get a classifier, and a sentence that says what it is.

    The classifier picks booster and learner from the data, and holds out as many rows for the
    certificate as epsilon and delta require. It boosts until the certificate reaches epsilon or
    more rounds cannot help, and says which. Nothing else uses the rows that certify.

    Everything else that ``estimator_`` can do (``rules``, ``explain``, ``report``, ``ledger_`` and
    so on) is passed on to it.

    Parameters
    ----------
    epsilon : float, default=None
        The error on new examples to reach; boosting stops when it is certified. None: as small as
        possible.
    recall : float, default=None
        Find at least this share of the positive class: the certifying rows, a fifth of all, then
        choose the threshold (``pacboost.choose_threshold``), and the sentence speaks of it.
    precision : float, default=None
        At least this share of what is said to be positive has to be. Only one of ``epsilon``,
        ``recall`` and ``precision`` may be given.
    positive : label, default=None
        The class that ``recall`` and ``precision`` speak of; None: the second of two.
    n_estimators : int, default=None
        The maximum number of rounds; None: 1000, or 600 with more than three classes. Validation
        rows usually stop it earlier.
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
    wrong). 15 % was asked for, and reached after 8 rounds. Always saying '1' would be 33.3 % wrong
    on these rows (an estimate).
    """

    epsilon: float | None = None
    delta: float = 0.05
    _: KW_ONLY
    recall: float | None = None
    precision: float | None = None
    positive: Any = None
    n_estimators: int | None = None
    text_columns: Any = "auto"
    dates: str = "auto"
    categorical_features: Any = "from_dtype"
    class_weight: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    device: str = "cpu"
    verbose: bool | int | str = "auto"

    @property
    def sentence_(self) -> str:
        """What was certified, in one sentence."""
        check_is_fitted(self)
        return self.verdict_.sentence

    @property
    def model_(self) -> Model:
        """The model of the estimator that does the work."""
        if "estimator_" not in self.__dict__:
            raise AttributeError("model_ is there after fit; this estimator is not fitted yet")
        model: Model = self.estimator_.model_
        return model

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        answers: NDArray[Any] = self._ready().predict(self._open(X))
        return answers

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class."""
        chances: NDArray[np.float64] = self._ready().predict_proba(self._open(X))
        return chances

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each row: for two classes one, else one a class."""
        scores: NDArray[np.float64] = self._ready().decision_function(self._open(X))
        return scores

    def mistakes(self, X: Any, y: Any) -> NDArray[np.bool_]:
        """Return which rows are wrong; ties count as wrong, and so do unknown labels."""
        wrong: NDArray[np.bool_] = self._ready().mistakes(self._open(X), y)
        return wrong

    def overlap(self, X: Any) -> Any:
        """Compare rows with those the fit has looked at, to learn or to certify."""
        return self._ready().overlap(self._open(X))

    def margins(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Return the margin of every row, from -1 to 1."""
        found: NDArray[np.float64] = self._ready().margins(self._open(X), y)
        return found

    def save(self, path: str | Path, *, remember_rows: bool = True) -> None:
        """Write model and certificate to a file; ``pacboost.load`` gives ``estimator_`` back.

        ``remember_rows=False`` leaves the sketch of the training rows out.
        """
        self._ready().save(path, remember_rows=remember_rows)

    def report(
        self, path: str | Path, X: Any = None, y: Any = None, *, title: str | None = None
    ) -> Path:
        """Write a page about the model that begins with ``sentence_``."""
        from pacboost.reports.page.document import Sentence

        rows, model = None if X is None else self._open(X), self._ready()
        said = Sentence(*self.verdict_.headline, self.verdict_.note)
        written: Path = model.report(path, rows, y, title=title, sentence=said)
        return written

    explain = passed_on("explain")
    shap_values = passed_on("shap_values")
    shap_trees = passed_on("shap_trees")
    apply = passed_on("apply")
    rules = passed_on("rules")
    shapes = passed_on("shapes")
    importances = passed_on("importances")
    permutation_importances = passed_on("permutation_importances")
    partial_dependence = passed_on("partial_dependence")
    staged_predict = passed_on("staged_predict")
    staged_predict_proba = passed_on("staged_predict_proba")
    staged_decision_function = passed_on("staged_decision_function")

    _remembers_rows: ClassVar[bool] = True

    def forget_rows(self) -> None:
        """Drop the sketch of the rows that the fit has looked at."""
        self._ready().forget_rows()

    @property
    def _sketches(self) -> Any:
        return self.estimator_._sketches

    def _rows_to_compare(self, X: Any) -> Any:
        return self._ready()._rows_to_compare(self._open(X))

    def _ready(self) -> Any:
        check_is_fitted(self)
        return self.estimator_

    def _open(self, X: Any) -> Any:
        """Read rows as in fit; texts, and rows like those drawn, go on as they are."""
        check_is_fitted(self)
        if not hasattr(self, "parts_") or self._texts:
            return X
        return open_table(self, reading.without(X, self._dropped), reset=False)

    def _repr_html_inner(self) -> str:
        return explaining.html(self, self.sentence_ if self.__sklearn_is_fitted__() else "")

    def _repr_mimebundle_(self, **_options: Any) -> dict[str, str]:
        return explaining.bundle(self)

    def __getattr__(self, name: str) -> Any:
        """Pass other attributes on to the chosen estimator."""
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
        """Name what the chosen estimator has learned, too, such as ``ledger_``."""
        inner = dir(self.__dict__.get("estimator_"))
        return [
            *super().__dir__(),
            *(name for name in inner if name.endswith("_") and name[0] != "_"),
        ]

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
