"""How clearly a vote decides: margins of rows, round by round, and pictures of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pacboost.errors import DataError, ParameterError
from pacboost.estimators.inputs.parameters import positive_integer
from pacboost.kernels.threads import using
from pacboost.models.model import Model
from pacboost.reports import margins as pictures
from pacboost.reports import plots
from pacboost.samples.sample import Sample
from pacboost.training.run.margins import NAMING, largest, margins_of, norm, normalised

Doubles = NDArray[np.float64]
CURVES = 4
"""How many rounds pictures show if none are named."""


class MarginsMixin:
    """What a fitted vote can tell of rows whose labels are known.

    A margin is y·F/S, where S adds up the largest vote that each round could give; with more than
    two classes, (own score - best other)/2S, or /S where every rule names one class. It is positive
    where the vote is right, and 1 where all its rules are.
    """

    model_: Model
    n_jobs: int | None

    if TYPE_CHECKING:  # what the classifier brings along

        def _labelled(self, X: Any, y: Any) -> Sample: ...

    def margins(self, X: Any, y: Any) -> Doubles:
        """Give the margin of every row, from -1 to 1; of every label, if a row has several."""
        sample, vote = self._labelled(X, y), self.model_.vote
        with using(self.n_jobs):
            scores = vote.scores(sample.table)
        return normalised(margins_of(sample, scores, naming=self._naming), norm(vote))

    def staged_margins(self, X: Any, y: Any) -> Iterator[Doubles]:
        """Give the margins after each round, by the votes of the rounds until then."""
        sample, vote, total = self._labelled(X, y), self.model_.vote, 0.0
        stages = zip(vote.hypotheses, vote.votes, vote.staged(sample.table), strict=True)
        for rule, cast, scores in stages:
            total += largest(rule, cast)
            yield normalised(margins_of(sample, scores, naming=self._naming), total)

    def plot_margins(
        self, X: Any, y: Any, rounds: Sequence[int] | None = None, ax: Any = None
    ) -> Any:
        """Draw how the margins of rows are distributed after some rounds.

        With several labels every pair of row and label has a margin.
        """
        return plots.margins(self._after(X, y, rounds), ax)

    def plot_equaliser(
        self, X: Any, y: Any, rounds: Sequence[int] | None = None, ax: Any = None
    ) -> Any:
        """Draw, for each row, the weighted share of rules that get it wrong, after some rounds.

        Boosting evens these shares out: a row that is wrong more often than others gains weight,
        and the next rules are found for it (Breiman 1999). Two classes only.
        """
        if self.model_.vote.outputs > 1:
            raise DataError("the equaliser is for two classes; plot_margins draws more")
        return pictures.equaliser(self._after(X, y, rounds), ax)

    def plot_hardest(self, k: int = 20, ax: Any = None) -> Any:
        """Draw the k rows of fit that the vote finds hardest: outliers and wrong labels."""
        check_is_fitted(self)
        return pictures.hardest(self.model_.ledger.hardest(k), ax)

    @property
    def _naming(self) -> bool:
        return self.model_.ledger.multiclass in NAMING

    def _after(self, X: Any, y: Any, rounds: Sequence[int] | None) -> dict[int, Doubles]:
        """Margins after the rounds that are wanted."""
        check_is_fitted(self)
        wanted = _wanted(rounds, len(self.model_.vote.votes))
        with using(self.n_jobs):
            stages = enumerate(self.staged_margins(X, y), start=1)
            return {number: own.ravel() for number, own in stages if number in wanted}


def _wanted(rounds: Sequence[int] | None, last: int) -> set[int]:
    """Check the numbers of rounds; without any, take some that lie ever further apart."""
    if last == 0:
        raise DataError("the vote is empty; there are no margins to draw")
    if rounds is None:
        rounds = np.geomspace(1, last, CURVES).round().astype(int).tolist()
    wanted = {positive_integer("a round", number) for number in rounds}
    if max(wanted, default=0) > last:
        raise ParameterError(
            f"rounds holds {max(wanted)}, but the vote has {last}; give 1 to {last}"
        )
    return wanted
