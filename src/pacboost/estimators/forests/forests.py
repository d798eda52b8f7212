"""Random forests and extremely randomised trees behind the scikit-learn API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pacboost.estimators.forests.forest import ForestClassifier, ForestRegressor
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import documented, documented_like

if TYPE_CHECKING:
<<<<<<< HEAD
    from pacboost.hypotheses.shapes import Shapes
    from pacboost.models.explain.importances import Importances


@dataclass(eq=False, repr=False)
class ForestClassifier(ClassifierMixin, Estimator):  # type: ignore[misc]
    """A forest that votes for classes."""

    n_estimators: int = 400
    _: KW_ONLY
    max_features: Any = "sqrt"
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
    class_weight: Any = None
    certify: str | None = None
    holdout: float = 0.2
    delta: float = 0.05

    _kind = "random_forest"
    _refusal = NOT_ASKED
    _sets = None  # the sets of labels that trees vote for, if a row may have several labels
    _out_of_bag = None

    @fits_rows
    def fit(
        self, X: object, y: object, sample_weight: ArrayLike | None = None, *, copies: str = "draws"
    ) -> Self:
        """Grow the trees; a row of weight w counts as w copies of it would.

        ``copies`` says what equal rows are if rows certify, as in ``BoostClassifier.fit``. Ctrl-C
        keeps the trees grown so far, and is raised again. Any other failure leaves the estimator
        unchanged.
        """
        fit_members(ForestTrees(self, ForestClasses(self)), X, y, sample_weight, copies)
        return self

    @property
    def several_labels_(self) -> bool:
        """True if a row may have several labels."""
        return self._sets is not None

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
    def certificate_(self) -> Certificate:
        """The certificate that ``certify`` requests; raises NotCertified if there is none."""
        return certificate_of(self)

    @property
    def sentence_(self) -> str:
        """The certificate in a sentence, or what to call to get one."""
        from pacboost.estimators.fitted.judging import sentence_of

        model = self._fitted("sentence_")
        return sentence_of(model.certificate, model.ledger, model.held_out, model.label_names)

    @property
    def oob_score_(self) -> float:
        """The out-of-bag estimate of ``score``."""
        return score_outside(self)

    @property
    def oob_decision_function_(self) -> NDArray[np.float64]:
        """Shares of the out-of-bag votes."""
        return answers_outside(self, "oob_decision_function_").predictions

    @property
    def out_of_bag_(self) -> OutOfBag:
        """The counts that a certificate by out-of-bag rows needs."""
        return counts_outside(self)

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
        return dependence(self, features, top, X)


@dataclass(eq=False, repr=False)
class ForestRegressor(RegressorMixin, Estimator):  # type: ignore[misc]
    """A forest that predicts numbers."""

    n_estimators: int = 200
    _: KW_ONLY
    max_features: Any = 1.0
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

    @fits_rows
    @described_by(ForestClassifier.fit)
    def fit(
        self, X: object, y: object, sample_weight: ArrayLike | None = None, *, copies: str = "draws"
    ) -> Self:
        """Grow the trees."""
        fit_members(ForestTrees(self, NumberAnswers(self)), X, y, sample_weight, copies)
        return self

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

    @property
    def certificate_(self) -> Certificate:
        """Raises NotCertified: the theorems bound classification errors only."""
        raise no_certificate()

    @property
    def oob_score_(self) -> float:
        """The out-of-bag estimate of ``score``."""
        return score_outside(self)

    @property
    def oob_prediction_(self) -> NDArray[np.float64]:
        """Means of the out-of-bag predictions."""
        return answers_outside(self, "oob_prediction_").predictions

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

    @takes_rows
    @described_by(ForestClassifier.partial_dependence)
    def partial_dependence(
        self,
        features: str | int | Sequence[str | int] | None = None,
        *,
        top: int = 12,
        X: object = None,
    ) -> Shapes:
        """Return how the mean prediction changes with each feature, as step functions."""
        return dependence(self, features, top, X)
=======
    pass
>>>>>>> main


@accepts_aliases
@documented
@dataclass(eq=False, repr=False, kw_only=True)
class RandomForestClassifier(ForestClassifier):
    """Trees grown to pure leaves from bags of rows, a few features tried at every split.

    The trees err on different rows, so their average errs on few (Breiman 2001). They are grown on
    codes, one a thread, and take 8 bytes a node. Where rows have several labels (y is a matrix of 0
    and 1 with a column for each), trees vote for whole sets of labels that occur in y: ``predict``
    gives the set with the most votes, and certificates count a row as wrong if any label is.

    Parameters
    ----------
    n_estimators : int, default=400
        The maximum number of trees. Fewer are faster and need less memory; more never overfit, and
        make probabilities a little better (by 1 % of log loss from 400 to 1,000 trees).
    max_features : str, int, float or None, default="sqrt"
        How many features are drawn at a split, to take the best of them: "sqrt", "log2", a share,
        a number, or None for all. If all of them are constant in a node, more are drawn.
    min_samples_leaf : int or float, default=1
        The least number of rows in a leaf, or as a float their share. Repeats within a bag count
        once. Raise it for smaller trees and smoother predictions.
    min_samples_split : int or float, default=2
        The least number of rows in a node that is split, or as a float their share. Raise it for
        smaller trees.
    min_weight_fraction_leaf : float, default=0.0
        The share of all weight that a leaf has at least. Set it if rows have weights.
    max_depth : int or None, default=None
        The largest number of questions from the root to a leaf; None: until leaves are pure.
    bootstrap : bool, default=True
        Whether each tree learns from a bag of rows drawn with replacement, or from all.
    max_samples : int, float or None, default=None
        How many rows are drawn for a bag; None: the number of rows. With ``bootstrap=False`` and
        fewer, rows are drawn without replacement.
    max_bins : int, default=255
        The most bins of values per feature, up to 255. Fewer are faster.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Columns of text and categories, or those named or numbered; their levels are cut in order.
        Levels not seen in fit are treated as missing.
    oob_score : bool, default=False
        Compute predictions out of bag, which estimate the error without held-out rows.
    settle : int or None, default=None
        Stop when the out-of-bag error has changed by no more than its standard error over this
        number of trees.
    class_weight : mapping, "balanced" or None, default=None
        The weight of the rows of each class; "balanced" gives all classes the same sum. Set it if
        mistakes on a rare class cost more. ``certify="holdout"`` counts rows without weights, and
        certificates out of bag do not allow them.
    certify : str or None, default=None
        "oob" certifies the plurality vote of the trees by their mistakes out of bag, with the bound
        that suits the number of rows; "first_order", "tandem" and "cantelli" name one. "holdout"
        holds a share ``holdout`` of the rows back, which gives a much tighter bound, often a third,
        for a forest grown from fewer rows. Levels of categories come from rows that certify
        nothing: those that give the bins, a tenth of them, or up to 256; "holdout" leaves more.
    callbacks : sequence of functions, default=None
        Each is called after every tree with ``Made(members, error)``; returning True stops the fit.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, feature_importances_ : as in scikit-learn
    oob_score_, oob_decision_function_ : as in scikit-learn
        Rows that are in every bag have NaN.
    out_of_bag_ : OutOfBag
        With a certificate out of bag, the counts that it needs.
    certificate_ : Certificate
    stopped_ : why the fit stopped

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RandomForestClassifier(100, oob_score=True, random_state=0).fit(X, y)
    >>> model.oob_score_ > 0.93, model.predict_proba(X[:1]).round(1).tolist()
    (True, [[1.0, 0.0, 0.0]])
    """


@accepts_aliases
@documented_like(RandomForestClassifier)
@dataclass(eq=False, repr=False, kw_only=True)
class ExtraTreesClassifier(ForestClassifier):
    """Trees that cut every feature they try at random, and take the best of these cuts.

    Where a cut falls between the least and the largest code in a node is left to chance, which
    makes trees err on still more different rows (Geurts, Ernst and Wehenkel 2006).

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, feature_importances_ : as in scikit-learn
    oob_score_, oob_decision_function_, out_of_bag_ : as in RandomForestClassifier
    certificate_, stopped_ : as in RandomForestClassifier

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ExtraTreesClassifier(100, random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    bootstrap: bool = False

    _kind = "extra_trees"


@accepts_aliases
@documented_like(RandomForestClassifier)
@dataclass(eq=False, repr=False, kw_only=True)
class RandomForestRegressor(ForestRegressor):
    """Trees that predict numbers, grown from bags of rows until leaves hold one number.

    Splits lower the squared error most; the forest predicts the mean of its trees (Breiman 2001).

    Parameters
    ----------
    n_estimators : int, default=200
        The maximum number of trees. Fewer are faster and need less memory; more never overfit.
    max_depth : int or None, default=None
        The largest number of questions from the root to a leaf; None: until leaves hold one number.
    warm_start : bool, default=False
        Continue the last fit, with the same rows and parameters and a larger ``n_estimators``: it
        ends as one longer fit would have.

    Attributes
    ----------
    n_features_in_, feature_names_in_, feature_importances_ : as in scikit-learn
    oob_score_, oob_prediction_ : as in scikit-learn
        Rows that are in every bag have NaN.
    stopped_ : why the fit stopped

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(100.0)[:, None]
    >>> model = RandomForestRegressor(100, random_state=0).fit(X, X[:, 0] ** 2)
    >>> model.score(X, X[:, 0] ** 2) > 0.999
    True
    """


@accepts_aliases
@documented_like(RandomForestRegressor)
@dataclass(eq=False, repr=False, kw_only=True)
class ExtraTreesRegressor(ForestRegressor):
    """Trees that predict numbers and cut every feature they try at random.

    The best of the random cuts is taken; the forest predicts the mean of its trees (Geurts, Ernst
    and Wehenkel 2006).

    Attributes
    ----------
    n_features_in_, feature_names_in_, feature_importances_ : as in scikit-learn
    oob_score_, oob_prediction_, stopped_ : as in RandomForestRegressor

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(100.0)[:, None]
    >>> model = ExtraTreesRegressor(100, random_state=0).fit(X[::2], X[::2, 0] ** 2)
    >>> model.score(X, X[:, 0] ** 2) > 0.99
    True
    """

    bootstrap: bool = False

    _kind = "extra_trees"
