"""Certify the error of a model on the rows of its fit, where the record of the fit bounds it."""

from __future__ import annotations

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.training import training_error
from pacboost.errors import NotCertified
from pacboost.models.model import Model


def learned_otherwise(model: Model) -> tuple[str, ...]:
    """Return the names of columns that training rows had other values of than new rows have."""
    columns = zip(model.derived_names, model.schema.derived, strict=True)
    return tuple(name for name, column in columns if column.learned_otherwise)


def training_certificate(model: Model) -> Certificate:
    """Certify the training error, or raise NotCertified."""
    # The theorem is about the answers that the run has measured. Levels may be dealt out so that
    # means of earlier rows tell the label of the next, which means of all rows do not.
    names = learned_otherwise(model)
    if names:
        raise NotCertified(
            f"the column '{names[0]}' held means of earlier rows in the fit, and holds means of "
            "all rows when predict reads them, so the record of the fit does not bound the errors "
            "of predict. Set certify to 'holdout', or derive to False"
        )
    return training_error(model.ledger)
