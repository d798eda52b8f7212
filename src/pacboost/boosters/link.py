"""How the scores of a model become predictions."""

from enum import StrEnum


class Link(StrEnum):
    """The function that scores are of predictions, in a regression."""

    NONE = ""
    """There are classes."""
    IDENTITY = "identity"
    LOG = "log"
    """Scores are logarithms of predictions."""
