"""A jury in worlds whose truth is known: independent, copied and adversarial judges."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from pacboost import Monitor, draw, jury
from pacboost.bounds import holdout
from pacboost.errors import DataError, ParameterError
from pacboost.studies.jury import load_votes
from tests.bounds.coverage import check_coverage, check_rejected

DELTA = 0.1
LABELS = np.array(["ok", "bad"])
WORLDS = {
    "independent": (0.06, 0.12, 0.2, 0.3, 0.5),
    "copied": (0.15, 0.0, 0.0, 0.12, 0.18),
    "adversarial": (0.1, 0.15, 0.2, 0.8, 0.7),
    "coins": (0.5, 0.5, 0.5, 0.5, 0.5),
}


def world(kind: str, rows: int, seed: object) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Return verdicts of judges, and the truth; of copied judges, two repeat the first."""
    generator = np.random.default_rng(seed)  # type: ignore[arg-type]
    truth = (generator.random(rows) < 0.4).astype(np.int64)
    judges = [np.where(generator.random(rows) < error, 1 - truth, truth) for error in WORLDS[kind]]
    if kind == "copied":
        for place in (1, 2):
            flip = generator.random(rows) < 0.03
            judges[place] = np.where(flip, 1 - judges[0], judges[0])
    return pd.DataFrame({f"j{k}": LABELS[said] for k, said in enumerate(judges)}), truth


def votes_of(found: object) -> Mapping[str, int]:
    votes = found.votes  # type: ignore[attr-defined]
    return {judge.judge: vote for judge, vote in zip(votes.judges, votes.votes, strict=True)}


@pytest.mark.parametrize("kind", WORLDS)
def test_certificates_hold_together(kind: str) -> None:
    large, truth = world(kind, 20_000, 99)
    runs, missed = 40, 0
    for run in range(runs):
        verdicts, known = world(kind, 100, [run, 1])
        found = jury(verdicts, LABELS[known], delta=DELTA)
        risks = {"jury": (found.predict(large) != LABELS[truth]).mean()}
        for member in found.members[1:-1]:
            risks[member.name] = (large[member.name] != LABELS[truth]).mean()
        missed += any(
            member.certificate.value < risks[member.name]
            for member in found.members
            if member.name in risks
        )
    check_coverage(f"jury, {kind}", missed, runs, DELTA)


def test_certifying_by_the_rows_that_taught_is_rejected() -> None:
    large, truth = world("coins", 20_000, 99)
    runs, missed = 40, 0
    for run in range(runs):
        verdicts, known = world("coins", 100, [run, 1])
        found = jury(verdicts, LABELS[known], delta=DELTA)
        rows = np.random.default_rng(0).random(100).argsort(kind="stable")[::2]  # those that taught
        taught = verdicts.iloc[rows]
        wrong = int((found.predict(taught) != LABELS[known[rows]]).sum())
        bound = holdout.clopper_pearson(wrong, rows.size, DELTA)
        missed += bound < (found.predict(large) != LABELS[truth]).mean()
    check_rejected("jury, by the rows that taught", missed, runs, DELTA)


def test_a_judge_that_repeats_others_gets_no_votes_and_an_adversary_negative_ones() -> None:
    verdicts, known = world("copied", 2_000, 0)
    votes = votes_of(jury(verdicts, LABELS[known]))
    assert votes["j0"] >= 2
    assert votes["j3"] >= 2
    assert min(votes["j1"], votes["j2"]) == 0
    verdicts, known = world("adversarial", 2_000, 0)
    assert votes_of(jury(verdicts, LABELS[known]))["j3"] < 0


def test_the_jury_is_better_than_its_best_judge_and_the_majority() -> None:
    verdicts, known = world("copied", 4_000, 1)
    found = jury(verdicts, LABELS[known])
    assert [member.name for member in found.members] == ["jury", "j3", "majority"]
    assert all(difference.significant for difference in found.compared())
    assert found.certificate.value < min(each.certificate.value for each in found.members[1:])


def test_blanks_scores_and_other_words() -> None:
    verdicts, known = world("independent", 600, 2)
    generator = np.random.default_rng(3)
    verdicts["j1"] = np.where(generator.random(600) < 0.5, None, verdicts["j1"])
    verdicts["j2"] = np.where(generator.random(600) < 0.3, "cannot say", verdicts["j2"])
    verdicts["risk"] = known + generator.normal(0, 0.5, 600)
    found = jury(verdicts.drop(columns="j0"), LABELS[known])
    assert votes_of(found)["j1"] > 0
    assert votes_of(found)["risk"] != 0
    assert found.certificate.value < 0.2
    nobody = pd.DataFrame({name: [None] * 3 for name in verdicts})
    assert found.predict(nobody).tolist() == [found.votes.commonest] * 3


def test_trees_find_out_who_is_right_where() -> None:
    generator = np.random.default_rng(5)
    known = generator.integers(0, 2, 1_500)
    german = generator.random(1_500) < 0.5
    coin = generator.integers(0, 2, 1_500)
    verdicts = pd.DataFrame({
        "one": LABELS[np.where(german, known, coin)], "two": LABELS[np.where(german, coin, known)],
        "language": np.where(german, "de", "en"),
    })  # fmt: skip
    plain = jury(verdicts.drop(columns="language")[:700], LABELS[known[:700]])
    found = jury(verdicts, LABELS[known], context=["language"])
    assert plain.trees is None
    assert found.trees is not None
    assert found.certificate.value < 0.05 < plain.certificate.value
    assert (found.predict(verdicts) == LABELS[known]).mean() > 0.95


def test_answers_groups_pool_and_monitor(tmp_path: object) -> None:
    verdicts, known = world("independent", 3_000, 4)
    verdicts["language"] = np.where(np.arange(3_000) % 2, "de", "en")
    drawn = draw(verdicts, 800)
    rows = np.array(drawn.rows)
    found = jury(
        drawn.take(verdicts), LABELS[known[rows]], by="language", target_error=0.02, draw=drawn
    )
    assert found.certificate.rows_checked
    assert found.answers is not None
    assert found.answers.error <= 0.02
    assert found.groups is not None
    assert {each.details["group"] for each in found.groups} == {"de", "en"}
    assert found.of_pool is not None
    others = np.setdiff1d(np.arange(3_000), rows[::2])
    wrong = found.predict(verdicts.iloc[others]) != LABELS[known[others]]
    assert wrong.mean() <= found.of_pool.value < found.certificate.value + 0.01
    path = str(tmp_path) + "/jury.json"
    found.save(path)
    assert load_votes(path) == found.votes
    said = found.predict(verdicts)
    assert not Monitor(error=found.certificate.value).update_answers(said, LABELS[known]).alarm


def test_what_cannot_be_a_jury_is_refused() -> None:
    verdicts, known = world("independent", 60, 0)
    with pytest.raises(ParameterError, match="two judges"):
        jury(verdicts[["j0"]], LABELS[known])
    with pytest.raises(DataError, match="did you mean 'j0'"):
        jury(verdicts, LABELS[known], judges=["j0", "J0x"])
    with pytest.raises(DataError, match="20 labelled"):
        jury(verdicts[:10], LABELS[known[:10]])
    with pytest.raises(DataError, match="3 rows have no label"):
        jury(verdicts, [None] * 3 + LABELS[known[3:]].tolist())
    with pytest.raises(DataError, match="60 rows"):
        jury(verdicts, LABELS[known[:50]])
