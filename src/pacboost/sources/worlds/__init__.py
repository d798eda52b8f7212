"""Worlds: where examples come from when the truth is to be known.

A world turns uniform numbers into a row and knows the row's true sign. Each row takes the same
number of uniforms, one row after the other, so a generator gives the same examples whatever the
sizes of the batches they are drawn in, and the same seed always gives the same draws.

The risk of a hypothesis is exact where a closed form or a finite domain allows it. Elsewhere it is
a Monte-Carlo estimate, and says so by a standard error above 0.
"""

from pacboost.sources.worlds.base import Predict, Risk, Rows, Seed, Signs, World
from pacboost.sources.worlds.cube import Boxes, Ends, Intervals, UnitCube
from pacboost.sources.worlds.finite import MOST_FEATURES, BooleanConcept, Finite, NoFreeLunch
from pacboost.sources.worlds.gaussian import Halfspaces, NoisyAdditive, hastie
from pacboost.sources.worlds.noise import LabelNoise
from pacboost.sources.worlds.uniform_only import UniformOnly

__all__ = [
    "MOST_FEATURES",
    "BooleanConcept",
    "Boxes",
    "Ends",
    "Finite",
    "Halfspaces",
    "Intervals",
    "LabelNoise",
    "NoFreeLunch",
    "NoisyAdditive",
    "Predict",
    "Risk",
    "Rows",
    "Seed",
    "Signs",
    "UniformOnly",
    "UnitCube",
    "World",
    "hastie",
]
