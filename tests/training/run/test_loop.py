"""The loop: who is asked what, and how a run ends."""

import re
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

import numpy as np
import pytest

from pacboost.boosters.adaboost import AdaBoost
from pacboost.hypotheses.function import Recorded
from pacboost.hypotheses.hypothesis import Rule
from pacboost.learners.learner import Learner, Search, Weights
from pacboost.learners.stump import Stump
from pacboost.samples.sample import Sample, Signs
from pacboost.training.run.loop import Run
from pacboost.training.run.rounds import RETRIES
from pacboost.training.run.stop_reason import SENTENCES, Stop, StopReason, sentence_of
from tests.worlds import make_sample, noisy


class Scripted(Learner, Search):
    """Answers written down beforehand, and the calls it got."""

    def __init__(self, answers: list[np.ndarray]) -> None:
        self.script = answers
        self.seeds: list[int] = []
        self.shown: list[np.ndarray] = []

    def on(self, sample: Sample) -> "Scripted":
        return self

    def find(self, weights: Weights, signs: Signs, seed: int) -> Recorded:
        answers = self.script[min(len(self.seeds), len(self.script) - 1)]
        self.seeds.append(seed)
        self.shown.append(weights.copy())
        return Recorded(answers.astype(np.int8), "scripted")


def four_rows() -> tuple[Sample, np.ndarray]:
    signs = np.array([1, 1, -1, -1], dtype=np.int8)
    return make_sample(np.arange(4.0)[:, None], signs), signs


def test_a_learner_without_an_edge_is_asked_again_then_the_run_stops() -> None:
    sample, signs = four_rows()
    useless = signs * np.array([1, 1, -1, -1])
    learner = Scripted([useless])
    run = Run(sample, learner, AdaBoost())
    assert list(run) == []
    assert run.stopped == StopReason(Stop.NO_EDGE)
    assert len(learner.seeds) == RETRIES
    assert len(set(learner.seeds)) == RETRIES


def test_a_deterministic_learner_without_an_edge_is_asked_once() -> None:
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    run = Run(make_sample(X, np.array([1, -1, -1, 1], dtype=np.int8)), Stump(), AdaBoost())
    assert list(run) == []
    assert run.stopped == StopReason(Stop.NO_EDGE)


def test_a_retry_that_finds_an_edge_goes_on() -> None:
    sample, signs = four_rows()
    useless = signs * np.array([1, 1, -1, -1])
    good = signs * np.array([1, 1, 1, -1])
    run = Run(sample, Scripted([useless, good]), AdaBoost())
    done = next(iter(run))
    assert done.entry.error == pytest.approx(0.25, abs=1e-12)


def test_an_error_above_a_half_turns_the_rule_round() -> None:
    sample, signs = four_rows()
    run = Run(sample, Scripted([signs * np.array([-1, -1, -1, 1])]), AdaBoost())
    done = next(iter(run))
    assert done.entry.error == pytest.approx(0.25, abs=1e-12)
    assert done.entry.vote > 0
    assert isinstance(done.hypothesis, Rule)
    assert (done.hypothesis.answers(sample) * signs).tolist() == [1, 1, 1, -1]


def test_a_rule_without_mistakes_stands_alone() -> None:
    sample, signs = four_rows()
    first = signs * np.array([1, 1, 1, -1])
    run = Run(sample, Scripted([first, first * np.array([-1, 1, 1, 1]), signs]), AdaBoost())
    list(islice(run, 10))
    assert run.stopped == StopReason(Stop.STANDS_ALONE)
    assert len(run.done) == 1
    entry = run.done[0].entry
    assert (entry.number, entry.error, entry.edge, entry.training_error) == (1, 0, 1, 0)
    assert entry.normaliser == pytest.approx(np.exp(-entry.vote))


def test_resampling_shows_the_learner_a_draw_but_measures_on_everything() -> None:
    X, signs = noisy(300, 3, seed=1)
    sample = make_sample(X, signs)
    learner = Scripted([signs * np.where(np.arange(300) % 3 == 0, -1, 1)])
    run = Run(sample, learner, AdaBoost(), resample=120)
    done = next(iter(run))
    assert learner.shown[0].sum() == 120
    assert done.entry.error == pytest.approx(1 / 3, abs=1e-12)


def test_resampled_stumps_satisfy_the_theorem_and_differ_from_reweighted_ones() -> None:
    runs = [
        Run(make_sample(*noisy(300, 3, seed=1)), Stump(), AdaBoost(), resample=n) for n in (0, 300)
    ]
    plain, drawn = ([d.entry for d in islice(run, 15)] for run in runs)
    assert [e.error for e in plain] != [e.error for e in drawn]
    product = np.cumprod([e.normaliser for e in drawn])
    assert all(e.training_error <= z + 1e-9 for e, z in zip(drawn, product, strict=True))


def test_the_draw_follows_the_weights() -> None:
    """Chi-square of drawn rows against D_1 with unequal base weights."""
    from scipy.stats import chisquare

    base = np.arange(1.0, 21.0)
    signs = np.where(np.arange(20) % 2 == 0, 1, -1).astype(np.int8)
    learner = Scripted([signs * np.where(np.arange(20) == 3, -1, 1)])
    run = Run(
        make_sample(np.arange(20.0)[:, None], signs, base), learner, AdaBoost(), resample=50_000
    )
    next(iter(run))
    expected = 50_000 * base / base.sum()
    assert chisquare(learner.shown[0], expected).pvalue > 1e-4


def test_an_unknown_potential_is_defined_by_the_costs_of_the_booster() -> None:
    """The run checks that the costs bound the error, and records their mean."""

    @dataclass(frozen=True)
    class Squared(AdaBoost):
        potential: ClassVar[str] = "squared distance to 1"
        least: float = 1.0

        def costs(self, margins: np.ndarray, rounds: int) -> np.ndarray:
            return np.asarray(self.least * np.square(np.minimum(margins - 1, 0)))

    X, signs = noisy(200, 3, seed=5)
    run = Run(make_sample(X, signs), Stump(), Squared())
    product = 1.0
    for done in islice(run, 5):
        product *= done.entry.normaliser
        expected = np.square(np.minimum(run.margins - 1, 0)).mean()
        assert done.entry.training_error <= product == pytest.approx(expected)
    with pytest.raises(ArithmeticError, match="costs bound nothing"):
        list(islice(Run(make_sample(X, signs), Stump(), Squared(least=0.5)), 5))


# Reasons to stop are values; each kind has one sentence.


@pytest.mark.parametrize("kind", Stop)
def test_every_kind_has_a_sentence(kind: Stop) -> None:
    names = re.findall(r"\{(\w+)", SENTENCES[kind])
    reason = StopReason(kind, dict.fromkeys(names, 0.25))
    assert sentence_of(reason)


def test_a_run_that_goes_on_has_no_sentence() -> None:
    assert sentence_of(None) == ""


def test_rounds_kept_and_a_refit_are_part_of_the_reason() -> None:
    plain = StopReason(Stop.ALL_ROUNDS, {"rounds": 9})
    assert plain == StopReason(Stop.ALL_ROUNDS, {"rounds": 9})
    kept = StopReason(Stop.ALL_ROUNDS, {"rounds": 9}, kept=4)
    refitted = StopReason(Stop.ALL_ROUNDS, {"rounds": 9}, best_round=4)
    assert len({str(plain), str(kept), str(refitted)}) == 3
    assert kept.kind is refitted.kind is Stop.ALL_ROUNDS
