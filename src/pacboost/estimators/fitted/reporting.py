"""The report of a fitted model, and of how it does on rows with labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from pacboost.estimators.fitted.mistakes import refuse_half

if TYPE_CHECKING:
    from pacboost.reports.page.sentence import Sentence


def report(
    estimator: Any,
    path: str | Path,
    X: Any,
    y: Any,
    title: str | None,
    sentence: str | Sentence | None,
) -> Path:
    """Write the page of a fitted estimator; the modules for it are imported when needed."""
    from pacboost.estimators.fitted.evidence import evaluate
    from pacboost.models.file.forest_format import ForestModel
    from pacboost.reports.page.document import write_report
    from pacboost.reports.page.sentence import Sentence
    from pacboost.reports.page.subject import of_forest, of_model

    check_is_fitted(estimator)
    refuse_half(X, y)
    if isinstance(estimator.model_, ForestModel):
        table = None if X is None else estimator._open(X)
        subject = of_forest(estimator.model_, getattr(estimator, "_refusal", ""), table)
    else:
        subject = of_model(estimator.model_)
    rows = None if X is None else evaluate(estimator, X, y, subject.importances)
    said = Sentence(sentence, "", "") if isinstance(sentence, str) else sentence
    return write_report(subject, path, rows, title, said)
