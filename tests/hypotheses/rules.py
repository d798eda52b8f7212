"""A small rule of each kind."""

import numpy as np

from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.word_list import WordList
from pacboost.samples.bins import Bins

BINS = Bins((np.array([0.5], dtype=np.float32),), np.array([0]))
STUMP = StumpRule(0, 0.5, 0, 1, 1)
TREE = TreeRule.constant(BINS, np.array([0.25]))
WORDS = WordList(np.array([3], dtype=np.int32), np.array([[1.0], [0.0]]))
