"""Texts become words: as scikit-learn reads them, and no text is read in two ways."""

import json
import re
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from pacboost.errors import DataError, ParameterError, PrunedWarning
from pacboost.sources.columns import read_texts
from pacboost.sources.mixed import MixedFeatures
from pacboost.sources.text import TextFeatures
from tests.examples import examples

TEXTS = st.lists(st.text("ab cÄé,.'-1\n", max_size=20), min_size=1, max_size=8)
SPANS = st.sampled_from([(1, 1), (1, 2), (2, 3), (1, 4)])


@given(TEXTS, SPANS, st.integers(1, 3))
@examples(75)
def test_runs_of_words_are_those_of_scikit_learn(
    texts: list[str], span: tuple[int, int], least: int
) -> None:
    theirs = CountVectorizer(ngram_range=span, binary=True, token_pattern=r"\w+", min_df=least)
    ours = TextFeatures(span, min_count=least)
    try:
        wanted = theirs.fit_transform(texts).toarray()
    except ValueError:
        with pytest.raises(DataError, match="nothing to learn from"):
            ours.learn(texts)
        return
    features, table = ours.learn(texts)
    assert list(features.vocabulary) == theirs.get_feature_names_out().tolist()
    assert np.array_equal(table.rows(), wanted)
    assert np.array_equal(features.transform(texts).rows(), wanted)


@given(TEXTS, st.integers(1, 4))
@examples(60)
def test_pieces_of_words_are_those_of_scikit_learn(texts: list[str], size: int) -> None:
    analyze = CountVectorizer(ngram_range=(size, size), analyzer="char_wb").build_analyzer()
    ours = TextFeatures(None, characters=(size, size))
    for text in texts:
        words = " ".join(TextFeatures((1, 1)).words(text))
        wanted = [piece for piece in analyze(words) if len(piece) == size]  # some words are short
        assert [piece[1:-1] for piece in ours.words(text)] == wanted


def test_words_may_be_left_out_between() -> None:
    found = list(TextFeatures((2, 2), skips=2).words("a b c d"))
    assert found == ["a b", "b c", "c d", "a … c", "b … d", "a … d"]
    assert list(TextFeatures((3, 3), skips=1).words("a b c d")) == [
        "a b c",
        "b c d",
        "a b … d",
        "a … c d",
    ]


def test_unknown_words_and_empty_texts_give_empty_rows() -> None:
    features, _ = TextFeatures().learn(["lost card", ""])
    table = features.transform(["", "?!", "found it", "card"])
    assert np.diff(table.starts).tolist() == [0, 0, 0, 1]
    assert table.n_columns == 3


def test_the_rarest_are_dropped_with_a_message() -> None:
    texts = ["a b", "a b", "a c", "d"]
    with pytest.warns(PrunedWarning, match=r"4 distinct .* 2 most"):
        features, table = TextFeatures((1, 1), max_features=2).learn(texts)
    assert features.vocabulary == ("a", "b")
    assert table.rows().tolist() == [[1, 1], [1, 1], [1, 0], [0, 0]]


@given(TEXTS, st.integers(1, 6), st.integers(1, 2))
@examples(75)
def test_those_that_most_texts_contain_are_kept(texts: list[str], most: int, least: int) -> None:
    """The others occur in as few texts or fewer; of those that tie, the first in order stay."""
    counts = Counter(word for text in texts for word in set(TextFeatures().words(text)))
    wanted = sorted((-count, word) for word, count in counts.items() if count >= least)[:most]
    options = TextFeatures(min_count=least, max_features=most)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrunedWarning)
        kept = options.learn(texts)[0].vocabulary if wanted else ()
    assert list(kept) == sorted(word for _, word in wanted)


@pytest.mark.slow
def test_a_million_distinct_runs_are_pruned_with_a_message() -> None:
    generator = np.random.default_rng(0)
    words = np.array([f"w{k}" for k in range(1000)])
    texts = [" ".join(row) for row in words[generator.integers(1000, size=(40_000, 20))]]
    with pytest.warns(PrunedWarning, match=r"1,\d+,\d+ distinct .* 500,000"):
        features, table = TextFeatures((1, 3)).learn(texts)
    assert len(features.vocabulary) == table.n_columns == 500_000
    assert (
        features.transform(texts[:100]).words.tolist() == table.words[: table.starts[100]].tolist()
    )


@given(SPANS, st.integers(0, 2), st.booleans())
def test_options_survive_json(span: tuple[int, int], skips: int, lower: bool) -> None:
    texts = ["I lost my card", "Card lost"]
    features, _ = TextFeatures(span, skips, (2, 3), lowercase=lower).learn(texts)
    content = json.loads(json.dumps(features.to_dict()))
    back = TextFeatures.from_dict(content, features.vocabulary)
    assert back == features
    assert back.transform(texts).words.tolist() == features.transform(texts).words.tolist()


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", r"pass \[text\] for one text"),
        (b"one text", r"pass \[text\] for one text"),
        (7, "a list of texts is needed"),
        ({"text": "a"}, "a list of texts is needed"),
        ([], "no texts"),
        (["a", None], "row 1 holds None"),
        (["a", "b", float("nan")], r"row 2 holds nan \(float\)"),
        ([b"a"], r"row 0 holds b'a' \(bytes\)"),
        (np.array([["a"]]), "a column of a table"),
        (pd.DataFrame({"text": ["a"]}), "is a DataFrame"),
        (np.array([1.0]), "row 0 holds"),
    ],
)
def test_what_is_no_text_is_named(texts: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_texts(texts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ngrams": (2, 1)}, "ngrams is"),
        ({"ngrams": 2}, "ngrams is 2"),
        ({"ngrams": None}, "both None"),
        ({"characters": (0, 3)}, "characters is"),
        ({"ngrams": (1, 10**9)}, "from 1 to 100"),
        ({"characters": (3, 101)}, "from 1 to 100"),
        ({"ngrams": (1, 40), "skips": 4}, "Choose shorter n-grams"),
        ({"skips": -1}, "skips is -1"),
        ({"skips": 9}, "skips is 9"),
        ({"min_count": 0}, "min_count is 0"),
        ({"min_count": 1.5}, "min_count is 1.5"),
        ({"max_features": 0}, "max_features is 0"),
        ({"lowercase": "no"}, "lowercase is 'no'"),
        ({"times": (1, 2)}, "times is"),
        ({"times": 2}, "times is 2"),
        ({"times": (3, 2)}, "in ascending order"),
        ({"times": (2, 2)}, "in ascending order"),
        ({"times": (2.0,)}, "whole numbers from 2 to 1,000"),
        ({"beginning": (0,)}, "beginning is"),
        ({"beginning": tuple(range(1, 12))}, "up to 10 whole numbers"),
        ({"prefixes": (6, 4)}, "prefixes is"),
        ({"prefixes": 4}, "prefixes is 4"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        TextFeatures.checked(**options)


# Conditions on single words: how often and where they occur, and how they begin.

OPTIONS: dict[str, Any] = {"times": (2, 4), "beginning": (1, 3), "prefixes": (2, 3)}
WORDY = st.lists(st.text("ab cdÄ_1,", max_size=30), min_size=1, max_size=8)


def holds(entry: str, text: str) -> bool:
    """Decide by the definition alone whether a text meets a condition on a single word."""
    tokens = re.findall(r"\w+", text.lower())
    if entry.endswith("*"):
        return any(token.startswith(entry[:-1]) and token != entry[:-1] for token in tokens)
    word, _, mark = entry.partition(" ")
    if mark.startswith("@"):
        return word in tokens[: int(mark[1:])]
    return tokens.count(word) >= int(mark[1:] or 1)


@given(WORDY, WORDY)
@examples(75)
def test_every_condition_is_what_it_says(texts: list[str], others: list[str]) -> None:
    texts = [*texts, "ab ab ba"]
    features, table = TextFeatures((1, 1), **OPTIONS).learn(texts)
    assert np.array_equal(features.transform(texts).rows(), table.rows())
    for rows, read in ((texts, table), (others, features.transform(others))):
        wanted = [[holds(word, text) for word in features.vocabulary] for text in rows]
        assert np.array_equal(read.rows(), np.array(wanted))


@given(WORDY)
@examples(100)
def test_no_condition_is_missing(texts: list[str]) -> None:
    texts = [*texts, "ab ab ba"]
    features, _ = TextFeatures((1, 1), **OPTIONS).learn(texts)
    words = {token for text in texts for token in re.findall(r"\w+", text.lower())}
    entries = {word + mark for word in words for mark in ("", " ×2", " ×4", " @1", " @3")}
    entries |= {f"{word[:size]}*" for word in words for size in (2, 3) if size < len(word)}
    met = {entry for entry in entries if any(holds(entry, text) for text in texts)}
    assert set(features.vocabulary) == met


def test_single_words_have_to_be_read() -> None:
    for options in ({"ngrams": (2, 3)}, {"ngrams": None, "characters": (3, 3)}):
        plain, _ = TextFeatures(**options).learn(["one two two", "two three"])
        more, _ = TextFeatures(**options, **OPTIONS).learn(["one two two", "two three"])
        assert more.vocabulary == plain.vocabulary


def test_rules_name_the_column() -> None:
    rows = [{"body": "profit up"}, {"body": "loss profit profit"}, {"body": "to the sea"}]
    options = TextFeatures((1, 1), **OPTIONS)
    features, table = MixedFeatures(options, ("body",)).learn(rows)
    spoken = [features.say(number) for number in range(table.n_columns)]
    assert "body contains 'profit' at least 2 times" in spoken
    assert "body begins with 'profit'" in spoken
    assert "body contains 'profit' within its first 3 words" in spoken
    assert "body contains a word that begins with 'pro'" in spoken
    again = MixedFeatures.from_dict(features.to_dict(), features.vocabulary)
    assert again == features
    assert np.array_equal(again.transform(rows).rows(), table.rows())
