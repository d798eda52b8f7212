"""Random forests and extremely randomised trees behind the scikit-learn API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pacboost.estimators.forests.forest import ForestClassifier, ForestRegressor
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import documented, documented_like

if TYPE_CHECKING:
    pass


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

    # random cuts alone make trees differ, so each of them learns from all rows
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
