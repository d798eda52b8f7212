from . import boosters as boosters
from . import learners as learners
from . import measures as measures
from . import plots as plots
from . import shift as shift
from . import theory as theory
from .bounds.certificate import Certificate as Certificate
from .errors import PacboostError as PacboostError
from .estimators.bagging.bagging import BaggingClassifier as BaggingClassifier
from .estimators.bagging.bagging import BaggingRegressor as BaggingRegressor
from .estimators.boosting.adaboost import AdaBoostClassifier as AdaBoostClassifier
from .estimators.boosting.adaboost_regressor import AdaBoostRegressor as AdaBoostRegressor
from .estimators.boosting.boost import BoostClassifier as BoostClassifier
from .estimators.boosting.regressor import BoostRegressor as BoostRegressor
from .estimators.boosting.text import TextBoostClassifier as TextBoostClassifier
from .estimators.compare import compare as compare
from .estimators.decisions.choosing import choose_threshold as choose_threshold
from .estimators.decisions.intervals import intervals as intervals
from .estimators.decisions.sets import sets as sets
from .estimators.filtering.filter_boost import FilterBoostClassifier as FilterBoostClassifier
from .estimators.forests.forests import ExtraTreesClassifier as ExtraTreesClassifier
from .estimators.forests.forests import ExtraTreesRegressor as ExtraTreesRegressor
from .estimators.forests.forests import RandomForestClassifier as RandomForestClassifier
from .estimators.forests.forests import RandomForestRegressor as RandomForestRegressor
from .estimators.strong.classifier import StrongClassifier as StrongClassifier
from .loading import load as load
from .models.export.export import export as export
from .models.file.inspect import inspect as inspect
from .monitoring.monitor import Monitor as Monitor
from .questions.answers import answers as answers
from .questions.certify import certify as certify
from .questions.certify import certify_all as certify_all
from .questions.compare import compare_models as compare_models
from .questions.diagnose import diagnose as diagnose
from .questions.verify import verify as verify

__version__: str
__all__: list[str]
