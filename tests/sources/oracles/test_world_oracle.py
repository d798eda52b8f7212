"""Draws from worlds."""

from __future__ import annotations

import numpy as np

from pacboost.theory.sampling import WorldOracle
from pacboost.theory.worlds import LabelNoise, hastie

WORLD = LabelNoise(hastie(4), 0.1)


def drawn(*sizes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    oracle = WorldOracle(WORLD, seed)
    parts = [oracle.draw(n) for n in sizes]
    assert [part.n_rows for part in parts] == list(sizes)
    assert all(part.lap == 0 for part in parts)
    return (
        np.concatenate([part.table.rows() for part in parts]),
        np.concatenate([part.labels for part in parts]),
        np.concatenate([part.rows for part in parts]),
    )


def test_rows_do_not_depend_on_the_size() -> None:
    together = drawn(10_000)
    for sizes in [(4096, 4096, 1808), (1, 9999), (5000, 3, 4997), (100,) * 100]:
        for part, whole in zip(drawn(*sizes), together, strict=True):
            np.testing.assert_array_equal(part, whole)
    assert together[2].tolist() == list(range(10_000))
    assert len(np.unique(together[0], axis=0)) == 10_000
    assert not np.array_equal(drawn(10)[0], drawn(10, seed=1)[0])


def test_labels_are_those_of_the_world() -> None:
    X, y, _ = drawn(20_000)
    assert abs((WORLD.truth(X) != y).mean() - 0.1) < 0.01


def test_it_goes_on() -> None:
    oracle = WorldOracle(WORLD)
    oracle.draw(4500)
    other = WorldOracle(WORLD)
    other.seek(oracle.position())
    assert np.array_equal(other.draw(5000).table.rows(), oracle.draw(5000).table.rows())
