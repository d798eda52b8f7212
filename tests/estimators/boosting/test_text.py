"""Boosting over texts: what it learns, says, refuses and keeps."""

import csv
import gzip
import tracemalloc
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import estimator_checks_generator

import pacboost
from pacboost import StrongClassifier, TextBoostClassifier
from pacboost.errors import DataError, NoEdgeWarning
from pacboost.loading import load
from pacboost.models.file.format import model_bytes
from pacboost.sources.toy import draw_calls
from tests.data import HOME
from tests.grids import each_value, one_in

ASKS = {
    "lost": ["i lost my card", "my card is gone", "card was stolen", "cannot find my card"],
    "top-up": ["how do i top up", "top up failed", "add money to my account", "top up by card"],
    "rate": ["what is the exchange rate", "euro rate today", "is the rate fair", "rate please"],
}
WORDS_ALONE: dict[str, Any] = dict.fromkeys(("times", "beginning", "prefixes"))
EXTRA = ["please", "hello", "thanks", "now", "quick question", "asap", "hi there", "today"]


def callers(rows: int = 240, seed: int = 0) -> tuple[list[str], list[str]]:
    """What people say, with words around it that say nothing."""
    generator = np.random.default_rng(seed)
    labels = generator.choice(list(ASKS), size=rows).tolist()
    said = [
        " ".join([str(generator.choice(EXTRA)), str(generator.choice(ASKS[k]))]) for k in labels
    ]
    return said, labels


def quick(**options: Any) -> TextBoostClassifier:
    return TextBoostClassifier(**{"n_estimators": 30, "length": 8, "random_state": 0, **options})


def two() -> tuple[list[str], list[str]]:
    texts, labels = callers()
    return texts, ["lost" if label == "lost" else "other" for label in labels]


def several() -> tuple[list[str], np.ndarray]:
    texts, labels = callers()
    polite = [any(word in text for word in ("please", "thanks")) for text in texts]
    columns = [[label == "lost" for label in labels], [label == "rate" for label in labels], polite]
    return texts, np.array(columns).T.astype(np.int64)


DATA = pytest.mark.parametrize("data", [callers, two, several])


@cache
def fitted(data: Any = callers) -> TextBoostClassifier:
    return quick().fit(*data())


@DATA
def test_learns_and_is_certified(data: Any) -> None:
    texts, y = data()
    model = fitted(data)
    wrong = 1 - model.score(texts, y)
    assert wrong < 0.02
    assert model.certificate_.value >= model.ledger_.rounds[-1].training_error
    assert model.predict_proba(texts).shape == (len(texts), max(2, len(model.classes_)))
    *_, last = model.staged_decision_function(texts)
    assert np.array_equal(model.decision_function(texts), last)


@DATA
def test_a_file_keeps_everything(data: Any, tmp_path: Path) -> None:
    texts, y = data()
    model = quick(skips=1, characters=(3, 4), min_count=2, ngrams=(1, 3)).fit(texts, y)
    model.save(tmp_path / "model.json")
    back = load(tmp_path / "model.json")
    strange = [*texts, "", "never heard", "LOST my Card"]
    assert np.array_equal(back.decision_function(strange), model.decision_function(strange))
    assert back.features_ == model.features_
    assert (back.ngrams, back.skips, back.characters) == ((1, 3), 1, (3, 4))
    assert str(back.explain(texts[0])) == str(model.explain(texts[0]))
    assert np.array_equal(clone(back).fit(texts, y).features_.vocabulary, back.features_.vocabulary)


def alternating(one: str, other: str) -> tuple[list[str], list[str]]:
    """Texts of two forms in turn, each with a number in the place of #."""
    rows = [form.replace("#", str(k)) for k in range(60) for form in (one, other)]
    return rows, ["yes", "no"] * 60


@pytest.mark.parametrize(
    ("option", "one", "other", "said"),
    [
        ({"times": (2,)}, "w# profit profit", "profit w#", "contains 'profit' at least 2 times"),
        ({"beginning": (1,)}, "not w# good", "good w# not", "begins with 'not'"),
        ({"prefixes": (4, 4)}, "card#x", "bill#x", "contains a word that begins with 'card'"),
    ],
)
def test_conditions_tell_apart_what_words_cannot(
    option: dict[str, Any], one: str, other: str, said: str, tmp_path: Path
) -> None:
    """The same words are in all texts, or every word is new."""
    rows, labels = alternating(one, other)
    words = quick(ngrams=(1, 1), min_count=2, **WORDS_ALONE)
    with pytest.raises(DataError) if "x" in one else pytest.warns(NoEdgeWarning):
        words.fit(rows[:80], labels[:80])
    model = quick(ngrams=(1, 1), min_count=2, **{**WORDS_ALONE, **option})
    assert model.fit(rows[:80], labels[:80]).score(rows[80:], labels[80:]) == 1
    assert any(said in line for line in model.rules(None, "yes"))
    assert said in str(model.explain(rows[0], top=50, for_class="yes"))
    model.save(tmp_path / "model.pacb")
    back = load(tmp_path / "model.pacb")
    assert np.array_equal(back.decision_function(rows), model.decision_function(rows))
    assert model_bytes(back.model_) == model_bytes(model.model_)
    assert back.rules(None) == model.rules(None)


def test_rules_add_up_over_the_lists() -> None:
    """A text of a single word gets the prior and the total of that word."""
    texts, y = callers()
    model = quick(ngrams=(1, 1), **WORDS_ALONE).fit(texts, y)
    words = [line.split("'")[1] for line in model.rules(None, "rate")]
    silent = model.decision_function([""])[0]
    for word, line in zip(words, model.rules(None, "rate"), strict=True):
        column = model.classes_.tolist().index("rate")
        added = model.decision_function([word])[0] - silent
        assert line.endswith(f"rate {added[column]:+.2f}")


@DATA
def test_grounds_add_up_to_the_score(data: Any) -> None:
    texts, _ = data()
    model = fitted(data)
    for text in [*texts[:20], "", "what?"]:
        for number, name in enumerate(model.classes_.tolist()):
            told = model.explain(text, top=3, for_class=name)
            scores = np.atleast_2d(model.decision_function([text]))[0]
            wanted = scores[number] if scores.size > 1 else (2 * number - 1) * scores[0]
            assert told.score == wanted
            assert told.rest + sum(entry.contribution for entry in told.entries) == wanted
            assert told.probability == model.predict_proba([text])[0, number]


@pytest.mark.parametrize("text", ["", "zzz qqq", "?!"])
def test_no_known_word_lets_the_constant_speak(text: str) -> None:
    texts, y = callers()
    model = fitted()
    names, counts = np.unique(y, return_counts=True)
    assert model.predict([text])[0] == names[counts.argmax()]
    constants = sum(rule.values[-1] for rule in model.model_.vote.hypotheses)
    assert model.decision_function([text])[0] == pytest.approx(constants)
    assert "no known word" in str(model.explain(text))
    assert "no known word" not in str(model.explain(texts[0]))


def test_early_stopping_and_own_validation_texts() -> None:
    texts, y = callers()
    others, truth = callers(60, seed=1)
    noise = np.random.default_rng(3).permutation(y)
    stopped = quick(n_estimators=400, early_stopping=5, learning_rate=1.0)
    assert len(stopped.fit(texts, noise).ledger_) < 400
    texts = [f"{text} a{number}" for number, text in enumerate(texts)]  # or all have twins
    others = [f"{text} b{number}" for number, text in enumerate(others)]
    own = quick(early_stopping=5).fit(texts, y, X_val=others, y_val=truth)
    assert own.ledger_.metric == "log_loss"
    assert own.overlap(others).suspicious  # type: ignore[union-attr]


@each_value
@pytest.mark.parametrize("booster", ["logit", "adaboost", "gentle"])
@pytest.mark.parametrize("abstain", [True, False])
def test_boosters_and_boostexters_own_rule(booster: str, abstain: bool) -> None:
    texts, y = callers()
    model = quick(booster=booster, length=1, candidates=None, abstain=abstain, learning_rate=0.5)
    assert model.fit(texts, y).score(texts, y) > 0.9


@pytest.mark.parametrize(
    ("texts", "labels", "said"),
    [
        ("a single text", "xy", "a list of texts"),
        (["a", None, "b"], "xyx", "row 1 holds None"),
        (["a", "b", 7], "xyx", "row 2 holds 7"),
        ([], "", "no texts"),
        (["", "?", "!"], "xyx", "nothing to learn from"),
        (["a", "b"], "xyx", "X has 2 rows but y has 3"),
        ({"said": "lost"}, "xy", "a list of texts is needed, but the input is a dict"),
        (None, "xy", "a list of texts is needed, but the input is a NoneType"),
        (pd.Series(["a", pd.NA], dtype="string"), "xy", "row 1 holds <NA>"),
        ([["lost"], ["card"]], "xy", r"row 0 holds \['lost'\] \(list\)"),
        ([b"lost"], "x", r"row 0 holds b'lost' \(bytes\)"),
        (np.eye(2), "xy", "a list of texts is needed, but the input is a ndarray"),
    ],
)
def test_bad_texts_are_named(texts: Any, labels: str, said: str) -> None:
    model = quick()
    with pytest.raises(DataError, match=said):
        model.fit(texts, list(labels))
    assert not hasattr(model, "model_")


def test_scikit_learns_checks_of_what_takes_texts() -> None:
    """It has none for texts, and says so; those of parameters and clones are left."""
    with pytest.warns(SkipTestWarning, match="string=True"):
        checks = list(estimator_checks_generator(TextBoostClassifier(n_estimators=5)))
    for estimator, check in checks:
        check(estimator)
    assert checks


TEXTS = ["i lost my card", "top up failed", "what is the rate", "card was stolen"] * 50
LABELS = ["lost", "top-up", "rate", "lost"] * 50


@one_in(5)
@pytest.mark.parametrize(
    "options",
    [
        {"certify": "holdout"},
        {"calibrate": "temperature"},
        {"early_stopping": True},
        {"class_weight": "balanced"},
        {"certify": "holdout", "calibrate": "temperature", "early_stopping": True},
        {"booster": "adaboost"},
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(3))
def test_a_label_seen_once_harms_nobody(options: dict[str, Any], seed: int) -> None:
    """Its row may be the one that is held out, or held back for validation or calibration."""
    model = quick(**options, random_state=seed)
    model.fit([*TEXTS, "close it for good"], [*LABELS, "close"])
    assert model.classes_.tolist() == ["close", "lost", "rate", "top-up"]
    assert model.score(TEXTS, LABELS) > 0.9
    chances = model.predict_proba([*TEXTS, "close it for good", ""])
    assert np.isfinite(chances).all()
    assert np.allclose(chances.sum(axis=1), 1)


def test_texts_that_tell_nothing_apart_are_warned_of() -> None:
    with pytest.warns(NoEdgeWarning):
        model = quick().fit(["same words"] * 4, ["a", "b"] * 2)
    assert model.predict(["same words", "others"]).tolist() == ["a", "a"]


@pytest.mark.parametrize(
    "odd",
    [
        "\ud800",
        "a\0b",
        "𝐀 İstanbul ß",
        "\u200d👩‍👩‍👧",
        "عربى नमस्ते 中文",
        "\ufeffcard",
        "x" * 100_000,
    ],
    ids=["surrogate", "nul", "capitals", "joined", "scripts", "mark", "long"],
)
def test_odd_letters_are_read_and_kept(odd: str, tmp_path: Path) -> None:
    model = quick(characters=(2, 3)).fit([*TEXTS, odd, f"{odd} card"], [*LABELS, "rate", "lost"])
    model.save(tmp_path / "model.pacb")
    back = load(tmp_path / "model.pacb")
    rows = [odd, f"{odd} {odd}", odd.lower(), "card"]
    assert np.array_equal(back.decision_function(rows), model.decision_function(rows))


@pytest.mark.parametrize(
    "rows",
    [
        np.array(["lost", "top up"]),
        np.array(["lost", "top up"], dtype=object),
        pd.Series(["lost", "top up"]),
        pd.Series(["lost", "top up"], dtype="string"),
        ("lost", "top up"),
        (text for text in ["lost", "top up"]),
    ],
    ids=lambda rows: type(rows).__name__,
)
def test_texts_may_come_in_many_ways(rows: Any) -> None:
    assert quick().fit(TEXTS, LABELS).predict(rows).tolist() == ["lost", "top-up"]


def rows_of(name: str, part: str) -> list[dict[str, str]]:
    """Read a set, or skip the test and say why."""
    path = HOME / name / f"{part}.csv.gz"
    if not path.exists():
        pytest.skip(f"needs the data set {name}; set PACBOOST_DATA to the folder that has it")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_answers_on_banking77_keep_their_word() -> None:
    train, test = rows_of("banking77", "train"), rows_of("banking77", "test")
    model = TextBoostClassifier(
        n_estimators=200, learning_rate=0.4, certify="holdout", calibrate="temperature",
        random_state=0,
    )  # fmt: skip
    model.fit([row["text"] for row in train], [row["intent"] for row in train])
    sure = pacboost.choose_threshold(model, target_error=0.05)
    answers = sure.answer([row["text"] for row in test])
    wrong = [a.label != row["intent"] for a, row in zip(answers, test, strict=True) if a.label]
    assert sure.certificate_.value <= 0.05
    assert np.mean(wrong) < sure.certificate_.value
    assert 0.4 < len(wrong) / len(test) < 0.9
    assert model.calibration_error_ is not None
    assert model.calibration_error_ < 0.06


def invented(rows: int, classes: int) -> tuple[list[str], list[str]]:
    generator = np.random.default_rng(0)
    letters = np.array(list("aeioubcdfglmnprst"))
    sizes = np.arange(1_000) % 8 + 3
    vocabulary = ["".join(generator.choice(letters, size)) for size in sizes]
    numbers = (len(vocabulary) * generator.random((rows, 16)) ** 4).astype(int)
    texts = [" ".join(vocabulary[number] for number in row) for row in numbers]
    return texts, [str(number % classes) for number in numbers[:, 0]]


@pytest.mark.parametrize("classes", [2, 20])
def test_memory_goes_with_the_words(classes: int) -> None:
    texts, labels = invented(1_000, classes)
    model = TextBoostClassifier(n_estimators=3, calibrate=None, random_state=0)
    model.fit(texts[::10], labels[::10])  # what is loaded stays
    tracemalloc.start()
    try:
        model.fit(texts, labels)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    entries = 12 * model.features_.transform(texts).words.size  # a number, and its column
    linear = 4 * 8 * len(model.features_.vocabulary)  # what each word says of a class, in copies
    assert peak <= 6 * entries + (16 * len(texts) + linear) * len(set(labels))


def test_calls_are_told_apart_by_words_that_people_can_read() -> None:
    words_alone: dict[str, Any] = {
        "ngrams": (1, 1), "times": None, "beginning": None, "prefixes": None,
    }  # fmt: skip
    model = TextBoostClassifier(**words_alone, n_estimators=20, random_state=0)
    model.fit(*draw_calls(600, 0))
    assert model.classes_.size == 14
    assert 1 - model.score(*draw_calls(2000, 1)) < 0.03
    for word, kind in (
        ("collect", "Collect"),
        ("card", "CallingCard"),
        ("person", "PersonToPerson"),
    ):
        assert any(f"'{word}' → {kind}" in rule for rule in model.rules(3, kind))


def test_probabilities_are_as_sure_as_they_are_right() -> None:
    """Rare words fit the training rows by chance, so that scores alone are too sure."""
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 2, 1600)
    clue = np.where(generator.random(1600) < 0.8, labels, 1 - labels)
    rare = generator.integers(0, 3000, (1600, 8))
    texts = [
        f"{'good' if c else 'bad'} {' '.join(f'w{k}' for k in row)}"
        for c, row in zip(clue, rare, strict=True)
    ]
    losses = {}
    for calibrate in (None, "auto"):
        model = TextBoostClassifier(calibrate=calibrate, random_state=0)
        model.fit(texts[:800], labels[:800])
        losses[calibrate] = log_loss(labels[800:], model.predict_proba(texts[800:]))
    assert TextBoostClassifier().calibrate == "auto"
    assert losses["auto"] < 0.95 * losses[None]
    strong = StrongClassifier(random_state=0).fit(texts[:800], labels[:800])
    assert strong.model_.calibration is not None
