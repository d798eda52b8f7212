"""Answers about runs: rounds, surfaces, and rules set by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pacboost.boosters.registry import BOOSTERS
from pacboost.bounds.holdout import clopper_pearson, clopper_pearson_lower
from pacboost.errors import PacboostError
from pacboost.lab import engine, spec
from pacboost.lab.choices import LEARNERS
from pacboost.lab.engine import BagRun, Doubles, LabRun, RoundFrame, effective_size, f32, heaviest
from pacboost.lab.session import LabSession, Surface, check_done, read_size, why_flat
from pacboost.lab.spec import MAX_ROUNDS, read_run, whole
from pacboost.samples.bins import fit_bins
from pacboost.theory.learners import stump_edges

MAX_ROUNDS_PER_REQUEST = 200
DELTA = 0.05
COLUMNS = ("bound", "bound_errors", "bound_edges")


def data(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the points of a spec, which may be of one class."""
    return session.points(spec.mapping("data", asked.get("data")), of_both=False).plain()


def rounds(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Run rounds, and return some of them."""
    run_spec = read_run(asked.get("run"))
    first = whole("from", asked.get("from", 1), 1, MAX_ROUNDS + 1)
    last = whole("to", asked.get("to", 0), 0, MAX_ROUNDS)
    if last - first + 1 > MAX_ROUNDS_PER_REQUEST:
        raise spec.LimitError(
            f"rounds {first} to {last} are requested; a request has at most "
            f"{MAX_ROUNDS_PER_REQUEST}"
        )
    run = session.run(run_spec)
    run.advance(last)
    done = len(run.frames)
    shown = range(min(first, done + 1), min(last, done) + 1)
    return {
        "key": run_spec.key, "done": done, "stopped": run.stopped, "restarted": run.restarted,
        "head": head(run), "names": list(run.points.names),
        "rounds": described(run, shown, session.surface_asked(run_spec, asked)),
        "next": after(run, min(last, done)),
    }  # fmt: skip


def head(run: LabRun) -> dict[str, Any]:
    """Describe the booster and the learner of a run."""
    ledger = run.ledger(0)
    kind = BOOSTERS.get(ledger.booster)
    return {
        "booster": ledger.booster, "title": kind.title or kind.__name__ if kind else "Bagging",
        "learner": LEARNERS[run.spec.current[1].name].title, "rows": ledger.rows,
        "potential": ledger.potential, "plain_votes": ledger.plain_votes,
        "revised": ledger.revised, "cells": ledger.cells, "factor": ledger.factor,
    }  # fmt: skip


def after(run: LabRun, number: int) -> dict[str, Any] | None:
    """Return the weights of the round after ``number``."""
    weights = run.frames[number].weights if number < len(run.frames) else run.next_weights()
    if weights is None:
        return None
    return {
        "number": number + 1, "weights": f32(weights), "effective_size": effective_size(weights),
        "heaviest": heaviest(weights, run.points.ids),
    }  # fmt: skip


def described(run: LabRun, numbers: range, surface: Surface | None) -> list[dict[str, Any]]:
    """Describe some rounds."""
    if not numbers:
        return []
    table = run.ledger(numbers[-1]).columns()
    rows = []
    for number in numbers:
        row = one_round(run, run.frames[number - 1])
        for name in COLUMNS:
            row[name] = None if isinstance(run, BagRun) else table[name][number - 1]
        if surface is not None:
            row["surface"] = f32(surface.vote(number))
        rows.append(row)
    return rows


def one_round(run: LabRun, frame: RoundFrame) -> dict[str, Any]:
    """Describe a round, without its bounds."""
    entry, test, wrong = frame.entry, run.points.test, frame.wrong_test
    tested = None if wrong is None or test is None else interval(wrong, len(test[1]))
    return {
        "number": entry.number, "rule": entry.rule, "own": frame.own,
        "shape": engine.shape_of(frame.rule), "error": entry.error, "edge": entry.edge,
        "vote": entry.vote, "normaliser": None if isinstance(run, BagRun) else entry.normaliser,
        "training_error": entry.training_error, "error_after": frame.error_after,
        "effective_size": entry.effective_size, "least_margin": float(frame.margins.min()),
        "margin": entry.margin, "gap": entry.gap, "weights": f32(frame.weights),
        "agree": engine.i8(frame.agree), "margins": f32(frame.margins),
        "margin_cdf": f32(engine.cumulated(frame.margins)),
        "heaviest": heaviest(frame.weights, run.points.ids), "test": tested,
        "votes": frame.votes.tolist() if run.revised else None, "seconds": entry.seconds,
    }  # fmt: skip


def interval(wrong: int, n: int) -> dict[str, Any]:
    """Return an error with its exact interval (Clopper and Pearson)."""
    return {
        "error": wrong / n, "wrong": wrong, "n": n,
        # each end has half of delta, so that both hold together (Boole)
        "lower": clopper_pearson_lower(wrong, n, DELTA / 2),
        "upper": clopper_pearson(wrong, n, DELTA / 2),
    }  # fmt: skip


def surfaces(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return grids of scores, of the vote or of single rules."""
    run_spec = read_run(asked.get("run"))
    run = session.run(run_spec)
    rounds_asked = spec.sequence("rounds", asked.get("rounds"))
    numbers = [whole("a round", number, 1, MAX_ROUNDS) for number in rounds_asked]
    why = why_flat(run)
    if why or not numbers:
        return {"frames": None if why else {}, "why": why}
    check_done(run, max(numbers))
    surface = session.surface(run_spec, read_size(asked.get("size", 64)))
    shown = surface.rule if asked.get("what") == "rule" else surface.vote
    frames = {str(number): f32(shown(number)) for number in numbers}
    return {"size": surface.size, "box": list(run.points.box), "frames": frames, "why": ""}


def edges(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the weighted error of every stump in the next round."""
    run, number, weights = _before(session, asked)
    if isinstance(run, BagRun):
        raise PacboostError(
            "bagging fits every rule to a bag; rules can be set by hand only for boosting"
        )
    sample, y = run.sample, run.points.y
    bins = fit_bins(sample.table) if sample.bins is None else sample.bins
    sample = replace(sample, bins=bins)
    # the whole units that the learner sums, so that its rule is the best one here, too
    units = np.rint(weights * 2**52).astype(np.int64)
    total = int(units.sum())
    features: list[dict[str, Any]] = []
    best: dict[str, Any] | None = None
    for j in range(sample.table.n_columns):
        signed = stump_edges(sample, units, y, j)[:-1] / total
        cuts = bins.thresholds[j].astype(np.float64)
        errors = (1 - signed) / 2
        features.append(
            {
                "feature": j, "name": run.points.names[j], "cuts": cuts.tolist(),
                "errors": errors.tolist(), "turned": (1 - errors).tolist(),
                "edges": np.abs(signed).tolist(),
            }
        )  # fmt: skip
        # the learner takes the first of equal stumps; rounding must not decide otherwise here
        if signed.size and (best is None or np.abs(signed).max() > best["edge"] + 1e-12):
            place = int(np.abs(signed).argmax())
            edge = float(abs(signed[place]))
            best = {
                "feature": j, "threshold": float(cuts[place]),
                "above": 1 if signed[place] >= 0 else -1, "error": (1 - edge) / 2, "edge": edge,
            }  # fmt: skip
    return {"number": number, "features": features, "best": best, "guess": 0.5}


def _before(session: LabSession, asked: Mapping[str, Any]) -> tuple[LabRun, int, Doubles]:
    """Return a run, the number of its next round, and the weights of that round."""
    done = whole("after", asked.get("after"), 0, MAX_ROUNDS - 1)
    run = session.run(read_run(asked.get("run")))
    weights = run.weights_after(done)
    if weights is None or len(run.frames) < done:
        raise PacboostError(
            f"there is no round {done + 1}: the run ended after {len(run.frames)} rounds "
            f"({run.stopped})"
        )
    return run, done + 1, weights


def weigh(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Run the next round with a rule set by hand, and describe it."""
    run, number, _ = _before(session, asked)
    earlier = [pair for pair in run.spec.rules if pair[0] < number]  # and none in later rounds
    rules = (*earlier, (number, spec.read_rule(asked.get("rule"))))
    changed = read_run(replace(run.spec, rules=rules).plain())
    tried = session.run(changed)
    tried.advance(number)
    if len(tried.frames) < number and not (tried.restarted and tried.frames):
        why = "this rule is no better than chance: its weighted error is ½"
        return {"allowed": False, "why": why, "round": None, "run": changed.plain()}
    last = len(tried.frames) if tried.restarted else number
    shown = described(tried, range(last, last + 1), session.surface_asked(changed, asked))[0]
    return {"allowed": True, "why": "", "round": shown, "run": changed.plain()}
