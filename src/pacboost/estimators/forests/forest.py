"""What random forests and extremely randomised trees share: parameters, fit and answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from pacboost.bounds.certificate import Certificate
from pacboost.errors import DataError
from pacboost.estimators.bagging import outside
from pacboost.estimators.bagging.answers import Classes, NumberAnswers, decided
from pacboost.estimators.bagging.fitting import Callback, fit_members
from pacboost.estimators.fitted.estimator import Estimator
from pacboost.estimators.fitted.predicting import accuracy, answered, r_squared
from pacboost.estimators.forests.growing import ForestClasses, ForestTrees
from pacboost.estimators.inputs.rows import fits_rows, takes_rows
from pacboost.kernels.threads import using
from pacboost.ledgers.out_of_bag import OutOfBag
from pacboost.models.model import Model

if TYPE_CHECKING:
    from pacboost.hypotheses.shapes import Shapes
    from pacboost.models.explain.importances import Importances


@dataclass(eq=False, repr=False)
class ForestEstimator(Estimator):
    """Parameters, fit and shapes of forests of classes and of numbers."""

    _: KW_ONLY
    min_samples_leaf: float = 1
    min_samples_split: float = 2
    min_weight_fraction_leaf: float = 0.0
    max_depth: int | None = None
    bootstrap: bool = True
    max_samples: float | None = None
    max_bins: int = 255
    categorical_features: Any = "from_dtype"
    oob_score: bool = False
    settle: int | None = None
    warm_start: bool = False
    callbacks: Sequence[Callback] | None = None
    random_state: Any = None
    n_jobs: int | None = None
    device: str = "cpu"
    verbose: bool | int | str = "auto"

    _kind = "random_forest"
    _out_of_bag = None

    _answers_kind: ClassVar[type[Classes] | type[NumberAnswers]]
    """What trees predict: classes or numbers."""

    @property
    def oob_score_(self) -> float:
        """The out-of-bag estimate of ``score``."""
        return outside.oob_score(self)

    @fits_rows
    def fit(
        self, X: object, y: object, sample_weight: ArrayLike | None = None, *, copies: str = "draws"
    ) -> Self:
        """Grow the trees; a row of weight w counts as w copies of it would.

        ``copies`` says what equal rows are if rows certify, as in ``BoostClassifier.fit``. Ctrl-C
        keeps the trees grown so far, and is raised again. Any other failure leaves the estimator
        unchanged.
        """
        fit_members(ForestTrees(self, self._answers_kind(self)), X, y, sample_weight, copies)
        return self

    @takes_rows
    def partial_dependence(
        self,
        features: str | int | Sequence[str | int] | None = None,
        *,
        top: int = 12,
        X: object = None,
    ) -> Shapes:
        """Return how the mean prediction changes with each feature, as step functions.

        One feature at a time is set to a value in all rows: up to 60 rows of ``X``, or, without it,
        rows with features drawn independently and evenly over their bins. Curves are deviations
        from the mean prediction (the share of the second class of two, of each class of several),
        which is the ``intercept``. ``features`` names or numbers columns; without it, the ``top``
        most important ones are taken.
        """
        from pacboost.estimators.fitted.explaining import forest_dependence

        return forest_dependence(self, features, top, X)


@dataclass(eq=False, repr=False)
class ForestClassifier(ClassifierMixin, ForestEstimator):  # type: ignore[misc]
    """A forest that votes for classes."""

    n_estimators: int = 400
    _: KW_ONLY
    # scikit-learn's: the root of the columns for classes, all of them for numbers
    max_features: Any = "sqrt"
    class_weight: Any = None
    certify: str | None = None
    holdout: float = 0.2
    delta: float = 0.05

    _answers_kind = ForestClasses
    _refusal = outside.NOT_ASKED
    _sets = None  # the sets of labels that trees vote for, if a row may have several labels

    @property
    def several_labels_(self) -> bool:
        """True if a row may have several labels."""
        return self._sets is not None

    @property
    def certificate_(self) -> Certificate:
        """The certificate that ``certify`` requests; raises NotCertified if there is none."""
        return outside.certificate(self)

    @property
    def out_of_bag_(self) -> OutOfBag:
        """The counts that a certificate by out-of-bag rows needs."""
        return outside.out_of_bag(self)

    @property
    def oob_decision_function_(self) -> NDArray[np.float64]:
        """Shares of the out-of-bag votes."""
        return outside.oob_decision_function(self)

    @takes_rows
    def predict(self, X: object) -> NDArray[Any]:
        """Return the class with the most votes for each row; a tie goes to the first class.

        If rows may have several labels, return 1 for each predicted label, else 0.
        """
        return answered(self, X, lambda _, shares: decided(shares, ForestClasses(self).choices))

    @takes_rows
    def predict_proba(self, X: object) -> NDArray[np.float64]:
        """Return the mean shares of classes in the leaves that a row falls into.

        With a certificate out of bag, where every tree has one vote, these are the shares of the
        votes. Where a row may have several labels, the share of a label is that of the sets that
        hold it.
        """
        return answered(self, X, Model.probabilities)

    @takes_rows
    def predict_log_proba(self, X: object) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities."""
        return answered(self, X, Model.log_probabilities)

    @takes_rows
    def score(self, X: object, y: object, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy."""
        return accuracy(self, X, y, sample_weight)

    @property
    def sentence_(self) -> str:
        """The certificate in a sentence, or what to call to get one."""
        from pacboost.estimators.fitted.judging import sentence_of

        model = self._fitted("sentence_")
        return sentence_of(model.certificate, model.ledger, model.held_out, model.label_names)

    @takes_rows
    def permutation_importances(
        self, X: object, y: object, repeats: int = 5, random_state: object = None
    ) -> Importances:
        """Measure by how much the forest gets worse when a column is shuffled."""
        from pacboost.estimators.fitted.explaining import shuffled
        from pacboost.estimators.fitted.judging import labelled
        from pacboost.training.metrics import METRICS

        if self._sets is not None:
            raise DataError(
                "permutation_importances are for one label a row, and this forest gives several; "
                "see feature_importances_"
            )
        return shuffled(self, labelled(self, X, y), METRICS["error"], repeats, random_state)


@dataclass(eq=False, repr=False)
class ForestRegressor(RegressorMixin, ForestEstimator):  # type: ignore[misc]
    """A forest that predicts numbers."""

    n_estimators: int = 200
    _: KW_ONLY
    max_features: Any = 1.0

    _answers_kind = NumberAnswers

    @property
    def certificate_(self) -> Certificate:
        """Raises NotCertified: the theorems bound classification errors only."""
        raise outside.no_certificate()

    @property
    def oob_prediction_(self) -> NDArray[np.float64]:
        """Means of the out-of-bag predictions."""
        return outside.oob_prediction(self)

    @takes_rows
    def predict(self, X: object) -> NDArray[np.float64]:
        """Return the average prediction of the trees."""
        return answered(self, X, lambda _, numbers: numbers)

    @takes_rows
    def spread(self, X: object) -> NDArray[np.float64]:
        """Return the standard deviation of the trees' predictions, for every row."""
        table = self._open(X)
        with using(self.n_jobs):
            return np.asarray(self.model_.vote.spread(table))

    @takes_rows
    def score(self, X: object, y: object, sample_weight: ArrayLike | None = None) -> float:
        """Return the R² of the predictions."""
        return r_squared(self, X, y, sample_weight)

    @takes_rows
    def permutation_importances(
        self, X: object, y: object, repeats: int = 5, random_state: object = None
    ) -> Importances:
        """Measure by how much the forest gets worse when a column is shuffled."""
        from pacboost.estimators.fitted.explaining import shuffled
        from pacboost.estimators.fitted.judging import with_targets
        from pacboost.training.metrics import SQUARE

        measure = SQUARE
        return shuffled(self, with_targets(self, X, y), measure, repeats, random_state)
