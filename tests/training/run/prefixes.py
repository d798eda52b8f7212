"""Hold the record of a run against its vote alone, after every round, in plain NumPy.

Whatever the booster, start · ∏ Z_t is the mean potential of the margins, the
recorded training error is the share of rows that the vote gets wrong or ties on, and that share is
at most the certified bound.
"""

import math
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import logsumexp

from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.booster import Booster
from pacboost.boosters.filtering import FilterBoost, Mada, Measure, Smooth
from pacboost.boosters.logit import Logit
from pacboost.boosters.newton import Gentle
from pacboost.boosters.projection import Projection
from pacboost.bounds.training import product_bound, rounding_slack
from pacboost.ledgers.ledger import Ledger
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.training.run.loop import Run

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

BOOSTERS: list[Booster[Any]] = [
    AdaBoost(), AdaBoost(confidence_rated=True), AdaBoost(0.3, confidence_rated=True),
    AdaBoost(0.4, confidence_rated=True, smoothing=0.0), AdaBoost(0.4),
    AdaBoost(0.5, 0.4, confidence_rated=True, smoothing=0.01),
    Gentle(), Gentle(0.2), Logit(), Logit(0.1, prior=True), Logit(max_target=4, l2=1.0),
    Mada(), Mada(0.5), FilterBoost(), FilterBoost(0.3), Measure(0.5, 0.3), Measure(0.9, 0.9, 1.0),
    Smooth(0.5, 0.1), Smooth(0.9, 0.3), Projection(0.5, 0.1), Projection(0.9, 0.3),
]  # fmt: skip
"""Boosters that give values to cells."""


def signs_of(labels: Labels, classes: int) -> NDArray[np.int8]:
    """+1 for the class of a row and -1 for the others; one column for two classes."""
    if classes == 2:
        return np.where(labels > 0, np.int8(1), np.int8(-1))[:, None]
    return np.where(np.eye(classes)[labels] > 0, np.int8(1), np.int8(-1))


def sample_of(
    X: Floats, labels: Labels, classes: int, base: Floats | None = None, bins: bool = True
) -> Sample:
    """A sample of one class a row, or of a 0/1 matrix of labels."""
    table = ArrayTable(X)
    several = labels.ndim == 2
    signs = np.where(labels > 0, np.int8(1), np.int8(-1)) if several else signs_of(labels, classes)
    return Sample(
        table,
        signs,
        np.ones(1) if base is None else base,
        fit_bins(table, 255, base) if bins else None,
        tuple(str(k) for k in range(classes)),
        None if several or classes == 2 else labels,
    )


@st.composite
def class_samples(
    draw: st.DrawFn,
    classes: st.SearchStrategy[int] | None = None,
    *,
    several: bool = False,
    missing: bool = True,
) -> Sample:
    """Few rows of some classes (or labels), with ties, missing values, noise and weights."""
    count = draw(st.integers(2, 5) if classes is None else classes)
    rows = draw(st.integers(3, 40))
    features = draw(st.integers(1, 4))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = generator.integers(draw(st.sampled_from([2, 4, 50])), size=(rows, features)).astype(float)
    rank = X[:, 0].argsort().argsort() * count // rows
    labels = np.where(generator.random(rows) < 0.5, rank, generator.integers(count, size=rows))
    if several:
        labels = (generator.random((rows, count)) < 0.4).astype(np.int64)
        labels[:, 0] |= X[:, 0] > X[:, 0].mean()
    if missing and draw(st.booleans()):
        X[generator.random(X.shape) < 0.2] = np.nan
    base = generator.uniform(0.1, 9.0, rows) if draw(st.booleans()) else None
    return sample_of(X, labels.astype(np.int64), count, base)


def shares(sample: Sample, *, units: bool = True) -> Floats:
    """D_1, one number a row; counted in units, a row has at least one of 2**-52."""
    base = np.broadcast_to(sample.base, (sample.n_rows,)).astype(float)
    if units:
        base = np.maximum(base, base.sum() * sample.signs.shape[1] / 2**52)
    return np.asarray(base / base.sum())


def costs(potential: str, scores: Floats, sample: Sample) -> Floats:
    """What the potential says of every row: 1 (log₂ K for softmax) where all scores are 0."""
    margins = scores * sample.signs
    if potential == "exponential":
        return np.asarray(np.exp(-margins).mean(axis=1))
    if potential == "clipped":
        clipped = np.where(margins < 0, 1 - margins, np.exp(-np.maximum(margins, 0)))
        return np.asarray(clipped.mean(axis=1))
    if scores.shape[1] == 1:
        return np.asarray(np.logaddexp(0, -2 * margins[:, 0]) / math.log(2))
    own = scores[sample.signs > 0]
    return np.asarray((logsumexp(scores, axis=1) - own) / math.log(2))


def relative_weights(run: Run, scores: Floats, rounds: int) -> Floats:
    """The mean weight of a row in units of the first, by the formula of the paper."""
    margins, booster = scores * run.sample.signs, run.booster
    if isinstance(booster, Measure):
        return np.asarray(np.clip(1 - margins, 0, 1).mean(axis=1))
    if isinstance(booster, FilterBoost):
        return np.asarray((2 / (1 + np.exp(np.minimum(margins, 700)))).mean(axis=1))
    assert isinstance(booster, Smooth)
    gamma = booster.edge / 2
    ahead = margins / (-0.5 * math.log(1 - gamma)) - rounds * gamma / (2 + gamma)
    return np.asarray(((1 - gamma) ** (np.maximum(ahead, 0) / 2)).mean(axis=1))


def projected_products(run: Run) -> list[float]:
    """max(ε, ∏ Z_t) of the projected booster after each round, c_t found by bisection."""
    sample, epsilon, told = run.sample, run.booster.epsilon, [1.0]  # type: ignore[attr-defined]
    first = np.repeat(shares(sample)[:, None] / run.outputs, run.outputs, axis=1)
    D, before = first, np.zeros(first.shape)
    for staged in run.vote().staged(sample.table):
        scores = staged.reshape(first.shape)
        raised = D * np.exp(-(scores - before) * sample.signs)
        told.append(max(epsilon, told[-1] * float(raised.sum())))
        low, high = 0.0, 1e6 / epsilon
        for _ in range(200):
            middle = (low + high) / 2
            over = np.minimum(first / epsilon, middle * raised).sum() > 1
            low, high = (low, middle) if over else (middle, high)
        D, before = np.minimum(first / epsilon, low * raised), scores.copy()
    return told[1:]


def wrong(scores: Floats, sample: Sample) -> Floats:
    """1 for rows that are wrong or tied; with several labels, the share of wrong labels."""
    if sample.labels is None:
        return np.asarray((scores * sample.signs <= 0).mean(axis=1))
    rows = np.arange(sample.n_rows)
    others = scores.copy()
    others[rows, sample.labels] = -np.inf
    return np.asarray(scores[rows, sample.labels] <= others.max(axis=1), dtype=float)


def named_right(run: Run, sample: Sample) -> Floats:
    """Σ votes of the rules that name the row's class less those that do not, round by round."""
    agree = []
    for done in run.done:
        named = done.hypothesis.values.argmax(axis=1)[done.hypothesis.cells(sample)]
        agree.append(done.entry.vote * np.where(named == sample.labels, 1.0, -1.0))
    return np.cumsum(agree, axis=0)


def check_every_prefix(run: Run, rounds: int, *, certified: bool = True) -> Ledger:
    """Run some rounds, then recompute loss and error of every prefix from the vote."""
    list(islice(run, rounds))
    ledger, sample = run.ledger(), run.sample
    by_row = ledger.multiclass in ("m1", "samme")
    margins = named_right(run, sample) if by_row else None
    start = math.log2(run.outputs) if ledger.multiclass == "softmax" else 1.0
    first, log_product = shares(sample, units=ledger.potential == "exponential"), 0.0
    products = projected_products(run) if ledger.potential == "projected" else None
    for t, staged in enumerate(run.vote().staged(sample.table)):
        entry, scores = ledger.rounds[t], staged.reshape(sample.n_rows, -1)
        prefix = replace(ledger, rounds=ledger.rounds[: t + 1])
        log_product += math.log(entry.normaliser)
        product = start * math.exp(log_product)
        if products is not None:
            own = np.full(sample.n_rows, products[t])
        elif ledger.potential == "weight":
            own = relative_weights(run, scores, t + 1)
        elif margins is None:
            own = costs(ledger.potential, scores, sample)
        else:
            own = np.exp(-margins[t])
        loss = float((first * own).sum())
        rounding = start * rounding_slack(prefix) + sample.n_rows * run.outputs / 2**50
        assert product == pytest.approx(loss, rel=1e-9, abs=rounding), entry
        error = float((first * wrong(scores, sample)).sum())
        rounding = sample.n_rows * run.outputs**2 / 2**48  # D_1 is made of whole numbers
        assert entry.training_error == pytest.approx(error, rel=1e-11, abs=rounding)
        assert entry.edge == pytest.approx(1 - 2 * entry.error, abs=1e-15)
        if certified:
            assert error <= product_bound(prefix) * (1 + 1e-11)
            assert entry.training_error <= product_bound(prefix)
    assert len(ledger) <= rounds
    return ledger
