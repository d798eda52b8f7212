"""What a certificate holds, as values; words, moves and JSON are in bounds/certificate.py.

The files that write or move a certificate need its values alone, and so do not import its class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pacboost.bounds.held_out import HeldOut


@dataclass(frozen=True, repr=False)
class CertifiedNumber:
    """A bound with its grounds, its assumptions, and the inputs that give it again."""

    value: float
    delta: float
    theorem: str
    reference: str
    sample: Mapping[str, Any]
    """Facts on the rows that were counted (bounds/counted_rows.py)."""
    size: int
    independent_of: str
    assumptions: tuple[str, ...]
    valid_after_looking: bool
    inputs: Mapping[str, Any] = field(default_factory=dict)
    ledger_digest: str = ""
    bound: str = ""
    of_what: str = "new examples"
    """The subject of the number, one of ``bounds.wording.SUBJECTS``, or a measure."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Other values in the claim: rounds, members, a threshold, a class, a group."""
    rows_checked: bool = True
    """False if the rows could not be compared with those of the fit; the claim then says so."""
    model_digest: str = field(default="", compare=False)
    """A digest of the model and of this certificate, set when both are written to a file."""
    beside: tuple[HeldOut, tuple[str, ...]] | None = field(default=None, compare=False)
    """Labels and predictions of the rows, counted, and the names of classes; in no file."""
