"""Worlds of Gaussian features: halfspaces, and sums of parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, ndtr, ndtri, owens_t

from pacboost.errors import ParameterError
from pacboost.numerics.same_bits import product, total
from pacboost.sources.worlds.base import Risk, Rows, Signs, World, check_noise, signs


@dataclass(frozen=True)
class Halfspaces(World):
    """Independent standard Gaussian features; +1 where weights·x + bias > 0.

    >>> Halfspaces((1.0, 0.0)).halfspace_risk((1.0, 1.0))
    0.25
    """

    weights: tuple[float, ...]
    bias: float = 0.0

    def __post_init__(self) -> None:
        _unit(self.weights)

    @property
    def features(self) -> int:  # type: ignore[override]
        """One per weight."""
        return len(self.weights)

    def points(self, uniforms: Rows) -> Rows:
        """Give Gaussian rows."""
        return _gaussian(uniforms)

    def truth(self, X: Rows) -> Signs:
        """Give +1 on the positive side."""
        return signs(np.array(product(X, np.array(self.weights)) + self.bias > 0))

    def halfspace_risk(self, weights: Sequence[float], bias: float = 0.0) -> Risk:
        """Give the exact risk of another halfspace.

        The two scores, scaled to variance 1, are Gaussian with correlation r and means h and k. The
        chance that their signs differ is angle/π for h = k = 0 and a sum of two values of Owen's
        T function otherwise (Owen 1956).
        """
        (w, w_length), (v, v_length) = _unit(self.weights), _unit(weights)
        h, k = self.bias / w_length, bias / v_length
        r = total(w * v)
        s = math.sqrt(total((v - r * w) ** 2))
        if s < 1e-12:  # parallel: two cuts of one Gaussian
            between = abs(float(ndtr(h) - ndtr(k if r > 0 else -k)))
            return Risk(between if r > 0 else 1 - between)
        if h == 0 and k == 0:
            return Risk(math.atan2(s, r) / math.pi)
        apart = h * k < 0 or (h * k == 0 and h + k < 0)
        return Risk(2 * (_owen(h, k, r, s) + _owen(k, h, r, s)) + apart)


@dataclass(frozen=True)
class NoisyAdditive(World):
    """Independent standard Gaussian features; +1 where Σ part_j(x_j) > cut; labels flipped.

    Only the Bayes risk, which is the noise, is known in closed form.
    """

    parts: tuple[Callable[[Rows], Rows], ...]
    cut: float = 0.0
    noise: float = 0.0

    def __post_init__(self) -> None:
        check_noise("noise", self.noise)

    @property
    def features(self) -> int:  # type: ignore[override]
        """One per part."""
        return len(self.parts)

    def points(self, uniforms: Rows) -> Rows:
        """Give Gaussian rows."""
        return _gaussian(uniforms)

    def truth(self, X: Rows) -> Signs:
        """Add up the parts."""
        score = sum(part(X[:, j]) for j, part in enumerate(self.parts))
        return signs(np.asarray(score > self.cut))


def hastie(features: int = 10, noise: float = 0.0) -> NoisyAdditive:
    """Make the chi-square problem: +1 where Σ x_j² exceeds its median (Hastie et al. 2009, 10.1).

    >>> round(hastie().cut, 4)
    9.3418
    """
    return NoisyAdditive((np.square,) * features, float(chdtri(features, 0.5)), noise)


def _gaussian(uniforms: Rows) -> Rows:
    # A uniform number may be 0, whose quantile is infinite.
    return np.asarray(ndtri(np.maximum(uniforms, 2.0**-54)), dtype=np.float64)


def _unit(weights: Sequence[float]) -> tuple[Rows, float]:
    vector = np.asarray(weights, dtype=np.float64)
    length = math.sqrt(total(vector**2))
    if not 0 < length < math.inf:
        raise ParameterError(f"weights are {tuple(weights)}; they must be finite and not all 0")
    return vector / length, length


def _owen(h: float, k: float, r: float, s: float) -> float:
    slope = math.copysign(math.inf, k) if h == 0 else (k / h - r) / s
    return float(owens_t(h, slope))
