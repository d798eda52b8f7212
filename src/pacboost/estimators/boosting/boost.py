"""Any booster with any learner, behind the scikit-learn API."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from pacboost.boosters.registry import BOOSTERS
from pacboost.estimators.boosting.boosted import Boosted
from pacboost.estimators.boosting.boosting import EstimatorChooser
from pacboost.estimators.boosting.choosing import TreesChooser
from pacboost.estimators.fitted.classifier import Classifier
from pacboost.estimators.fitting.nested import named
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import documented
from pacboost.estimators.parameters.trials import TrialParameters
from pacboost.estimators.parameters.values import Values
from pacboost.learners.choose import as_learner
from pacboost.models.schema import ColumnOptions


@accepts_aliases
@documented
@dataclass(eq=False, repr=False)
class BoostClassifier(TrialParameters, Boosted, Classifier):
    """Boost any weak learner by any booster, with a bound on the training error after every round.

    A parameter that is not set has an automatic value, which depends on the number of rows and
    classes and not on other parameters; ``settings_`` shows the values of a fit, and
    docs/choosing.md has the table of them.

    Parameters
    ----------
    booster : str, booster or function, default="logit"
        "adaboost", "logit", "gentle" or "mada", or an object such as ``AdaBoost(max_vote=2)``; with
        smooth weights "filter_boost", "measure", "smooth" or "projection"; for the largest margin
        "adaboost_v" or "arc_gv", for the largest soft margin "lp", "total", "soft", "erlp",
        "corrective_erlp" or "mlp"; "majority", "brown" and "graph_separation". With several labels
        a row (a 0/1 matrix y), "logit" stands for "adaboost", whose form AdaBoost.MH boosts all
        labels at once. A function ``f(y, score)`` boosts by a loss of your own, for two classes: it
        returns the gradient and the curvature in the score of every row, for y of 0 or 1 and
        probabilities 1/(1 + exp(-score)) of class 1; ``f(y, score, weight)`` returns both times the
        weight. The certificates hold for any function; model files do not hold it.
    learner : str, learner, scikit-learn classifier or function, default="tree"
        "stump" or "tree", or an object such as ``Tree(max_leaves=8)``; see AdaBoostClassifier for
        black boxes.
    n_estimators : int, default=None
        The maximum number of rounds. The first round of "logit" is a constant, the shares of the
        classes, unless there is only one round. None: automatic; for "majority" as many as the
        promised edge needs. More rounds with a smaller ``learning_rate`` are slower and often
        better.
    learning_rate : float, default=None
        Scales what every round adds, above 0 and at most 1. None: automatic for trees; 1 for other
        learners, or what the booster object says.
    subsample : float, default=None
        The share of rows, drawn anew each round, that the learner is fitted on. None: automatic
        for "logit" with trees, else all rows.
    quality : "fast", "auto" or "best", default="auto"
        How much time the automatic values may take. "fast": 100 rounds and no trial. "best": steps
        a third as large, and a trial that is repeated with other rows, at three to ten
        times the time of "auto".
    max_leaves : int, default=None
        The largest number of leaves of a tree, from 2 on. None: automatic, up to 31, and with K > 3
        classes up to 16 K or 127. Fewer leaves overfit less; 2 make stumps.
    max_features : int or float, default=None
        How many features are drawn and looked at for each split: a number (int) or a share (float,
        1.0 for all). None: automatic. Fewer are faster, and make trees differ more.
    monotone_constraints : mapping, sequence or None, default=None
        +1 or -1 for features (by name or number, or one for every feature, 0 for free) in which
        the score may only rise or only fall, and with it the probability of the second class. Two
        classes only: with more, each has its own score, and the probability of a class can fall
        though its score rises. Fit ``y == k``, one class against the others, instead.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Columns split by sets of levels: text and category columns, or those named or numbered.
        Levels are cut in the order of their names, of their means over all rows, or in a node.
        Levels not seen in fit are treated as missing. ``Tree(cat_penalty=..., min_level_rows=...)``
        as ``learner``, or ``learner__cat_penalty`` in ``set_params``, sets how much evidence a
        split by levels needs.
    l2 : float, default=None
        For "logit": the L2 regularisation of leaf values, in units of rows. None: automatic, or
        what the booster object says.
    class_weight : mapping, "balanced" or None, default=None
        The weight of the rows of each class in training; "balanced" gives all classes the same sum.
        Set it if mistakes on a rare class cost more. ``certify="holdout"`` counts rows without
        weights.
    calibrate : "auto", "sigmoid", "isotonic", "temperature" or None, default="auto"
        Fit probabilities to scores on ``validation_fraction`` of the rows, held back for that;
        ``predict`` goes by the scores all the same. "temperature" has one slope for all classes,
        which suits many classes with few rows each. "isotonic" needs 1,000 such rows; with fewer,
        "sigmoid" is used instead, with a warning. "auto": "temperature" for "logit" with trees, by
        the rows that a trial or early stopping has held back; no row is lost for it.
        None: probabilities follow from the scores.
    certify : "holdout" or None, default=None
        What ``certificate_`` is about. None: the error on the training rows, without assumptions.
        "holdout": the error on new examples, by rows that are held out before anything is learned.

    Attributes
    ----------
    ledger_, certificate_, classes_, feature_importances_ : as in AdaBoostClassifier
    n_iter_, best_iteration_ : the number of rounds, and which was best on validation rows
    notes_ : what the fit warned of, such as how columns of text were read
    settings_ : the values that were used of all parameters that may be automatic
    levels_ : the levels of categorical columns
    validation_curves_ : ``eval_metric`` after every round, by the name of the validation set (see
        ``fit``), if there are validation rows
    calibration_error_ : expected calibration error on rows calibrated by others, or None

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95, model.certificate_.value >= 1 - model.score(X, y)
    (True, True)
    """

    booster: Any = "logit"
    learner: Any = "tree"
    n_estimators: int | None = None
    learning_rate: float | None = None
    _: KW_ONLY
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
    class_weight: Any = None
    early_stopping: bool | int | str = "auto"
    validation_fraction: float = 0.1
    eval_metric: Any = "log_loss"
    calibrate: str | None = "auto"
    certify: str | None = None
    holdout: float = 0.2
    delta: float = 0.05
    warm_start: bool = False
    callbacks: Any = None
    n_jobs: int | None = None
    device: str = "cpu"
    verbose: bool | int | str = "auto"
    random_state: Any = None

    _nested = ("booster", "learner")
    _keeps_sparse = True

    def _column_options(self) -> ColumnOptions:
        given = as_learner(named(self.learner)[0], "learner").reads_given
        return replace(super()._column_options(), as_they_came=given)

    def _chooser(self, asked: Values) -> EstimatorChooser:
        return TreesChooser(asked)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        choice = named(self.booster)[0]
        rules = BOOSTERS.get(choice, choice) if isinstance(choice, str) else choice
        table = getattr(rules, "multiclass", "") == "two"  # graph separation's, of patterns
        tags.classifier_tags.multi_class = not (table or callable(choice))
        tags.classifier_tags.poor_score = table  # pure patterns heed no class weights
        return tags
