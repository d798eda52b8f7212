"""What the lectures teach beyond the product.

Worlds whose truth is known, weak learners, committees, single rules, bounds, plans and pictures;
docs/instruments.md lists them. Names are loaded when first used. Of the other rooms only the lab
and the command line import this one.
"""

import lazy_loader

from pacboost.numerics.interactive import uninterrupted

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = uninterrupted()(__getattr__)
