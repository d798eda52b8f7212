"""Give it a weak learner and examples, get back a strong classifier and a certificate.

Names are loaded when first used (PEP 562), so that ``import pacboost`` is light and bounds never
load the compiler.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "AdaBoostClassifier": "pacboost.estimators.adaboost",
    "BoostClassifier": "pacboost.estimators.boost",
    "BoostRegressor": "pacboost.estimators.regressor",
    "ConfidenceBoost": "pacboost.estimators.confidence",
    "FilterBoostClassifier": "pacboost.estimators.filter_boost",
    "RectangleClassifier": "pacboost.estimators.rectangle",
    "VersionSpaceClassifier": "pacboost.estimators.version_space",
    "load": "pacboost.estimators.load",
    "certify": "pacboost.questions.certify",
    "diagnose": "pacboost.questions.diagnose",
    "verify": "pacboost.questions.verify",
    "Stump": "pacboost.learners.stump",
    "Tree": "pacboost.learners.tree",
    "AdaBoost": "pacboost.boosters.adaboost",
    "FilterBoost": "pacboost.boosters.filter_boost",
    "Gentle": "pacboost.boosters.gentle",
    "Logit": "pacboost.boosters.logit",
    "Mada": "pacboost.boosters.mada",
    "Measure": "pacboost.boosters.measure",
    "Projection": "pacboost.boosters.projection",
    "Smooth": "pacboost.boosters.smooth",
    "SklearnLearner": "pacboost.learners.sklearn",
    "Adversary": "pacboost.learners.adversary",
    "Certificate": "pacboost.bounds.certificate",
    "Ledger": "pacboost.ledgers.ledger",
    "PacboostError": "pacboost.errors",
}

__all__ = [*sorted(_HOMES), "__version__", "plan"]  # noqa: PLE0604

if TYPE_CHECKING:
    from pacboost.boosters.adaboost import AdaBoost as AdaBoost
    from pacboost.boosters.filter_boost import FilterBoost as FilterBoost
    from pacboost.boosters.gentle import Gentle as Gentle
    from pacboost.boosters.logit import Logit as Logit
    from pacboost.boosters.mada import Mada as Mada
    from pacboost.boosters.measure import Measure as Measure
    from pacboost.boosters.projection import Projection as Projection
    from pacboost.boosters.smooth import Smooth as Smooth
    from pacboost.bounds.certificate import Certificate as Certificate
    from pacboost.errors import PacboostError as PacboostError
    from pacboost.estimators.adaboost import AdaBoostClassifier as AdaBoostClassifier
    from pacboost.estimators.boost import BoostClassifier as BoostClassifier
    from pacboost.estimators.confidence import ConfidenceBoost as ConfidenceBoost
    from pacboost.estimators.filter_boost import FilterBoostClassifier as FilterBoostClassifier
    from pacboost.estimators.load import load as load
    from pacboost.estimators.rectangle import RectangleClassifier as RectangleClassifier
    from pacboost.estimators.regressor import BoostRegressor as BoostRegressor
    from pacboost.estimators.version_space import VersionSpaceClassifier as VersionSpaceClassifier
    from pacboost.learners.adversary import Adversary as Adversary
    from pacboost.learners.sklearn import SklearnLearner as SklearnLearner
    from pacboost.learners.stump import Stump as Stump
    from pacboost.learners.tree import Tree as Tree
    from pacboost.ledgers.ledger import Ledger as Ledger
    from pacboost.questions import plan as plan
    from pacboost.questions.certify import certify as certify
    from pacboost.questions.diagnose import diagnose as diagnose
    from pacboost.questions.verify import verify as verify


_ROOMS = {"plan": "pacboost.questions.plan"}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(_ROOMS[name])
    if name not in _HOMES:
        raise AttributeError(f"module 'pacboost' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_ROOMS})
