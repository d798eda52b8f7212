"""Boosting by majority, and majorities of boosters, which differ in the rows that each gets."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.majority import Majority
from pacboost.errors import ParameterError, TooFewRowsWarning, invalid, warn
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.boosting.boosted import Boosted
from pacboost.estimators.boosting.boosting import EstimatorChooser
from pacboost.estimators.fitted.classifier import Classifier
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import documented, documented_like
from pacboost.estimators.parameters.values import Values
from pacboost.fit.ask import Ask, FitRows
from pacboost.fit.recipe import Candidate, Recipe
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.learners.choose import as_learner
from pacboost.learners.learner import Learner
from pacboost.numerics.checks import positive_whole, real_number
from pacboost.samples.sample import Sample
from pacboost.theory.committee import RowCommittee, Steps
from pacboost.theory.majority_of import (
    MIN_FILTERED_ROWS,
    Filtered,
    Rows,
    bags,
    bags_needed,
    disjoint_parts,
    sub_samples,
    three_steps,
)

# The theorems say nothing of so few rows: their constants are not known.
MIN_ROWS_PER_PART = 100
"""Minimum number of rows for each part."""
MAX_MEMBERS = 81


@accepts_aliases
@documented
@dataclass(eq=False, repr=False)
class MajorityOfBoosters(RowCommittee):
    """Boost on disjoint parts of the rows, and take the majority: optimal in expectation.

    Five AdaBoosts, each on a fifth of the rows, reach the smallest expected error of any learner of
    weak rules, up to a constant (Høgsgaard, Larsen and Mathiasen 2024). Three with large margins
    also do (Høgsgaard and Larsen 2025). Both hold for rows that the rules can separate.

    Parameters
    ----------
    n : 3 or 5, default=3
        The number of parts; any odd number is allowed.
    booster : str, booster or None, default=None
        None: "adaboost_v", which has large margins, for three parts, else "adaboost".
    learner : str, learner, scikit-learn classifier or function, default="stump"
        The weak learner: "stump", "tree", or an object such as ``Tree(max_leaves=8)``; see
        AdaBoostClassifier for black boxes.
    n_estimators : int, default=100
        The maximum number of rounds of each booster. Raise it until the rows are separated.
    certify : "holdout" or None, default=None
        With "holdout", the share ``holdout`` of the rows is held out, and ``certificate_`` bounds
        the error on new examples with probability 1 - ``delta``. There is no other certificate.
    n_jobs : int or None, default=None
        Number of boosters that run at a time; None and -1 mean all cores. The model does not depend
        on it.

    Examples
    --------
    >>> from pacboost.theory.worlds import hastie
    >>> X, y = hastie().draw(3000, 0)
    >>> model = MajorityOfBoosters(n=3, certify="holdout", random_state=0).fit(X, y)
    >>> model.part_sizes_.tolist(), model.certificate_.value < 0.3
    ([800, 800, 800], True)
    """

    n: int = 3
    booster: Any = None
    learner: Any = "stump"
    n_estimators: int = 100

    _name = "majority_of"

    @property
    def _default_booster(self) -> str:  # type: ignore[override]
        # the theorem on three parts asks for large margins, which those of AdaBoost need not be
        return "adaboost_v" if self.n == 3 else "adaboost"

    def _parts(self, rows: int, seed: int) -> list[Rows]:
        n = positive_whole("n", self.n)
        # a tied majority would be a mistake by definition, on rows that half of the boosters get
        # right
        if n % 2 == 0:
            raise invalid("n", n, "must be odd, so that no majority is a tie")
        if rows < n * MIN_ROWS_PER_PART:
            instead = f"each of the {n} boosters got a bag of {rows} rows, drawn with replacement, "
            self._warn_of_few(rows, n * MIN_ROWS_PER_PART, f"{instead}instead of a disjoint part")
            return bags(rows, n, rows, seed)
        return disjoint_parts(rows, n, seed)


@accepts_aliases
@documented_like(MajorityOfBoosters)
@dataclass(eq=False, repr=False)
class BaggedBoost(RowCommittee):
    """Boost on bags and take the majority: optimal with a logarithm of n bags.

    A majority of learners without mistakes on bags is an optimal PAC learner from 18 ln(2n/δ) bags
    of 0.02 n to n rows on (Larsen 2023). AdaBoost that has separated its bag is such a learner.

    Parameters
    ----------
    n_bags : int or None, default=None
        None: 18 ln(2n/δ), as the theorem requires.
    bag_share : float, default=1.0
        The size of a bag, drawn with replacement, as a share of all rows. The theorem covers shares
        of 0.02 and more.
    booster : str, booster or None, default=None
        None: "adaboost".
    """

    n_bags: int | None = None
    bag_share: float = 1.0
    booster: Any = None
    learner: Any = "stump"
    n_estimators: int = 100

    _name = "bagged"

    def _parts(self, rows: int, seed: int) -> list[Rows]:
        count = self.n_bags
        share = real_number("bag_share", self.bag_share)
        if not 0 < share <= 1:
            raise invalid("bag_share", share, "must be above 0 and at most 1")
        count = bags_needed(rows, self.delta) if count is None else positive_whole("n_bags", count)
        size = round(share * rows)
        if size < 2:
            self._warn_of_few(rows, round(2 / share), "bags of all rows were drawn instead")
            size = rows
        return bags(rows, count, size, seed)


@accepts_aliases
@documented_like(MajorityOfBoosters)
@dataclass(eq=False, repr=False)
class SubsampledBoost(RowCommittee):
    """Boost on recursive sub-samples and take the majority: the first optimal learner.

    Each of three sub-samples has three quarters of the rows, and is divided again in the same way
    down to single rows (theory/majority_of.py). The majority of AdaBoost*_ν on all of them has
    R = O(d/(γ²n) + ln(1/δ)/n) with probability 1 - δ, for rows that the rules can separate (Larsen
    and Ritzert 2022; the sub-samples are those of Hanneke 2016).

    Parameters
    ----------
    max_members : int or None, default=81
        The maximum number of members. The theorem requires None, which is about n^0.79 members.
    booster : str, booster or None, default=None
        None: "adaboost_v".
    """

    max_members: int | None = MAX_MEMBERS
    booster: Any = None
    learner: Any = "stump"
    n_estimators: int = 100

    _name, _default_booster = "subsampled", "adaboost_v"

    def _parts(self, rows: int, seed: int) -> list[Rows]:
        max_members = self.max_members
        if max_members is not None:
            positive_whole("max_members", max_members)
        if rows >= MIN_ROWS_PER_PART:
            return sub_samples(rows, seed, max_members)
        count = 3 if max_members is None else min(3, max_members)
        got = "one booster got a bag" if count == 1 else f"{count} boosters got bags"
        instead = f"{got} of all rows, drawn with replacement, instead of recursive sub-samples"
        self._warn_of_few(rows, MIN_ROWS_PER_PART, instead)
        return bags(rows, count, rows, seed)


@accepts_aliases
@documented_like(MajorityOfBoosters)
@dataclass(eq=False, repr=False)
class ThreeLearnerBoost(RowCommittee):
    """Boost a strong learner with three copies, each trained on rows that are hard for the others.

    The rows fall into three parts. The first learner gets one; the second gets another, with half
    of the weight on rows that the first gets wrong; the third gets those of the last part on which
    the two disagree, and decides where they do. If each has an error of at most x under its
    distribution, the majority has one of at most 3x² - 2x³ (Drucker, Schapire and Simard 1992).

    Parameters
    ----------
    learner : str, learner, scikit-learn classifier or function, default="tree"
        A strong learner, such as a network. One without sample weights gets rows drawn by weight.
    n_jobs : int or None, default=None
        Threads of pacboost's learners; the model does not depend on it.

    Attributes
    ----------
    report_ : Filtered
        The numbers of rows that the two filters searched and found.

    Examples
    --------
    >>> from pacboost.theory.worlds import hastie
    >>> X, y = hastie().draw(6000, 0)
    >>> model = ThreeLearnerBoost(random_state=0).fit(X, y)
    >>> model.report_.looked_at, model.report_.too_few
    ((2000, 2000), False)
    """

    learner: Any = "tree"

    _name, _members, _done = "three_learners", "learners", ""
    _kept = "the first rule, or all three, learned before the interrupt, can be used"

    def _steps(self, sample: Sample, learner: Learner, seed: int) -> Steps:
        rules: list[Hypothesis] = []

        def steps() -> Generator[Filtered]:
            for rule, self.report_ in three_steps(sample, learner, seed):
                rules[:] = [rule]
                yield self.report_

        return steps(), 3, lambda: rules

    def _warn(self) -> None:
        report = self.report_
        if report.too_few:
            warn(
                f"{report.rows} rows are too few: the filters found {report.mistakes} mistakes of "
                f"the first learner and {report.disagreements} rows on which two disagree, and a "
                f"third of the rows must have {MIN_FILTERED_ROWS} of each. Training rows were used "
                f"again; give about {report.needed:,} rows",
                TooFewRowsWarning,
            )


MAX_TABLE_ROUNDS = 5_001
"""Maximum k of a table of potentials, (k + 1)² numbers of 8 bytes: about 200 MB."""


@accepts_aliases
@documented_like(BoostClassifier)
@dataclass(eq=False, repr=False)
class BoostByMajority(Boosted, Classifier):
    """Freund's boosting by majority: optimal in the number of rounds for a promised edge.

    The number of rounds follows from ``edge`` and ``epsilon`` before any row is seen, and every
    rule has the same vote. If all rules keep the promise, the training error is at most epsilon
    after the last round. If a rule breaks it by more than the slack of earlier rounds, the run
    stops and reports the edge of that rule; the certificate holds for the rounds before.
    ``FilterBoostClassifier(booster="majority", edge=…, epsilon=…)`` does the same without storing
    the rows.

    Parameters
    ----------
    edge : float, default=0.1
        The promised edge: every rule has a weighted error of at most (1 - edge)/2.
    epsilon : float, default=0.05
        The training error to be reached.
    n_estimators : int or None, default=None
        The maximum number of rounds, if it is less than the promise needs.

    Attributes
    ----------
    rounds_ : int
        The number of rounds k that the promised edge needs.
    potentials_ : ndarray of shape (k + 1, k + 1)
        ``potentials_[i, r]`` is the chance that the majority gets a row wrong if r of the first i
        rules got it right and all others just keep the promise; NaN for r > i.
    ledger_, certificate_, classes_, feature_importances_ : as in AdaBoostClassifier

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BoostByMajority(edge=0.4, epsilon=0.1).fit(X, y)
    >>> model.rounds_, round(float(model.potentials_[0, 0]), 4)
    (9, 0.0988)
    >>> model.ledger_.rounds[-1].training_error <= 0.1
    True
    """

    edge: float = 0.1
    epsilon: float = 0.05
    learner: Any = "tree"
    n_estimators: int | None = None
    _: KW_ONLY
    max_bins: int = 255
    categorical_features: Any = "from_dtype"
    class_weight: Any = None
    early_stopping: Any = False
    validation_fraction: float = 0.1
    eval_metric: Any = "error"
    calibrate: str | None = None
    certify: str | None = None
    holdout: float = 0.2
    delta: float = 0.05
    warm_start: bool = False
    callbacks: Any = None
    n_jobs: int | None = None
    device: str = "cpu"
    verbose: bool | int | str = "auto"
    random_state: Any = None

    _keeps_sparse = True

    def _chooser(self, asked: Values) -> EstimatorChooser:
        edge, epsilon = real_number("edge", asked.edge), real_number("epsilon", asked.epsilon)
        self._promise = Majority(edge, epsilon)
        return MajorityChooser(asked, self._promise)

    @property
    def rounds_(self) -> int:
        self._fitted("rounds_")
        return self._promise.rounds

    @property
    def potentials_(self) -> NDArray[np.float64]:
        rounds = self.rounds_
        if rounds > MAX_TABLE_ROUNDS:
            raise ParameterError(
                f"the table of {rounds} rounds has {8e-6 * (rounds + 1) ** 2:,.0f} MB, and about "
                "200 are allowed; pacboost.boosters.majority.Majority(edge, epsilon).potentials(i) "
                "gives one line of it"
            )
        table = np.full((rounds + 1, rounds + 1), np.nan)
        for i, line in enumerate(table):
            line[: i + 1] = self._promise.potentials(i)
        return table


@dataclass(frozen=True, eq=False)
class MajorityChooser(EstimatorChooser):
    """Makes the recipe of BoostByMajority: the promised edge determines the rounds."""

    asked: Values
    promise: Majority

    def candidate(self, rows: FitRows, ask: Ask) -> Candidate:
        promise, rounds = self.promise, self.asked.n_estimators
        if rounds is not None:
            rounds = min(promise.rounds, rounds)
        learner = as_learner(self.asked.learner, "learner")
        rounds = promise.rounds if rounds is None else rounds
        return Candidate(Recipe(learner, promise, rounds))
