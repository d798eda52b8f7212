"""A jury: a given collection of weak judges becomes one answer with a certificate.

Half of the labelled rows, in random order, give the judges their votes (judges.py), and the other
half certifies the jury, the best judge and the majority: three claims that hold together. With all
rows, a bound for each of the (v + 1)^J possible juries would be needed: for 300 rows, of which 6 %
are wrong, and five judges with votes of 0, 1 or 2 it is .123, the half's is .102.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.bounds import holdout, pool
from pacboost.bounds.answering import Answering
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.exact_tests import Difference
from pacboost.bounds.family import Family
from pacboost.bounds.rounding import confidence
from pacboost.errors import DataError, FileError, ParameterError
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.numerics.checks import probability, whole
from pacboost.numerics.percent import percent
from pacboost.questions.answering import answering
from pacboost.questions.answers import answers
from pacboost.questions.certify import certify_all
from pacboost.questions.compare import only_first
from pacboost.sources.columns import Columns as NamedColumns
from pacboost.sources.optional import atomic_write
from pacboost.studies.draw import Draw
from pacboost.studies.judges import (
    Classes,
    Columns,
    Judge,
    Opinion,
    Votes,
    candidates,
    learn,
    majority,
)
from pacboost.studies.texts import column, columns_of, text_of, typed

VERSION = 1
MIN_ROWS = 20
"""With fewer labelled rows not even a jury without mistakes is certified below 33 %."""
TREES_FROM = 1_000
"""From so many rows that teach on, trees are tried without other columns, too."""
CHOOSING_PART = 4
"""One of so many rows that teach chooses between votes and trees, which then learn from all."""


@dataclass(frozen=True)
class Member:
    """One of those who are certified on the same rows."""

    name: str
    wrong: NDArray[np.bool_]
    certificate: Certificate


@dataclass(frozen=True, repr=False)
class Jury:
    """Judges with votes, and what is certified about what they say together."""

    votes: Votes
    members: tuple[Member, ...]
    """The jury, the best judge and, where judges name classes, the majority."""
    without: Mapping[str, int]
    """By judge, how many more of the certifying rows are wrong if the others vote without it."""
    answers: Answering | None = None
    """The certified error of those answers that are far enough ahead; with ``target_error``."""
    groups: Family | None = None
    """The certified errors of groups; with ``by``."""
    of_pool: Certificate | None = None
    """The same about all rows of the pool that did not teach; with ``draw``."""
    trees: TreesOfJury | None = None
    """A model of trees over verdicts and context, where it was better than votes."""
    delta: float = 0.05

    @property
    def certificate(self) -> Certificate:
        """What is certified about the jury on new examples."""
        return self.members[0].certificate

    def predict(self, verdicts: Any) -> NDArray[Any]:
        """Return what the jury says about rows of verdicts, as texts."""
        columns = columns_of(verdicts)
        if self.trees is not None:
            return np.array(self.votes.labels)[self.trees.decided(columns)[0]]
        for judge in self.votes.judges:
            column(columns, judge.judge, "a judge")
        return np.array(self.votes.labels)[self.votes.decided(columns)[0]]

    def compared(self) -> list[Difference]:
        """Compare the jury with the others, on the rows on which they differ."""
        jury, *others = self.members
        return [
            Difference(
                jury.name, other.name, only_first(jury.wrong, other.wrong),
                only_first(other.wrong, jury.wrong), jury.wrong.size, self.delta, len(others),
            )
            for other in others
        ]  # fmt: skip

    @property
    def sentence(self) -> str:
        """What is certified about the jury and the others, in sentences."""
        jury, *others = self.members
        first = jury.certificate.claim
        bounds = " and ".join(
            f"{percent(other.certificate.value, 2)} for {_called(other.name)}" for other in others
        )
        hold = f"All {len(self.members)} bounds hold together ({confidence(self.delta)} confidence"
        seen = f"; {int(jury.wrong.sum()):,} of {jury.wrong.size:,} certifying rows are wrong)."
        return f"{first} With the same rows the bound is {bounds}. {hold}{seen}"

    def table(self) -> str:
        """Return the votes of judges and what each is worth, as lines of text."""
        lines = [("judge", "votes", "without it")]
        for judge, votes in zip(self.votes.judges, self.votes.votes, strict=True):
            more = self.without[judge.judge]
            worth = f"{more:+,} wrong" if votes else "says nothing new"
            lines.append((str(judge), str(votes), worth))
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)

    def __str__(self) -> str:
        parts = [self.sentence, "", self.table()]
        parts += ["", *(difference.sentence for difference in self.compared())]
        if self.trees is not None:
            parts.insert(2, "Trees over verdicts and context were better than votes, and answer.")
        for more in (self.of_pool, self.groups):
            parts += [] if more is None else ["", getattr(more, "claim", None) or str(more)]
        return "\n".join(parts if self.answers is None else [*parts, "", str(self.answers)])

    def to_dict(self) -> dict[str, Any]:
        """Return votes and certificates as plain values for JSON."""
        return {
            "version": VERSION, **self.votes.to_dict(),
            "certificates": {each.name: each.certificate.to_dict() for each in self.members},
            "without": dict(self.without), "trees": self.trees is not None,
            "differences": [difference.to_dict() for difference in self.compared()],
            "answers": None if self.answers is None else self.answers.to_dict(),
            "groups": None if self.groups is None else self.groups.to_dict(),
            "of_pool": None if self.of_pool is None else self.of_pool.to_dict(),
        }  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Write votes and certificates as JSON, which a few lines of any language can apply."""
        if self.trees is not None:
            raise ParameterError(
                "this jury answers by trees; save them by jury.trees.model.save(path)"
            )
        with atomic_write(Path(path)) as part:
            text = json.dumps(self.to_dict(), ensure_ascii=False, indent=1)
            part.write_text(text, encoding="utf-8")


def load_votes(path: str | Path) -> Votes:
    """Read the votes of a saved jury."""
    try:
        return Votes.from_dict(json.loads(Path(path).read_text(encoding="utf-8")))
    except (KeyError, TypeError, ValueError) as problem:
        raise FileError(f"{path}: not the votes of a jury") from problem


def jury(
    verdicts: Any,
    truth: str | ArrayLike,
    *,
    judges: Sequence[str] | None = None,
    context: Sequence[str] = (),
    by: str | None = None,
    target_error: float | None = None,
    draw: Draw | None = None,
    delta: float = 0.05,
    seed: int = 0,
) -> Jury:
    """Give judges votes and certify what they say together.

    Parameters
    ----------
    verdicts : data frame, or list of mappings from column names to values
        A column for each judge: a language model, a vendor, a rule, a person. A blank says nothing.
        A column of numbers that are no classes is a score, and is cut.
    truth : str or array
        A column, or a label for each row.
    judges : list of str, default=None
        Their columns. None: all columns but those named otherwise.
    context : list of str, default=()
        Columns of what else is known of a row: trees may then find out which judge is right where.
    by : str, default=None
        A column: certify the error of the jury in every group of rows.
    target_error : float, default=None
        Answer only where the jury is far enough ahead, so that at most this share is wrong.
    draw : Draw, default=None
        How the rows were chosen from a pool, before their labels were known.
    delta : float, default=0.05
        The probability with which the certificates of the three may fail.
    seed : int, default=0
        Which rows teach and which certify, if there is no draw.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> truth = generator.integers(0, 2, 400)
    >>> wrong = generator.random((400, 5)) < 0.2
    >>> verdicts = np.where(wrong, 1 - truth[:, None], truth[:, None])
    >>> found = jury([dict(zip("abcde", row, strict=True)) for row in verdicts], truth)
    >>> print(found.table().splitlines()[1])
    a      2      +12 wrong
    """
    probability("delta", delta)
    columns = columns_of(verdicts)
    labels, known = _labels(columns, truth)
    others = {*context, *([by] if by else []), *([truth] if isinstance(truth, str) else [])}
    names = [name for name in columns if name not in others] if judges is None else [*judges]
    for name in (*names, *context, *([by] if by else [])):
        column(columns, name, "judges" if name in names else "context")
    if len(names) < 2:
        raise ParameterError(
            "a jury has two judges or more; name their columns", parameter="judges"
        )
    every = LabelledHalf(columns, known)
    taught, certifying = map(every.take, _halves(verdicts, known.size, draw, seed))
    rules = candidates(taught.columns, names, labels)
    votes = learn(rules, taught.columns, taught.known, labels)
    trees = _trees(taught, votes, [*names, *context], seed) if context or _many(taught) else None
    voice: Votes | TreesOfJury = votes if trees is None else trees
    guess, lead = voice.decided(certifying.columns)
    wrong = {"jury": guess != certifying.known}
    alone = [replace(votes, judges=(judge,), votes=(1,)) for judge in _verdicts(rules)]
    if alone:
        best = min(alone, key=lambda one: taught.mistakes(one).sum())
        wrong[str(best.judges[0])] = certifying.mistakes(best)
        wrong["majority"] = certifying.mistakes(majority(rules, labels, votes.commonest))
    groups = None
    if by is not None:
        said, right = np.array(labels)[guess], np.array(labels)[certifying.known]
        groups = certify_all(answers(said), y=right, by=certifying.columns[by], delta=delta)
    return Jury(
        votes,
        tuple(_member(name, mask, delta, len(wrong), draw) for name, mask in wrong.items()),
        _without(rules, taught, certifying, labels),
        None if target_error is None
        else answering((1 + lead) / (1 + voice.size), wrong["jury"], delta, target_error, None),
        groups, _of_pool(wrong["jury"], taught.known.size, draw, delta), trees, delta,
    )  # fmt: skip


@dataclass(frozen=True)
class LabelledHalf:
    """Half of the labelled rows: their columns, and the place of their class among the labels."""

    columns: Columns
    known: Classes

    def mistakes(self, votes: Votes) -> NDArray[np.bool_]:
        """Return on which rows a vote is wrong."""
        return np.asarray(votes.decided(self.columns)[0] != self.known)

    def take(self, rows: NDArray[np.intp]) -> LabelledHalf:
        """Select rows."""
        columns = {name: [cells[row] for row in rows] for name, cells in self.columns.items()}
        return LabelledHalf(columns, self.known[rows])


@dataclass(frozen=True)
class TreesOfJury:
    """A model of trees over verdicts and context, which answers as votes do."""

    model: BoostClassifier
    names: tuple[str, ...]
    labels: tuple[str, ...]
    size = 1

    def decided(self, columns: Columns) -> tuple[Classes, NDArray[np.float64]]:
        """Return the class of each row, and by how much its probability is ahead."""
        frame = NamedColumns({name: typed(columns[name]) for name in self.names}).table(())
        chances = self.model.predict_proba(frame)
        two = np.sort(chances, axis=1)[:, -2:]
        places = np.array([self.labels.index(label) for label in self.model.classes_.tolist()])
        return places[np.argmax(chances, axis=1)], two[:, 1] - two[:, 0]


def _labels(columns: Columns, truth: str | ArrayLike) -> tuple[tuple[str, ...], Classes]:
    """Return the classes, and the place of that of each row."""
    count = len(next(iter(columns.values())))
    texts = (
        column(columns, truth, "truth")
        if isinstance(truth, str)
        else [*map(text_of, np.asarray(truth, dtype=object))]
    )
    if len(texts) != count:
        raise DataError(f"there are {len(texts):,} labels for {count:,} rows of verdicts")
    if blanks := texts.count(""):
        raise DataError(f"{blanks:,} rows have no label; label them, or leave them out")
    labels = tuple(sorted(set(texts)))
    if len(labels) < 2 or count < MIN_ROWS:
        raise DataError(
            f"{count:,} rows with {len(labels)} classes came; a jury needs {MIN_ROWS} labelled "
            "rows and two classes"
        )
    return labels, np.array([labels.index(text) for text in texts], dtype=np.int64)


def _halves(
    verdicts: Any, count: int, draw: Draw | None, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows that teach and those that certify, by turns in a random order."""
    if draw is not None:
        order = draw.order(verdicts)
    else:
        order = np.random.default_rng(whole("seed", seed)).random(count).argsort(kind="stable")
    return np.sort(order[::2]), np.sort(order[1::2])


def _verdicts(rules: Sequence[Judge]) -> list[Opinion]:
    return [rule for rule in rules if isinstance(rule, Opinion)]


def _many(taught: LabelledHalf) -> bool:
    return taught.known.size >= TREES_FROM


def _trees(
    taught: LabelledHalf, votes: Votes, names: Sequence[str], seed: int
) -> TreesOfJury | None:
    """Return trees if they err less than votes on a quarter of the rows that teach."""
    rows = np.arange(taught.known.size)
    apart = rows % CHOOSING_PART == 0
    first, last = taught.take(rows[~apart]), taught.take(rows[apart])
    fewer = learn(votes.judges, first.columns, first.known, votes.labels)
    tried = _grown(first, names, votes.labels, seed)
    if (tried.decided(last.columns)[0] != last.known).sum() >= last.mistakes(fewer).sum():
        return None
    return _grown(taught, names, votes.labels, seed)


def _grown(
    part: LabelledHalf, names: Sequence[str], labels: tuple[str, ...], seed: int
) -> TreesOfJury:
    table = NamedColumns({name: typed(part.columns[name]) for name in names}).table(())
    model = BoostClassifier(random_state=seed).fit(table, np.array(labels)[part.known])
    return TreesOfJury(model, tuple(names), labels)


def _without(
    rules: Sequence[Judge], taught: LabelledHalf, certifying: LabelledHalf, labels: tuple[str, ...]
) -> dict[str, int]:
    """Return, by judge, how many more certifying rows are wrong if the others vote without it."""
    everybody = certifying.mistakes(learn(rules, taught.columns, taught.known, labels)).sum()
    more: dict[str, int] = {}
    for name in dict.fromkeys(rule.judge for rule in rules):
        others = [rule for rule in rules if rule.judge != name]
        left = learn(others, taught.columns, taught.known, labels)
        more[name] = int(certifying.mistakes(left).sum() - everybody)
    return more


def _member(
    name: str, wrong: NDArray[np.bool_], delta: float, claims: int, draw: Draw | None
) -> Member:
    certificate = holdout.certificate(int(wrong.sum()), wrong.size, delta, models=claims)
    # without a draw nobody knows whether a judge was written with these rows in sight
    return Member(name, wrong, certificate if draw is not None else certificate.unchecked())


def _of_pool(
    wrong: NDArray[np.bool_], taught: int, draw: Draw | None, delta: float
) -> Certificate | None:
    if draw is None:
        return None
    return pool.certificate(int(wrong.sum()), wrong.size, draw.pool_rows - taught, delta)


def _called(name: str) -> str:
    return "the majority" if name == "majority" else f"the best judge, {name!r}"
