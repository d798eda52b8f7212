"""The pictures of the lectures, each drawn by one call.

Functions draw on a new figure, or on ``ax`` where they take it, and give the axes;
``axes.figure.savefig("picture.png")`` writes the file.
"""

from pacboost.pictures.boxes import rectangle
from pacboost.pictures.counter_examples import cycling, label_noise, long_servedio
from pacboost.pictures.duel import duel
from pacboost.pictures.elevator import elevator
from pacboost.pictures.examples_needed import true_error, version_space
from pacboost.pictures.functions import losses, ramp
from pacboost.pictures.generalising import generalises
from pacboost.pictures.regions import regions
from pacboost.pictures.toy import toy
from pacboost.pictures.trees import out_of_bag

__all__ = [
    "cycling",
    "duel",
    "elevator",
    "generalises",
    "label_noise",
    "long_servedio",
    "losses",
    "out_of_bag",
    "ramp",
    "rectangle",
    "regions",
    "toy",
    "true_error",
    "version_space",
]
