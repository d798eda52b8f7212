"""A fitted model: the vote with everything needed to use, check and save it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.certificate import Certificate
from pacboost.hypotheses.hypothesis import Names
from pacboost.hypotheses.vote import Vote
from pacboost.ledgers.ledger import Ledger
from pacboost.samples.bins import Bins


@dataclass(frozen=True, eq=False)
class Model:
    """What a fit leaves behind; ``bins`` is None when the learner did not use any."""

    classes: NDArray[Any]
    n_features: int
    names: tuple[str, ...] | None
    bins: Bins | None
    vote: Vote
    ledger: Ledger
    certificate: Certificate

    def words(self) -> list[str]:
        """Every rule in words, with its vote."""
        minus, plus = answer_names(self.classes)
        names = Names(
            lambda j: f"x{j}" if self.names is None else self.names[j], minus=minus, plus=plus
        )
        return [
            f"{vote:.4f}  {hypothesis.words(names)}"
            for hypothesis, vote in zip(self.vote.hypotheses, self.vote.votes, strict=True)
        ]

    def importances(self) -> NDArray[np.float64]:
        """Each feature's share of the votes."""
        from pacboost.hypotheses.stump import StumpRule

        shares = np.zeros(self.n_features)
        for hypothesis, vote in zip(self.vote.hypotheses, self.vote.votes, strict=True):
            if isinstance(hypothesis, StumpRule):
                shares[hypothesis.feature] += abs(vote)
            else:
                inner = getattr(hypothesis, "inner", None)
                shares += abs(vote) * np.asarray(inner.feature_importances_)  # type: ignore[union-attr]
        total = shares.sum()
        return shares / total if total > 0 else shares


def answer_names(classes: NDArray[Any]) -> tuple[str, str]:
    """What -1 and +1 stand for."""
    return str(classes[0]), str(classes[-1])
