"""The learner of word lists: it finds the best words there are, and theorems hold of its lists."""

from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from pacboost import BoostClassifier, TextBoostClassifier
from pacboost.boosters import AdaBoost, Gentle, Logit
from pacboost.boosters.booster import Booster
from pacboost.errors import ParameterError
from pacboost.hypotheses.word_list import WordList
from pacboost.kernels import team, threads
from pacboost.learners.learner import Search
from pacboost.learners.words import Words
from pacboost.samples.sample import Request, Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.sparse import WordTable, words_of
from pacboost.sources.values import Values
from pacboost.training.run import loop, scores
from tests.examples import examples
from tests.grids import each_value
from tests.training.run.prefixes import check_every_prefix, signs_of
from tests.word_samples import word_samples

MANY = examples(60)
LEARNERS = [Words(1, None), Words(1, None, abstain=False), Words(4, 3), Words(4, 3, abstain=False)]
BOOSTERS: list[Booster[Any]] = [
    AdaBoost(),
    AdaBoost(confidence_rated=True),
    AdaBoost(0.3, confidence_rated=True, smoothing=0.0),
    Gentle(0.5),
    Logit(0.3, l2=1.0, prior=True),
]


def found(search: Search, request: Request, chosen: Any = None) -> tuple[WordList, Any]:
    rule, cells = search.partition(request, 5, chosen)
    assert isinstance(rule, WordList)
    return rule, cells


@given(word_samples(), st.sampled_from(BOOSTERS), st.sampled_from(LEARNERS))
@MANY
def test_every_prefix(sample: Sample, booster: Booster[Any], learner: Words) -> None:
    check_every_prefix(loop.Run(sample, learner, booster, seed=3), 8)


@given(word_samples(several=True), st.sampled_from(BOOSTERS[:4]), st.sampled_from(LEARNERS))
@MANY
def test_every_prefix_with_several_labels(
    sample: Sample, booster: Booster[Any], learner: Words
) -> None:
    check_every_prefix(loop.Run(sample, learner, booster, seed=3), 8)


@given(word_samples(), st.booleans(), st.integers(0, 2**32 - 1))
@MANY
def test_the_single_word_is_the_one_whose_votes_leave_the_least_weight(
    sample: Sample, abstain: bool, seed: int
) -> None:
    """Z of the best votes, by the sums that the loop makes, is the least of all words."""
    weights = np.random.default_rng(seed).integers(1, 100, size=sample.signs.shape)
    total = int(weights.sum())
    request = Request(weights, sample.signs, total, total, "z")
    booster = AdaBoost(confidence_rated=True, smoothing=0.0)

    def normaliser(rule: WordList) -> float:
        sums, _ = scores.cell_sums(request, rule.cells(sample), len(rule.values))
        values = rule.allowed(booster.values(None, sums, None))  # type: ignore[arg-type]
        return scores.exponential_normaliser(sums, values)

    outputs = sample.signs.shape[1]
    every = [
        normaliser(WordList(np.array([word], np.int32), np.zeros((2, outputs)), abstain))
        for word in range(sample.table.n_columns)
    ]
    rule, _ = found(Words(1, None, abstain).on(sample), request)
    assert normaliser(rule) <= min(every) + 1e-9


@given(word_samples(), st.sampled_from(LEARNERS), st.booleans())
@MANY
def test_cells_are_those_of_the_list_for_all_rows(
    sample: Sample, learner: Words, some: bool
) -> None:
    request = Logit().request(Logit().init(sample.signs, sample.base))
    chosen = np.arange(0, sample.n_rows, 2) if some else None
    rule, cells = found(learner.on(sample), request, chosen)
    assert np.array_equal(cells, rule.cells(sample))
    assert rule.asked.size <= learner.length
    assert np.unique(rule.asked).size == rule.asked.size
    assert rule.abstains == learner.abstain


def test_rows_that_are_not_chosen_are_not_looked_at() -> None:
    presence = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    signs = np.array([[1], [1], [-1], [-1], [-1]], np.int8)
    sample = Sample(words_of(ArrayTable(presence)), signs)
    request = Request(np.ones((5, 1), np.int64), signs, 5, 5)
    search = Words(1, None).on(sample)
    assert found(search, request)[0].asked.tolist() == [1]
    assert found(search, request, np.array([0, 1, 2]))[0].asked.tolist() == [0]


class Closed(WordTable):
    """A table that must not be opened up."""

    def block(self, first: int, last: int) -> Values:
        raise AssertionError(f"columns {first} to {last} were made dense")


def test_nothing_is_made_dense() -> None:
    generator = np.random.default_rng(0)
    own = words_of(ArrayTable((generator.random((60, 200)) < 0.1).astype(float)))
    table = Closed(own.starts, own.words, own.n_columns)
    signs = np.where(generator.random((60, 1)) < 0.5, 1, -1).astype(np.int8)
    for learner in LEARNERS:
        run = loop.Run(Sample(table, signs), learner, Logit(prior=True, l2=1.0), seed=1)
        assert len(list(islice(run, 5))) == 5
        assert np.array_equal(run.vote().scores(table), run.vote().scores(own))


def test_a_rule_that_names_a_class_is_refused() -> None:
    labels = np.array([0, 1, 2])
    signs = np.where(np.eye(3)[labels] > 0, 1, -1).astype(np.int8)
    sample = Sample(words_of(ArrayTable(np.eye(3))), signs, labels=labels, answers=("a", "b", "c"))
    run = loop.Run(sample, Words(), AdaBoost(multiclass="m1"))
    with pytest.raises(ParameterError, match="multiclass='mh'"):
        next(iter(run))


@pytest.mark.parametrize(
    ("length", "candidates", "said"), [(0, 1, "length is 0"), (1, 0, "candidates is 0")]
)
def test_bad_parameters(length: int, candidates: int, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Words(length, candidates)


def coarse_request(generator: np.random.Generator, rows: int, penalty: float) -> Request:
    """Pulls and weights of very different sizes, many of them alike."""
    sizes = 2.0 ** generator.integers(0, 40, size=(rows, 1))
    weights = (sizes * generator.integers(0, 5, size=(rows, 17))).astype(np.int64)
    pulls = (sizes * generator.integers(-4, 5, size=(rows, 17))).astype(np.int64)
    total, size = int(weights.sum()), int(np.abs(pulls).sum())
    return Request(weights, pulls, total, size, "newton", penalty * total / rows)


@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([0.0, 0.01, 1.0]), st.booleans())
@MANY
def test_a_team_chooses_the_same_words(
    seed: int, abstain: bool, penalty: float, some: bool
) -> None:
    generator = np.random.default_rng(seed)
    presence = generator.random((80, 40)) < generator.random(40) ** 3
    presence[:, 1::4] = presence[:, ::4]  # so that words win the same
    labels = generator.integers(17, size=80)
    signs = np.where(np.eye(17)[labels] > 0, np.int8(1), np.int8(-1))
    sample = Sample(ArrayTable(presence.astype(float)), signs, labels=labels)
    chosen = np.flatnonzero(generator.random(80) < 0.5) if some else None
    for k, learner in enumerate([Words(12, 6, abstain)] * 2 + [Words(2, None, abstain)]):
        search = learner.on(sample)
        request = coarse_request(generator, 80, penalty)
        with pytest.MonkeyPatch.context() as patch, threads.using(3):
            patch.setattr(team, "cores", lambda: 32)
            patch.setattr(team, "MIN_CELLS_PER_MEMBER", 20)  # else a team would have one member
            ours, cells = search.partition(request, seed + k, chosen)
        with threads.using(1):
            theirs, other_cells = search.partition(request, seed + k, chosen)
        assert ours.asked.tolist() == theirs.asked.tolist()
        np.testing.assert_array_equal(cells, other_cells)


def test_the_product_alone_does_not_bound_the_error() -> None:
    """Eight labels that follow no word: Hamming loss is small, and most rows are wrong."""
    generator = np.random.default_rng(0)
    labels = generator.integers(8, size=60)
    table = words_of(ArrayTable((generator.random((60, 5)) < 0.5).astype(float)))
    sample = Sample(table, signs_of(labels, 8), labels=labels, answers=tuple("abcdefgh"))
    learner, booster = Words(1, None, abstain=False), AdaBoost(confidence_rated=True)
    run, product = loop.Run(sample, learner, booster, seed=3), 1.0
    for done in islice(run, 10):
        product *= done.entry.normaliser
        error = float(np.mean(run.scores().argmax(axis=1) != labels))
        assert product < error <= 4 * product


TEXTS = ["my card is lost", "card stolen", "top up by card", "top up", "what rate", "rate today"]
LABELS = ["lost", "lost", "top-up", "top-up", "rate", "rate"]


@each_value
@pytest.mark.parametrize("abstain", [True, False])
@pytest.mark.parametrize("real", [True, False])
def test_every_kind_of_rule_can_be_had(abstain: bool, real: bool) -> None:
    """A discrete rule says the same of all classes, for or against; a silent one nothing at all."""
    model = TextBoostClassifier(
        length=1,
        candidates=None,
        abstain=abstain,
        booster=AdaBoost(confidence_rated=real),
        n_estimators=5,
        random_state=0,
        times=None,
        beginning=None,
        prefixes=None,
    )
    model.fit(TEXTS * 4, LABELS * 4)
    sizes = []
    for rule in model.model_.vote.hypotheses:
        assert isinstance(rule, WordList)
        assert (not rule.values[-1].any()) == abstain
        sizes.append(np.unique(np.abs(rule.values[rule.values != 0])).size)
    assert (max(sizes) > 1) == real
    assert model.score(TEXTS, LABELS) > 0.5


@pytest.mark.parametrize("held", [np.asarray, sparse.csr_array])
def test_any_table_has_boostexters_rules(held: Any) -> None:
    """Texts, and a table with a column for each of their words, give the same vote."""
    model = TextBoostClassifier(length=1, candidates=None, booster="adaboost", learning_rate=1.0)
    model.set_params(n_estimators=8).fit(TEXTS, LABELS)
    table = held(model.features_.transform(TEXTS).rows())
    booster = AdaBoost(confidence_rated=True)
    same = BoostClassifier(booster, Words(1, None), n_estimators=8).fit(table, LABELS)
    assert np.array_equal(same.decision_function(table), model.decision_function(TEXTS))
