"""Methods of fitted estimators, of votes and forests alike: a file, and a page for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from pacboost.estimators.fitted import calibrated
from pacboost.estimators.fitted.mistakes import refuse_half
from pacboost.models.file import forest_format
from pacboost.models.file import format as model_file
from pacboost.models.file.forest_format import ForestModel

if TYPE_CHECKING:
    from pacboost.reports.page.sentence import Sentence


def save(self: Any, path: str | Path, *, remember_rows: bool = True) -> None:
    """Write the model to a file that ``pacboost.load`` reads; no code is stored in it.

    The file also keeps a sketch of the training rows, salted hashes of some of them, by which
    ``pacboost.certify`` refuses them later. ``remember_rows=False`` leaves it out.
    """
    check_is_fitted(self)
    write = forest_format.save if isinstance(self.model_, ForestModel) else model_file.save
    write(calibrated.covering_model(self), path, self._sketches if remember_rows else ())


def report(
    self: Any,
    path: str | Path,
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    sentence: str | Sentence | None = None,
) -> Path:
    """Write a page that needs nothing but itself: open it in any browser, send it to anybody.

    Without rows the page shows the model and its record: the certificates, and of a vote the error
    and its bound round by round, rules, shapes, the hardest rows of the fit. With rows and their
    labels, best those that the fit has not seen, it adds margins, calibration, the confusion matrix
    and the hardest among them. ``title`` replaces the name of the method, ``sentence`` what the
    certificate says. Gives the path of the file.
    """
    from pacboost.estimators.fitted.evidence import evaluate
    from pacboost.reports.page.document import write_report
    from pacboost.reports.page.sentence import Sentence
    from pacboost.reports.page.subject import of_forest, of_model

    check_is_fitted(self)
    refuse_half(X, y)
    if isinstance(self.model_, ForestModel):
        table = None if X is None else self._open(X)
        subject = of_forest(self.model_, getattr(self, "_refusal", ""), table)
    else:
        subject = of_model(self.model_)
    rows = None if X is None else evaluate(self, X, y, subject.importances)
    said = Sentence(sentence, "", "") if isinstance(sentence, str) else sentence
    return write_report(subject, path, rows, title, said)
