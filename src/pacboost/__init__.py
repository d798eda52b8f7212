"""Boosting with certificates: weak learners and examples in, a certified classifier out.

Names are loaded when first used (PEP 562), so that ``import pacboost`` is light and bounds never
load the compiler.
"""

import lazy_loader

from pacboost.numerics.interactive import uninterrupted

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = uninterrupted()(__getattr__)
