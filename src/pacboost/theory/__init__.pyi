from . import pictures as pictures
from . import plan as plan
from .booster_trial import try_booster as try_booster
from .compression import compress as compress
from .confidence import ConfidenceBoost as ConfidenceBoost
from .explain import proof as proof
from .explain import ranking as ranking
from .explain import staged_margins as staged_margins
from .explain import weights as weights
from .learners import Adversary as Adversary
from .majorities import BaggedBoost as BaggedBoost
from .majorities import BoostByMajority as BoostByMajority
from .majorities import MajorityOfBoosters as MajorityOfBoosters
from .majorities import SubsampledBoost as SubsampledBoost
from .majorities import ThreeLearnerBoost as ThreeLearnerBoost
from .pac_learning import pac as pac
from .pac_learning import shatters as shatters
from .quantised_votes import certify_by_training_rows as certify_by_training_rows
from .single_rules import RectangleClassifier as RectangleClassifier
from .single_rules import VersionSpaceClassifier as VersionSpaceClassifier
from .three_way import ThreeWayBoost as ThreeWayBoost

__all__: list[str]
