"""Conditions on single words: how often, where, how much of a text, and how words begin."""

from __future__ import annotations

import math
import re
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacboost.errors import ParameterError
from pacboost.sources.mixed import MixedFeatures
from pacboost.sources.text import TextFeatures
from pacboost.sources.word_conditions import said, single_words, weight_of

OPTIONS: dict[str, Any] = {
    "times": (2, 4),
    "beginning": (1, 3),
    "shares": (10, 34, 50),
    "prefixes": (2, 3),
}
TEXTS = st.lists(st.text("ab cdÄ_1,", max_size=30), min_size=1, max_size=8)


def holds(entry: str, text: str, weights: dict[str, int]) -> bool:
    """Decide by the definition alone whether a text meets a condition on a single word."""
    tokens = re.findall(r"\w+", text.lower())
    if entry.endswith("*"):
        return any(token.startswith(entry[:-1]) and token != entry[:-1] for token in tokens)
    word, _, mark = entry.partition(" ")
    count = tokens.count(word)
    if not mark:
        return count > 0
    if mark[0] == "×":
        return count >= int(mark[1:])
    if mark[0] == "@":
        return word in tokens[: int(mark[1:])]
    whole = sum((tokens.count(known) * weights.get(known, 0)) ** 2 for known in set(tokens))
    share = Fraction((count * weights[word]) ** 2, whole) if count else Fraction(0)
    return share >= Fraction(int(mark[1:-1]), 100) ** 2


def learned(texts: list[str], **options: Any) -> Any:
    return TextFeatures((1, 1), **{**OPTIONS, **options}).learn(texts)


@given(TEXTS, TEXTS)
@settings(max_examples=150, deadline=None)
def test_every_condition_is_what_it_says(texts: list[str], others: list[str]) -> None:
    texts = [*texts, "ab ab ba"]
    features, table = learned(texts)
    assert np.array_equal(features.transform(texts).rows(), table.rows())
    weights = features.word_weights
    for rows, read in ((texts, table), (others, features.transform(others))):
        wanted = [[holds(word, text, weights) for word in features.vocabulary] for text in rows]
        assert np.array_equal(read.rows(), np.array(wanted))


@given(TEXTS)
@settings(max_examples=100, deadline=None)
def test_no_condition_is_missing(texts: list[str]) -> None:
    texts = [*texts, "ab ab ba"]
    features, _ = learned(texts)
    marks = ["", " ×2", " ×4", " @1", " @3", " ≥10%", " ≥34%", " ≥50%"]
    entries = {word + mark for word in single_words(features.vocabulary) for mark in marks}
    words = single_words(features.vocabulary)
    entries |= {f"{word[:size]}*" for word in words for size in (2, 3) if size < len(word)}
    met = {entry for entry in entries if any(holds(entry, t, features.word_weights) for t in texts)}
    assert set(features.vocabulary) == met


def test_weights_are_those_of_tf_idf_in_whole_steps() -> None:
    for rows in (1, 7, 1000, 123_456):
        for held in {1, min(2, rows), rows // 2 + 1, rows}:
            exact = (1 + math.log((1 + rows) / (1 + held))) / (math.log(2) / 4)
            assert exact - 1 < weight_of(held, rows) < exact + 0.5


def test_a_share_that_is_just_reached_counts() -> None:
    """Four words of one weight have a length of twice that weight: each is exactly a half."""
    features, _ = learned(["a b c d"] * 3, shares=(50, 51), times=(), beginning=(), prefixes=None)
    assert features.weights == (6,) * 4
    found = {entry for entry in features.words("a b c d") if "≥" in entry}
    assert found == {f"{word} ≥50%" for word in "abcd"}
    assert {entry for entry in features.words("a b unknown c d") if "≥" in entry} == found


def test_single_words_have_to_be_read() -> None:
    for options in ({"ngrams": (2, 3)}, {"ngrams": None, "characters": (3, 3)}):
        plain, _ = TextFeatures(**options).learn(["one two two", "two three"])
        more, _ = TextFeatures(**options, **OPTIONS).learn(["one two two", "two three"])
        assert more.vocabulary == plain.vocabulary
        assert more.weights == ()


def test_few_features_are_words_before_shares() -> None:
    with pytest.warns(UserWarning, match="the 3 that most texts contain are kept"):
        features, table = TextFeatures((1, 1), max_features=3, shares=(50,)).learn(
            ["a b c d", "a b c", "a b", "a"]
        )
    assert features.vocabulary == ("a", "b", "c")
    assert table.n_columns == 3


def test_rules_name_the_column() -> None:
    rows = [{"body": "profit up"}, {"body": "loss profit profit"}, {"body": "to the sea"}]
    options = TextFeatures((1, 1), **OPTIONS)
    features, table = MixedFeatures(options, ("body",)).learn(rows)
    spoken = [features.say(number) for number in range(table.n_columns)]
    assert "body contains 'profit' at least 2 times" in spoken
    assert "body begins with 'profit'" in spoken
    assert "'profit' makes up at least 50 % of body" in spoken
    assert "body contains a word that begins with 'pro'" in spoken
    again = MixedFeatures.from_dict(features.to_dict(), features.vocabulary)
    assert again == features
    assert np.array_equal(again.transform(rows).rows(), table.rows())


def test_plain_words_are_said_as_before() -> None:
    for entry in ("card", "my card", "lost … card", "‹car›", "naïve 2"):
        assert said(entry) == f"it contains {entry!r}"


def test_options_and_weights_survive() -> None:
    features, _ = learned(["a a b", "b a c", "d"])
    content = features.to_dict()
    assert Counter(content["weights"].tolist()) == Counter(features.weights)
    assert TextFeatures.from_dict(content, features.vocabulary) == features
    assert not {"times", "shares", "weights"} & set(TextFeatures().to_dict())


@pytest.mark.parametrize(
    "change",
    [
        {"weights": np.array([6, 6], dtype=np.uint8)},
        {"weights": np.array([6, 6, 6, 0], dtype=np.uint8)},
        {"weights": np.zeros(0, dtype=np.uint8)},
        {"shares": ()},
        {"shares": (50, 34)},
        {"ngrams": (2, 2)},
    ],
)
def test_damaged_weights_are_refused(change: dict[str, Any]) -> None:
    features, _ = learned(["a a b", "b a c", "d"])
    with pytest.raises(ValueError, match=r"weights are not those|shares is"):
        TextFeatures.from_dict({**features.to_dict(), **change}, features.vocabulary)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"times": (1, 2)}, "times is"),
        ({"times": 2}, "times is 2"),
        ({"times": (3, 2)}, "the least first"),
        ({"times": (2, 2)}, "the least first"),
        ({"times": (2.0,)}, "whole numbers from 2 to 1,000"),
        ({"beginning": (0,)}, "beginning is"),
        ({"shares": (101,)}, "shares is"),
        ({"shares": tuple(range(1, 12))}, "up to 10 whole numbers"),
        ({"prefixes": (6, 4)}, "prefixes is"),
        ({"prefixes": 4}, "prefixes is 4"),
    ],
)
def test_bad_conditions(options: dict[str, Any], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        TextFeatures(**options)
