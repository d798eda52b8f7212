"""How badly a label fits the probabilities of a row: scores of prediction sets.

* ``lac``: 1 - p(y): labels of at least some probability; sets are small on average.
* ``aps`` (Romano, Sesia and Candès 2020): the probability of all labels before y, the most probable
  first, and a share u of p(y). Sets grow where a model is unsure.
* ``raps`` (Angelopoulos, Bates, Malik and Jordan 2021): the same, and a penalty for every label
  beyond the first few, which keeps sets small where there are many classes.

u in [0, 1) is made from the values of the row, so that a score is a function of row and label, and
equal rows get equal sets. The most probable label has the score 0: it is in every set, so that none
is empty, and as calibration rows are scored in the same way, that makes no set larger than needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.family import Family
from pacboost.bounds.wording import sentence
from pacboost.errors import ParameterError
from pacboost.numerics.checks import probability

Doubles = NDArray[np.float64]
METHODS = ("lac", "aps", "raps")


@dataclass(frozen=True)
class LabelScore:
    """A score of labels; all of it is fixed before calibration rows are looked at."""

    method: str = "lac"
    penalty: float = 0.05
    free_labels: int = 2

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            allowed = ", ".join(map(repr, METHODS))
            raise ParameterError(f"method is {self.method!r}; it may be {allowed}")
        if not isinstance(self.penalty, int | float) or not 0 <= self.penalty < np.inf:
            raise ParameterError(f"penalty is {self.penalty!r}; it is a finite number, 0 or more")
        if isinstance(self.free_labels, bool) or not isinstance(self.free_labels, int | np.integer):
            raise ParameterError(f"free_labels is {self.free_labels!r}; it is a whole number")

    @property
    def by_row(self) -> bool:
        """Whether a number made from every row is needed."""
        return self.method != "lac"

    def __call__(self, chances: Doubles, u: Doubles | None) -> Doubles:
        """Score all labels of all rows: (rows, classes), the lower the better.

        >>> some = LabelScore("aps")(np.array([[0.7, 0.2, 0.1]]), np.array([0.5]))
        >>> some.round(3).tolist()
        [[0.0, 0.8, 0.95]]
        """
        found = 1 - chances if u is None else self._cumulated(chances, u)
        if len(found):
            found[np.arange(len(found)), chances.argmax(axis=1)] = 0.0
        return found

    def _cumulated(self, chances: Doubles, u: Doubles) -> Doubles:
        order = np.argsort(-chances, axis=1, kind="stable")
        falling = np.take_along_axis(chances, order, axis=1)
        scores = np.cumsum(falling, axis=1) - (1 - u[:, None]) * falling
        if self.method == "raps":
            places = np.arange(1, chances.shape[1] + 1)
            scores += self.penalty * np.maximum(0, places - self.free_labels)
        found = np.empty_like(scores)
        np.put_along_axis(found, order, scores, axis=1)
        return found


@dataclass(frozen=True)
class SetRule:
    """Which labels a set holds: those whose score is at most the cutoff; and what is certified."""

    score: LabelScore
    coverage: float
    cutoffs: tuple[float, ...]
    """One for all labels, or one for each class."""
    certificate: Certificate | Family
    mean_size: float = float("nan")
    """How many labels the sets of the calibration rows hold on average: an estimate."""
    groups: tuple[str, ...] = ()
    """Where every group has a cutoff of its own: their names, in the order of the cutoffs."""
    by: str = ""
    """The column that holds the groups, if one was named."""
    model_digest: str = field(default="", compare=False)
    """A digest of the model and of this rule, set when both are written to a file."""

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """What is certified, one by one."""
        found = self.certificate
        return (found,) if isinstance(found, Certificate) else found.certificates

    def holds(
        self, chances: Any, u: Doubles | None, place: NDArray[np.intp] | None = None
    ) -> NDArray[np.bool_]:
        """Return which labels are in the set of each row; the most probable one always is.

        With groups, ``place`` says for every row which of them it is in.

        >>> from pacboost.bounds.family import Family
        >>> rule = SetRule(LabelScore(), 0.9, (0.75,), Family((), 0.05))
        >>> rule.holds([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]], None).tolist()
        [[True, True, False], [False, False, True]]
        """
        known = np.asarray(chances, dtype=np.float64)
        most = np.asarray(self.cutoffs)
        return np.asarray(self.score(known, u) <= (most if place is None else most[place, None]))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for a file."""
        found = self.certificate
        content = {
            "kind": "sets",
            "score": [self.score.method, float(self.score.penalty), int(self.score.free_labels)],
            "coverage": self.coverage,
            "cutoffs": list(self.cutoffs),
            "certificates": [own.stored() for own in self.certificates],
            "delta": None if isinstance(found, Certificate) else found.delta,
            "mean_size": self.mean_size,
            "groups": list(self.groups),
            "by": self.by,
        }
        return {**content, "model_digest": self.model_digest} if self.model_digest else content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> SetRule:
        """Read what ``to_dict`` gave, and refuse what no calibration could have written."""
        method, penalty, free = content["score"]
        made = tuple(map(Certificate.from_dict, content["certificates"]))
        delta, groups = content["delta"], tuple(content["groups"])
        cutoffs = tuple(float(own) for own in content["cutoffs"])
        words = [*groups, content["by"], content.get("model_digest", "")]
        if not all(type(own) is str for own in words) or len(made) != len(cutoffs) or not made:
            raise ValueError("the sets do not have one claim for each cutoff")
        if groups and len(groups) != len(cutoffs):
            raise ValueError(f"the sets have {len(groups)} groups and {len(cutoffs)} cutoffs")
        if (delta is None) != (len(made) == 1 and not groups):
            raise ValueError("the claims of the sets do not share a delta")
        found = made[0] if delta is None else Family(made, probability("delta", delta))
        return cls(
            LabelScore(method, penalty, free), probability("coverage", content["coverage"]),
            cutoffs, found, float(content["mean_size"]), groups, content["by"],
            content.get("model_digest", ""),
        )  # fmt: skip


def coverage_words(found: Certificate | Family) -> str:
    """State what is certified; several claims one after the other."""
    if isinstance(found, Certificate):
        return str(sentence(found))
    return " ".join([*found.claims, found.note])
