"""Which curve calibrates probabilities, by the number of rows that there are for it."""

from __future__ import annotations

from pacboost.errors import TooFewRowsWarning, warn
from pacboost.models import calibration


def curve_for(method: str, rows: int) -> str:
    """Return the method of calibration; "isotonic" needs more rows than the others."""
    needed = calibration.ROWS_FOR_ISOTONIC
    if method != "isotonic" or rows >= needed:
        return method
    warn(
        f"calibrate='isotonic' needs {needed:,} held-out rows, and there are {rows:,}; 'sigmoid' "
        "is used instead. Give more rows, a larger validation_fraction, or calibrate='sigmoid'",
        TooFewRowsWarning,
    )
    return "sigmoid"
