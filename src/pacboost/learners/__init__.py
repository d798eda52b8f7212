"""Weak learners: each finds a rule that is better than chance on a weighted sample."""

import lazy_loader

from pacboost.numerics.interactive import uninterrupted

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = uninterrupted()(__getattr__)
