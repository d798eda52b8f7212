"""Boosting with certificates: weak learners and examples in, a certified classifier out.

Names are loaded when first used (PEP 562), so that ``import pacboost`` is light and bounds never
load the kernels.
"""

from importlib import import_module

import lazy_loader

from pacboost.numerics.interactive import uninterrupted

__version__ = "0.1.0"
_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


@uninterrupted()
def __getattr__(name: str) -> object:
    """Load a name; if another room has it, say where it is."""
    try:
        return _load(name)
    except AttributeError as problem:
        for room in ("theory", "boosters", "learners"):
            if name in import_module(f"pacboost.{room}").__all__:
                text = f"module 'pacboost' has no attribute {name!r}: it is pacboost.{room}.{name}"
                raise AttributeError(text) from problem
        raise
