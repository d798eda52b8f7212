"""Three learners on three filtered parts of the rows, behind the scikit-learn API."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

from pacboost.errors import TooFewRowsWarning
from pacboost.estimators.committees.base import MembersClassifier, empty_ledger, with_progress
from pacboost.estimators.committees.majorities import MajorityOfBoosters
from pacboost.estimators.fitting.atomic import all_or_nothing
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import documented_like
from pacboost.estimators.inputs.examples import training_sample
from pacboost.estimators.inputs.parameters import draw_seed, integer
from pacboost.estimators.inputs.warn import warn, warn_of_one_class
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.kernels.threads import using
from pacboost.learners.choose import as_learner
from pacboost.samples.equal_rows import check_copies
from pacboost.training.committees.three_learners import LEAST_FOUND, Filtered, three_steps

Step = tuple[Hypothesis, Filtered]


@accepts_aliases
@documented_like(MajorityOfBoosters)
@dataclass(eq=False, repr=False)
class ThreeLearnerBoost(MembersClassifier):
    """Boost a strong learner with three copies, each trained on what is hard for those before.

    The rows fall into three parts. The first learner gets one; the second gets another, with half
    of the weight on rows that the first gets wrong; the third gets those of the last part on which
    the two disagree, and decides where they do. If each has an error of at most x under its
    distribution, the majority has one of at most 3x² - 2x³ (Drucker, Schapire and Simard 1992).

    Parameters
    ----------
    learner : str, learner, scikit-learn classifier or function, default="tree"
        A strong one, such as a network. One that takes no weights gets rows drawn by weight.
    certify : "holdout" or None, default=None
        With "holdout", the share ``holdout`` of the rows is held out, and ``certificate_`` bounds
        the error on new examples with probability 1 - ``delta``. There is no other certificate.
    n_jobs : int or None, default=None
        Threads of pacboost's learners; the model does not depend on it.

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

    learner: Any = "tree"
    _: KW_ONLY
    max_bins: int = 255
    categorical_features: Any = "from_dtype"
    certify: str | None = None
    holdout: float = 0.2
    delta: float = 0.05
    random_state: Any = None
    n_jobs: int | None = None
    verbose: bool | int | str = "auto"

    def fit(self, X: Any, y: Any, *, copies: str = "auto") -> Self:
        """Learn three rules.

        ``copies``, the word for equal rows where rows certify, is that of BoostClassifier.fit.

        Ctrl-C keeps the first of them, if it is there, and is raised again. After any other failure
        the estimator is as it was before.
        """
        self._equal_rows = check_copies(copies)
        with all_or_nothing(self) as attempt, using(self.n_jobs):
            work = PreparedLearners(self, X, y)
            attempt.keep = lambda: self._keep_interrupted(work)
            for rule, found in with_progress(work.steps, "learners", 3, verbose=self.verbose):
                work.rule, self.report_ = rule, found
            self._finish(work)
        warn_of_one_class(self.classes_, certified=False)
        if self.classes_.size > 1 and found.too_few:
            warn(
                f"{found.rows} rows are too few: the filters found {found.mistakes} mistakes of "
                f"the first learner and {found.disagreements} rows on which two disagree, with "
                f"{LEAST_FOUND} of each needed in a third of the rows; about {found.needed:,} rows "
                "are needed. Rows that were learned from before were used again.",
                TooFewRowsWarning,
            )
        return self

    def _keep_interrupted(self, work: PreparedLearners) -> str | None:
        """Keep the rule learned before Ctrl-C, and say so."""
        if work.rule is None:
            return None
        self._finish(work, "interrupted")
        return (
            "what was learned before the interrupt is kept (the first rule, until all three are "
            "there); the estimator can be used"
        )

    def _finish(self, work: PreparedLearners, stopped: str = "") -> None:
        sample, rule = work.sample, work.rule
        assert rule is not None  # the first step gives one
        outputs = sample.signs.shape[1]
        ledger = empty_ledger("three_learners", work.learner.name, sample.n_rows, outputs, stopped)
        self._keep([rule], ledger, work.examples.table, sample.bins, work.apart)


class PreparedLearners:
    """A fit that is ready to start, and the rule found so far."""

    rule: Hypothesis | None = None

    def __init__(self, estimator: ThreeLearnerBoost, X: Any, y: Any) -> None:
        seed = draw_seed(estimator.random_state)
        self.learner = as_learner(estimator.learner, "learner")
        self.examples, self.apart = estimator._read(X, y, seed)
        bins = integer("max_bins", estimator.max_bins)
        self.sample = training_sample(
            self.examples, estimator.classes_, bins, codes=self.learner.codes
        )
        self.steps = three_steps(self.sample, self.learner, seed)
