"""Weak learners: given weights on a sample, each finds a rule with an edge."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
