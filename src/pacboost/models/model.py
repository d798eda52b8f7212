"""A fitted model: the vote with everything needed to use, check and save it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.link import Link
from pacboost.hypotheses.hypothesis import Names
from pacboost.hypotheses.shapes import Counts, Shapes, shapes
from pacboost.hypotheses.vote import Scores, Vote
from pacboost.hypotheses.vote_digest import vote_digest
from pacboost.kernels import same_bits
from pacboost.ledgers.ledger import Ledger
from pacboost.models.calibration import Calibration
from pacboost.models.schema import Schema
from pacboost.numerics.memory import in_host_memory
from pacboost.numerics.same_bits import product, row_totals
from pacboost.numerics.same_bits import total as sum_of
from pacboost.samples.bins import Bins
from pacboost.sources.levels import Levels
from pacboost.training.metrics import steepness

if TYPE_CHECKING:
    from pacboost.bounds.answering import Answering
    from pacboost.bounds.certificate import Certificate
    from pacboost.bounds.coverage import IntervalRule, SetRule
    from pacboost.bounds.decision import ThresholdDecision
    from pacboost.bounds.held_out import HeldOut
    from pacboost.samples.sketch import Sketch
    from pacboost.sources.mixed import MixedFeatures
    from pacboost.sources.text import TextFeatures

Linked = Callable[[Any], Any]
NO_CLASSES: NDArray[Any] = np.empty(0)
MAX_LEVELS_NAMED = 4
"""Of a larger set of levels, rules name two."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Model:
    """The result of a fit: a vote, and the names of its columns, their levels and its classes."""

    classes: NDArray[Any]
    """Empty for numbers."""
    schema: Schema
    """How rows are read: columns, names, levels, or the words of texts."""
    # not a union of types: boosting would have to import forests
    vote: Any
    """A ``Vote`` of rules, or a ``Forest``, whose trees have one vote each."""
    ledger: Ledger
    """For a forest, the booster is the kind of forest, and there are no rounds."""
    bins: Bins | None = None
    """None if the learner did not use any."""
    labels: int = 0
    """Number of labels that a row of a forest may have at once; 0 if it has exactly one. Otherwise
    every class is a set of labels: a tuple with a 1 for each label in it and a 0 for each other."""
    calibration: Calibration | None = None
    certificate: Certificate | None = None
    decision: ThresholdDecision | None = None
    """A threshold that was chosen with a guarantee, which ``predict`` then uses."""
    coverage: SetRule | IntervalRule | None = None
    """Calibrated prediction sets or intervals, while the model is written or read."""
    held_out: HeldOut | None = None
    """Classes and predictions on the certifying rows, counted; estimates, if rows were held out."""
    seen: tuple[Sketch, ...] = ()
    """Sketches of the training rows, when the model was read from a file."""
    answering: Answering | None = None
    """Bounds on the error of confident answers, if held-out rows were used for that."""
    counts: Counts | None = None
    """Counts of training rows along the columns of pairs, which centre the maps of pairs at 0."""
    fingerprint: str = ""
    """The SHA-256 of the training rows (samples/fingerprint.py), if they were available."""

    def __repr__(self) -> str:
        """Return the size only: arrays of all rules would fill megabytes.

        >>> from pacboost.estimators.boosting.adaboost import AdaBoostClassifier
        >>> AdaBoostClassifier(n_estimators=3).fit([[0], [1], [2]], [0, 1, 0]).model_
        Model(rules=3, features=1, classes=2)
        """
        size = f"features={self.n_features}, classes={self.classes.size}"
        return f"Model(rules={len(self.vote)}, {size})"

    @property
    def n_features(self) -> int:
        """The number of columns that rules may ask about, derived ones included."""
        return self.schema.n_columns + len(self.schema.derived)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the columns that rows have, if they have names."""
        return self.schema.names

    @property
    def levels(self) -> Levels:
        """The levels of categorical columns."""
        return self.schema.levels

    @property
    def text(self) -> TextFeatures | MixedFeatures | None:
        """The reader of texts, if the columns are words."""
        return self.schema.text

    @property
    def forest(self) -> bool:
        """True for a forest, whose trees have one vote each."""
        return not isinstance(self.vote, Vote)

    def digest(self) -> str:
        """Return the digest that a certificate stores: of the ledger, or of the trees."""
        return vote_digest(self.vote) if self.forest else self.ledger.digest()

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of all columns, derived ones included."""
        given = self.names or tuple(f"x{j}" for j in range(self.schema.n_columns))
        return (*given, *(column.name(given) for column in self.schema.derived))

    @property
    def derived_names(self) -> tuple[str, ...]:
        """The names of the columns that are derived from others."""
        return self.column_names[self.schema.n_columns :]

    @property
    def label_names(self) -> list[str]:
        """The names of all classes, or of all labels if a row may have several."""
        if self.labels:
            return list(map(str, range(self.labels)))
        # tolist: str of a NumPy number is not that of the number the user gave
        return [str(name) for name in self.classes.tolist()]

    def importances(self) -> NDArray[np.float64]:
        """Return each feature's share of the votes or, for trees, of the gains of splits."""
        return _shares(self.vote.gains(self.n_features))

    def given_importances(self) -> NDArray[np.float64]:
        """Return the importances of the columns that rows have.

        Half of what a derived column gains belongs to each of its two columns.
        """
        shares = self.importances()
        given = shares[: self.schema.n_columns].copy()
        for column, share in zip(self.schema.derived, shares[given.size :], strict=True):
            given[column.first] += share / 2
            given[column.second] += share / 2
        return given

    def shapes(self) -> Shapes:
        """Return the vote as a constant, curves of columns and maps of pairs."""
        return shapes(self.vote, self.say(), self.counts)

    def say(self) -> Names:
        """Return the names of columns, levels and classes, for texts and plots."""
        answers = answer_names(self.classes)
        return Names(self.column_names, answers, self.levels, self.text, MAX_LEVELS_NAMED)

    def words(self) -> list[str]:
        """Return every rule in words, with its vote."""
        names = self.say()
        pairs = zip(self.vote.hypotheses, self.vote.votes, strict=True)
        if self.ledger.cells:
            return [hypothesis.words(names) for hypothesis, _ in pairs]
        return [f"{vote:.4f}  {hypothesis.words(names)}" for hypothesis, vote in pairs]

    def decide(self, scores: Scores) -> NDArray[Any]:
        """Return the class with the best score for every row, or 0 and 1 for each label."""
        decided: NDArray[Any]
        if self.ledger.several_labels:
            decided = (scores.reshape(len(scores), -1) > 0).astype(np.int64)
            return decided
        # a tie is a mistake wherever mistakes are counted (numerics/exact.py); an answer is needed
        # all the same, and the first class is it
        second = (scores > 0) & (self.classes.size == 2)
        places = scores.argmax(axis=1) if scores.ndim == 2 else second.astype(np.intp)
        if self.classes.dtype.kind in "biuf":
            # numbers stay where the scores are, perhaps on a GPU
            decided = np.asarray(self.classes, like=places)[places]
        else:
            decided = self.classes[in_host_memory(places)]
        return decided

    def probabilities(self, scores: Scores) -> NDArray[np.float64]:
        """Turn scores into probabilities, (rows, classes).

        Two classes (and each of several labels): 1/(1 + exp(-2F)). More: softmax(F) for LogitBoost,
        whose scores are logarithms of probabilities, softmax(2F) for the others. The scores of a
        forest are already shares of classes, or of the sets that hold a label.
        """
        if self.forest:
            shares = scores[:, : self.classes.size]
            return shares if self.sets is None else product(shares, self.sets)
        if self.classes.size == 1:
            return np.ones((len(scores), 1), like=scores)
        # members of a bag are not boosted: their sums are no log odds
        if self.ledger.potential == "none":
            return self._vote_shares(scores)
        if self.calibration is not None:
            chances = self.calibration.probabilities(in_host_memory(scores))
            return np.asarray(chances, like=scores)
        return self._linked(scores, same_bits.sigmoid, same_bits.softmax)

    def log_probabilities(self, scores: Scores) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities, finite even if a probability is 0."""
        # log(softmax) of scores far apart would be log(0), which log_softmax avoids
        linked = self.calibration is None and self.ledger.potential != "none"
        if self.classes.size == 1 or not linked:
            with np.errstate(divide="ignore"):
                return same_bits.log(self.probabilities(scores))  # type: ignore[no-any-return]
        return self._linked(scores, same_bits.log_sigmoid, same_bits.log_softmax)

    def _vote_shares(self, scores: Scores) -> NDArray[np.float64]:
        """Return each class's share of the members' votes, which is not calibrated."""
        if scores.ndim == 1:
            second = (1 + scores / max(1.0, sum_of(self.vote.votes))) / 2
            return np.column_stack([1 - second, second])
        # not NumPy's sum: its order, and so its last bit, depends on the processor
        total = row_totals(scores)[:, None]
        even = np.full_like(scores, 1 / self.classes.size)
        return np.asarray(np.divide(scores, total, out=even, where=total > 0))

    def _linked(self, scores: Scores, of_one: Linked, of_many: Linked) -> NDArray[np.float64]:
        """Apply ``of_one`` to the score of two classes or of a label, ``of_many`` to rows."""
        linked: NDArray[np.float64]
        if self.ledger.several_labels:
            # each label by itself: their probabilities need not add up to 1
            linked = of_one(2 * scores)
        elif scores.ndim == 1:
            linked = np.stack([of_one(-2 * scores), of_one(2 * scores)], axis=1)
        else:
            linked = of_many(steepness(self.ledger.potential) * scores)
        return linked

    @property
    def sets(self) -> NDArray[np.int64] | None:
        """The sets of labels that the classes stand for, (classes, labels); None for one label."""
        if not self.labels:
            return None
        return np.array(self.classes.tolist(), dtype=np.int64)

    @property
    def log_link(self) -> bool:
        """True if scores are logarithms of the predictions."""
        return self.ledger.link == Link.LOG

    def numbers(self, scores: Scores) -> NDArray[np.float64]:
        """Turn the scores of a regression into predictions."""
        return same_bits.exp(scores) if self.log_link else scores

    def split_importances(self, by: str) -> NDArray[np.float64]:
        """Return each feature's share of splits ("count"), or of the rows they divide ("cover")."""
        counts = np.zeros(self.n_features)
        for hypothesis in self.vote.hypotheses:
            counts += hypothesis.split_counts(self.n_features, cover=by == "cover")
        return _shares(counts)


def classes_of_sets(sets: NDArray[np.integer]) -> NDArray[Any]:
    """Return sets of labels, (sets, labels), as classes: one tuple of 0 and 1 for each.

    >>> classes_of_sets(np.array([[0, 1], [1, 1]])).tolist()
    [(0, 1), (1, 1)]
    """
    classes = np.empty(len(sets), dtype=object)
    for place, line in enumerate(sets.tolist()):
        classes[place] = tuple(line)
    return classes


def without_rounds(kind: str) -> Ledger:
    """Return an empty ledger for a model that was not boosted."""
    return Ledger(kind, "none", "", 0, 0, False, False)


def _shares(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    total = sum_of(numbers)
    return numbers / total if total > 0 else numbers.copy()


def answer_names(classes: NDArray[Any]) -> tuple[str, ...]:
    """Return the names of -1 and +1, or of all classes; empty for a regression."""
    if classes.size == 0:
        return ()
    if classes.size <= 2:
        return str(classes[0]), str(classes[-1])
    return tuple(str(name) for name in classes)
