"""Give it a weak learner and examples, get back a strong classifier and a certificate.

Names are loaded when first used (PEP 562), so that ``import pacboost`` is light and bounds never
load the compiler.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "AdaBoostClassifier": "pacboost.estimators.boosting.adaboost",
    "BaggedBoost": "pacboost.theory.majorities",
    "BaggingClassifier": "pacboost.estimators.bagging.bagging",
    "BaggingRegressor": "pacboost.estimators.bagging.bagging",
    "BoostByMajority": "pacboost.theory.by_majority",
    "BoostClassifier": "pacboost.estimators.boosting.boost",
    "BoostRegressor": "pacboost.estimators.boosting.regressor",
    "ConfidenceBoost": "pacboost.theory.confidence",
    "ExtraTreesClassifier": "pacboost.estimators.forests.forests",
    "ExtraTreesRegressor": "pacboost.estimators.forests.forests",
    "FilterBoostClassifier": "pacboost.estimators.filtering.filter_boost",
    "load": "pacboost.estimators.files",
    "save": "pacboost.estimators.files",
    "Monitor": "pacboost.monitoring.monitor",
    "MajorityOfBoosters": "pacboost.theory.majorities",
    "RandomForestClassifier": "pacboost.estimators.forests.forests",
    "RandomForestRegressor": "pacboost.estimators.forests.forests",
    "RectangleClassifier": "pacboost.theory.single_rules",
    "StrongClassifier": "pacboost.estimators.strong.classifier",
    "SubsampledBoost": "pacboost.theory.majorities",
    "TextBoostClassifier": "pacboost.estimators.boosting.text",
    "ThreeLearnerBoost": "pacboost.theory.majorities",
    "ThreeWayBoost": "pacboost.theory.three_way",
    "VersionSpaceClassifier": "pacboost.theory.single_rules",
    "sets": "pacboost.estimators.decisions.sets",
    "intervals": "pacboost.estimators.decisions.intervals",
    "choose_threshold": "pacboost.estimators.decisions.choosing",
    "certify": "pacboost.questions.certify",
    "check_order": "pacboost.questions.row_order",
    "certify_answers": "pacboost.questions.selective",
    "compare": "pacboost.estimators.compare",
    "compare_models": "pacboost.questions.compare_models",
    "diagnose": "pacboost.questions.diagnose",
    "game": "pacboost.theory.games",
    "hard_core": "pacboost.theory.hardness",
    "pac": "pacboost.theory.pac_learning",
    "shatters": "pacboost.theory.pac_learning",
    "export": "pacboost.models.export.export",
    "inspect": "pacboost.models.file.inspect",
    "verify": "pacboost.questions.verify",
    "Adversary": "pacboost.theory.learners",
    "SklearnLearner": "pacboost.learners.sklearn",
    "Stump": "pacboost.learners.stump",
    "Tree": "pacboost.learners.tree",
    "Words": "pacboost.learners.words",
    "AdaBoost": "pacboost.boosters.adaboost",
    "AdaBoostV": "pacboost.boosters.maximal_margin",
    "ArcGV": "pacboost.boosters.maximal_margin",
    "Brown": "pacboost.boosters.brown",
    "CorrectiveERLP": "pacboost.boosters.soft_margin",
    "ERLP": "pacboost.boosters.soft_margin",
    "FilterBoost": "pacboost.boosters.filtering",
    "Gentle": "pacboost.boosters.newton",
    "GraphSeparation": "pacboost.boosters.graph_separation",
    "Logit": "pacboost.boosters.logit",
    "LP": "pacboost.boosters.soft_margin",
    "Mada": "pacboost.boosters.smooth",
    "Majority": "pacboost.boosters.majority",
    "Measure": "pacboost.boosters.filtering",
    "MLP": "pacboost.boosters.soft_margin",
    "Projection": "pacboost.boosters.projection",
    "Smooth": "pacboost.boosters.smooth",
    "Soft": "pacboost.boosters.soft_margin",
    "Total": "pacboost.boosters.soft_margin",
    "Certificate": "pacboost.bounds.certificate",
    "Family": "pacboost.bounds.family",
    "Ledger": "pacboost.ledgers.ledger",
    "PacboostError": "pacboost.errors",
}

__all__ = [*sorted(_HOMES), "__version__", "pictures", "plan"]  # noqa: PLE0604

if TYPE_CHECKING:
    from pacboost.boosters.adaboost import AdaBoost as AdaBoost
    from pacboost.boosters.brown import Brown as Brown
    from pacboost.boosters.filtering import FilterBoost as FilterBoost
    from pacboost.boosters.filtering import Measure as Measure
    from pacboost.boosters.graph_separation import GraphSeparation as GraphSeparation
    from pacboost.boosters.logit import Logit as Logit
    from pacboost.boosters.majority import Majority as Majority
    from pacboost.boosters.maximal_margin import AdaBoostV as AdaBoostV
    from pacboost.boosters.maximal_margin import ArcGV as ArcGV
    from pacboost.boosters.newton import Gentle as Gentle
    from pacboost.boosters.projection import Projection as Projection
    from pacboost.boosters.smooth import Mada as Mada
    from pacboost.boosters.smooth import Smooth as Smooth
    from pacboost.boosters.soft_margin import ERLP as ERLP
    from pacboost.boosters.soft_margin import LP as LP
    from pacboost.boosters.soft_margin import MLP as MLP
    from pacboost.boosters.soft_margin import CorrectiveERLP as CorrectiveERLP
    from pacboost.boosters.soft_margin import Soft as Soft
    from pacboost.boosters.soft_margin import Total as Total
    from pacboost.bounds.certificate import Certificate as Certificate
    from pacboost.bounds.family import Family as Family
    from pacboost.errors import PacboostError as PacboostError
    from pacboost.estimators.bagging.bagging import BaggingClassifier as BaggingClassifier
    from pacboost.estimators.bagging.bagging import BaggingRegressor as BaggingRegressor
    from pacboost.estimators.boosting.adaboost import AdaBoostClassifier as AdaBoostClassifier
    from pacboost.estimators.boosting.boost import BoostClassifier as BoostClassifier
    from pacboost.estimators.boosting.regressor import BoostRegressor as BoostRegressor
    from pacboost.estimators.boosting.text import TextBoostClassifier as TextBoostClassifier
    from pacboost.estimators.compare import compare as compare
    from pacboost.estimators.decisions.choosing import choose_threshold as choose_threshold
    from pacboost.estimators.decisions.intervals import intervals as intervals
    from pacboost.estimators.decisions.sets import sets as sets
    from pacboost.estimators.files import load as load
    from pacboost.estimators.files import save as save
    from pacboost.estimators.filtering.filter_boost import (
        FilterBoostClassifier as FilterBoostClassifier,
    )
    from pacboost.estimators.forests.forests import ExtraTreesClassifier as ExtraTreesClassifier
    from pacboost.estimators.forests.forests import ExtraTreesRegressor as ExtraTreesRegressor
    from pacboost.estimators.forests.forests import (
        RandomForestClassifier as RandomForestClassifier,
    )
    from pacboost.estimators.forests.forests import (
        RandomForestRegressor as RandomForestRegressor,
    )
    from pacboost.estimators.strong.classifier import StrongClassifier as StrongClassifier
    from pacboost.learners.sklearn import SklearnLearner as SklearnLearner
    from pacboost.learners.stump import Stump as Stump
    from pacboost.learners.tree import Tree as Tree
    from pacboost.learners.words import Words as Words
    from pacboost.ledgers.ledger import Ledger as Ledger
    from pacboost.models.export.export import export as export
    from pacboost.models.file.inspect import inspect as inspect
    from pacboost.monitoring.monitor import Monitor as Monitor
    from pacboost.questions.certify import certify as certify
    from pacboost.questions.compare_models import compare_models as compare_models
    from pacboost.questions.diagnose import diagnose as diagnose
    from pacboost.questions.row_order import check_order as check_order
    from pacboost.questions.selective import certify_answers as certify_answers
    from pacboost.questions.verify import verify as verify
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


_ROOMS = {"pictures": "pacboost.theory.pictures", "plan": "pacboost.theory.plan"}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(_ROOMS[name])
    if name not in _HOMES:
        raise AttributeError(f"module 'pacboost' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_ROOMS})
