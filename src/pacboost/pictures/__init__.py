"""The pictures of the lectures, each drawn by one call.

Functions draw on a new figure, or on ``ax`` where they take it, and give the axes; ``save`` of a
figure is matplotlib's: ``axes.figure.savefig("picture.png")``.
"""

from pacboost.pictures.regions import regions
from pacboost.pictures.toy import toy

__all__ = ["regions", "toy"]
