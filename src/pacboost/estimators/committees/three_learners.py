"""Three learners on three filtered parts of the rows, behind the scikit-learn API."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Self

from sklearn.utils.validation import check_random_state

from pacboost.errors import TooFewRowsWarning
from pacboost.estimators.committees.base import MembersClassifier, empty_ledger
from pacboost.estimators.inputs.examples import training_sample
from pacboost.estimators.inputs.parameters import integer
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.kernels.threads import using
from pacboost.learners.choose import as_learner
from pacboost.training.committees.three_learners import LEAST_FOUND, Filtered, three_steps

Step = tuple[Hypothesis, Filtered]


class ThreeLearnerBoost(MembersClassifier):
    """Boost a good learner a little: three of them, each on what the ones before find hard.

    The rows fall into three parts. The first learner gets one; the second gets another, with half
    of the weight on rows that the first gets wrong; the third gets those of the last part on which
    the two disagree, and decides where they do. If each has an error of at most x under its
    distribution, the majority has one of at most 3x² - 2x³ (Drucker, Schapire and Simard 1992).

    Parameters
    ----------
    learner : str, learner, scikit-learn classifier or function, default="tree"
        A strong one, such as a network. One that takes no weights gets rows drawn by weight.
    max_bins : int, default=255
    categorical_features : "from_dtype", list or None, default="from_dtype"
    certify : "holdout" or None, default=None
        With "holdout", the share ``holdout`` of the rows is held out, and ``certificate_`` bounds
        the error on new examples with probability 1 - ``delta``. There is no other certificate.
    holdout, delta : default=0.2 and 0.05
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads of learners of ours; the model does not depend on it.
    verbose : bool, default=False
        Show which of the three is at work.

    Attributes
    ----------
    report_ : Filtered
        What the two filters found in how many rows.

    Examples
    --------
    >>> from pacboost.sources.worlds import hastie
    >>> X, y = hastie().draw(6000, 0)
    >>> model = ThreeLearnerBoost(random_state=0).fit(X, y)
    >>> model.report_.looked_at, model.report_.too_few
    ((2000, 2000), False)
    """

    def __init__(
        self,
        learner: Any = "tree",
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
        self.learner = learner
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.certify = certify
        self.holdout = holdout
        self.delta = delta
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Learn three rules.

        Ctrl-C keeps the first of them, if it is there, and is raised again. After any other failure
        the estimator is as it was before.
        """
        before = self.__dict__.copy()
        work: _Work | None = None
        try:
            with using(self.n_jobs):
                work = _Work(self, X, y)
                for rule, found in self._shown(work.steps):
                    work.rule, self.report_ = rule, found
                self._finish(work)
        except BaseException as problem:
            interrupted = isinstance(problem, KeyboardInterrupt)
            if interrupted and work is not None and work.rule is not None:
                self._finish(work, "interrupted")
                problem.add_note(
                    "pacboost: what was learned before the interrupt is kept (the first rule, "
                    "until all three are there); the estimator can be used"
                )
            else:
                self.__dict__ = before
            raise
        self._warn_of_one_class()
        if self.classes_.size > 1 and found.too_few:
            warnings.warn(
                f"{found.rows} rows are too few: the filters found {found.mistakes} mistakes of "
                f"the first learner and {found.disagreements} rows on which two disagree, with "
                f"{LEAST_FOUND} of each needed in a third of the rows; about {found.needed:,} rows "
                "are needed. Rows that were learned from before were used again.",
                TooFewRowsWarning,
                stacklevel=2,
            )
        return self

    def _shown(self, steps: Iterator[Step]) -> Iterator[Step]:
        if not self.verbose:
            return steps
        from rich.console import Console
        from rich.progress import track

        return iter(track(steps, "learners", 3, console=Console(stderr=True)))

    def _finish(self, work: _Work, stopped: str = "") -> None:
        sample, rule = work.sample, work.rule
        assert rule is not None  # the first step gives one
        outputs = sample.signs.shape[1]
        ledger = empty_ledger("three_learners", work.learner.name, sample.n_rows, outputs, stopped)
        self._keep([rule], ledger, work.examples.table, sample.bins, work.apart)


class _Work:
    """A fit set up, and the rule that it has come to."""

    rule: Hypothesis | None = None

    def __init__(self, estimator: ThreeLearnerBoost, X: Any, y: Any) -> None:
        seed = int(check_random_state(estimator.random_state).randint(2**31))
        self.learner = as_learner(estimator.learner, "learner")
        self.examples, self.apart = estimator._read(X, y, seed)
        bins = integer("max_bins", estimator.max_bins)
        self.sample = training_sample(
            self.examples, estimator.classes_, bins, codes=self.learner.codes
        )
        self.steps = three_steps(self.sample, self.learner, seed)
