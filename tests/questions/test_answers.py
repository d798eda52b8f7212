"""Answers without a model: the same numbers as with one, missing answers, scores, and coverage."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import pacboost
from pacboost import (
    Monitor,
    answers,
    certify,
    certify_all,
    choose_threshold,
    compare_models,
    measures,
    shift,
    verify,
)
from pacboost.bounds.wording import IF_NEW
from pacboost.errors import DataError, InputWarning, ParameterError
from tests.bounds.coverage import check_coverage, check_rejected

GENERATOR = np.random.default_rng(0)
ROWS = 600
TRUTH = GENERATOR.choice(["bad", "ok"], size=ROWS, p=[0.3, 0.7])
SAID = np.where(GENERATOR.random(ROWS) < 0.9, TRUTH, np.where(TRUTH == "ok", "bad", "ok"))
SCORES = np.round(np.where(TRUTH == "bad", 0.6, 0.3) + 0.3 * GENERATOR.random(ROWS), 2)
WHERE = GENERATOR.choice(["north", "south"], size=ROWS)
WHO = np.arange(ROWS) // 4
GONE = GENERATOR.random(ROWS) < 0.1
PARTLY = SAID.astype(object)
PARTLY[GONE] = None


class Judge:
    """A model that says the same."""

    classes_ = np.array(["bad", "ok"])

    def __init__(self, said: Any = SAID) -> None:
        self.said = said

    def predict(self, X: Any) -> Any:
        return self.said

    def predict_proba(self, X: Any) -> Any:
        return np.column_stack([SCORES, 1 - SCORES])


@pytest.mark.parametrize(
    "options",
    [
        {}, {"models": 7, "delta": 0.01}, {"groups": WHO}, {"ordered": True},
        {"of": "balanced_error"}, {"of": measures.recall("bad")},
        {"of": measures.f1("ok"), "end": "upper"}, {"of": "error", "end": "lower"},
        {"of": measures.cost({("bad", "ok"): 5, ("ok", "bad"): 1})},
    ],
)  # fmt: skip
def test_answers_are_certified_as_those_of_a_model_are(options: dict[str, Any]) -> None:
    found = certify(answers(SAID.tolist()), y=TRUTH, **options)
    assert found == certify(Judge(), np.empty((ROWS, 0)), TRUTH, **options)
    assert found.claim.lower().startswith(IF_NEW)
    assert verify(found)[0].holds


def test_scores_are_those_of_a_model_that_gives_probabilities() -> None:
    options: dict[str, Any] = {"of": [measures.auc("bad"), "brier", "log_loss"], "by": WHERE}
    found = certify_all(answers(SAID, SCORES, positive="bad"), y=TRUTH, **options)
    assert found == certify_all(Judge(), np.empty((ROWS, 0)), TRUTH, **options)
    ranked = certify(answers(SAID, 10 * SCORES, positive="bad"), y=TRUTH, of=measures.auc("bad"))
    assert ranked == certify(Judge(), np.empty((ROWS, 0)), TRUTH, of=measures.auc("bad"))
    judge = answers(SAID, 10 * SCORES, positive="bad")
    promise: Any = {"recall": 0.9, "positive": "bad"}
    threshold = choose_threshold(judge, judge.rows, TRUTH, **promise).threshold_
    plain = choose_threshold(Judge(), judge.rows, TRUTH, **promise).threshold_
    assert threshold == pytest.approx(10 * plain)
    sure = answers(SAID, SCORES, positive="bad")
    given = pacboost.sets(sure, sure.rows, TRUTH, coverage=0.8).certificate_
    assert given == pacboost.sets(Judge(), sure.rows, TRUTH, coverage=0.8).certificate_


def test_scores_of_one_class_of_three() -> None:
    truth = np.where(np.arange(ROWS) % 5 == 0, "odd", TRUTH)
    found = certify(answers(truth, SCORES, positive="odd"), y=truth, of=measures.auc("odd"))
    assert found.details["class"] == "odd"
    with pytest.raises(ParameterError, match="positive="):
        certify(answers(truth, SCORES), y=truth, of="auc")


@pytest.mark.parametrize("none", [None, "", " ", np.nan, pd.NA])
def test_an_answer_may_be_missing(none: Any) -> None:
    said = [none if gone else own for gone, own in zip(GONE, SAID.tolist(), strict=True)]
    given, share = ~GONE, float(GONE.mean())
    abstaining = certify(answers(said), y=TRUTH)
    assert abstaining.value == certify(answers(SAID[given]), y=TRUTH[given]).value
    assert dict(abstaining.details) == {"missing_abstain": share}
    wrong = certify(answers(said, missing="wrong"), y=TRUTH)
    assert wrong.inputs["k"] == int((GONE | (SAID != TRUTH)).sum())
    assert wrong.size == ROWS
    for found in (abstaining, wrong):
        assert f"({100 * share:.1f} %)" in found.claim
        assert verify(found)[0].holds


def test_missing_answers_of_every_measure_and_group() -> None:
    costs = {("bad", "ok"): 5, ("ok", "bad"): 1}
    of_class = [measures.recall("bad"), measures.precision("bad"), measures.f1("bad")]
    options: dict[str, Any] = {"of": ["error", *of_class, "balanced_error", measures.cost(costs)]}
    given = ~GONE
    found = certify_all(answers(PARTLY), y=TRUTH, by=WHERE, **options)
    whole = certify_all(answers(SAID[given]), y=TRUTH[given], by=WHERE[given], **options)
    assert [own.value for own in found] == [own.value for own in whole]
    assert "do not count" in str(found)
    wrong = certify_all(answers(PARTLY, missing="wrong"), y=TRUTH, **options)
    own, right = TRUTH == "bad", (SAID == TRUTH) & given
    assert wrong["recall"].details["seen"] == right[own].sum() / own.sum()
    loss = np.where(GONE, 5, np.where(SAID == TRUTH, 0, np.where(own, 5, 1)))
    assert wrong["cost"].details["seen"] == pytest.approx(loss.mean())
    assert all(check.holds for check in verify(found) + verify(wrong))
    both = certify_all(answers(PARTLY), y=TRUTH, by=WHERE, end="both")
    assert "do not count" in both.gap.claim
    alone = certify(answers(PARTLY), y=TRUTH, groups=pd.Series(WHO, index=WHO[::-1]))
    assert alone.value == certify(answers(SAID[given]), y=TRUTH[given], groups=WHO[given]).value
    judge = answers(PARTLY, SCORES, positive="bad")
    answering = choose_threshold(judge, judge.rows, TRUTH, abstain_below=0.01).curve_
    assert answering.point.answered == int(given.sum())  # no answer is never a confident one


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_columns_of_a_frame(library: Any) -> None:
    frame = library({"who": WHO, "verdict": PARTLY.tolist(), "label": TRUTH, "where": WHERE,
                     "risk": SCORES, "id": np.arange(ROWS)})  # fmt: skip
    of: list[Any] = [measures.auc("bad"), "error"]
    found = certify_all(
        answers("verdict", "risk", positive="bad"), frame, "label", by="where", of=of
    )
    plain = certify_all(answers(PARTLY, SCORES, positive="bad"), y=TRUTH, by=WHERE, of=of)
    assert [own.value for own in found] == [own.value for own in plain]
    with pytest.raises(ParameterError, match="did you mean 'verdict'"):
        certify(answers("verdic"), frame, "label")


def test_numbers_as_answers() -> None:
    truth, said = [1, 0, 1, 0] * 50, pd.Series([1, 0, None, 1] * 50, dtype="Int64")
    found = certify(answers(said), y=truth, of="recall")
    assert (found.details["class"], found.inputs["n"]) == ("1", 50)
    assert certify(answers(said.astype(float)), y=np.array(truth, float), of="recall") == found
    prices = np.linspace(1, 2, 200)
    off = certify(answers(prices + 0.1), y=prices, of=measures.absolute_error(clip=1.0))
    assert off.details["seen"] == pytest.approx(0.1)


def test_copies_count_once() -> None:
    frame = pd.DataFrame(
        {"question": [f"{k} + {k}?" for k in range(ROWS)], "said": SAID, "y": TRUTH}
    )
    twice = pd.concat([frame, frame[:300]]).sample(frac=1, random_state=0)
    with pytest.warns(InputWarning, match="300 of 900 rows"):
        found = certify(answers("said"), twice, "y", copies="distinct")
    assert found.size == ROWS
    assert certify(answers("said"), twice, "y").size == ROWS + 300


def test_other_spelling_is_noted() -> None:
    with pytest.warns(InputWarning, match="30 of 60 .*'Bad' .30 .*'bad'"):
        certify(answers(["Bad", "ok"] * 30), y=["bad", "ok"] * 30)


def test_answers_that_are_no_label_are_counted_and_refused_if_all_are() -> None:
    truth = ["yes", "no"] * 30
    refusing = ["I cannot say", "no"] * 15 + truth[:30]
    with pytest.warns(InputWarning, match="15 of 60 .*'I cannot say' .15"):
        assert certify(answers(refusing), y=truth).inputs["k"] == 15
    assert certify(answers(refusing, classes=["yes", "no", "I cannot say"]), y=truth).size == 60
    with pytest.raises(DataError, match=r"60 answers .*: 'yes\.'"):
        certify(answers(["yes.", "no."] * 30), y=truth)


class Booster:
    """A model without classes whose predictions are probabilities, such as lightgbm.Booster."""

    def predict(self, X: Any) -> Any:
        return np.linspace(0.01, 0.99, len(X))


@pytest.mark.parametrize("of", ["error", "recall"])
def test_probabilities_are_no_labels(of: str) -> None:
    with pytest.raises(DataError, match=r"60 answers .*: 0\.01"):
        certify(Booster(), np.zeros((60, 1)), [0, 1] * 30, of=of)
    halves = answers(Booster().predict(range(60)) > 0.5)
    assert certify(halves, y=[0, 1] * 30).inputs["k"] == 30


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: certify(np.zeros((60, 1)), TRUTH[:60], Judge()), "a model came as y; call cert"),
        (lambda: compare_models(TRUTH, Judge(), Judge(), TRUTH), "a model came as X; call comp"),
        (lambda: certify(Judge(), TRUTH, np.zeros((ROWS, 1))), "seem to be swapped"),
        (lambda: answers(scores=SCORES), "without said="),
        (lambda: certify(TRUTH, y=TRUTH), "has no predict method"),
    ],
)
def test_arguments_in_another_order(call: Any, words: str) -> None:
    with pytest.raises((DataError, ParameterError), match=words):
        call()


def test_models_are_named_by_their_classes() -> None:
    wrong = np.where(TRUTH == "ok", "bad", "ok")
    models = Judge(), Judge(wrong)
    compared = compare_models(*models, np.zeros((ROWS, 1)), TRUTH)
    assert (compared.one, compared.other) == ("Judge 1", "Judge 2")
    compared = compare_models(Judge(), answers(wrong), np.zeros((ROWS, 1)), TRUTH)
    assert (compared.one, compared.other) == ("Judge", "Answers")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"said": SAID[1:]}, "599 answers for 600 labels"),
        ({"said": [None] * ROWS}, "no row has an answer"),
        ({"said": "verdict"}, "no data frame"),
        ({"said": ["bad", 1] * 300}, "partly text"),
        ({"said": np.ones(ROWS)}, "another type"),
        ({"said": SAID, "missing": "skip"}, "missing is 'skip'"),
        ({"said": SAID, "scores": SCORES[1:]}, "a finite number"),
        ({"said": SAID, "scores": np.full(ROWS, np.nan)}, "a finite number"),
        ({"said": SAID, "classes": ["bad", "good"]}, "y holds 'ok'"),
    ],
)
def test_refusals(options: dict[str, Any], words: str) -> None:
    with pytest.raises((DataError, ParameterError), match=words):
        certify(answers(**options), y=TRUTH)


def test_columns_of_answers_are_compared_in_pairs() -> None:
    other = np.where(GENERATOR.random(ROWS) < 0.7, TRUTH, "ok")
    found = compare_models(answers(SAID), answers(other), None, TRUTH, models=4)
    assert found.pairs == 6
    assert found.only_one_wrong == int(((SAID != TRUTH) & (other == TRUTH)).sum())


def test_a_stream_of_answers_is_watched() -> None:
    one = Monitor(error=0.15).update_answers(PARTLY, TRUTH).status()
    other = Monitor(error=0.15).update_mistakes((SAID != TRUTH)[~GONE]).status()
    assert one == other
    wrong = Monitor(error=0.01).update_answers(PARTLY, TRUTH, missing="wrong").status()
    assert (wrong.alarm, wrong.rows) == (True, ROWS)


def test_the_page_has_claims_confusion_and_groups() -> None:
    judge = answers(PARTLY, SCORES, positive="bad")
    groups = certify_all(answers(PARTLY), y=TRUTH, by=WHERE)
    recall = certify(answers(PARTLY), y=TRUTH, of=measures.recall("bad"))
    for certified in ([certify(answers(PARTLY), y=TRUTH), groups], groups, recall):
        text = judge.report(y=TRUTH, certified=certified, title="Our judge").text
        assert "Our judge" in text
        assert 'id="confusion"' in text
        assert "rows are new" in text
    text = judge.report(y=TRUTH, certified=groups).text
    assert f"Worst group: {groups.worst_group}" in text


def best_of_prompts(models: int, runs: int = 300, prompts: int = 20, rows: int = 100) -> int:
    """Count how often the best of some equal prompts is certified below its true error, 0.2."""
    generator, broken = np.random.default_rng(1), 0
    truth = np.zeros(rows, dtype=np.int64)
    for _ in range(runs):
        said = (generator.random((prompts, rows)) < 0.2).astype(np.int64)
        best = said[said.sum(axis=1).argmin()]
        broken += certify(answers(best), y=truth, models=models).value < 0.2
    return broken


def test_the_best_of_some_prompts_pays_for_all() -> None:
    check_coverage("certify(said=…), best of 20 prompts", best_of_prompts(20), 300, 0.05)
    check_rejected("twin: best of 20 prompts, paid as one", best_of_prompts(1), 300, 0.05)


def test_abstentions_speak_of_answers_only() -> None:
    """Hard rows are not answered: 10 % of answers are wrong, and 37 % of rows if none is wrong."""
    generator, counts = np.random.default_rng(2), np.zeros(3)
    for _ in range(300):
        truth = generator.integers(2, size=150)
        said = np.where(generator.random(150) < 0.1, 1 - truth, truth).astype(np.float64)
        said[generator.random(150) < 0.3] = np.nan
        some = certify(answers(said), y=truth).value
        every = certify(answers(said, missing="wrong"), y=truth).value
        counts += some < 0.1, every < 0.37, some < 0.37
    check_coverage("certify(said=…), abstentions left out", counts[0], 300, 0.05)
    check_coverage("certify(said=…), no answer is wrong", counts[1], 300, 0.05)
    check_rejected("twin: abstentions left out, said of all rows", counts[2], 300, 0.05)


def test_missing_answers_are_said_when_the_world_moves() -> None:
    plain = certify(answers(PARTLY), y=TRUTH)
    moved = certify(answers(PARTLY), y=TRUTH, shift=shift.shares("any"))
    for found in (moved, plain.under(contamination=0.1)):
        assert found.claim.lower().startswith(IF_NEW)
        assert "do not count" in found.claim
        assert verify(found)[0].holds
    given = ~GONE
    assert (
        moved.value
        == certify(answers(SAID[given]), y=TRUTH[given], shift=shift.shares("any")).value
    )
