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
    "BaggedBoost": "pacboost.estimators.committees.majorities",
    "BaggingClassifier": "pacboost.estimators.bagging.classifier",
    "BaggingRegressor": "pacboost.estimators.bagging.regressor",
    "BoostByMajority": "pacboost.estimators.boosting.by_majority",
    "BoostClassifier": "pacboost.estimators.boosting.boost",
    "BoostRegressor": "pacboost.estimators.boosting.regressor",
    "ConfidenceBoost": "pacboost.estimators.committees.confidence",
    "ExtraTreesClassifier": "pacboost.estimators.forests.forests",
    "ExtraTreesRegressor": "pacboost.estimators.forests.forests",
    "FilterBoostClassifier": "pacboost.estimators.boosting.filtering.filter_boost",
    "load": "pacboost.estimators.files",
    "save": "pacboost.estimators.files",
    "Monitor": "pacboost.monitoring.monitor",
    "MajorityOfBoosters": "pacboost.estimators.committees.majorities",
    "RandomForestClassifier": "pacboost.estimators.forests.forests",
    "RandomForestRegressor": "pacboost.estimators.forests.forests",
    "RectangleClassifier": "pacboost.estimators.single_rules.rectangle",
    "StrongClassifier": "pacboost.estimators.strong.classifier",
    "SubsampledBoost": "pacboost.estimators.committees.majorities",
    "TextBoostClassifier": "pacboost.estimators.boosting.text",
    "ThreeLearnerBoost": "pacboost.estimators.committees.three_learners",
    "ThreeWayBoost": "pacboost.estimators.committees.three_way",
    "VersionSpaceClassifier": "pacboost.estimators.single_rules.version_space",
    "sets": "pacboost.estimators.fitted.decisions.sets",
    "intervals": "pacboost.estimators.fitted.decisions.intervals",
    "choose_threshold": "pacboost.estimators.fitted.decisions.choosing",
    "certify": "pacboost.questions.certify",
    "check_order": "pacboost.questions.row_order",
    "certify_answers": "pacboost.questions.selective",
    "compare": "pacboost.estimators.compare",
    "compare_models": "pacboost.questions.compare_models",
    "diagnose": "pacboost.questions.diagnose",
    "game": "pacboost.questions.game",
    "hard_core": "pacboost.questions.hard_core",
    "pac": "pacboost.questions.pac",
    "shatters": "pacboost.questions.shatters",
    "export": "pacboost.models.export.export",
    "inspect": "pacboost.models.file.inspect",
    "verify": "pacboost.questions.verify",
    "Adversary": "pacboost.learners.adversary",
    "SklearnLearner": "pacboost.learners.sklearn",
    "Stump": "pacboost.learners.stump",
    "Tree": "pacboost.learners.tree",
    "Words": "pacboost.learners.words",
    "AdaBoost": "pacboost.boosters.adaboost",
    "AdaBoostV": "pacboost.boosters.adaboost_v",
    "ArcGV": "pacboost.boosters.arc_gv",
    "Brown": "pacboost.boosters.brown",
    "CorrectiveERLP": "pacboost.boosters.corrective_erlp",
    "ERLP": "pacboost.boosters.erlp",
    "FilterBoost": "pacboost.boosters.filter_boost",
    "Gentle": "pacboost.boosters.gentle",
    "GraphSeparation": "pacboost.boosters.graph_separation",
    "Logit": "pacboost.boosters.logit",
    "LP": "pacboost.boosters.lp",
    "Mada": "pacboost.boosters.mada",
    "Majority": "pacboost.boosters.majority",
    "Measure": "pacboost.boosters.measure",
    "MLP": "pacboost.boosters.mlp",
    "Projection": "pacboost.boosters.projection",
    "Smooth": "pacboost.boosters.smooth",
    "Soft": "pacboost.boosters.soft",
    "Total": "pacboost.boosters.total",
    "Certificate": "pacboost.bounds.certificate",
    "Family": "pacboost.bounds.family",
    "Ledger": "pacboost.ledgers.ledger",
    "PacboostError": "pacboost.errors",
}

__all__ = [*sorted(_HOMES), "__version__", "pictures", "plan"]  # noqa: PLE0604

if TYPE_CHECKING:
    from pacboost import pictures as pictures
    from pacboost.boosters.adaboost import AdaBoost as AdaBoost
    from pacboost.boosters.adaboost_v import AdaBoostV as AdaBoostV
    from pacboost.boosters.arc_gv import ArcGV as ArcGV
    from pacboost.boosters.brown import Brown as Brown
    from pacboost.boosters.corrective_erlp import CorrectiveERLP as CorrectiveERLP
    from pacboost.boosters.erlp import ERLP as ERLP
    from pacboost.boosters.filter_boost import FilterBoost as FilterBoost
    from pacboost.boosters.gentle import Gentle as Gentle
    from pacboost.boosters.graph_separation import GraphSeparation as GraphSeparation
    from pacboost.boosters.logit import Logit as Logit
    from pacboost.boosters.lp import LP as LP
    from pacboost.boosters.mada import Mada as Mada
    from pacboost.boosters.majority import Majority as Majority
    from pacboost.boosters.measure import Measure as Measure
    from pacboost.boosters.mlp import MLP as MLP
    from pacboost.boosters.projection import Projection as Projection
    from pacboost.boosters.smooth import Smooth as Smooth
    from pacboost.boosters.soft import Soft as Soft
    from pacboost.boosters.total import Total as Total
    from pacboost.bounds.certificate import Certificate as Certificate
    from pacboost.bounds.family import Family as Family
    from pacboost.errors import PacboostError as PacboostError
    from pacboost.estimators.bagging.classifier import BaggingClassifier as BaggingClassifier
    from pacboost.estimators.bagging.regressor import BaggingRegressor as BaggingRegressor
    from pacboost.estimators.boosting.adaboost import AdaBoostClassifier as AdaBoostClassifier
    from pacboost.estimators.boosting.boost import BoostClassifier as BoostClassifier
    from pacboost.estimators.boosting.by_majority import BoostByMajority as BoostByMajority
    from pacboost.estimators.boosting.filtering.filter_boost import (
        FilterBoostClassifier as FilterBoostClassifier,
    )
    from pacboost.estimators.boosting.regressor import BoostRegressor as BoostRegressor
    from pacboost.estimators.boosting.text import TextBoostClassifier as TextBoostClassifier
    from pacboost.estimators.committees.confidence import ConfidenceBoost as ConfidenceBoost
    from pacboost.estimators.committees.majorities import BaggedBoost as BaggedBoost
    from pacboost.estimators.committees.majorities import (
        MajorityOfBoosters as MajorityOfBoosters,
    )
    from pacboost.estimators.committees.majorities import SubsampledBoost as SubsampledBoost
    from pacboost.estimators.committees.three_learners import ThreeLearnerBoost as ThreeLearnerBoost
    from pacboost.estimators.committees.three_way import ThreeWayBoost as ThreeWayBoost
    from pacboost.estimators.compare import compare as compare
    from pacboost.estimators.files import load as load
    from pacboost.estimators.files import save as save
    from pacboost.estimators.fitted.decisions.choosing import choose_threshold as choose_threshold
    from pacboost.estimators.fitted.decisions.intervals import intervals as intervals
    from pacboost.estimators.fitted.decisions.sets import sets as sets
    from pacboost.estimators.forests.forests import ExtraTreesClassifier as ExtraTreesClassifier
    from pacboost.estimators.forests.forests import ExtraTreesRegressor as ExtraTreesRegressor
    from pacboost.estimators.forests.forests import (
        RandomForestClassifier as RandomForestClassifier,
    )
    from pacboost.estimators.forests.forests import (
        RandomForestRegressor as RandomForestRegressor,
    )
    from pacboost.estimators.single_rules.rectangle import (
        RectangleClassifier as RectangleClassifier,
    )
    from pacboost.estimators.single_rules.version_space import (
        VersionSpaceClassifier as VersionSpaceClassifier,
    )
    from pacboost.estimators.strong.classifier import StrongClassifier as StrongClassifier
    from pacboost.learners.adversary import Adversary as Adversary
    from pacboost.learners.sklearn import SklearnLearner as SklearnLearner
    from pacboost.learners.stump import Stump as Stump
    from pacboost.learners.tree import Tree as Tree
    from pacboost.learners.words import Words as Words
    from pacboost.ledgers.ledger import Ledger as Ledger
    from pacboost.models.export.export import export as export
    from pacboost.models.file.inspect import inspect as inspect
    from pacboost.monitoring.monitor import Monitor as Monitor
    from pacboost.questions import plan as plan
    from pacboost.questions.certify import certify as certify
    from pacboost.questions.compare_models import compare_models as compare_models
    from pacboost.questions.diagnose import diagnose as diagnose
    from pacboost.questions.game import game as game
    from pacboost.questions.hard_core import hard_core as hard_core
    from pacboost.questions.pac import pac as pac
    from pacboost.questions.row_order import check_order as check_order
    from pacboost.questions.selective import certify_answers as certify_answers
    from pacboost.questions.shatters import shatters as shatters
    from pacboost.questions.verify import verify as verify


_ROOMS = {"pictures": "pacboost.pictures", "plan": "pacboost.questions.plan"}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(_ROOMS[name])
    if name not in _HOMES:
        raise AttributeError(f"module 'pacboost' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_ROOMS})
