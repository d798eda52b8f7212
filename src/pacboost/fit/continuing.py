"""``warm_start`` continues the same run: the same rows and parameters, and more rounds or members.

A fit keeps a record of its parameters, its seed and its rows, and only a fit with the same record
continues it: it ends, byte for byte, as one longer fit would have. Anything else could let
certifying rows influence what they certify.

Whoever sees a certificate and then goes on has chosen when to stop by the certifying rows. So the
k-th look at held-out rows pays delta/(k(k+1)) (docs/proofs/holdout.md). A certificate of a fit
without ``warm_start`` spends all of delta.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.fit.ask import Earlier, FitRows
from pacboost.fit.recipe import OF_TREES, Recipe
from pacboost.fit.rows import validation_sample
from pacboost.hypotheses.pattern import rules_behind
from pacboost.hypotheses.tree import TreeRule
from pacboost.samples.fingerprint import Fingerprint
from pacboost.samples.row_hashes import row_hashes
from pacboost.training.run.loop import Run


def go_on(run: Run, recipe: Recipe, earlier: Earlier, rows: FitRows) -> None:
    """Continue after the rounds of the last fit; raise if this is not the same run."""
    model, record = earlier.model, earlier.record
    ledger, of_rows = model.ledger, (run.fingerprint.digest(), rows_digest(run, rows, looks=True))
    same_rows = of_rows == (model.fingerprint, record.rows)
    refuse([] if same_rows else ["rows, or what was chosen by them,"])
    refuse([] if ledger.vote_digest == record.vote else ["the votes"])
    refuse_fewer(recipe.rounds, len(ledger), "rounds")
    revised = ledger.revised or not ledger.cells
    cast = [entry.vote if revised else 1.0 for entry in ledger.rounds]
    bins = run.sample.bins
    rules = [  # trees share the bins of their sample
        replace(rule, bins=bins) if isinstance(rule, TreeRule) and bins is not None else rule
        for rule in rules_behind(model.vote).hypotheses
    ]
    run.resume(rules, cast, ledger.rounds)


def rows_digest(run: Run, rows: FitRows, *, looks: bool) -> str:
    """Return a digest of everything that the fingerprint of the training rows does not cover.

    That is classes, levels, bins, the other rows, and settings that depend on rows. Certifying rows
    count if later fits may look at them again.
    """
    sample, bins = run.sample, run.sample.bins
    others = [] if run.watch is None else [run.watch.sample]
    if rows.calibrate is not None:
        others.append(validation_sample(rows.calibrate, sample))
    numbers = {n: v for n, v in vars(run.booster).items() if not callable(v)}
    trees = {n: getattr(run.learner, n) for n in OF_TREES if hasattr(run.learner, n)}
    words = [
        rows.classes.tolist(), sample.table.levels, rows.schema.text,
        run.booster.name, numbers, run.learner.name, trees,
    ]  # fmt: skip
    parts = [repr(words), *(Fingerprint(rows_of).digest() for rows_of in others)]
    if rows.certify is not None and looks:
        certify = rows.certify
        labels = repr(certify.y.tolist())
        parts += [digest(row_hashes(rows.schema.comparable(certify.X)), labels)]
    return digest(*parts, *(() if bins is None else bins.thresholds))


def refuse(changed: list[str]) -> None:
    """Raise if something differs from the previous fit."""
    if changed:
        raise ParameterError(
            "warm_start continues the last fit with the same rows and parameters, but "
            f"{', '.join(changed)} changed; set warm_start=False to start afresh",
            parameter="warm_start",
        )


def refuse_fewer(asked: int, done: int, what: str) -> None:
    """Raise if a fit that continues asks for fewer rounds or members than there are."""
    if asked < done:
        raise ParameterError(
            f"n_estimators is {asked}, but the last fit has {done} {what} already; give at least "
            "as many, or set warm_start=False",
            parameter="n_estimators",
        )


def digest(*parts: NDArray[Any] | str) -> str:
    """Return a hash of arrays and words."""
    state = blake2b(digest_size=16)
    for part in parts:
        state.update(part.encode() if isinstance(part, str) else np.ascontiguousarray(part).data)
    return state.hexdigest()
