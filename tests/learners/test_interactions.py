"""Trees whose paths keep to sets of features that may interact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.errors import ParameterError
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels.runtime.threads import using
from pacboost.learners.tree import Tree
from pacboost.samples.sample import Sample
from tests.learners.test_sparse_growing import check, same
from tests.learners.test_sparse_growing import some_request as uneven_request
from tests.learners.test_tree import mixed_sample, some_request
from tests.sparse_samples import twin_samples

SETS = ([(0, 1), (2, 3, 5)], [(0, 1), (1, 2, 4)], [(4,)], "pairwise", "no_interactions")


def paths(rule: TreeRule) -> list[set[int]]:
    """Return the features asked for on the way to every leaf."""
    found: list[set[int]] = []

    def walk(node: int, asked: set[int]) -> None:
        if node < 0:
            found.append(asked)
            return
        asked = asked | {int(rule.feature[node])}
        walk(int(rule.left[node]), asked)
        walk(int(rule.right[node]), asked)

    walk(0 if rule.feature.size else -1, set())
    return found


def may_interact(asked: set[int], sets: Any, features: int) -> bool:
    """The definition: all in one set, where features without a set are a set together."""
    if isinstance(sets, str):
        return len(asked) <= {"no_interactions": 1, "pairwise": 2}[sets]
    rest = set(range(features)).difference(*sets)
    return any(asked <= set(own) for own in [*sets, rest])


def one_sample(seed: int, outputs: int = 1) -> tuple[np.random.Generator, Sample]:
    generator = np.random.default_rng(seed)
    return generator, mixed_sample(generator, 300, 4, [5, 3], 0.1, outputs)


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize("max_features", [None, 2, 0.6])
@pytest.mark.parametrize("outputs", [1, 2])
def test_every_path_stays_within_one_set(sets: Any, max_features: Any, outputs: int) -> None:
    generator, sample = one_sample(1, outputs)
    tree = Tree(24, min_leaf_rows=3, max_features=max_features, interactions=sets)
    search = tree.on(sample)
    for seed in range(4):  # room is used again
        rule = search.partition(some_request(generator, sample, "newton"), seed, None)[0]
        assert all(may_interact(asked, sets, 6) for asked in paths(rule))
    free = Tree(24, min_leaf_rows=3).on(sample)
    loose = free.partition(some_request(generator, sample, "newton"), 0, None)[0]
    assert not all(may_interact(asked, sets, 6) for asked in paths(loose))


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 4))
def test_random_sets_are_kept_to_and_are_used(seed: int, count: int) -> None:
    generator, sample = one_sample(seed)
    sets = [
        tuple(generator.choice(6, generator.integers(1, 5), replace=False).tolist())
        for _ in range(count)
    ]
    request = some_request(generator, sample, "newton")
    rule = Tree(16, min_leaf_rows=2, interactions=sets).on(sample).partition(request, 0, None)[0]
    assert all(may_interact(asked, sets, 6) for asked in paths(rule))
    free = Tree(16, min_leaf_rows=2).on(sample).partition(request, 0, None)[0]
    assert rule.feature[:1].tolist() == free.feature[:1].tolist()  # the root may ask for anything
    assert rule.cut[:1].tolist() == free.cut[:1].tolist()


def test_one_set_of_all_features_changes_nothing() -> None:
    generator, sample = one_sample(2)
    request = some_request(generator, sample, "newton")
    free = Tree(12).on(sample).partition(request, 3, None)[0]
    for sets in ([range(6)], [(0,), range(6)], []):
        tree = Tree(12, interactions=sets)
        assert same(tree.on(sample).partition(request, 3, None)[0], free)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize("max_features", [None, 0.6])
def test_sparse_trees_are_the_dense_ones(sets: Any, max_features: Any) -> None:
    for seed in range(6):
        generator = np.random.default_rng(seed)
        samples = twin_samples(generator, 120, 6)
        tree = Tree(12, min_leaf_rows=2, max_features=max_features, interactions=sets)
        rule = check(tree, samples, uneven_request(generator, samples[0], "newton"), seed=seed)
        assert all(may_interact(asked, sets, 6) for asked in paths(rule))


@pytest.mark.parametrize("sets", SETS)
def test_threads_change_no_tree(sets: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pacboost.learners.dense_growing.CELLS_WORTH_A_MEMBER", 1)
    monkeypatch.setattr("pacboost.learners.dense_growing.CELLS_WORTH_MANY", 0)
    monkeypatch.setattr("pacboost.kernels.runtime.team.cores", lambda: 3)
    generator, sample = one_sample(3)
    request = some_request(generator, sample, "newton")
    found = []
    for threads in (1, 2, 3):
        with using(threads):
            tree = Tree(24, min_leaf_rows=2, max_features=0.6, interactions=sets)
            found.append(tree.on(sample).partition(request, 5, None)[0])
    assert same(found[0], found[1])
    assert same(found[0], found[2])


def test_bad_sets_are_refused() -> None:
    sample = one_sample(4)[1]
    with pytest.raises(ParameterError, match=r"interactions names feature 6; .* are 0 to 5"):
        Tree(interactions=[(0, 6)]).on(sample)
    with pytest.raises(ParameterError, match="'pairs'; it may be no_interactions, pairwise"):
        Tree(interactions="pairs")
