"""Compare several boosters on the same rows with the same learner.

questions/compare.py says what is measured, and how; this module fits the estimators.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pacboost.estimators.contest import Choices, Contest, TestRows
from pacboost.estimators.inputs.gathering import FEWER_ROWS, gathered
from pacboost.questions.compare import (
    Comparison,
)
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.optional import is_collection


@explains_input
def compare(
    X: object,
    y: ArrayLike,
    boosters: Choices = "all",
    learner: object = "tree",
    *,
    n_estimators: int = 100,
    test: TestRows = 0.25,
    delta: float = 0.05,
    share: float = 0.05,
    copies: str = "draws",
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool | int | str = "auto",
    **parameters: Any,
) -> Comparison:
    """Boost a learner by several boosters, and compare the results.

    If a booster fails, its entry says why, and the others go on. After Ctrl-C the attribute
    ``comparison`` of the KeyboardInterrupt holds the finished ones. Within
    ``joblib.parallel_config("dask")`` the workers of a cluster fit them (docs/cluster.md).

    Parameters
    ----------
    X, y : rows and labels
    boosters : list, mapping from names, or str, default="all"
        Each a name, a booster such as ``AdaBoost(max_vote=2)``, or any scikit-learn classifier,
        which brings its own learner. Text holds names with commas between them, or "all".
    learner : str, learner, scikit-learn classifier or function, default="tree"
        The learner to boost, as in BoostClassifier.
    n_estimators : int, default=100
        The maximum number of rounds. No rows are held back to stop early.
    test : float, pair (X, y) or None, default=0.25
        The share of examples, drawn at random, that no booster sees; or other rows; or none.
    delta : float, default=0.05
        The probability with which any of the intervals may fail.
    share : float, default=0.05
        The soft margin is the mean margin of this share of the rows, the worst ones.
    copies : "draws" or "distinct", default="draws"
        What equal rows are. Copies of one example are all learned from, or one is tested on; given
        test rows that are copies of training rows are left out.
    random_state, n_jobs, verbose : as in BoostClassifier
    parameters : others of BoostClassifier, such as ``max_bins`` or ``learning_rate``

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> found = compare(*load_breast_cancer(return_X_y=True), ["adaboost", "mada"], "stump")
    >>> [(entry.name, entry.rounds, entry.worse) for entry in found]
    [('adaboost', 100, False), ('mada', 100, False)]
    """
    if is_collection(X):
        (X, y), test = gathered(((X, y), test), "compare", FEWER_ROWS)
    contest = Contest(
        X, y, boosters, learner, n_estimators=n_estimators, test=test,
        delta=delta, share=share, copies=copies, random_state=random_state, n_jobs=n_jobs,
        verbose=verbose, **parameters,
    )  # fmt: skip
    try:
        contest.run()
    except KeyboardInterrupt as interrupt:
        interrupt.__notes__ = []  # of an estimator that nobody else has
        if contest.entries:
            interrupt.comparison = contest.comparison()  # type: ignore[attr-defined]
            names = ", ".join(entry.name for entry in contest.entries)
            interrupt.add_note(f"finished boosters ({names}) are in .comparison of this exception")
        raise
    return contest.comparison()
