from .sklearn import SklearnLearner as SklearnLearner
from .stump import Stump as Stump
from .tree import Tree as Tree
from .words import Words as Words

__all__: list[str]
