"""What a forest must find unchanged when it grows on from an earlier fit.

Trees that learned from other rows may have seen those that certify now; and other limits, chosen
after a look at the error out of bag, would be a choice that no certificate has paid for.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import Any, Self

import numpy as np

from pacboost.errors import ParameterError
from pacboost.training.bags.bagging import Bagging
from pacboost.training.bags.forest import TreeLimits, TreeMaker

LIMITED_BY = {
    "tries": "max_features",
    "least": "min_samples_leaf",
    "smallest": "min_samples_split",
    "deepest": "max_depth",
    "lightest": "min_weight_fraction_leaf",
    "random": "the way of cutting",
}
"""The parameters that the limits of trees follow from."""


@dataclass(frozen=True)
class Memory:
    """How bags are drawn, how far trees grow, and a digest of the rows that they learn from."""

    seed: int
    draws: tuple[Any, ...]
    limits: TreeLimits
    rows: str
    outside: type
    """What is asked out of bag."""
    asked: tuple[Any, ...] = ()
    """What the certificate is to be."""

    @classmethod
    def of(cls, run: Bagging, weights: Any, asked: tuple[Any, ...]) -> Self:
        """Remember a run that is set up."""
        maker, bags = run.maker, run.bags
        assert isinstance(maker, TreeMaker)
        found = blake2b(digest_size=16)
        for held in (maker.sample.codes, maker.targets, weights):
            if held is not None:
                found.update(np.ascontiguousarray(held).data)
        draws = bags.rows, bags.drawn, bags.columns, bags.replacement
        return cls(bags.seed, draws, maker.limits, found.hexdigest(), type(run.outside), asked)

    def refuse_others(self, before: Memory) -> None:
        """Raise if the trees of the last fit came from something else."""
        if (self.draws, self.rows) != (before.draws, before.rows) or self.outside != before.outside:
            raise ParameterError(
                "warm_start goes on with the same rows and parameters, but the data, the draws or "
                "what is asked out of bag have changed; set warm_start=False to start afresh"
            )
        changed = [
            LIMITED_BY[field.name]
            for field in fields(TreeLimits)
            if getattr(self.limits, field.name) != getattr(before.limits, field.name)
        ]
        if self.asked != before.asked:
            changed.append("certify, holdout or delta")
        if changed:
            raise ParameterError(
                f"warm_start goes on with the same parameters, but {', '.join(changed)} changed; "
                "after a look at the error out of bag that would void the certificate. Set it as "
                "it was, or warm_start=False to start afresh"
            )
