"""Boosted: the ``fit`` of all estimators that boost rows in memory."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

from pacboost.estimators.boosting.boosting import EstimatorChooser, FitData, boost
from pacboost.estimators.fitted.estimator import Estimator
from pacboost.estimators.fitting.callbacks import CallbackSupportMixin
from pacboost.estimators.inputs.rows import fits_rows
from pacboost.estimators.inputs.validation_sets import read_sets
from pacboost.estimators.parameters.values import Values


class Boosted(CallbackSupportMixin, Estimator):  # type: ignore[misc]
    """An estimator whose parameters a chooser turns into a recipe."""

    @fits_rows
    def fit(
        self, X: object, y: object, sample_weight: object = None, *, X_val: object = None,
        y_val: object = None, eval_set: object = None, copies: str = "draws",
    ) -> Self:  # fmt: skip
        """Fit the model.

        ``X_val`` and ``y_val`` are the validation rows for ``early_stopping``. They have to be
        other rows than those of ``X``: rounded copies of held-out rows are not noticed, and would
        make the certificate false. Pass several validation sets as ``eval_set``: a list of pairs
        (X, y), or a mapping from names to pairs. Early stopping uses the first pair; the others are
        only measured. ``validation_curves_`` then has ``eval_metric`` after every round for each
        set by name ("validation_0", "validation_1" and so on for a list), including rounds that
        early stopping drops.

        ``copies`` states what equal rows are: "draws", each of which counts, or "distinct", copies
        of one example that count once in certificates (docs/certificates.md, "Equal rows").

        Ctrl-C keeps the finished rounds, and KeyboardInterrupt is raised again. After any other
        failure the estimator is unchanged.

        With scikit-learn 1.9 and later, ``set_callbacks`` takes its callbacks, such as ProgressBar.
        """
        boost(self, FitData(X, y, sample_weight, read_sets(X_val, y_val, eval_set)), copies)
        return self

    @abstractmethod
    def _chooser(self, asked: Values) -> EstimatorChooser:
        """Return who makes the recipe from the values of the parameters."""
