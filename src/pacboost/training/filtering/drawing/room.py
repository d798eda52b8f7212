"""What a fit by filtering holds in memory besides the blocks of its source and its sample."""

from __future__ import annotations

from pacboost.learners.learner import Learner
from pacboost.samples.content_sample import rows_chosen
from pacboost.sources.oracles.oracle import AbstractOracle


def bytes_of_work(
    oracle: AbstractOracle, learner: Learner, outputs: int, apart: int, bins: int
) -> int:
    """Estimate the bytes of the rows that are set ``apart``, and of the step that needs most.

    The steps follow each other: the bins are found from ``bins`` rows, some rows are compared to
    find copies, and a rule is learned. Sparse rows take little memory, and count as none.
    """
    if oracle.sparse:
        return 0
    columns = oracle.n_columns
    held = apart * columns * 9  # as read, and codes
    found = 3 * bins * columns * 8  # rows that wait, those that may be looked at, and all together
    compared = 6 * rows_chosen(columns) * columns * 4  # twice half more than expected, of 8 bytes
    return held + max(found, compared, learner.bytes_of_work(columns, outputs))
