"""Finite classes of hypotheses that are searched whole: which fit all rows, which errs least.

The version space is the set of hypotheses without a mistake on the rows. A class has to be fixed
before the rows are seen: the bounds pay for its size, and for nothing else.
"""

from pacboost.learners.version_space.bands import DEFAULT_GRID, Band, Bands
from pacboost.learners.version_space.finite_class import FiniteClass, SearchResult
from pacboost.learners.version_space.listed import Listed
from pacboost.learners.version_space.literals import MOST_COUNTED, Conjunctions, Literals

__all__ = [
    "DEFAULT_GRID",
    "MOST_COUNTED",
    "Band",
    "Bands",
    "Conjunctions",
    "FiniteClass",
    "Listed",
    "Literals",
    "SearchResult",
]
