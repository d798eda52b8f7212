"""Boosters on recursive sub-samples of the rows, and their majority."""

from __future__ import annotations

from typing import Any

from pacboost.estimators.committees.boosters import ROWS_A_PART, BoosterCommittee
from pacboost.estimators.inputs.parameters import positive_integer
from pacboost.training.committees.majority_of import Rows, bags, sub_samples

MOST_MEMBERS = 81


class SubsampledBoost(BoosterCommittee):
    """Boost on recursive sub-samples and take the majority: the first optimal learner.

    Three quarters of the rows for each of three, each again without a quarter of what is left to
    divide, and so on down to single rows (committees/majority_of.py); AdaBoost*_ν on each, and a
    plain majority of what they decide: R = O(d/(γ²n) + ln(1/δ)/n) with probability 1 - δ, for rows
    that the rules can separate (Larsen and Ritzert 2022; the sub-samples are Hanneke's of 2016).

    Parameters
    ----------
    max_members : int or None, default=81
        The recursion ends before there are more; the theorem wants None, about n^0.79 of them.
    booster : str, booster or None, default=None
        None: "adaboost_v".
    learner, n_rounds, max_bins, categorical_features : as in MajorityOfBoosters
    certify, holdout, delta, random_state, n_jobs, verbose : as in MajorityOfBoosters
    """

    _name = "subsampled"

    def __init__(
        self,
        max_members: int | None = MOST_MEMBERS,
        booster: Any = None,
        learner: Any = "stump",
        n_rounds: int = 100,
        *,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        certify: str | None = None,
        holdout: float = 0.2,
        delta: float = 0.05,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.max_members = max_members
        self.booster = booster
        self.learner = learner
        self.n_rounds = n_rounds
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.certify = certify
        self.holdout = holdout
        self.delta = delta
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _default_booster(self) -> str:
        return "adaboost_v"

    def _parts(self, rows: int, seed: int) -> list[Rows]:
        most = self.max_members
        if most is not None:
            positive_integer("max_members", most)
        if rows < ROWS_A_PART:
            count = 3 if most is None else min(3, most)
            got = "one booster got a bag" if count == 1 else f"{count} boosters got bags"
            self._warn_of_few(
                rows,
                ROWS_A_PART,
                f"{got} of all rows, drawn with replacement, instead of recursive sub-samples",
            )
            return bags(rows, count, rows, seed)
        return sub_samples(rows, seed, most)
