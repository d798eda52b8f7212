"""The report of a fitted model, and of how it does on rows with labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.family import Family
from pacboost.estimators.fitted.calibrated import covering_model
from pacboost.estimators.fitted.mistakes import refuse_half

if TYPE_CHECKING:
    from pacboost.bounds.answering import Answering
    from pacboost.bounds.decision import ThresholdDecision
    from pacboost.reports.page.evidence import Evidence
    from pacboost.reports.page.sentence import Sentence


def report(
    estimator: Any,
    path: str | Path,
    X: Any,
    y: Any,
    title: str | None,
    sentence: str | Sentence | None,
    certified: Any = (),
    decision: ThresholdDecision | None = None,
    answering: Answering | None = None,
) -> Path:
    """Write the page of a fitted estimator; the modules for it are imported when needed."""
    from pacboost.estimators.fitted.evidence import evaluate
    from pacboost.models.file.forest_format import ForestModel
    from pacboost.reports.page.document import write_report
    from pacboost.reports.page.evidence import Evidence
    from pacboost.reports.page.sentence import Sentence
    from pacboost.reports.page.subject import of_forest, of_model

    check_is_fitted(estimator)
    refuse_half(X, y)
    model = covering_model(estimator)
    if isinstance(model, ForestModel):
        subject = of_forest(model, getattr(estimator, "_refusal", ""))
    else:
        subject = of_model(model)
    more = (certified,) if isinstance(certified, Certificate | Family) else tuple(certified)
    answers = subject.answering if answering is None else answering
    subject = replace(subject, decision=decision, certified=more, answering=answers)
    if decision is not None:  # other certificates speak of predictions without the threshold
        subject = replace(subject, certificates=(), held_out=None)
    rows = None if X is None else evaluate(estimator, X, y, subject.importances)
    if decision is not None and isinstance(rows, Evidence):
        rows = _decided(rows, decision, estimator.classes_.tolist())
    said = Sentence(sentence, "", "") if isinstance(sentence, str) else sentence
    return write_report(subject, path, rows, title, said)


def _decided(rows: Evidence, decision: ThresholdDecision, classes: list[Any]) -> Evidence:
    """Give the same rows with what is said of them from the threshold on."""
    place = classes.index(decision.positive)
    others = rows.probabilities.copy()
    others[:, place] = -1.0
    reached = rows.probabilities[:, place] >= decision.threshold
    said = np.where(reached, place, others.argmax(axis=1)).astype(np.int64)
    return replace(rows, said=said, wrong=said != rows.own)
