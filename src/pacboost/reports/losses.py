"""A picture of a regression: the mean loss after each round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pacboost.errors import DataError
from pacboost.ledgers.ledger import Ledger
from pacboost.reports.canvas import figure, tidy
from pacboost.reports.plots import beside

LOG_FROM = 30
"""If losses differ by this factor or more, the scale is logarithmic."""


def plot(ledger: Ledger, ax: Any = None, test: Sequence[float] | None = None) -> Any:
    """Draw the loss on training rows, on validation rows and, if given, on other rows.

    A validation metric other than the loss has a second scale, at the right. ``test`` holds the
    loss after each rule of the final vote; if that has fewer or more rules than there were rounds,
    its last loss is drawn as a horizontal line.
    """
    if len(ledger) == 0:
        raise DataError("the ledger has no rounds; there is nothing to draw before a fit")
    axes = figure().subplots() if ax is None else ax
    columns = ledger.columns()
    numbers = columns["number"]
    lines = {"training loss": np.array(columns["training_error"], dtype=np.float64)}
    watched = np.array(columns["validation"], dtype=np.float64)  # NaN where there is none
    there = not np.isnan(watched).all()
    apart = there and ledger.metric not in ("", "loss", ledger.potential)
    if there and not apart:
        lines["validation loss"] = watched
    if test is not None and len(test):
        staged = len(test) == len(ledger)
        label = "test loss" if staged else "test loss of the final vote"
        lines[label] = np.array(test if staged else [test[-1]] * len(ledger), dtype=np.float64)
    for label, values in lines.items():
        axes.plot(numbers, values, label=label, ls=":" if "final" in label else "-")
    everything = np.concatenate(list(lines.values()))
    known = everything[~np.isnan(everything)]
    if known.size and known.min() > 0 and known.max() >= LOG_FROM * known.min():
        axes.set_yscale("log")
    axes.set(xlabel="round", ylabel=f"mean loss ({ledger.potential.replace('_', ' ')})")
    if apart:
        metric = (ledger.metric or "metric").replace("_", " ")
        beside(axes, f"validation {metric}", numbers, watched)
    return tidy(axes, legend=True)
