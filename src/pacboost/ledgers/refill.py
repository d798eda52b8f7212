"""What was measured when a new sample was drawn, in boosting by filtering."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Refill:
    """One filling of the sample, all of it scored by the vote of the first ``rounds`` rounds."""

    number: int
    rounds: int
    """How many rounds the vote had that did the filtering."""
    draws: int
    """Examples that were looked at and scored."""
    fresh: int
    """How many of them nothing had looked at before, not even to choose bins; of a source in
    blocks, how many rows drawn over all of it were scored besides, to test the vote."""
    accepted: int
    scale: float
    """An example of weight w was kept with chance w/scale, if that is below 1."""
    mean: float
    """μ: the mean weight of the fresh examples; if there are none, of those that were not learned
    from, and if there are none of those either, of all."""
    lower: float
    upper: float
    """A confidence interval for μ: all of a run hold together with the chance that ``delta`` of
    every one of them leaves."""
    error: float
    """Progressive error: of the same examples, scored before anything was learned from them."""
    error_upper: float
    """What the error is at most: the smaller of the factor of the booster times ``upper`` and the
    upper end of an interval for the mistakes; 1 where the examples are no fair draw."""
    loss: float
    """Progressive log loss of the same examples."""
    delta: float
    """The failure probability of the test: half of it is for μ, half for the mistakes."""
    smoothness: float
    """No example weighs more than this many times what it does under the distribution: 1/μ, or
    what is known of it where no draw weighed anything."""
    again: int = 0
    """How many had been drawn before."""
    tested: int = 0
    """How many more were drawn to test the edge of the rule that was learned, if it was."""
    mistakes: int = field(kw_only=True)
    """On how many of the same examples the vote was wrong or tied."""
    seconds: float = 0.0

    @property
    def acceptance(self) -> float:
        """The share of the draws that were kept."""
        return self.accepted / self.draws if self.draws else 0.0
