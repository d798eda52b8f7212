"""Boosters on disjoint parts of the rows: three or five of them, and their majority."""

from __future__ import annotations

from typing import Any

from pacboost.errors import ParameterError
from pacboost.estimators.committees.boosters import ROWS_A_PART, BoosterCommittee
from pacboost.estimators.inputs.parameters import positive_integer
from pacboost.training.committees.majority_of import Rows, bags, disjoint_parts


class MajorityOfBoosters(BoosterCommittee):
    """Boost on disjoint parts of the rows, and take the majority: simple, and optimal on average.

    Five AdaBoosts on a fifth of the rows each have the least expected error that any learner of
    weak rules can have, up to a constant (Høgsgaard, Larsen and Mathiasen 2024); so have three
    whose margins are large (Høgsgaard and Larsen 2025). That is for rows which the rules can
    separate.

    Parameters
    ----------
    n : 3 or 5, default=3
        The number of parts; any odd number is allowed.
    booster : str, booster or None, default=None
        None: "adaboost_v", which has large margins, for three parts, else "adaboost".
    learner : str, learner, scikit-learn classifier or function, default="stump"
    n_rounds : int, default=100
        Rounds of each booster.
    max_bins : int, default=255
    categorical_features : "from_dtype", list or None, default="from_dtype"
    certify : "holdout" or None, default=None
        With "holdout", the share ``holdout`` of the rows is held out, and ``certificate_`` bounds
        the error on new examples with probability 1 - ``delta``. There is no other certificate.
    holdout, delta : default=0.2 and 0.05
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        Boosters at a time; None and -1 mean all cores. The model does not depend on it.
    verbose : bool, default=False

    Examples
    --------
    >>> from pacboost.sources.worlds import hastie
    >>> X, y = hastie().draw(3000, 0)
    >>> model = MajorityOfBoosters(n=3, certify="holdout", random_state=0).fit(X, y)
    >>> model.part_sizes_.tolist(), model.certificate_.value < 0.3
    ([800, 800, 800], True)
    """

    _name = "majority_of"

    def __init__(
        self,
        n: int = 3,
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
        self.n = n
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
        return "adaboost_v" if self.n == 3 else "adaboost"

    def _parts(self, rows: int, seed: int) -> list[Rows]:
        n = positive_integer("n", self.n)
        if n % 2 == 0:
            raise ParameterError(f"n is {n}; it must be odd, so that a majority is no tie")
        if rows < n * ROWS_A_PART:
            self._warn_of_few(
                rows,
                n * ROWS_A_PART,
                f"each of the {n} boosters got a bag of {rows} rows, drawn with replacement, "
                "instead of a part of its own",
            )
            return bags(rows, n, rows, seed)
        return disjoint_parts(rows, n, seed)
