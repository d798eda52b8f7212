"""Parameters that the trial of a fit goes by, of all estimators that have one.

A new one is declared here once, and reaches the trial as a field of ``fit.ask.Ask`` with the same
name (docs/extending/option.md).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from pacboost.estimators.parameters.checks import Choice, Seconds, Truth
from pacboost.estimators.parameters.param import BOOSTED, CHOSEN, FILTERED, Param
from pacboost.fit.settings import QUALITIES

TRIED = (*BOOSTED, CHOSEN)


@dataclass(eq=False, repr=False)
class TrialParameters:
    """The fields of estimators that race candidates on held-back rows."""

    _: KW_ONLY
    quality: str = "auto"
    derive: bool = True
    time_limit: str | float | None = None


OF_TRIALS = (
    Param("quality", "auto", Choice(QUALITIES), """
How much time the automatic values may take. "fast": 100 rounds and no trial. "best": steps
a third as large, and a trial that is repeated with other rows, at three to ten times the time
of "auto".
""", of=TRIED, absent="auto", option="--quality"),
    Param("derive", True, Truth(), """
Whether the trial may add up to eight columns that are sums, differences, products or ratios of
the six most important columns of numbers: if they lower the loss on held-back rows by 2 % or
more. Names such as "income / debt" stand for them in rules, explanations and reports; files and
exports compute them. Never without a trial or with fewer than 100 rounds.
Also whether a category with more than 254 levels may have a column such as "mean of product",
with the means of its rarer levels: for numbers and two classes. Models with such a column
cannot be exported. Neither with ``monotone_constraints``, ``interaction_constraints``,
``interactions`` or ``time_limit``, nor with fewer than 300 rows to learn from.
""", of=TRIED, absent=False, option="--derive/--no-derive",
          help="Whether the trial may add columns that are sums, differences, products or ratios "
          "of others."),
    Param("time_limit", None, Seconds(optional=True), """
How long a fit may take, such as "10m", or seconds. Rounds end when the time is up, those done
are kept, and ``ledger_.stopped`` says so; a trial before a refit gets a part of it. Reading
rows before the first round and certifying after the last are not cut short. None: no limit.
""", of=(*TRIED, FILTERED), option="--time",
          help='Stop after this time, such as "60s", and keep what was learned.'),
)  # fmt: skip
