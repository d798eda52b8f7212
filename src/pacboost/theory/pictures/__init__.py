"""The pictures of the lectures, each drawn by one call.

Functions draw on a new figure, or on ``ax`` where they take it, and give the axes;
``axes.figure.savefig("picture.png")`` writes the file.
"""

from .boosting import duel, elevator, generalises, losses, out_of_bag, ramp, toy
from .learning import consistent, cycling, rectangle, regions, true_error, version_space

__all__ = [
    "consistent", "cycling", "duel", "elevator", "generalises", "losses", "out_of_bag", "ramp",
    "rectangle", "regions", "toy", "true_error", "version_space",
]  # fmt: skip
