"""Any booster with any learner, behind the scikit-learn API."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.booster import Booster
from pacboost.boosters.choose import as_booster
from pacboost.boosters.logit import Logit
from pacboost.boosters.objective import CustomObjective
from pacboost.boosters.registry import BOOSTERS
from pacboost.errors import ParameterError
from pacboost.estimators.boosting.base import Boosting
from pacboost.estimators.boosting.fit import PreparedFit, Recipe
from pacboost.estimators.fitting import parameters
from pacboost.estimators.fitting.parameters import (
    NestedParameters,
    many,
    most_rounds,
    named,
    share_of_rows,
    step_size,
    tree_changes,
    with_fields,
)
from pacboost.estimators.inputs.division import TRIED
from pacboost.estimators.inputs.documented import accepts_aliases, documented
from pacboost.estimators.inputs.examples import LabelledRows, split_by_class
from pacboost.learners.choose import as_learner
from pacboost.learners.growing import WHY_TWO_CLASSES as WHY
from pacboost.learners.learner import Learner
from pacboost.learners.tree import Tree
from pacboost.models import calibration
from pacboost.models.calibration import TEMPERATURE, Calibration
from pacboost.numerics.checks import real_number

# The settings of BoostClassifier where none is given: by the number of rows, and by a trial.
#
# Up to 20,000 rows each tree is grown on a part of the rows, and each split looks at a part of the
# features. With few rows a trial comes first: most of the rows are boosted on, and the rest are
# measured after each round. They say how many rounds are best and how steep the probabilities
# should be; then all rows are boosted on. Larger tables need that less, so the trial is done with a
# share of the rows that goes to none. What was tried: docs/decisions/0016-samples-and-a-trial.md.

FEWEST = 100
"""With fewer rows nothing is sampled and nothing tried."""
ALL_TRIED, NONE_TRIED = 5_000, 12_500
"""A trial has all rows up to the first number, and none from the second on."""
HELD = 0.2
"""The share of the rows of a trial that is measured."""
LEAST = 0.5
"""A trial leaves at least such a share of the rounds: few rows may ask for an end too early. With
more than three classes it leaves them all."""
MOST = 2
"""A trial may have so many times the rounds, as long as the log loss of its rows goes down."""
GIVEN = (
    "n_estimators", "learning_rate", "subsample", "max_leaves",
    "max_depth", "min_leaf_rows", "max_features", "l2",
)  # fmt: skip
"""Whoever sets one of these has settings of their own, which nothing here changes."""
UNCHANGED = {"early_stopping": "auto", "eval_metric": "log_loss", "warm_start": False}


def is_automatic(estimator: Any, examples: LabelledRows) -> bool:
    """Check whether nothing is set that the number of rows or a trial could choose.

    Rows with weights are not sampled: a row of weight 2 has to count as two equal rows do.
    """
    given = any(getattr(estimator, name) is not None for name in GIVEN)
    choices = named(estimator.booster) == ("logit", {}) and named(estimator.learner) == ("tree", {})
    changed = any(getattr(estimator, name) != usual for name, usual in UNCHANGED.items())
    enough = examples.n_rows >= FEWEST and examples.weights is None
    return choices and enough and not given and not changed and not estimator.several_labels_


def tried(rows: int) -> float:
    """Return the share of the rows that a trial has: 1 for few, 0 for many.

    >>> [tried(rows) for rows in (99, 100, 5_000, 8_750, 12_500, 10**6)]
    [0.0, 1.0, 1.0, 0.5, 0.0, 0.0]
    """
    if rows < FEWEST:
        return 0.0
    return min(1.0, max(0.0, (NONE_TRIED - rows) / (NONE_TRIED - ALL_TRIED)))


@dataclass(frozen=True)
class Settings:
    """What is set by the number of rows."""

    rounds: int
    rate: float
    subsample: float
    max_features: float
    min_leaf_rows: int
    l2: float

    @property
    def of_trees(self) -> dict[str, float]:
        """What the learner of trees is given."""
        return {"max_features": self.max_features, "min_leaf_rows": self.min_leaf_rows}

    @classmethod
    def of(cls, rows: int, *, many_classes: bool) -> Settings:
        """Choose by the number of rows; from 30,000 on all rows and features are used.

        >>> Settings.of(1_000, many_classes=False)
        Settings(rounds=300, rate=0.05, subsample=0.8, max_features=0.5, min_leaf_rows=5, l2=3.0)
        >>> Settings.of(30_000, many_classes=False)
        Settings(rounds=180, rate=0.2, subsample=1.0, max_features=1.0, min_leaf_rows=20, l2=1.0)
        """
        large, some = many(rows), tried(rows)
        if many_classes:
            rate = round(0.06 + 0.14 * large, 4)
            return cls(round(300 + 33 * some - 120 * large), rate, 1.0, 0.5, 20, 1.0)
        rate = 0.1 - 0.05 * some
        return cls(
            round(180 + 120 * some),
            round(rate + (0.2 - rate) * large, 4),
            round(0.8 + 0.2 * large, 4),
            round(0.5 + 0.5 * large, 4),
            round(5 + 15 * large),
            round(3 - 2 * large, 4),
        )


@dataclass(frozen=True, eq=False)
class Trial:
    """The rows that are boosted on in a trial, those that are measured, and its recipe."""

    learned: LabelledRows
    held: LabelledRows
    recipe: Recipe
    trusted: float
    """How far the slope moves from what scores mean without calibration to what the trial finds."""

    @classmethod
    def of(
        cls, examples: LabelledRows, recipe: Recipe, seed: int, *, all_rounds: bool
    ) -> Trial | None:
        """Draw the rows of a trial; None with too many rows, or too few of a class."""
        share = tried(examples.n_rows)
        if share == 0:
            return None
        some = examples
        if share < 1:
            _, some = split_by_class(examples, "the share of a trial", share, seed + TRIED)
        learned, held = split_by_class(some, "the share of a trial", HELD, seed)
        classes = np.unique(examples.classes()).size
        if any(np.unique(part.classes()).size < classes for part in (learned, held)):
            return None
        least = most = 1.0
        trusted = min(1.0, 2 * share)
        if not all_rounds:
            least, most = 1 - (1 - LEAST) * share, 1 + (MOST - 1) * share
            trusted = share
        rounds, fewest = round(most * recipe.rounds), round(least * recipe.rounds)
        return cls(learned, held, replace(recipe, rounds=rounds, least=fewest), trusted)

    def temperature(self, scout: PreparedFit) -> Calibration:
        """Find how steep the probabilities of rows that were not boosted on should be.

        A trial on a part of the rows fits them more closely than the fit that follows fits all, so
        the slope moves by a part of the way. With more than three classes scores are too steep by
        more than that, and half of the rows are enough to be trusted.
        """
        scores = scout.run.vote().scores(self.held.table)
        found = calibration.fit(TEMPERATURE, scores, self.held.classes()).slope
        assert found is not None
        usual = 2.0 if scores.ndim == 1 else 1.0
        return Calibration(TEMPERATURE, (), usual + self.trusted * (found - usual))


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
