"""Boosters: how rows are weighted and rules get votes.

A booster never sees features, a learner or a clock. Names are loaded when first used.
"""

import lazy_loader

from pacboost.numerics.interactive import uninterrupted

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = uninterrupted()(__getattr__)
