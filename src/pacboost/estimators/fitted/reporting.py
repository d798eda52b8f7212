"""The page of a fitted model, a vote or a forest, and what it shows of rows with labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.decision import reached
from pacboost.bounds.family import Family
from pacboost.errors import DataTypeError
from pacboost.estimators.fitted.judging import margins_after, refuse_half
from pacboost.estimators.fitted.predicting import Predictor
from pacboost.fit.examples import label_rows
from pacboost.fit.rows import LabelledRows
from pacboost.fit.targets import read_labels, read_targets
from pacboost.kernels.threads import using
from pacboost.models.answers import asked
from pacboost.numerics.exact import wrong_margins
from pacboost.reports.page.document import Sentence, page
from pacboost.reports.page.subject import Cells, Evidence, Numbers, Shown, subject_of
from pacboost.samples.sample import Sample
from pacboost.sources.mixed import MixedFeatures
from pacboost.sources.odd_cells import shown
from pacboost.sources.sparse import WordTable
from pacboost.sources.table import Table
from pacboost.training.run.margins import lowest

if TYPE_CHECKING:
    from pacboost.bounds.answering import Answering
    from pacboost.bounds.decision import ThresholdDecision


STAGES = 48
"""A slider over rounds has at most so many places."""
ROWS_STAGED = 20_000
"""Of more rows, so many are looked at after every stage."""
CASES = 6
CELLS_SHOWN = 6
LETTERS = 280
"""Of longer texts, the beginning is shown."""

Doubles = NDArray[np.float64]
Rows = NDArray[np.intp]


def page_about(
    estimator: Predictor,
    X: object,
    y: object,
    *,
    title: str | None,
    sentence: str | Sentence | None,
    certified: Certificate | Family | list[Any] | tuple[Any, ...],
    decision: ThresholdDecision | None,
    answering: Answering | None,
) -> str:
    """Return the page about a fitted model; see ``Estimator.report``."""
    refuse_half(X, y)
    model = estimator.model_
    # splits of a vote know how many training rows went which way; a forest needs rows for its
    # shapes
    table = estimator._open(X) if model.forest and X is not None else None
    subject = subject_of(model, getattr(estimator, "_refusal", "") if model.forest else "", table)
    more = (certified,) if isinstance(certified, Certificate | Family) else tuple(certified)
    if not all(isinstance(part, Certificate | Family) for part in more):
        raise DataTypeError(f"certified is {shown(certified)}; pass results of pacboost.certify")
    answers = subject.answering if answering is None else answering
    subject = replace(subject, decision=decision, certified=more, answering=answers)
    if decision is not None:  # other certificates speak of predictions without the threshold
        subject = replace(subject, certificates=(), held_out=None)
    rows = None if X is None else evaluate(estimator, X, y, subject.importances)
    if decision is not None and isinstance(rows, Evidence):
        rows = _from_threshold(rows, decision, model.classes.tolist().index(decision.positive))
    claim = Sentence(sentence, "", "") if isinstance(sentence, str) else sentence
    return page(subject, rows, title, claim)


def _from_threshold(rows: Evidence, decision: ThresholdDecision, place: int) -> Evidence:
    """Predict the positive class from the threshold on, else the most probable other class."""
    others = rows.probabilities.copy()
    others[:, place] = -1.0
    said = reached(rows.probabilities[:, place], decision.threshold)
    named = np.where(said, place, others.argmax(axis=1)).astype(np.int64)
    return replace(rows, predictions=named, wrong=named != rows.labels)


def evaluate(model: BaseEstimator, X: object, y: object, shares: Doubles) -> Evidence | Numbers:
    """Evaluate a model on rows with labels; ``shares`` ranks the columns to show."""
    table: Table = model._open(X)
    overlap = model.overlap(X) if getattr(model, "_sketches", ()) else None
    seen = overlap is not None and bool(overlap.suspicious)
    if not hasattr(model, "classes_"):
        return _numbers(model, X, y, table, shares, seen)
    several = bool(getattr(model, "several_labels_", False))
    known = label_rows(table, y, model.classes_, "y", several=several)
    probabilities, said = asked(model, X, "predict_proba"), asked(model, X)
    if several:
        own, said = (known.signs > 0).astype(np.int64), said.astype(np.int64)
    else:
        own = np.searchsorted(model.classes_, read_labels(y, table.n_rows)).astype(np.int64)
        said = np.searchsorted(model.classes_, said).astype(np.int64)
    if hasattr(model, "margins"):
        decided = model.margins(X, y)
        wrong, stages, unit = model.mistakes(X, y), *_staged(model, known)
    elif several:
        decided = (2.0 * own - 1) * (2 * probabilities - 1)
        wrong, stages, unit = (said != own).any(axis=1), {1: decided.ravel()}, "member"
    else:
        decided = _by_shares(probabilities, own)
        wrong, unit = wrong_margins(decided), "member"
        stages = {1: decided}
    worst = decided.min(axis=1) if decided.ndim == 2 else decided
    names = [str(name) for name in model.classes_.tolist()]
    rows = lowest(worst, CASES)
    cells = _cells(model, X, table, rows, shares)
    shown = tuple(
        Shown(int(k), _named(own[k], names), _named(said[k], names), float(worst[k]), shown)
        for k, shown in zip(rows.tolist(), cells, strict=True)
    )
    return Evidence(own, said, np.asarray(wrong), probabilities, stages, shown, seen, unit)


def _staged(model: BaseEstimator, known: LabelledRows) -> tuple[dict[int, Doubles], str]:
    """Return the margins after some rounds, and the unit of their numbers."""
    vote = model.model_.vote
    if known.n_rows > ROWS_STAGED:
        # evenly spread, since tables are often sorted
        known = known.take(np.linspace(0, known.n_rows - 1, ROWS_STAGED).astype(np.intp))
    sample = Sample(known.table, known.signs, labels=known.labels)
    count = len(vote.hypotheses)
    if not count:
        return {}, "round"
    wanted = np.geomspace(1, count, STAGES).round().astype(int).tolist()
    with using(model.n_jobs):
        stages = margins_after(model.model_, sample, wanted)
    return stages, "round" if count == len(model.model_.ledger) else "rule"


def _by_shares(probabilities: Doubles, own: NDArray[np.int64]) -> Doubles:
    """Return the share of votes for the true class minus the largest other share."""
    rows = np.arange(own.size)
    others = probabilities.copy()
    others[rows, own] = -np.inf
    best = others.max(axis=1) if probabilities.shape[1] > 1 else np.zeros(own.size)
    return np.asarray(probabilities[rows, own] - best)


def _numbers(
    model: BaseEstimator, X: object, y: object, table: Table, shares: Doubles, seen: bool
) -> Numbers:
    own = read_targets(y, table.n_rows)
    said = asked(model, X).astype(np.float64)
    rows = lowest(-np.abs(said - own), CASES)
    cells = _cells(model, X, table, rows, shares)
    shown = tuple(
        Shown(int(k), f"{own[k]:.6g}", f"{said[k]:.6g}", float(said[k] - own[k]), line)
        for k, line in zip(rows.tolist(), cells, strict=True)
    )
    return Numbers(own, said, shown, seen)


def _named(said: Any, names: Sequence[str]) -> str:
    if np.ndim(said) == 0:
        return names[int(said)]
    return ", ".join(names[k] for k in np.flatnonzero(said).tolist()) or "no label"


def _cells(model: BaseEstimator, X: Any, table: Table, rows: Rows, shares: Doubles) -> list[Cells]:
    features, columns = model.model_.text, list[tuple[str, Sequence[Any]]]()
    if isinstance(features, MixedFeatures):
        taken = features.values(X).take(rows)
        only = features.text[0] if len(features.text) == 1 else None
        names = sorted(features.names, key=lambda name: name not in features.text)
        columns += [
            ("" if name == only else name, list(taken.cells[name]))
            for name in names[: CELLS_SHOWN + 1]
        ]
    elif isinstance(table, WordTable):
        texts = list(X)
        columns.append(("", [texts[k] for k in rows.tolist()]))
    else:
        few, telling = table.take(rows), np.argsort(-shares, kind="stable")[:CELLS_SHOWN]
        columns += [
            (few.name(j), [few.text(j, row) for row in range(rows.size)]) for j in telling.tolist()
        ]
    return [
        tuple((name, _value(values[place])) for name, values in columns)
        for place in range(rows.size)
    ]


def _value(value: object) -> str:
    if value is None or (isinstance(value, float | np.floating) and np.isnan(value)):
        return "missing"
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    said = str(value)
    return said if len(said) <= LETTERS else f"{said[:LETTERS]}…"
