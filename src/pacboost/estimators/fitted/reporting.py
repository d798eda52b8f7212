"""The report of a fitted model: what it says of itself, and what rows at hand say of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from pacboost.errors import DataError

if TYPE_CHECKING:
    from pacboost.reports.page.sentence import Sentence


class ReportMixin:
    """What writes the page of a fitted estimator; its parts are loaded when they are needed."""

    model_: Any

    def report(
        self,
        path: str | Path,
        X: Any = None,
        y: Any = None,
        *,
        title: str | None = None,
        sentence: str | Sentence | None = None,
    ) -> Path:
        """Write a page that needs nothing but itself: open it in any browser, send it to anybody.

        Without rows it says what the model and its record tell: the certificates, the error and
        its bound round by round, rules, shapes, the hardest rows of the fit. With rows and their
        labels, best those that the fit has not seen, it adds margins, calibration, the confusion
        matrix and the hardest among them. ``title`` stands above the sentence, in the place of
        the method; ``sentence`` in the place of what the certificate says. Gives the path of the
        file.
        """
        from pacboost.estimators.fitted.evidence import evaluate
        from pacboost.models.file.forest_format import ForestModel
        from pacboost.reports.page.document import write_report
        from pacboost.reports.page.sentence import Sentence
        from pacboost.reports.page.subject import of_forest, of_model

        check_is_fitted(self)
        if (X is None) != (y is None):
            given, absent = ("X", "y") if y is None else ("y", "X")
            raise DataError(
                f"{given} was given without {absent}; give both, rows and their labels, or neither"
            )
        if isinstance(self.model_, ForestModel):
            subject = of_forest(self.model_, getattr(self, "_refusal", ""))
        else:
            subject = of_model(self.model_)
        rows = None if X is None else evaluate(self, X, y, subject.importances)
        said = Sentence(sentence, "", "") if isinstance(sentence, str) else sentence
        return write_report(subject, path, rows, title, said)
