"""What the lectures teach beyond the product.

Worlds whose truth is known, committees, single rules, version spaces, games, hard cores, plans and
pictures. Names are loaded when first used. Of the other rooms only the lab and the command line
import this one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Adversary": "learners",
    "BaggedBoost": "majorities",
    "BoostByMajority": "by_majority",
    "ConfidenceBoost": "confidence",
    "MajorityOfBoosters": "majorities",
    "RectangleClassifier": "single_rules",
    "SubsampledBoost": "majorities",
    "ThreeLearnerBoost": "majorities",
    "ThreeWayBoost": "three_way",
    "VersionSpaceClassifier": "single_rules",
    "game": "games",
    "hard_core": "hardness",
    "pac": "pac_learning",
    "shatters": "pac_learning",
}

__all__ = [*sorted(_HOMES), "pictures", "plan"]  # noqa: PLE0604

if TYPE_CHECKING:
    from pacboost.theory import pictures as pictures
    from pacboost.theory import plan as plan
    from pacboost.theory.by_majority import BoostByMajority as BoostByMajority
    from pacboost.theory.confidence import ConfidenceBoost as ConfidenceBoost
    from pacboost.theory.games import game as game
    from pacboost.theory.hardness import hard_core as hard_core
    from pacboost.theory.learners import Adversary as Adversary
    from pacboost.theory.majorities import BaggedBoost as BaggedBoost
    from pacboost.theory.majorities import MajorityOfBoosters as MajorityOfBoosters
    from pacboost.theory.majorities import SubsampledBoost as SubsampledBoost
    from pacboost.theory.majorities import ThreeLearnerBoost as ThreeLearnerBoost
    from pacboost.theory.pac_learning import pac as pac
    from pacboost.theory.pac_learning import shatters as shatters
    from pacboost.theory.single_rules import RectangleClassifier as RectangleClassifier
    from pacboost.theory.single_rules import VersionSpaceClassifier as VersionSpaceClassifier
    from pacboost.theory.three_way import ThreeWayBoost as ThreeWayBoost


def __getattr__(name: str) -> Any:
    if name in ("pictures", "plan"):
        return import_module(f"pacboost.theory.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'pacboost.theory' has no attribute {name!r}")
    return getattr(import_module(f"pacboost.theory.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
