"""How tight each certificate is, on two worlds whose true error is known.

    python benchmarks/bench_certificates.py             up to 100,000 rows (about a minute)
    python benchmarks/bench_certificates.py 1000        or the sizes given

Both worlds have 20 Gaussian features, each cut into 64 bins that are fixed beforehand at the
quantiles of the normal distribution, so that there are 1,260 unsigned stumps and the constant one.

    E   an easy world: the majority of the signs of three features, 2 % of labels flipped
    H   a hard one: whether the sum of the squares of all features is above its median (Hastie)

Every figure is the median over samples with fixed seeds. Beside it stands the figure of the notes
this package is built on, which seems to come from one sample. What must agree is the order of the
certificates, not the digits. A pair of certificates is "open" where neither is the smaller one in
three of four samples: its order is left to chance.

The notes do not say how many features of H matter. With all 20, as here, most figures come out
close, but margins are smaller (a median of 0.035 at 10,000 rows; the notes say about 0.045) and
margin bounds larger. One pair comes out reversed, N-vote and Vapnik at 10,000 rows of H, where both
say next to nothing. It did so too, on one sample, when only 10 features mattered. Vapnik's bound
grows with the rounds and the other hardly does, so this pair turns on when one stops.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.stats import norm

from pacboost.boosters.adaboost import AdaBoost
from pacboost.bounds import holdout, occam
from pacboost.errors import NotCertified
from pacboost.fit.rows import LabelledRows
from pacboost.hypotheses.vote import Vote
from pacboost.kernels.threads import using
from pacboost.learners.stump import Stump
from pacboost.samples.bins import Bins
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.theory import margins, nvote, vc
from pacboost.theory.quantised_votes import merged, mistakes, whole_vote
from pacboost.theory.worlds import NoisyAdditive, World, hastie
from pacboost.training.run.loop import Run

DELTA = 0.05
FEATURES, BINS = 20, 64
RULES = FEATURES * (BINS - 1) + 1
"""Unsigned rules; no value is missing here, so it does not matter where one would go."""
LOG_SIZE = float(np.log(2 * RULES))
FRESH = 200_000
REPEATS = {1_000: 25, 10_000: 9, 100_000: 3}
CLEAR = 0.75
"""An order that holds in this share of samples is no chance."""
THETAS = tuple(np.round(np.arange(0.01, 0.61, 0.01), 2))

Figures = dict[str, float]

TRUE = "true error of the vote"
QUANTISED_ERROR = "true error of the quantised vote"
CLOPPER, KL, HOEFFDING = "hold-out 20 %, exact", "hold-out 20 %, kl", "hold-out 20 %, Hoeffding"
OCCAM, HYPER, VAPNIK = "Occam, quantised vote", "hypergeometric VC", "Vapnik, relative deviation"
NVOTE, RADEMACHER = "N-vote PAC-Bayes", "Rademacher margin"
SCHAPIRE, KTH = "Schapire et al. 1998", "k-th margin"

COLUMNS = tuple((world, n) for world in "EH" for n in REPEATS)
NOTES: dict[str, tuple[float, ...]] = {
    TRUE: (0.031, 0.0197, 0.0197, 0.271, 0.180, 0.167),
    CLOPPER: (0.058, 0.0254, 0.0214, 0.327, 0.195, 0.172),
    KL: (0.071, 0.028, 0.0222, 0.353, 0.202, 0.174),
    HOEFFDING: (0.118, 0.047, 0.0284, 0.358, 0.207, 0.176),
    OCCAM: (0.0625, 0.0310, 0.0234, 0.498, 0.312, 0.223),
    QUANTISED_ERROR: (0.020, 0.020, 0.020, 0.410, 0.215, 0.174),
    HYPER: (0.261, 0.0745, 0.0346, 0.735, 0.430, 0.259),
    VAPNIK: (0.90, 0.137, 0.0422, 1, 0.98, 0.379),
    NVOTE: (0.69, 0.194, 0.0578, 1, 0.89, 0.618),
    RADEMACHER: (0.95, 0.381, 0.125, 1, 1, 0.79),
    SCHAPIRE: (1, 0.65, 0.194, 1, 1, 1),
    KTH: (1, 0.96, 0.273, 1, 1, 1),
}
"""Figures of the notes, in the order of COLUMNS; what they give as 1 or more is 1 here."""

ROUNDS: dict[str, dict[int, tuple[int, ...]]] = {
    "E": {1_000: (20,), 10_000: (20,), 100_000: (20,)},
    "H": {1_000: (100, 50), 10_000: (200,), 100_000: (300,)},
}
"""As in the notes: the first counts for all, and the counting bounds, which hold for all votes at
once and pay for every rule, may also take the others."""


def easy() -> World:
    """Make the majority of three signs among 20 features, 2 % of labels flipped."""
    silent = (np.zeros_like,) * (FEATURES - 3)
    return NoisyAdditive((np.sign,) * 3 + silent, noise=0.02)


WORLDS: dict[str, World] = {"E": easy(), "H": hastie(FEATURES)}


def fixed_bins() -> Bins:
    """Cut every feature at the quantiles of the normal distribution."""
    cuts = norm.ppf(np.arange(1, BINS) / BINS).astype(np.float32)
    return Bins((cuts,) * FEATURES, np.full(FEATURES, BINS // 2))


def draw(world: World, rows: int, seed: tuple[int, ...]) -> LabelledRows:
    """Draw examples."""
    X, signs = world.draw(rows, np.random.default_rng(seed))
    return LabelledRows(ArrayTable(X), signs[:, None])


def boost(examples: LabelledRows, rounds: int) -> Vote:
    """Run AdaBoost on stumps over the fixed bins."""
    sample = Sample(examples.table, examples.signs, bins=fixed_bins())
    run = Run(sample, Stump(), AdaBoost())
    for _, _ in zip(range(rounds), run, strict=False):
        pass
    return run.vote()


@dataclass(frozen=True)
class Trained:
    """A vote, its training rows, and the quantities that the bounds need."""

    vote: Vote
    rows: LabelledRows
    rounds: int

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.rows.signs.size

    @property
    def mistakes(self) -> int:
        """On the training rows, ties included."""
        return mistakes(self.vote, self.rows)

    def margins(self) -> NDArray[np.float64]:
        """Return normalised margins; a rule and its opposite are merged first."""
        scores = self.vote.scores(self.rows.table) * self.rows.signs[:, 0]
        return np.asarray(np.clip(scores / np.abs(merged(self.vote)[1]).sum(), -1, 1))


def by_holdout(examples: LabelledRows, rounds: int) -> Figures:
    """Train on 80 % of the rows, and bound by the mistakes on the others."""
    n = examples.signs.size
    n_held_out = n // 5  # rows come in random order
    vote = boost(examples.take(np.arange(n_held_out, n)), rounds)
    k = mistakes(vote, examples.take(np.arange(n_held_out)))
    return {
        CLOPPER: holdout.clopper_pearson(k, n_held_out, DELTA),
        KL: holdout.chernoff_kl(k, n_held_out, DELTA),
        HOEFFDING: holdout.hoeffding(k, n_held_out, DELTA),
    }


def by_counting(trained: Trained, fresh: LabelledRows) -> Figures:
    """Bound by counting: the number of short votes, or of labellings of the points."""
    rules, votes = merged(trained.vote)
    k, n, distinct = trained.mistakes, trained.n, len(rules)
    best, *_ = occam.search(
        votes, lambda q: mistakes(whole_vote(rules, q), trained.rows), n, RULES, DELTA
    )
    short = whole_vote(rules, occam.quantise(votes, best.bits, best.scale))
    return {
        OCCAM: best.bound,
        QUANTISED_ERROR: mistakes(short, fresh) / FRESH,
        HYPER: vc.hypergeometric(k, n, DELTA, vc.growth_of_vote(RULES, distinct)),
        VAPNIK: vc.relative_deviation(k, n, DELTA, vc.growth_of_vote(RULES, trained.rounds)),
    }


def by_margins(trained: Trained) -> Figures:
    """Bound by the distribution of margins, each with the best of its parameters."""
    values, n = np.sort(trained.margins()), trained.n
    below = {theta: int(np.searchsorted(values, theta, "right")) for theta in THETAS}
    ramps = {theta: float(np.clip(1 - values / theta, 0, 1).mean()) for theta in THETAS}
    posterior = np.zeros(2 * RULES)
    weights = np.abs(merged(trained.vote)[1])
    posterior[: weights.size] = weights  # the prior is uniform, so it does not matter which rules
    divergence = nvote.divergence(posterior)
    return {
        NVOTE: nvote.best_pair(nvote.wrong_share(values), divergence, DELTA)[0].bound,
        RADEMACHER: min(
            margins.rademacher_bound(ramp, theta, n, LOG_SIZE, DELTA, len(THETAS))
            for theta, ramp in ramps.items()
        ),
        SCHAPIRE: min(
            margins.schapire_bound(count, n, theta, LOG_SIZE, DELTA)
            for theta, count in below.items()
        ),
        KTH: min(kth_margins(values), default=1.0),
    }


def kth_margins(values: NDArray[np.float64]) -> Iterator[float]:
    """Return the k-th margin bound for 200 ranks, where it does not refuse."""
    n = values.size
    for rank in np.unique(np.linspace(1, n, 200).astype(int)):
        theta = float(values[rank - 1])
        try:
            if theta > 0:
                yield margins.kth_margin_bound(int(rank), theta, n, LOG_SIZE, DELTA)
        except NotCertified:
            continue


def figures(name: str, n: int, repeat: int, fresh: LabelledRows) -> Figures:
    """Return the true error and all bounds of one sample."""
    examples = draw(WORLDS[name], n, (n, repeat))
    first, *others = ROUNDS[name][n]
    trained = Trained(boost(examples, first), examples, first)
    values = {TRUE: mistakes(trained.vote, fresh) / FRESH}
    values |= by_holdout(examples, first) | by_counting(trained, fresh) | by_margins(trained)
    for rounds in others:
        other = by_counting(Trained(boost(examples, rounds), examples, rounds), fresh)
        if other[OCCAM] < values[OCCAM]:
            values[QUANTISED_ERROR] = other[QUANTISED_ERROR]
        values |= {key: min(values[key], other[key]) for key in (OCCAM, HYPER, VAPNIK)}
    return values


def notes_on(name: str, n: int) -> Figures:
    """Return one column of the notes."""
    place = COLUMNS.index((name, n))
    return {key: row[place] for key, row in NOTES.items()}


def compare(name: str, n: int, samples: list[Figures]) -> str:
    """Check whether the certificates come in the order of the notes."""
    notes = notes_on(name, n)
    bounds = [key for key in notes if key not in (TRUE, QUANTISED_ERROR)]
    pairs = [(a, b) for a, b in permutations(bounds, 2) if notes[a] < notes[b]]
    same = [pair for pair in pairs if in_order(*pair, samples)]
    reverse = [(a, b) for a, b in pairs if in_order(b, a, samples)]
    chance = [pair for pair in pairs if pair not in same and pair not in reverse]
    verdict = "NOT the same order" if reverse else "the same order"
    lines = [f"{name}, {n:,} rows: {verdict}, {len(same)} of {len(pairs)} pairs as in the notes"]
    lines += [f"  reversed: {a} / {b}" for a, b in reverse]
    lines += [f"  open: {a} / {b}" for a, b in chance]
    return "\n".join(lines)


def in_order(smaller: str, larger: str, samples: list[Figures]) -> bool:
    """Check whether one bound is clearly the smaller of two."""
    return float(np.mean([sample[smaller] < sample[larger] for sample in samples])) >= CLEAR


def show(console: Console, name: str, columns: dict[int, list[Figures]]) -> None:
    """Print our figures beside those of the notes."""
    table = Table(title=f"world {name}, delta = {DELTA}", title_justify="left")
    table.add_column("")
    for n, samples in columns.items():
        table.add_column(f"{n:,} rows,\n{len(samples)} samples", justify="right")
        table.add_column("notes", justify="right", style="dim")
    for key in NOTES:
        cells: list[str] = []
        for n, samples in columns.items():
            cells.append(_figure(float(np.median([sample[key] for sample in samples]))))
            cells.append(_figure(notes_on(name, n)[key]))
        table.add_row(key, *cells)
    console.print(table)
    for n, samples in columns.items():
        console.print(compare(name, n, samples), soft_wrap=True)


def _figure(value: float) -> str:
    return "1 (vacuous)" if value >= 1 else f"{value:.3g}" if value >= 0.1 else f"{value:.4f}"


def main(sizes: list[int]) -> None:
    """Print both worlds."""
    console, started = Console(), time.perf_counter()
    with using(None):
        for name, world in WORLDS.items():
            fresh = draw(world, FRESH, (0,))
            columns = {
                n: [figures(name, n, repeat, fresh) for repeat in range(REPEATS[n])] for n in sizes
            }
            show(console, name, columns)
    console.print(f"{time.perf_counter() - started:.0f} seconds")


if __name__ == "__main__":
    sample_sizes = [int(size) for size in sys.argv[1:]] or list(REPEATS)
    if not set(sample_sizes) <= set(REPEATS):
        sys.exit(f"sizes may be {', '.join(str(size) for size in REPEATS)}")
    main(sample_sizes)
