"""Any booster with any learner, behind the scikit-learn API."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any

from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.booster import Booster
from pacboost.boosters.choose import as_booster
from pacboost.boosters.logit import Logit
from pacboost.boosters.objective import CustomObjective
from pacboost.boosters.registry import BOOSTERS
from pacboost.errors import ParameterError
from pacboost.estimators.boosting.automatic import Settings, Trial, is_automatic
from pacboost.estimators.boosting.base import Boosting
from pacboost.estimators.boosting.fit import Recipe
from pacboost.estimators.fitting import parameters
from pacboost.estimators.fitting.parameters import (
    NestedParameters,
    most_rounds,
    named,
    share_of_rows,
    step_size,
    tree_changes,
    with_fields,
)
from pacboost.estimators.inputs.documented import accepts_aliases, documented
from pacboost.estimators.inputs.examples import LabelledRows
from pacboost.estimators.inputs.parameters import real_number
from pacboost.learners.choose import as_learner
from pacboost.learners.growing import WHY_TWO_CLASSES as WHY
from pacboost.learners.learner import Learner
from pacboost.learners.tree import Tree

FEW_CLASSES = 3
"""With more, trees are larger by default."""


@accepts_aliases
@documented
@dataclass(eq=False, repr=False)
class BoostClassifier(NestedParameters, Boosting):
    """Boost any weak learner by any booster, with a bound on the training error after every round.

    Where nothing about trees, rounds and stopping is given, the number of rows chooses: up to
    20,000 rows each tree is grown on .8 of the rows, each split looks at half of the features,
    leaves have 5 rows at least, and ``l2`` is 3. Up to 5,000 rows the learning rate is .05, and a
    trial that holds a fifth of the rows back says how many rounds are worth doing (150 to 600) and
    how steep probabilities should be; then all rows are boosted on. Up to 12,500 rows the trial has
    fewer of the rows; from there on there are 180 rounds of .1. More than three classes have 333 to
    300 rounds of .06 on all rows and an ``l2`` of 1, and the trial chooses the steepness alone.
    With fewer than 100 rows, with weights, or if one such parameter is given, the others have the
    values described with them.

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
        classes, which one tree at least follows. None: 180; for more than three classes 100 up to
        20,000 rows, and in proportion more up to 180 from 30,000 rows on; for "majority" as many as
        the promised edge needs. More rounds with a smaller ``learning_rate`` are slower and often
        better.
    learning_rate : float, default=None
        Scales what every round adds. None: for trees 0.1 up to
        20,000 rows, 0.2 from 30,000 rows on, and in proportion between them; 1 for other learners,
        or what the booster object says.
    subsample : float, default=None
        The share of rows, drawn anew each round, that the learner is fitted on. None: all rows.
    max_leaves : int, default=None
        The largest number of leaves of a tree, from 2 on. None means 31, with K > 3 classes 16 K up
        to 127. Fewer leaves overfit less; 2 make stumps.
    max_features : int or float, default=None
        How many features are drawn and looked at for each split: a number (int) or a share (float,
        1.0 for all). None means all of them, with more than 3 classes half. Fewer are faster, and
        make trees differ more.
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
        For "logit": the L2 regularisation of leaf values, in units of rows. None: 1, or what the
        booster object says. Where the number of rows chooses (see above), it is 3 for two or three
        classes.
    class_weight : mapping, "balanced" or None, default=None
        The weight of the rows of each class in training; "balanced" gives all classes the same sum.
        Set it if mistakes on a rare class cost more. ``certify="holdout"`` counts rows without
        weights, and ``certify="train"`` does not allow them.
    calibrate : "auto", "sigmoid", "isotonic", "temperature" or None, default="auto"
        Fit probabilities to scores on ``validation_fraction`` of the rows, held back for that;
        ``predict`` goes by the scores all the same. "temperature" has one slope for all classes,
        which suits many classes with few rows each. "isotonic" needs 1,000 such rows; with fewer,
        "sigmoid" is used instead, with a warning. "auto": "temperature", by the rows that a trial
        has held back, if there is one (see above). None: probabilities follow from the scores.
    certify : "holdout", "train" or None, default=None
        What ``certificate_`` is about. None: the error on the training rows, without assumptions.
        "holdout": the error on new examples, by rows that are held out before anything is learned.
        "train": the same by the training rows, for stumps and two classes (AdaBoostClassifier); its
        bound is usually larger than that of "holdout".

    Attributes
    ----------
    ledger_, certificate_, classes_, feature_importances_ : as in AdaBoostClassifier
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

    def _recipe(self, examples: LabelledRows) -> Recipe:
        many_classes = examples.signs.shape[1] > FEW_CLASSES
        if is_automatic(self, examples):
            chosen = Settings.of(examples.n_rows, many_classes=many_classes)
            learner = self._learner(examples, chosen.of_trees)
            booster = self._booster(learner, chosen.rate, chosen.l2)
            return Recipe(learner, booster, chosen.rounds, 0, chosen.subsample)
        learner = self._learner(examples, {})
        many = parameters.many(examples.n_rows)
        rounds = round(100 + 80 * many) if many_classes else 180
        booster = self._booster(learner, round(0.1 + 0.1 * many, 4))
        rounds = int(booster.last_round) if math.isfinite(booster.last_round) else rounds
        return Recipe(learner, booster, most_rounds(self, rounds, booster), 0, share_of_rows(self))

    def _trial(self, examples: LabelledRows, recipe: Recipe, seed: int) -> Trial | None:
        """Try first, if nothing is set; whoever watches the rounds wants to see one run."""
        if self.callbacks is not None or not is_automatic(self, examples):
            return None
        all_rounds = examples.signs.shape[1] > FEW_CLASSES
        return Trial.of(examples, recipe, seed, all_rounds=all_rounds)

    def _learner(self, examples: LabelledRows, usual: dict[str, Any]) -> Learner:
        """Return learner; ``usual`` holds fields of trees that parameters and names override."""
        changes = usual | tree_changes(self, examples)
        if "monotone" in changes and examples.signs.shape[1] > 1:
            raise ParameterError(
                f"monotone_constraints are for two classes, and y has {self.classes_.size}: {WHY}"
            )
        choice, own = named(self.learner)
        classes = examples.signs.shape[1]
        if choice == "tree" and classes > FEW_CLASSES:  # one tree speaks for all of them
            changes = {"max_leaves": min(127, 16 * classes), "max_features": 0.5, **changes}
        learner = as_learner(choice, "learner")
        changes |= own
        return with_fields(learner, changes, "learner") if changes else learner

    def _booster(
        self, learner: Learner, rate_of_trees: float, usual_l2: float = 1.0
    ) -> Booster[Any]:
        choice, own = named(self.booster)
        if choice == "logit" and self.several_labels_:
            choice = "adaboost"
        booster = as_booster(choice).for_classes(self.classes_.size)
        changes: dict[str, Any] = {}
        if isinstance(choice, str) or isinstance(booster, CustomObjective):
            if isinstance(learner, Tree) and hasattr(booster, "learning_rate"):
                changes["learning_rate"] = rate_of_trees
            if isinstance(booster, Logit | CustomObjective):
                changes |= {"prior": True, "l2": usual_l2}
            if isinstance(booster, AdaBoost) and isinstance(learner, Tree):
                changes["confidence_rated"] = own.get("multiclass", "mh") == "mh"
        rate = step_size(self)
        if rate is not None:
            changes["learning_rate"] = rate
        if self.l2 is not None:
            changes["l2"] = real_number("l2", self.l2)
        return with_fields(booster, changes | own, "booster")  # type: ignore[no-any-return]

    def _inner_estimator(self) -> Any:
        return named(self.learner)[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        choice = named(self.booster)[0]
        rules = BOOSTERS.get(choice, choice) if isinstance(choice, str) else choice
        table = getattr(rules, "multiclass", "") == "two"  # graph separation's, of patterns
        tags.classifier_tags.multi_class = not (table or callable(choice))
        tags.classifier_tags.poor_score = table  # pure patterns heed no class weights
        return tags
