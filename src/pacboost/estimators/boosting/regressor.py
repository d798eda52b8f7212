"""Boosted trees that predict numbers, behind the scikit-learn API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, is_classifier

from pacboost.boosters.booster import Booster
from pacboost.boosters.choose import as_loss
from pacboost.boosters.objective import CustomLoss
from pacboost.boosters.regression import Gamma, Square
from pacboost.errors import ParameterError, invalid
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.boosting.boosting import EstimatorChooser, FitData, boost
from pacboost.estimators.fitted.predicting import answered, r_squared
from pacboost.estimators.fitted.vote_model import VoteModel
from pacboost.estimators.fitting.callbacks import CallbackSupportMixin
from pacboost.estimators.fitting.constraints import tree_changes
from pacboost.estimators.fitting.nested import with_fields
from pacboost.estimators.fitting.rounds import most_rounds
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import described_by, documented
from pacboost.estimators.inputs.rows import fits_rows, takes_rows
from pacboost.estimators.inputs.validation_sets import read_sets
from pacboost.estimators.parameters.trials import TrialParameters
from pacboost.estimators.parameters.values import Values
from pacboost.fit.ask import Ask, FitRows
from pacboost.fit.recipe import Candidate, Recipe
from pacboost.fit.settings import PATIENCE_OF_NUMBERS, Settings
from pacboost.learners.learner import Learner
from pacboost.learners.sklearn import RegressorLearner
from pacboost.learners.tree import Tree
from pacboost.ledgers.ledger import LOG_LINK
from pacboost.models.model import Model
from pacboost.samples.sample import Sample
from pacboost.training.metrics import Metric, metric_of

if TYPE_CHECKING:
    from pacboost.models.explain.explanation import Explanation
    from pacboost.models.explain.importances import Importances

Doubles = NDArray[np.float64]


@accepts_aliases
@documented
@dataclass(eq=False, repr=False)
class BoostRegressor(CallbackSupportMixin, TrialParameters, RegressorMixin, VoteModel):  # type: ignore[misc]
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

    @fits_rows
    @described_by(BoostClassifier.fit)
    def fit(
        self, X: object, y: object, sample_weight: object = None, *, X_val: object = None,
        y_val: object = None, eval_set: object = None, copies: str = "draws",
    ) -> Self:  # fmt: skip
        """Fit the model."""
        boost(self, FitData(X, y, sample_weight, read_sets(X_val, y_val, eval_set)), copies)
        return self

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

        sample, measure = self._with_targets(X, y), self._measure(metric)
        return shuffled(self, sample, measure, repeats, random_state)

    def _with_targets(self, X: object, y: object) -> Sample:
        """Read rows with numbers."""
        from pacboost.estimators.fitted.judging import with_targets

        return with_targets(self, X, y)

    def _chooser(self, asked: Values) -> EstimatorChooser:
        return NumbersChooser(asked)

    def _measure(self, choice: Any) -> Metric:
        """Return a metric; where the loss is a function, its record holds the squared error."""
        if self.model_.ledger.potential == CustomLoss.potential:
            return metric_of("square" if choice == "loss" else choice, Square())
        return metric_of(
            choice,
            NumbersChooser(Values.of(self.get_params(deep=False))).booster(
                Settings.for_numbers(1, 1)
            ),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = isinstance(self.loss, str) and self.loss in LOG_LINK
        return tags


@dataclass(frozen=True, eq=False)
class NumbersChooser(EstimatorChooser):
    """Chooses for BoostRegressor."""

    asked: Values

    patience = PATIENCE_OF_NUMBERS

    def _usual(self, rows: int, columns: int) -> Settings:
        asked = self.asked
        trees = asked.learner is None or isinstance(asked.learner, Tree | str)
        leaf = 20 if asked.loss == "quantile" else 3  # a quantile far out needs rows
        return Settings.for_numbers(rows, columns, trees=trees, leaf=leaf, quality=asked.quality)

    def candidate(self, rows: FitRows, ask: Ask) -> Candidate:
        """Return the loss with trees, or with another regressor."""
        asked, examples = self.asked, rows.learn
        columns = examples.table.n_columns
        pairs, usual = asked.interactions, self._usual(examples.counting().n_rows, columns)
        if pairs is not None:
            usual = usual.for_single_columns(pairs, asked.quality)
        booster = self.booster(replace(usual, l2=usual.l2 * examples.one_row))
        changes = tree_changes(asked, examples)
        if asked.learner in (None, "tree"):
            names = ("max_leaves", "max_features", "min_leaf_rows")
            changes = {name: getattr(usual, name) for name in names} | changes
        learner = with_fields(self._learner(), changes, "the learner")
        # few rows are tried on, and boosted on in the end, unless a later fit goes on from here
        few_share = 0.0 if asked.warm_start else self._usual(examples.n_rows, columns).trial_share
        rounds = usual.max_rounds if ask.stops(examples.n_rows, few_share) else usual.n_estimators
        rounds = most_rounds(asked, rounds, booster)
        share = usual.subsample if asked.subsample is None else asked.subsample
        chosen = None if pairs is None else ()
        recipe = Recipe(learner, booster, rounds, subsample=share, interactions=chosen)
        return Candidate(recipe, held_share=few_share, pairs=pairs or 0)

    def _learner(self) -> Learner:
        choice = self.asked.learner
        if choice is None or isinstance(choice, Tree) or choice == "tree":
            return choice if isinstance(choice, Tree) else Tree()
        if not hasattr(choice, "fit") or isinstance(choice, type) or is_classifier(choice):
            raise invalid(
                "learner",
                choice,
                "may be None or 'tree', a Tree of pacboost, or a "
                "scikit-learn regressor (an object, not a class)",
            )
        return RegressorLearner(choice)

    def booster(self, usual: Settings) -> Booster[Any]:
        """Return the loss, with automatic values where parameters are not set."""
        asked = self.asked
        chosen, rate = as_loss(asked.loss), asked.learning_rate
        changes = {"learning_rate": usual.learning_rate if rate is None else rate}
        if hasattr(chosen, "grows_after"):
            changes["grows_after"] = usual.even_steps / changes["learning_rate"]
        if asked.l2 is not None:
            changes["l2"] = asked.l2
        elif isinstance(chosen, Square | Gamma):  # whose l2 counts rows
            changes["l2"] = usual.l2
        changes |= self._setting(chosen.name)
        return with_fields(chosen, changes, f"loss={asked.loss!r}")  # type: ignore[no-any-return]

    def _setting(self, loss: str) -> dict[str, float]:
        asked = self.asked
        if loss != "quantile" and asked.quantile is not None:
            raise ParameterError(
                f"quantile is {asked.quantile}, but loss is {asked.loss!r}; quantile belongs to "
                "the loss 'quantile'",
                parameter="quantile",
            )
        if loss != "quantile":
            return {"alpha": asked.alpha} if loss == "huber" else {}
        if asked.quantile is None:
            raise ParameterError(
                "quantile is None, but loss is 'quantile'; give a number between 0 and 1",
                parameter="quantile",
            )
        return {"quantile": asked.quantile}
