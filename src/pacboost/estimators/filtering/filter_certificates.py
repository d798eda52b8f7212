"""The certificates of a run by filtering: by rows set apart, and by the test that stopped it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pacboost.bounds import filtering, holdout
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.counted_rows import assumed
from pacboost.bounds.held_out import HeldOut
from pacboost.bounds.wording import HAVE_TIMES, SHARE_LEARNED
from pacboost.errors import NotCertified
from pacboost.estimators.filtering.filter_session import Session
from pacboost.kernels.same_bits import softmax
from pacboost.samples.same_example import told_apart
from pacboost.samples.time_order import have_times
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.oracle import REPLACED, STREAM
from pacboost.sources.oracles.stream import PushedOracle
from pacboost.sources.sparse import SparseTable
from pacboost.training.filtering.candidates import Candidates
from pacboost.training.filtering.engine import Filtering
from pacboost.training.filtering.rows import ScoredBatch
from pacboost.training.filtering.stream import BlockRows, Stream
from pacboost.training.metrics import steepness


def certificates(session: Session, delta: float) -> tuple[Certificate | None, Certificate | None]:
    """Certify by rows set apart, and by the test that stopped the run."""
    run = session.run
    # whoever stops a run that asks for examples wants to pay for no more of them
    draw = not (run.candidates.oracle.asks and session.is_unfinished)
    apart = run.candidates.apart(run.encoder, draw=draw)
    look, both = session.look(), False
    by_rows = None
    if apart is not None and look is not None:
        scored = run.vote_so_far.score(apart)
        session.held_out = _counted(scored, run.ledger().potential)
        mistakes = int(np.count_nonzero(scored.wrong))
        # Tests of the run spend half of delta. Where they may stop it, the rows get the other
        # half, which is the share of one more look, so that the smaller bound may be chosen.
        both = run.plan.epsilon is not None
        look += both
        by_rows = holdout.certificate(
            mistakes, apart.n_rows, delta, sample=sample_of(run.candidates), look=look
        ).assuming(holdout.CLASSES)
    by_test = stop_certificate(run, delta if both else delta / 2)
    details = noticed(run, has_times=session.has_times)
    by_rows, by_test = (found and found.detailed(details) for found in (by_rows, by_test))
    if not run.candidates.distinct:
        return by_rows, by_test
    return _of_distinct_rows(by_rows), _of_distinct_rows(by_test)


def noticed(run: Filtering, *, has_times: bool) -> dict[str, float]:
    """Return the details of claims: that rows have times, or equal rows learned from."""
    candidates = run.candidates
    sketch, tables = candidates.learned.sketch(), candidates.shown
    if not tables or sketch is None:
        return {HAVE_TIMES: 1} if has_times else {}
    lists = [table.matrix for table in tables if isinstance(table, SparseTable)]
    if lists:
        rows: Any = sparse.vstack(lists)
    else:
        rows = np.concatenate([table.block(0, table.n_columns) for table in tables])
    details: dict[str, float] = {}
    if has_times or have_times(tables[0]) or have_times(rows):
        details[HAVE_TIMES] = 1
    apart = told_apart(rows)
    if not candidates.distinct and apart.any():
        compared = sum(sketch.overlap(table).compared for table in tables)
        starts = np.cumsum([0, *(table.n_rows for table in tables)])
        places = [k + sketch.equal_rows(t) for k, t in zip(starts, tables, strict=False)]
        equal = int(np.count_nonzero(apart[np.concatenate(places)]))
        details |= {SHARE_LEARNED: equal / compared} if equal else {}
    return details


def sample_of(candidates: Candidates) -> dict[str, Any]:
    """Return the facts about the rows that certify."""
    rows = "by_coins" if isinstance(candidates, BlockRows) else "as_they_came"
    facts = {"rows": rows, "order": candidates.oracle.order.name}
    return {**facts, "copies": True} if has_copies(candidates) else facts


def has_copies(candidates: Candidates) -> bool:
    """Check whether rows of a stream came again, so that only first ones were set apart."""
    return isinstance(candidates, Stream) and candidates.repeated


def stop_certificate(run: Filtering, delta: float) -> Certificate | None:
    """Certify by the draws that tested the vote last; None if there are none."""
    if not run.refills or run.refills[-1].rounds != len(run.vote_so_far):
        return None
    order = run.candidates.oracle.order.name
    last, of, assumes = run.refills[-1], "", assumed(order, has_copies(run.candidates))
    if last.fresh == 0:
        # easy rows of an array in memory come less often, rows of blocks come together, and of
        # rows that were brought batch by batch nobody knows on which pass they are
        oracle = run.candidates.oracle
        if run.candidates.whole or oracle.in_blocks or isinstance(oracle, PushedOracle):
            return None
        if run.candidates.distinct and not isinstance(oracle, ArrayOracle):
            return None  # rows of a stream count on later passes as often as they come
        of = "this stream" if oracle.order is STREAM else "this source"
        of = "this array" if isinstance(oracle, ArrayOracle) else of
        if oracle.order is not REPLACED:
            assumes = f"the rows that were drawn on a later pass stand for all of {of}"
    factor = run.vote_so_far.booster.error_factor
    try:
        return filtering.certificate(last, delta, factor, assumes, of=of)
    except NotCertified:
        return None


def _of_distinct_rows(certificate: Certificate | None) -> Certificate | None:
    return None if certificate is None else certificate.of_distinct_rows()


def _counted(rows: ScoredBatch, potential: str) -> HeldOut | None:
    signs, scores = rows.signs, rows.margins * rows.signs
    if signs.shape[1] == 1:
        both = np.column_stack([-scores[:, 0], scores[:, 0]])
        classes = np.array([False, True])
        return HeldOut.of(signs[:, 0] > 0, scores[:, 0] > 0, classes, both, rows.wrong)
    labels, predicted = signs.argmax(axis=1), scores.argmax(axis=1)
    shares = np.asarray(softmax(steepness(potential) * scores))
    return HeldOut.of(labels, predicted, np.arange(signs.shape[1]), shares, rows.wrong)
