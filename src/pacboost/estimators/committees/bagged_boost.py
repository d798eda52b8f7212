"""Boosters on bags of the rows, and their majority."""

from __future__ import annotations

from typing import Any

from pacboost.errors import ParameterError
from pacboost.estimators.committees.boosters import BoosterCommittee
from pacboost.estimators.inputs.parameters import positive_integer, real_number
from pacboost.training.committees.majority_of import Rows, bags, bags_needed


class BaggedBoost(BoosterCommittee):
    """Boost on bags and take the majority: optimal with a logarithm of n bags.

    A majority of learners without mistakes on bags is an optimal PAC learner from 18 ln(2n/δ) bags
    of 0.02 n to n rows on (Larsen 2023). AdaBoost that has separated its bag is such a learner.

    Parameters
    ----------
    n_bags : int or None, default=None
        None: 18 ln(2n/δ), as the theorem wants.
    bag_share : float, default=1.0
        The rows of a bag, drawn with replacement, as a share of all. The theorem is about 0.02
        and more; of smaller bags it says nothing.
    booster : str, booster or None, default=None
        None: "adaboost".
    learner, n_rounds, max_bins, categorical_features : as in MajorityOfBoosters
    certify, holdout, delta, random_state, n_jobs, verbose : as in MajorityOfBoosters
    """

    _name = "bagged"

    def __init__(
        self,
        n_bags: int | None = None,
        bag_share: float = 1.0,
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
        self.n_bags = n_bags
        self.bag_share = bag_share
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

    def _parts(self, rows: int, seed: int) -> list[Rows]:
        count = self.n_bags
        share = real_number("bag_share", self.bag_share)
        if not 0 < share <= 1:
            raise ParameterError(f"bag_share is {share}; it must be above 0 and at most 1")
        count = (
            bags_needed(rows, self.delta) if count is None else positive_integer("n_bags", count)
        )
        size = round(share * rows)
        if size < 2:
            self._warn_of_few(rows, round(2 / share), "bags of all rows were drawn instead")
            size = rows
        return bags(rows, count, size, seed)
