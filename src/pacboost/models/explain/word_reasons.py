"""What the words of a vote of lists say: of all texts, and of a single one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.vote import Vote
from pacboost.hypotheses.word_list import WordList
from pacboost.models.explain.explanation import Entry, Explanation, class_number
from pacboost.models.model import Model
from pacboost.sources.words import WordTable

Doubles = NDArray[np.float64]
Wholes = NDArray[np.int32]

PRIOR = "whatever the text"
NO_KNOWN_WORD = "no known word: the prior speaks"


def totals(vote: Vote) -> tuple[Wholes, Doubles]:
    """Give every word that a list asks for, and what it adds to each output if it always speaks.

    In a text with other words of the same lists it adds less: of each list the first word speaks.
    """
    index = vote.index
    if index is None:
        return np.empty(0, dtype=np.int32), np.zeros((0, vote.outputs))
    counts = np.diff(index.entries)
    asked = np.flatnonzero(counts)
    said = index.values[index.lines]
    sums = np.add.reduceat(said, index.entries[asked]) if asked.size else said
    return asked.astype(np.int32), sums


def spoken(vote: Vote, held: set[int]) -> dict[int, tuple[Doubles, int]]:
    """Give what each word of a text really adds to what is said of a text without words.

    Also give in how many lists it is the first, and so the one that speaks.
    """
    added: dict[int, tuple[Doubles, int]] = {}
    for rule, cast in zip(vote.hypotheses, vote.votes, strict=True):
        asked = rule.asked.tolist() if isinstance(rule, WordList) else []
        place = next((k for k, word in enumerate(asked) if word in held), None)
        if place is not None:
            own = cast * (rule.values[place] - rule.values[-1])
            before, rules = added.get(asked[place], (np.zeros(vote.outputs), 0))
            added[asked[place]] = before + own, rules + 1
    return added


def explain(
    model: Model, table: WordTable, prediction: Any, top: int, for_class: Any
) -> Explanation:
    """Say which words of a table's only row spoke for and against a class."""
    scores = model.vote.scores(table).reshape(-1)
    classes = model.classes.tolist()
    number = class_number(classes, for_class)
    if number is None:
        number = int(scores.argmax()) if scores.size > 1 else len(classes) - 1
    output = number if scores.size > 1 else 0
    sign = -1.0 if scores.size == 1 and number < len(classes) - 1 else 1.0
    wordless = WordTable(np.zeros(2, dtype=np.int64), table.words[:0], table.n_columns)
    silent = model.vote.scores(wordless).reshape(-1)
    added = spoken(model.vote, set(table.words.tolist()))
    say = model.say().holds
    grounds = [(say(word).removeprefix("it "), own, rules) for word, (own, rules) in added.items()]
    always = PRIOR if grounds else NO_KNOWN_WORD
    entries = [
        Entry(words, sign * float(own[output]), tuple((sign * own).tolist()), rules)
        for words, own, rules in [*grounds, (always, silent, 1)]
    ]
    entries.sort(key=lambda entry: (entry.words != NO_KNOWN_WORD, -abs(entry.contribution)))
    rest = entries[top:]
    shaped = scores if scores.size == 1 else scores[None, :]
    return Explanation(
        prediction,
        classes[number],
        float(model.probabilities(shaped)[0, number]),
        sign * float(scores[output]),
        tuple(entries[:top]),
        sum((entry.contribution for entry in rest), start=0.0),
        sum(entry.rules for entry in rest),
    )
