"""Weak learners: given weights on a sample, each finds a rule with an edge."""

import lazy_loader

from pacboost.numerics.interactive import uninterrupted

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = uninterrupted()(__getattr__)
