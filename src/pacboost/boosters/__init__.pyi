from .adaboost import AdaBoost as AdaBoost
from .brown import Brown as Brown
from .filtering import FilterBoost as FilterBoost
from .filtering import Mada as Mada
from .filtering import Measure as Measure
from .filtering import Smooth as Smooth
from .graph_separation import GraphSeparation as GraphSeparation
from .logit import Logit as Logit
from .majority import Majority as Majority
from .maximal_margin import AdaBoostV as AdaBoostV
from .maximal_margin import ArcGV as ArcGV
from .newton import Gentle as Gentle
from .projection import Projection as Projection
from .soft_margin import ERLP as ERLP
from .soft_margin import LP as LP
from .soft_margin import MLP as MLP
from .soft_margin import CorrectiveERLP as CorrectiveERLP
from .soft_margin import Soft as Soft
from .soft_margin import Total as Total

__all__: list[str]
