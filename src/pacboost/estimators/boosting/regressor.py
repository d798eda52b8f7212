"""Boosted trees that predict numbers, behind the scikit-learn API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from pacboost.boosters.link import Link
from pacboost.boosters.losses.square import Square
from pacboost.boosters.objective import CustomLoss
from pacboost.boosters.registry import LOSSES
from pacboost.estimators.boosting.boosted import Boosted
from pacboost.estimators.boosting.boosting import EstimatorChooser
from pacboost.estimators.boosting.choosing_numbers import NumbersChooser
from pacboost.estimators.fitted.predicting import answered, r_squared
from pacboost.estimators.fitted.vote_model import VoteModel
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import documented
from pacboost.estimators.inputs.rows import takes_rows
from pacboost.estimators.parameters.trials import TrialParameters
from pacboost.estimators.parameters.values import Values
from pacboost.fit.settings import Settings
from pacboost.models.model import Model
from pacboost.training.metrics import Metric, metric_of

if TYPE_CHECKING:
    from pacboost.models.explain.explanation import Explanation
    from pacboost.models.explain.importances import Importances

Doubles = NDArray[np.float64]


@accepts_aliases
@documented
@dataclass(eq=False, repr=False)
class BoostRegressor(TrialParameters, Boosted, RegressorMixin, VoteModel):  # type: ignore[misc]
    """Boost trees that predict a number: the same loop, bins and trees as for classes.

    The ledger records the mean loss after every round. A fit certifies nothing, because a number is
    never simply right or wrong; rows that it has not seen do: ``pacboost.intervals`` makes
    intervals that hold the number as often as was asked for, and
    ``pacboost.certify(model, X, y, of=...)`` bounds errors.

    Parameters
    ----------
    loss : str or function, default="squared_error"
        What is lowered. "squared_error" predicts means. "absolute_error" predicts medians, which
        outliers do not move. "huber" lies between them: it squares small residuals only (see
        ``alpha``). "quantile" predicts the quantile that ``quantile`` names. "poisson" (targets of
        0 or more, such as counts) and "gamma" (targets above 0, such as amounts) predict means by
        their logarithm, so that predictions are positive. Leaves hold the exact minimum of the
        loss, times ``learning_rate``: the mean, the weighted median or quantile of residuals, the
        logarithm of a ratio of means; for "huber" the median and one step from it. "square" and
        "absolute" are other names of the first two. A function ``f(y, score)`` returns the gradient
        and the curvature of a loss of your own, an array with a number for each row each;
        ``f(y, score, weight)`` returns both times the weight. Predictions are then the scores, and
        the record holds their squared error. Early stopping needs an ``eval_metric`` then, and
        model files do not hold the function.
    quantile : float, default=None
        For "quantile": which one, between 0 and 1. 0.9 predicts numbers that nine of ten targets
        lie below.
    alpha : float, default=0.9
        For "huber": the share of rows that are not outliers. Residuals are cut off at this quantile
        of their absolute values, found anew in every round.
    n_estimators : int, default=None
        The maximum number of rounds. None: 2,000; with ``early_stopping=False`` 300, and from
        30,000 rows on 100. The first round is a constant, such as the mean or the
        median of y, which one tree at least follows. More rounds with a smaller ``learning_rate``
        are slower and often better.
    learning_rate : float, default=None
        Scales what every tree adds, at most 1. None: 0.05, from 30,000 rows on 0.1. After
        15 / ``learning_rate`` rounds it grows in proportion to the rounds, up to 0.3: not with
        ``quality="fast"``, with ``interactions``, or from 30,000 rows on.
    subsample : float, default=None
        The share of rows, drawn anew each round, that a tree is grown on; its values are those of
        all rows. None: 0.7, from 30,000 rows on all rows.
    quality : "fast", "auto" or "best", default="auto"
        How much time the automatic values may take. "fast": 100 rounds and no trial. "best": steps
        a third as large, and a trial that is repeated with other rows, at about ten times the time
        of "auto".
    learner : None, "tree", Tree or scikit-learn regressor, default=None
        What is boosted; None means trees. A scikit-learn regressor is fitted in every round to what
        the rows ask for (residuals, in a unit near the largest one), and its predictions are cut
        into at most ``max_leaves`` ranges, each of which adds what is best for its rows, as a leaf
        does. Model files do not hold it.
    monotone_constraints : mapping, sequence or None, default=None
        +1 or -1 for features (by name or number, or one for every feature, 0 for free) in which
        the prediction may only rise or only fall.
    max_leaves : int, default=None
        The largest number of leaves of a tree, from 2 on. None: half of the square root of the
        number of rows, from 8 to 31.
    min_leaf_rows : int or float, default=None
        The least number of rows in a leaf, or as a float below 1 their share. None: 3, from 30,000
        rows on and for "quantile" 20. Raise it if targets are noisy.
    max_features : int or float, default=None
        How many features are drawn and looked at for each split: a number (int) or a share (float,
        1.0 for all). None: half of them and at least five, from 30,000 rows on all.
    l2 : float, default=None
        For "squared_error", "gamma" and "poisson": the L2 regularisation of leaf values, added to
        the number of rows of a leaf (for "poisson", to the sum of their predictions). None: 3, from
        30,000 rows on and for "poisson" 0.
    early_stopping : bool, int, "refit" or "auto", default="auto"
        Whether to stop when ``eval_metric`` on validation rows has not improved for a number of
        rounds (50), and keep the best one. The validation rows are ``X_val`` of ``fit``, else a
        share ``validation_fraction`` of the rows that is held back; all of them count alike,
        whatever their weight. False never stops: ``X_val`` is then only measured and recorded. A
        number stops after so many rounds without progress. "refit" then boosts on all rows, a tenth
        more rounds. "auto": True if ``X_val`` is given or there are 30,000 rows; with fewer a trial
        holds a fifth of them back to find the number of rounds, and all are boosted on (without a
        trial if ``warm_start``). From 20,000 to 30,000 rows the second run begins with a growing
        share of the first one's rounds.
    validation_fraction : float, default=0.1
        The share of rows that is held back to stop early. More of them measure better, and leave
        fewer to learn from. The trial of ``early_stopping="auto"`` holds a fifth back, whatever
        this is.
    eval_metric : str or function, default="loss"
        "loss" (that of the training), "squared_error", "absolute_error", "huber", with a loss of
        the same name "quantile", with predictions by their logarithm "poisson" or "gamma", or a
        function of (targets, predictions) that gets smaller as the fit gets better.
    warm_start : bool, default=False
        Continue the last fit, with the same rows and parameters and a larger ``n_estimators``: it
        ends as one longer run would have.

    Attributes
    ----------
    ledger_ : Ledger
        What the loop measured in every round; ``training_error`` is the mean loss after it.
    validation_curves_ : dict
        ``eval_metric`` after every round, by the name of the validation set (see ``fit``), if there
        are validation rows.
    n_features_in_, feature_names_in_, feature_importances_ : as in scikit-learn
    levels_ : the levels of categorical columns

    Examples
    --------
    >>> X = np.arange(100.0)[:, None]
    >>> y = X[:, 0] ** 2
    >>> model = BoostRegressor(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.999
    True
    >>> round(model.ledger_.rounds[0].training_error)   # a constant comes first: the variance
    8721961
    """

    loss: Any = "squared_error"
    n_estimators: int | None = None
    learning_rate: float | None = None
    _: KW_ONLY
    quantile: float | None = None
    alpha: float = 0.9
    learner: Any = None
    max_leaves: int | None = None
    max_depth: int | None = None
    min_leaf_rows: float | None = None
    max_features: float | None = None
    subsample: float | None = None
    l2: float | None = None
    max_bins: int = 255
    monotone_constraints: Any = None
    interaction_constraints: Any = None
    interactions: int | None = None
    categorical_features: Any = "from_dtype"
    early_stopping: bool | int | str = "auto"
    validation_fraction: float = 0.1
    eval_metric: Any = "loss"
    warm_start: bool = False
    callbacks: Any = None
    n_jobs: int | None = None
    device: str = "cpu"
    verbose: bool | int | str = "auto"
    random_state: Any = None

    _keeps_sparse = True

    @takes_rows
    def predict(self, X: object) -> Doubles:
        """Return a number for each row."""
        return answered(self, X, Model.numbers)

    @takes_rows
    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return R², the share of the variance that predictions explain."""
        return r_squared(self, X, y, sample_weight)

    @takes_rows
    def staged_predict(self, X: object) -> Iterator[Doubles]:
        """Return the predictions after each round."""
        table = self._open(X)
        for scores in self.model_.vote.staged(table):
            # every stage adds to the same array
            yield self.model_.numbers(scores.copy())

    @takes_rows
    def explain(self, x: object, top: int = 10, *, by: str = "column") -> Explanation:
        """Return what each column adds to the prediction for one row: the ``top``, and the rest.

        ``x`` is a sequence of values, a mapping from column names, or a table of one row. With
        ``by="rule"`` the rules that spoke are given; those that say the same of the row are put
        together. All contributions, and that of an average row, add up to the prediction (to its
        logarithm, if the loss has a logarithmic link).
        """
        from pacboost.estimators.fitted.explaining import as_one_row, explain_row

        return explain_row(self, as_one_row(self, x), top, by=by)

    @takes_rows
    def permutation_importances(
        self,
        X: object,
        y: object,
        repeats: int = 5,
        random_state: object = None,
        metric: Any = "loss",
    ) -> Importances:
        """Measure by how much predictions get worse, in ``metric``, when a column is shuffled.

        ``metric`` may be what ``eval_metric`` may be. A column that no rule asks for has exactly 0.
        """
        from pacboost.estimators.fitted.explaining import shuffled
        from pacboost.estimators.fitted.judging import with_targets

        sample, measure = with_targets(self, X, y), self._measure(metric)
        return shuffled(self, sample, measure, repeats, random_state)

    def _chooser(self, asked: Values) -> EstimatorChooser:
        return NumbersChooser(asked)

    def _measure(self, choice: Any) -> Metric:
        """Return a metric; where the loss is a function, its record holds the squared error."""
        if self.model_.ledger.potential == CustomLoss.potential:
            return metric_of("square" if choice == "loss" else choice, Square())
        # parameters of the loss matter here, automatic values do not: any number of rows will do
        return metric_of(
            choice,
            NumbersChooser(Values.of(self.get_params(deep=False))).booster(
                Settings.for_numbers(1, 1)
            ),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        loss = LOSSES.get(self.loss) if isinstance(self.loss, str) else None
        # scikit-learn's checks then draw numbers above 0, which a logarithm needs
        tags.target_tags.positive_only = loss is not None and loss.link == Link.LOG
        return tags
