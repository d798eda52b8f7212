from typing import Any

from pacboost.bounds.measures.absolute_error import AbsoluteError
from pacboost.bounds.measures.auc import AUC
from pacboost.bounds.measures.balanced_error import BalancedError
from pacboost.bounds.measures.brier import Brier
from pacboost.bounds.measures.cost import Cost
from pacboost.bounds.measures.error import Error
from pacboost.bounds.measures.f1 import F1
from pacboost.bounds.measures.false_negative_rate import FalseNegativeRate
from pacboost.bounds.measures.false_positive_rate import FalsePositiveRate
from pacboost.bounds.measures.jaccard import Jaccard
from pacboost.bounds.measures.large_errors import LargeErrors
from pacboost.bounds.measures.log_loss import LogLoss
from pacboost.bounds.measures.precision import Precision
from pacboost.bounds.measures.recall import Recall
from pacboost.bounds.measures.top_k_error import TopKError

absolute_error = AbsoluteError
auc = AUC
balanced_error = BalancedError
brier = Brier
cost = Cost
error = Error
f1 = F1
false_negative_rate = FalseNegativeRate
false_positive_rate = FalsePositiveRate
jaccard = Jaccard
large_errors = LargeErrors
log_loss = LogLoss
precision = Precision
recall = Recall
top_k_error = TopKError

def __getattr__(name: str) -> Any: ...

__all__: list[str]
