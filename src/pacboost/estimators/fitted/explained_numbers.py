"""What every fitted regressor by vote can explain: a row, the loss by round, shuffled columns."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pacboost.estimators.fitted.base import VoteBase
from pacboost.estimators.fitted.mistakes import refuse_half
from pacboost.estimators.fitted.presentation import explaining
from pacboost.estimators.inputs.labels import read_targets
from pacboost.estimators.inputs.parameters import positive_integer
from pacboost.kernels.threads import using
from pacboost.models.explain import explanation, permutation
from pacboost.reports import losses
from pacboost.samples.sample import Sample
from pacboost.training.metrics import Metric


class ExplainedNumbers(VoteBase):
    """A vote that predicts numbers, and can say why."""

    @abstractmethod
    def predict(self, X: Any) -> NDArray[np.float64]:
        """Give a number for each row."""

    @abstractmethod
    def _measure(self, choice: Any) -> Metric:
        """Give the metric that ``eval_metric`` would name so."""

    def explain(self, x: Any, top: int = 10) -> explanation.Explanation:
        """Say which rules spoke on one row, and what they added: the ``top`` largest, and the rest.

        ``x`` is a sequence of values, a mapping from column names, or a table of one row. Rules
        that say the same of the row are put together. All contributions add up to the prediction
        (to its logarithm, if the loss has a logarithmic link).
        """
        top = positive_integer("top", top)
        table = self._one_row(x)
        prediction = float(self.predict(table)[0])
        with using(self.n_jobs):
            return explanation.explain_number(self.model_, table, prediction, top)

    def permutation_importances(
        self, X: Any, y: Any, repeats: int = 5, random_state: Any = None, metric: Any = "loss"
    ) -> permutation.Importances:
        """Measure by how much predictions get worse, in ``metric``, when a column is shuffled.

        ``metric`` may be what ``eval_metric`` may be. A column that no rule asks for has exactly 0.
        """
        sample, measure = self._with_targets(X, y), self._measure(metric)
        with using(self.n_jobs):
            return explaining.shuffled(self.model_, sample, repeats, random_state, measure)

    def plot_rounds(self, X: Any = None, y: Any = None, ax: Any = None) -> Any:
        """Draw the mean loss on the training rows after each round; give the axes.

        With rows and their targets, best those that the fit has not seen, draw the loss on them,
        too. Without ``ax`` there is a new figure, which notebooks show.
        """
        check_is_fitted(self)
        refuse_half(X, y)
        test = None
        if X is not None:
            sample, measure = self._with_targets(X, y), self._measure("loss")
            with using(self.n_jobs):
                staged = self.model_.vote.staged(sample.table)
                test = [measure(sample, scores[:, None]) for scores in staged]
        return losses.plot(self.model_.ledger, ax, test)

    def _with_targets(self, X: Any, y: Any) -> Sample:
        table = self._open(X)
        signs = np.ones((table.n_rows, 1), dtype=np.int8)  # not looked at
        return Sample(table, signs, targets=read_targets(y, table.n_rows))
