"""Digests of the texts of certificates, as the checker holds them.

The checker imports nothing of pacboost and reads no English: it knows each text that a certificate
may hold by the first 8 digits of its SHA-256. After a change of a text, run this file and copy what
it prints.
"""

import re
from hashlib import sha256
from typing import Any

from pacboost import pacboost_check as checker
from pacboost.bounds import holdout, measured, training, wording
from pacboost.bounds.registry import bound_of


def short(text: str, numbers: str = "(?!)") -> str:
    return sha256(re.sub(numbers, "#", text).encode()).hexdigest()[:8]


def grounds() -> dict[str, str]:
    """Return the digests of theorem, reference and what the claim is independent of."""
    found: dict[str, tuple[str, str, str]] = {}
    for look in (0, 2):
        for models in (1, 2):
            name = "holdout.clopper_pearson" + " look" * (look > 0) + " models" * (models > 1)
            one = holdout.certificate(3, 100, 0.05, models, look=look)
            whose = one.independent_of.replace(" other 1 ", " other # ")
            found[name] = (one.theorem, one.reference, whose)
    model = "every choice made in training the model"
    for name in checker.OF_ROWS:
        bound = bound_of(name)
        if bound is not None and bound.of == ("measure",):
            found[name] = (bound.theorem, bound.reference, model)
    digests = {name: short("; ".join(texts)) for name, texts in found.items()}
    for potential in checker.COSTS:
        one = training.training_error(_ledger(potential))
        texts = (one.theorem, one.reference, one.independent_of)
        digests[potential] = short("; ".join(texts))
    return digests


def _ledger(potential: str) -> Any:
    from pacboost.ledgers.ledger import Ledger

    return Ledger("adaboost", potential, "stump", 10, 1, weighted=False, plain_votes=False)


def assumed() -> dict[str, str]:
    """Return the digests of assumptions, by the details that they stand beside."""
    texts = {
        "drawn": wording.DRAWN, "groups": measured.ASSUMED["groups"],
        "fixed": holdout.FIXED_BEFOREHAND, "planned": holdout.PLANNED, "classes": holdout.CLASSES,
        "unchecked": wording.UNCHECKED,
        **{name: wording.ASSUMED_BESIDE[name] for name in wording.ABOUT_ROWS
           if name in wording.ASSUMED_BESIDE and name != wording.UNMOVED_PAIRS},
        **{name: wording.unanswered({name: 0.25})[0] for name in wording.UNANSWERED},
    }  # fmt: skip
    return {name: short(text, r"[\d.]+(?= %\))") for name, text in texts.items()}


if __name__ == "__main__":
    import textwrap

    for content in (grounds(), assumed()):
        text = ", ".join(f"{name} {digest}" for name, digest in content.items())
        print("\n".join(textwrap.wrap(text, 92)), "\n")  # noqa: T201
