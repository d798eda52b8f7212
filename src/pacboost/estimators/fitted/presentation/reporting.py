"""Methods of fitted estimators, of votes and forests alike: a file, and a page for a browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.family import Family
from pacboost.estimators.fitted.decisions.calibrated import covering_model
from pacboost.estimators.fitted.mistakes import refuse_half
from pacboost.models.file import forest_format
from pacboost.models.file import format as model_file
from pacboost.models.file.forest_format import ForestModel

if TYPE_CHECKING:
    from pacboost.bounds.answering import Answering
    from pacboost.bounds.decision import ThresholdDecision
    from pacboost.reports.page.evidence import Evidence
    from pacboost.reports.page.sentence import Sentence


def save(self: Any, path: str | Path, *, remember_rows: bool = True) -> None:
    """Write the model to a file that ``pacboost.load`` reads; no code is stored in it.

    The file also keeps a sketch of the training rows, salted hashes of some of them, by which
    ``pacboost.certify`` refuses them later. ``remember_rows=False`` leaves it out.
    """
    check_is_fitted(self)
    write = forest_format.save if isinstance(self.model_, ForestModel) else model_file.save
    write(covering_model(self), path, self._sketches if remember_rows else ())


def report(
    self: Any,
    path: str | Path,
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    sentence: str | Sentence | None = None,
    certified: Any = (),
    decision: ThresholdDecision | None = None,
    answering: Answering | None = None,
) -> Path:
    """Write a page that needs nothing but itself: open it in any browser, send it to anybody.

    Without rows the page shows the model and its record: the certificates, and of a vote the error
    and its bound round by round, rules, shapes, the hardest rows of the fit. With rows and their
    labels, best those that the fit has not seen, it adds margins, calibration, the confusion matrix
    and the hardest among them. ``title`` replaces the name of the method, ``sentence`` what the
    certificate says. ``certified`` holds what ``pacboost.certify`` gave for further rows, one or a
    list, and is shown with all else that one may count on; ``decision`` is what a threshold
    guarantees, and ``answering`` what is known of confident answers. Gives the path of the file.
    """
    from pacboost.estimators.fitted.presentation.evidence import evaluate
    from pacboost.reports.page.document import write_report
    from pacboost.reports.page.evidence import Evidence
    from pacboost.reports.page.sentence import Sentence
    from pacboost.reports.page.subject import of_forest, of_model

    check_is_fitted(self)
    refuse_half(X, y)
    model = covering_model(self)
    if isinstance(model, ForestModel):
        table = None if X is None else self._open(X)
        subject = of_forest(model, getattr(self, "_refusal", ""), table)
    else:
        subject = of_model(model)
    more = (certified,) if isinstance(certified, Certificate | Family) else tuple(certified)
    answers = subject.answering if answering is None else answering
    subject = replace(subject, decision=decision, certified=more, answering=answers)
    if decision is not None:  # other certificates speak of predictions without the threshold
        subject = replace(subject, certificates=(), held_out=None)
    rows = None if X is None else evaluate(self, X, y, subject.importances)
    if decision is not None and isinstance(rows, Evidence):
        rows = _decided(rows, decision, self.classes_.tolist())
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
