"""Which booster and which learner: chosen from the data, delegated to the estimators there are.

What the rows are decides on the kind of learner, and how many there are on its settings; rows that
watch say how many rounds are best.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import holdout
from pacboost.estimators.boosting.automatic import FEW_CLASSES, LEAST, ROWS_PER_LEAF, Settings
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.boosting.text import ROUNDS, ROUNDS_AFTER_LINES, TextBoostClassifier
from pacboost.estimators.fitting.parameters import ramp
from pacboost.kernels.same_bits import sigmoid, softmax
from pacboost.ledgers.ledger import Round
from pacboost.numerics.exact import wrong_classes, wrong_margins
from pacboost.numerics.same_bits import log_sum_exp, mean, row_totals, softplus, total

MOST_ROUNDS = 1000
"""Nothing is boosted longer; rows that watch mostly end it far earlier."""
PATIENCE = 30
"""Rounds without improvement on watching rows after which more can't help; at a rate below 0.1, in
proportion more of them."""


@dataclass(frozen=True)
class Choice:
    """One way to learn, in words and as a function that makes the estimator, and why."""

    words: str
    make: Any
    why: str
    rounds: int
    """The maximum number of rounds."""
    least: int
    """Of few rows, few can watch, and log loss rises before the error does: boost so long."""
    early_stopping: int | bool
    of_texts: bool = False


def choose(
    *,
    texts: str | None,
    rows: int,
    classes: int,
    several_labels: bool,
    rounds: int | None,
    light: float = 1.0,
    common: dict[str, Any],
) -> Choice:
    """Choose by what the rows are, how many there are, and how many labels they have.

    ``texts`` says what are texts, if something is; ``light`` is the share of the heaviest row that
    counts as one row.

    >>> asked = {"texts": None, "rounds": None, "common": {}}
    >>> chosen = choose(rows=999, classes=2, several_labels=False, **asked)
    >>> chosen.words, chosen.make().subsample
    ('trees by LogitBoost', 0.8)
    """
    booster = "adaboost" if several_labels else "logit"
    called = "AdaBoost.MH" if several_labels else "LogitBoost"
    many_classes = classes > FEW_CLASSES
    if texts:
        lists = partial(TextBoostClassifier, booster=booster, **common)
        if light < 1 and not several_labels:
            lists = partial(lists, l2=light)
        usual = ROUNDS if several_labels else ROUNDS_AFTER_LINES
        return Choice(
            f"lists of words by {called}", lists, texts, rounds or usual, 0, False,
            of_texts=True,
        )  # fmt: skip
    usual = Settings.of(rows, classes, logistic=not several_labels)
    names = ("learning_rate", "subsample", "max_features", "min_leaf_rows", "max_leaves")
    values = {name: getattr(usual, name) for name in names}
    if several_labels:  # few rows could never be told apart
        values["min_leaf_rows"] = max(1, min(usual.min_leaf_rows, rows // ROWS_PER_LEAF))
    else:
        values["l2"] = usual.l2 * light
    make = partial(BoostClassifier, booster, "tree", **{**common, **values, "calibrate": None})
    patience = round(max(1.0, 0.1 / usual.learning_rate) * PATIENCE)
    spared = 1 if many_classes or several_labels else LEAST
    least = (1 - ramp(rows)) * usual.n_estimators * spared
    why = "rows have several labels" if several_labels else "the rows are a table"
    most = rounds or MOST_ROUNDS
    return Choice(f"trees by {called}", make, why, most, min(most, round(least)), patience)


# Watching the rounds on rows that are not learned from: loss, error, edge, and when to look.
#
# After every round the watch sees the scores F of its rows. What the round added is h; under the
# weights |r| that the vote before it gave, its edge is Σ r·h / Σ |r|·|h| (r is label minus
# probability), the correlation that boosting by theory lives from, on rows that no rule was fitted
# to. As long as it is above 0, the loss falls; when it has vanished, more rounds do not help.

UNSURE = 0.2
"""How often the true error may exceed what the watching rows are taken to say."""


@dataclass
class WatchedRounds:
    """What the watching rows said after every round; also the metric by which a run stops."""

    epsilon: float | None
    """Suggest a look when the certificate will probably reach it; None: never."""
    certifying: int = 0
    delta: float = 0.05
    looks: int = 2
    weights: NDArray[np.float64] | None = None
    """How much each row counts in the loss, as it would in training; None: all alike."""
    losses: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    edges: list[float] = field(default_factory=list)
    expected: list[float] = field(default_factory=list)
    rows: int = 0
    enough: bool = False
    """Whether they suggested a look."""
    _before: NDArray[np.float64] | None = None

    __name__ = "log_loss"

    def start_again(self) -> None:
        """Forget what was seen, and suggest no look: a run that goes on shows all rounds again."""
        self.epsilon, self._before = None, None
        for seen in (self.losses, self.errors, self.edges, self.expected):
            seen.clear()

    def best_round(self, tolerance: float) -> int:
        """Return the last round that improved the log loss by more than the tolerance.

        >>> WatchedRounds(None, losses=[0.7, 0.6, 0.595, 0.61]).best_round(0.01)
        2
        """
        least, number = math.inf, 0
        for done, loss in enumerate(self.losses, start=1):
            if loss < least - tolerance:
                least, number = loss, done
        return number

    def __call__(self, known: NDArray[Any], scores: NDArray[np.float64]) -> float:
        """Measure the log loss, as ``eval_metric`` asks; note the rest."""
        self.rows = len(scores)
        if self._before is None:
            self._before = np.zeros_like(scores)
        if known.shape == scores.shape:
            loss = self._pairs(known, scores)
        else:
            loss = self._classes(known, scores)
        self._before = scores.copy()
        self.losses.append(loss)
        return loss

    def _pairs(self, signs: NDArray[Any], scores: NDArray[np.float64]) -> float:
        assert self._before is not None
        wrong = wrong_margins(signs * scores)
        self.errors.append(float(np.mean(wrong if wrong.ndim == 1 else wrong.any(axis=1))))
        self.expected.append(mean(sigmoid(-2 * np.abs(scores))))
        residual = signs * sigmoid(-2 * signs * self._before)
        self._edge(residual, scores - self._before)
        return self._mean(softplus(-2 * signs * scores))

    def _classes(self, labels: NDArray[Any], scores: NDArray[np.float64]) -> float:
        assert self._before is not None
        rows = np.arange(labels.size)
        own = scores[rows, labels]
        self.errors.append(float(np.mean(wrong_classes(scores, labels))))
        self.expected.append(mean(1 - softmax(scores).max(axis=1)))
        residual = -softmax(self._before)
        residual[rows, labels] += 1
        self._edge(residual, scores - self._before)
        return self._mean(log_sum_exp(scores) - own)

    def _mean(self, losses: NDArray[np.float64]) -> float:
        if self.weights is None:
            return mean(losses)
        by_row = losses if losses.ndim == 1 else row_totals(losses) / losses.shape[1]
        return total(by_row * self.weights) / total(self.weights)

    def _edge(self, residual: NDArray[np.float64], added: NDArray[np.float64]) -> None:
        whole = total(np.abs(residual * added))
        self.edges.append(total(residual * added) / whole if whole else 0.0)

    def worth_a_look(self, entry: Round | None = None) -> bool:
        """Check whether the certifying rows will probably show an error of at most epsilon.

        Decided on watching rows alone, so it costs nothing to ask after every round.
        """
        if self.epsilon is None:
            return False
        wrong = round(self.errors[-1] * self.rows)
        rate = holdout.clopper_pearson(wrong, self.rows, UNSURE)
        likely = min(self.certifying, round(rate * self.certifying))
        seen = holdout.clopper_pearson(likely, self.certifying, self.delta, self.looks)
        self.enough = seen <= self.epsilon
        return self.enough
