"""Points in the plane: shares, noise, and shapes that are what they are called."""

from __future__ import annotations

import numpy as np
import pytest

from pacboost.errors import ParameterError
from pacboost.sources.oracles.choose import as_oracle
from pacboost.theory.sampling import SHAPES, Plane


@pytest.mark.parametrize("shape", SHAPES)
def test_shares_and_noise_are_those_asked_for(shape: str) -> None:
    X, y, flipped = Plane(shape, noise=0.2, share=0.3).draw_marked(20_000, seed=1)
    assert X.shape == (20_000, 2)
    assert flipped.mean() == pytest.approx(0.2, abs=0.015)
    clean = np.where(flipped, -y, y)
    assert (clean > 0).mean() == pytest.approx(0.3, abs=0.015)
    repeated, labels = Plane(shape, noise=0.2, share=0.3).draw(20_000, seed=1)
    np.testing.assert_array_equal(repeated, X)
    np.testing.assert_array_equal(labels, y)


def test_without_spread_points_lie_on_their_shapes() -> None:
    X, y = Plane("xor", spread=0.0).draw(500, seed=0)
    assert (np.sign(X[:, 0] * X[:, 1]) == y).all()
    X, y = Plane("rings", spread=0.0).draw(500, seed=0)
    assert ((np.hypot(*X.T) < 0.65) == (y > 0)).all()
    X, y = Plane("stripes", spread=0.0).draw(500, seed=0)
    assert (np.floor((X[:, 0] + 1) * 3) % 2 == (y < 0)).all()
    X, y = Plane("gaussians", spread=0.0).draw(50, seed=0)
    assert (X[:, 0] == 0.7 * y).all()
    X, y = Plane("moons", spread=0.0).draw(500, seed=0)
    assert np.allclose(np.hypot(X[y > 0, 0], X[y > 0, 1]), 1)


def test_batches_may_be_drawn_without_end() -> None:
    oracle = as_oracle(Plane("moons"), seed=3)
    assert oracle.draw(5000).n_rows == 5000


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"shape": "heart"}, "it may be xor"),
        ({"shape": "xor", "noise": 0.6}, "0 to 1/2"),
        ({"shape": "xor", "share": 1.0}, "between 0 and 1"),
        ({"shape": "xor", "spread": -1.0}, "0 to 10"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, float], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Plane(**given)  # type: ignore[arg-type]
