"""What a fit by filtering holds in memory besides the blocks of its source and its sample."""

from __future__ import annotations

from pacboost.learners.learner import Learner
from pacboost.samples.content_sample import rows_chosen
from pacboost.sources.oracles.oracle import AbstractOracle


def bytes_of_work(
    oracle: AbstractOracle, learner: Learner, outputs: int, apart: int, bins: int
) -> int:
    """How many bytes rows that are set ``apart`` take, and one step at a time.

    The steps are to find the ``bins`` in so many rows, to look for copies among rows chosen by
    content, and to learn. Sparse rows take little.
    """
    if oracle.sparse:
        return 0
    columns = oracle.n_columns
    held = apart * columns * 9  # as read, and codes
    found = 3 * bins * columns * 8  # rows that wait, those that may be looked at, and all together
    compared = 3 * rows_chosen(columns) * columns * 4  # half more than expected, at 8 bytes a cell
    return held + max(found, compared, learner.bytes_of_work(columns, outputs))
