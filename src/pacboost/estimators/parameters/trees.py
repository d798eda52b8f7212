"""Parameters of trees, of columns, and of what is boosted."""

from pacboost.estimators.parameters.checks import (
    Described,
    Number,
    RowsOrShare,
    Share,
    Whole,
)
from pacboost.estimators.parameters.param import BOOSTED, CHOSEN, FILTERED, FORESTS, TREES, Param
from pacboost.fit.settings import FEW_ROWS, MANY_ROWS, Settings, leaves_for

AUTOMATIC = [
    Settings.for_classes(rows, 2, logistic=logistic)
    for rows in (FEW_ROWS, MANY_ROWS)
    for logistic in (True, False)
]
"""The automatic values of small and large tables; all others lie between them."""
RATES = sorted(settings.learning_rate for settings in AUTOMATIC)
RATE_OF_TREES = f"{RATES[0]:g} to {RATES[-1]:g} for trees, by the number of rows"
LONGER_STEPS = "a step longer than the best one can raise the loss"

OF_TREES = (
    Param("booster", "logit", Described("str, booster or function"), of=(
        "BoostClassifier", "TextBoostClassifier", FILTERED,
    ), option="--booster"),
    Param("learner", "tree", Described("str, learner, scikit-learn classifier or function"),
          of=("BoostClassifier", FILTERED), others=("estimator", "base_estimator"),
          option="--learner"),
    Param("learner", None, Described("None, \"tree\", Tree or scikit-learn regressor"),
          of=("BoostRegressor",)),
    Param("learner", None, Described("None, function, learner or scikit-learn classifier"),
          of=(CHOSEN,), others=("estimator", "base_estimator"), option="--learner"),
    Param("learning_rate", None, Share(optional=True, because=LONGER_STEPS), of=TREES,
          others=("shrinkage_rate", "eta"), option="--learning-rate",
          help=f"Factor on every vote.  [default: {RATE_OF_TREES}, else 1; 0.2 for trees by "
          "filtering]"),
    Param("learning_rate", 0.1, Share(because=LONGER_STEPS), of=("TextBoostClassifier",)),
    # AdaBoost keeps its certificate for any rate, and scikit-learn's range
    Param("learning_rate", 1.0, Number(), of=("AdaBoostClassifier", "AdaBoostRegressor")),
    Param("max_leaves", None, Whole(optional=True), """
The largest number of leaves of a tree, from 2 on. None means 31. Fewer leaves
overfit less; 2 make stumps.
""", of=TREES, others=("num_leaves", "max_leaf_nodes"), option="--leaves",
          help="The largest number of leaves of a tree, from 2 on. Default: half of the square "
          f"root of the number of rows, from {leaves_for(0)} to {leaves_for(MANY_ROWS)}."),
    Param("max_depth", None, Whole(optional=True), """
The largest number of questions from the root to a leaf; None does not limit it.
""", of=(*TREES, *FORESTS), others=("depth",)),
    Param("min_leaf_rows", None, RowsOrShare(optional=True), """
The least number of rows in a leaf, or as a float below 1 their share. None means 20. Raise
it if labels are noisy, lower it for small samples.
""", of=TREES, others=("min_samples_leaf", "min_child_samples", "min_data_in_leaf")),
    Param("max_features", None, Number(optional=True), """
How many features are drawn and looked at for each split: a number (int) or a share (float,
1.0 for all). None means all of them. Fewer are faster, and make trees differ more.
""", of=TREES, others=("colsample_bytree", "colsample_bynode", "feature_fraction", "rsm")),
    Param("l2", None, Number(optional=True), of=BOOSTED,
          others=("reg_lambda", "lambda_l2", "l2_regularization", "l2_leaf_reg")),
    Param("subsample", None, Share(optional=True), of=BOOSTED, others=("bagging_fraction",)),
    Param("monotone_constraints", None, Described("mapping, sequence or None"), of=BOOSTED,
          others=("monotonic_cst",), option="--monotone"),
    Param("interaction_constraints", None, Described(
        'list of sets, "pairwise", "no_interactions" or None'
    ), """
Which features may be asked for together on the way to a leaf: sets of them, by name or
number; features in no set are a set of their own, as in scikit-learn. "pairwise" allows any
two, "no_interactions" makes the score a sum of functions of one feature each. A float
``max_features`` is then a share of the features that a leaf may ask for. Set it if a
reviewer must be able to read the effects apart, or to overfit less.
""", of=BOOSTED, others=("interaction_cst",), option="--interact"),
    Param("interactions", None, Whole(least=0, optional=True), """
For a model that can be read: 0 boosts one column at a time, so that the score is a sum of
curves; a number adds so many pairs of columns, those that take most off the loss, so that it is
a sum of curves and maps, which ``shapes`` and ``report`` show exactly. Values that are not set
are chosen for it, and ``settings_["interactions"]`` names the pairs. None: trees of any
columns. Not together with ``interaction_constraints`` (docs/explaining.md).
""", of=BOOSTED),
    Param("categorical_features", "from_dtype", Described('"from_dtype", list or None'), """
Columns split by sets of levels: text and category columns, or those named or numbered.
Levels not seen in fit are treated as missing.
""", of=(*BOOSTED, "AdaBoostClassifier", CHOSEN, *FORESTS),
          others=("categorical_feature", "cat_features")),
    Param("max_bins", 255, Whole(), """
The most bins of values per feature, up to 65,535. Fewer are faster, more are finer.
""", of=(*TREES, "AdaBoostClassifier", "BaggingClassifier", "BaggingRegressor", *FORESTS),
          others=("max_bin", "border_count"), absent=255, option="--max-bins"),
)  # fmt: skip
