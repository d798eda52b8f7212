"""The hardest rows: found without sorting all, counted rule by rule, for every kind of labels."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from pacboost import AdaBoostClassifier, BoostClassifier
from pacboost.boosters.registry import BOOSTERS
from pacboost.learners.tree import Tree
from pacboost.ledgers.ledger import MAX_HARD_ROWS
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.training.run.margins import lowest
from tests.grids import one_in
from tests.worlds import noisy

Rows = NDArray[np.float64]


def rows_and_signs(rows: int = 300, seed: int = 0) -> tuple[Rows, NDArray[np.int8]]:
    return noisy(rows, 4, seed)


@given(
    arrays(np.float64, st.integers(1, 60), elements=st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0])),
    st.integers(1, 70),
)
def test_the_lowest_are_those_of_a_stable_sort(values: Rows, count: int) -> None:
    expected = np.argsort(values, kind="stable")[:count]
    assert lowest(values, count).tolist() == expected.tolist()


def wrong_by_hand(model: Any, X: Rows, right: Any) -> Rows:
    """Ask every rule about every row, and add up the votes of those that are wrong."""
    sample = Sample(ArrayTable(X), np.empty((len(X), 0), dtype=np.int8), bins=model.model_.bins)
    against = np.zeros(len(X))
    for rule, vote in zip(model.model_.vote.hypotheses, model.votes_, strict=True):
        against += vote * ~right(rule.values[rule.cells(sample)])
    return np.asarray(against / model.votes_.sum())


def test_shares_of_wrong_rules_are_counted_by_hand() -> None:
    X, signs = rows_and_signs()
    model = AdaBoostClassifier(n_estimators=30).fit(X, signs)
    by_hand = wrong_by_hand(model, X, lambda said: said[:, 0] == signs)
    hard = model.ledger_.hard
    assert len(hard) == MAX_HARD_ROWS
    for entry in hard:
        assert entry.wrong == pytest.approx(by_hand[entry.row], abs=1e-12)
        assert entry.margin == pytest.approx(1 - 2 * by_hand[entry.row], abs=1e-12)
        assert entry.label == str(signs[entry.row])
    assert {entry.row for entry in hard} <= set(np.argsort(-by_hand, kind="stable")[:120])
    assert min(entry.wrong for entry in hard) >= np.sort(by_hand)[-MAX_HARD_ROWS] - 1e-12


def three_classes() -> tuple[Rows, NDArray[np.str_]]:
    X, signs = rows_and_signs(250, seed=3)
    return X, np.where(signs < 0, "low", np.where(X[:, 1] > 0.2, "high", "mid"))


def test_many_classes_named_by_rules_are_counted_by_hand() -> None:
    X, y = three_classes()
    model = AdaBoostClassifier(Tree(max_leaves=4), 12, multiclass="m1").fit(X, y)
    codes = np.searchsorted(model.classes_, y)
    by_hand = wrong_by_hand(model, X, lambda said: said.argmax(axis=1) == codes)
    margins = model.margins(X, y)
    for entry in model.ledger_.hard:
        assert entry.wrong == pytest.approx(by_hand[entry.row], abs=1e-12)
        assert entry.margin == pytest.approx(margins[entry.row], abs=1e-12)
        assert entry.label == y[entry.row]


def test_many_classes_by_pairs() -> None:
    X, y = three_classes()
    model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    margins, scores = model.margins(X, y), model.decision_function(X)
    total = sum(np.abs(rule.values).max() for rule in model.model_.vote.hypotheses)
    for entry in model.ledger_.hard:
        own = scores[entry.row, np.searchsorted(model.classes_, y[entry.row])]
        assert entry.wrong == pytest.approx((1 - own / total) / 2, abs=1e-12)
        assert entry.margin == margins[entry.row]
    assert model.ledger_.hard[0].margin == margins.min()


def test_several_labels_name_the_one_that_is_contradicted_most() -> None:
    X, _ = rows_and_signs(200)
    noise = np.random.default_rng(0).random((200, 2)) < 0.1
    Y = (np.column_stack([X[:, 0] > 0, X[:, 1] > X[:, 2]]) ^ noise).astype(int)
    model = AdaBoostClassifier(n_estimators=20).fit(X, Y)
    margins = model.margins(X, Y)
    assert margins.shape == (200, 2)
    for entry in model.ledger_.hard:
        worst = int(margins[entry.row].argmin())
        assert entry.margin == margins[entry.row, worst]
        assert entry.label == f"{'' if Y[entry.row, worst] else 'not '}{worst}"


@one_in(5)
@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("learner", ["stump", "tree"])
@pytest.mark.parametrize("stops_early", [False, True])
def test_the_ledger_agrees_with_the_final_vote_of_every_booster(
    booster: str, learner: str, stops_early: bool
) -> None:
    """Also where rounds were dropped, votes revised, or the vote made into something else."""
    X, signs = rows_and_signs(160)
    model = BoostClassifier(
        booster, learner, 12, early_stopping=3 if stops_early else False, random_state=0
    ).fit(X, signs)
    margins = model.margins(X, signs)
    hard = model.ledger_.hard
    assert [entry.margin for entry in hard] == pytest.approx(
        [margins[entry.row] for entry in hard], abs=1e-9
    )
    assert [entry.margin for entry in hard] == sorted(entry.margin for entry in hard)
    if not stops_early:
        assert hard[0].margin == pytest.approx(margins.min(), abs=1e-9)
        lasting = [number for number in range(160) if number not in {e.row for e in hard}]
        assert min(margins[lasting]) >= hard[-1].margin - 1e-9
