"""certify(of=…): every measure against its definition, groups, refusals, and coverage."""

import json
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import brier_score_loss, f1_score, log_loss, roc_auc_score

from pacboost import (
    AdaBoostClassifier,
    BoostClassifier,
    BoostRegressor,
    answers,
    certify,
    certify_all,
    measures,
    verify,
)
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.family import Family
from pacboost.bounds.rates import pooled_upper, rate_lower, rate_upper
from pacboost.errors import (
    DataError,
    InputWarning,
    NoEdgeWarning,
    NotCertified,
    ParameterError,
    TooFewRowsWarning,
)
from tests.bounds.coverage import check_coverage, check_rejected
from tests.worlds import noisy

X, Y = noisy(600, 4, seed=1)
FRESH, LABELS = noisy(800, 4, seed=2)
MODEL = LogisticRegression().fit(X, Y)
SAID, CHANCE = MODEL.predict(FRESH), MODEL.predict_proba(FRESH)
GROUPS = np.where(FRESH[:, 1] > 0, "north", "south")
NAMES = [
    "error", "recall", "precision", "false_positive_rate", "false_negative_rate", "f1", "jaccard",
    "balanced_error", "auc", "brier", "log_loss",
]  # fmt: skip


def test_without_of_it_answers_as_before() -> None:
    plain = certify(MODEL, FRESH, LABELS)
    assert plain == certify(MODEL, FRESH, LABELS, of="error")
    assert plain.bound == "holdout.clopper_pearson"


def test_what_was_seen_is_what_scikit_learn_counts() -> None:
    family = certify_all(MODEL, FRESH, LABELS, of=NAMES)
    seen = {own.of_what: own.details["seen"] for own in family}
    c = MODEL.classes_[1]
    own, named = c == LABELS, c == SAID
    tp, fp, fn = (own & named).sum(), (~own & named).sum(), (own & ~named).sum()
    assert seen["recall"] == tp / (tp + fn)
    assert seen["precision"] == tp / (tp + fp)
    assert seen["false_positive_rate"] == fp / (~own).sum()
    assert seen["jaccard"] == tp / (tp + fp + fn)
    assert seen["f1"] == pytest.approx(f1_score(LABELS, SAID, pos_label=c))
    assert seen["auc"] == pytest.approx(roc_auc_score(own, CHANCE[:, 1]))
    assert seen["brier"] == pytest.approx(brier_score_loss(own, CHANCE[:, 1]))
    assert seen["log_loss"] == pytest.approx(
        log_loss(LABELS, np.clip(CHANCE, 1e-3, 1 - 1e-3)), rel=0.01
    )


def test_delta_is_shared_and_said() -> None:
    family = certify_all(MODEL, FRESH, LABELS, of=NAMES)
    assert len(family) == len(NAMES)
    assert all("11 claims share delta" in own.rows_in_words for own in family)
    alone = certify(MODEL, FRESH, LABELS, of="recall")
    assert isinstance(alone, Certificate)
    assert family["recall"].value < alone.value
    k, n = int(alone.inputs["k"]), int(alone.inputs["n"])
    assert alone.value == rate_lower(k, n, 0.05)
    assert family["recall"].value == rate_lower(k, n, 0.05, 11)
    assert certify(MODEL, FRESH, LABELS, of="recall", models=11).value == family["recall"].value
    assert "All 11 claims" in str(family)


def test_both_ends() -> None:
    for name in NAMES:
        family = certify_all(MODEL, FRESH, LABELS, of=name, end="both")
        low, high = (family.of(name, end=end)[0] for end in ("lower", "upper"))
        assert low.value < float(low.details["seen"]) < high.value
        assert "at least" in low.claim
        assert "at most" in high.claim


@pytest.mark.parametrize("rare", [0, 1])
def test_ranks_bound_the_auc_where_one_class_is_rare(rare: int) -> None:
    classes = MODEL.classes_
    own = np.flatnonzero(classes[rare] == LABELS)[:6]
    rows = np.concatenate([own, np.flatnonzero(classes[1 - rare] == LABELS)])
    family = certify_all(MODEL, FRESH[rows], LABELS[rows], of="auc", end="both")
    low, high = family.of("auc", end="lower")[0], family.of("auc", end="upper")[0]
    assert (low.bound, high.bound) == ("losses.ranks_lower", "losses.ranks_upper")
    assert low.value < float(low.details["seen"]) < high.value
    assert all(check.holds for check in verify(family))


def test_they_are_verified_and_go_through_json() -> None:
    family = certify_all(
        MODEL, FRESH, LABELS, of=[*NAMES, measures.cost([[0, 1], [5, 0]])], end="both"
    )
    assert all(check.holds for check in verify(family))
    assert Family.from_dict(json.loads(family.to_json())) == family
    wrong = replace(family.of("recall", end="lower")[0], value=0.999)
    assert not verify(wrong)[0].holds
    assert "value says 0.999" in verify(wrong)[0].words


@pytest.mark.parametrize("kind", ["array", "pandas", "polars"])
def test_by_groups(kind: str) -> None:
    columns = [f"x{j}" for j in range(4)]
    table: Any = FRESH
    by: Any = GROUPS
    model = MODEL
    if kind != "array":
        frame = pd.DataFrame(FRESH, columns=columns).assign(region=GROUPS)
        table, by = frame if kind == "pandas" else pl.from_pandas(frame), "region"
        model = LogisticRegression().fit(pd.DataFrame(X, columns=columns), Y)
        if kind == "polars":
            model = LogisticRegression().fit(pl.from_numpy(X, columns), Y)
    family = certify_all(model, table, LABELS, of="false_negative_rate", by=by, end="both")
    assert {own.details["group"] for own in family} == {"north", "south"}
    uppers = {str(c.details["group"]): c.value for c in family.of(end="upper")}
    assert family.worst_group == max(uppers, key=lambda name: uppers[name])
    assert f"group '{family.worst_group}'" in family.worst.claim
    lowers = {str(c.details["group"]): c.value for c in family.of(end="lower")}
    widest = max(uppers[a] - lowers[b] for a in uppers for b in lowers if a != b)
    assert family.gap.value == pytest.approx(widest, abs=1e-9)
    assert "two of the groups" in family.gap.claim
    assert verify(family.gap)[0].holds


def test_groups_pay_each_their_share() -> None:
    family = certify_all(MODEL, FRESH, LABELS, by=GROUPS)
    assert [own.of_what for own in family] == ["error", "error"]
    for own in family:
        chosen = np.asarray(own.details["group"] == GROUPS)
        k = int((SAID != LABELS)[chosen].sum())
        assert own.value == rate_upper(k, int(chosen.sum()), 0.05, 2)
    with pytest.raises(NotCertified, match="end='both'"):
        _ = family.gap


def test_several_classes() -> None:
    rows, labels = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    model = LogisticRegression(max_iter=1000).fit(rows[order[:60]], labels[order[:60]])
    held = rows[order[60:]] + 1e-9, labels[order[60:]]
    family = certify_all(
        model, *held, of=["recall", "balanced_error", measures.top_k_error(2), "brier"]
    )
    assert len(family.of("recall")) == 3
    assert family.of("recall", positive=2)[0].details["class"] == "2"
    assert "3 classes" not in str(family)
    assert float(family["brier"].inputs["scale"]) == 2
    assert certify(model, *held, of=measures.recall(1)).details["class"] == "1"
    with pytest.raises(ParameterError, match=r"positive is 7.* 0, 1, 2"):
        certify(model, *held, of=measures.recall(7))
    with pytest.raises(ParameterError, match="top_k is 3"):
        certify(model, *held, of=measures.top_k_error(3))
    missing = held[1] != 2
    with pytest.raises(NotCertified, match="0 rows of class 2"):
        certify(model, held[0][missing], held[1][missing], of=measures.recall(2))
    with pytest.raises(NotCertified, match="0 rows of class 2"):
        certify(model, held[0][missing], held[1][missing], of="balanced_error")


def test_costs() -> None:
    found = certify(MODEL, FRESH, LABELS, of=measures.cost([[0, 1], [5, 0]]))
    c = MODEL.classes_
    mean = ((c[0] == LABELS) & (c[1] == SAID)).mean() + 5 * (
        (c[1] == LABELS) & (c[0] == SAID)
    ).mean()
    assert found.details["seen"] == pytest.approx(mean)
    assert mean < found.value < 5
    same = {(c[0], c[1]): 1, (c[1], c[0]): 5}
    assert certify(MODEL, FRESH, LABELS, of=measures.cost(same)).value == found.value
    for bad in ([[0, 1]], [[0, -1], [1, 0]], [[0, 0], [0, 0]], {("a", "b"): 1}):
        with pytest.raises(ParameterError, match="cost"):
            certify(MODEL, FRESH, LABELS, of=measures.cost(bad))


def test_regressors() -> None:
    target = FRESH @ np.arange(1.0, 5) + np.random.default_rng(0).normal(size=800)
    model = LinearRegression().fit(FRESH[:400], target[:400])
    held = FRESH[400:], target[400:]
    off = np.abs(model.predict(held[0]) - held[1])
    found = certify(model, *held, of=measures.absolute_error(clip=3.0))
    assert np.minimum(off, 3).mean() < found.value < 3
    share = certify(model, *held, of=measures.large_errors(larger_than=2.0))
    assert share.value == rate_upper(int((off > 2).sum()), 400, 0.05)
    assert "more than 2 for" in share.claim
    ours = BoostRegressor(n_estimators=20, random_state=0).fit(FRESH[:400], target[:400])
    assert certify(ours, *held, of=measures.absolute_error(clip=5.0)).rows_checked
    with pytest.raises(NotCertified, match="trained on"):
        certify(ours, FRESH[:400], target[:400], of=measures.large_errors(larger_than=1))
    with pytest.raises(ParameterError, match=r"absolute_error\(clip="):
        certify(model, *held, of="absolute_error")
    with pytest.raises(NotCertified, match=r"numbers.*'absolute_error'"):
        certify(model, *held, of="recall")
    with pytest.raises(NotCertified, match="not classes"):
        certify(MODEL, FRESH, LABELS, of=measures.absolute_error(clip=1.0))


def test_dependent_rows() -> None:
    groups = np.arange(800) // 4
    found = certify(MODEL, FRESH, LABELS, of="brier", groups=groups)
    assert found.size == 200
    assert "new group" in found.claim
    late = certify_all(MODEL, FRESH, LABELS, of=["error"], ordered=True)
    assert "of the period watched" in late["error"].claim
    with pytest.raises(NotCertified, match=r"recall.*groups"):
        certify(MODEL, FRESH, LABELS, of="recall", groups=groups)
    with pytest.raises(NotCertified, match=r"precision.*ordered"):
        certify(MODEL, FRESH, LABELS, of="precision", ordered=True)
    with pytest.raises(ParameterError, match="by cannot be combined"):
        certify_all(MODEL, FRESH, LABELS, by=GROUPS, ordered=True)


def test_guards_hold_for_every_measure() -> None:
    ours = AdaBoostClassifier(n_estimators=20).fit(X, Y)
    for name in NAMES:
        with pytest.raises(NotCertified, match="trained on"):
            certify(ours, X, Y, of=name)
    found = certify(ours, FRESH, LABELS, of="recall")
    assert found.rows_checked
    assert not certify(MODEL, FRESH, LABELS, of="recall").rows_checked
    few = np.vstack([FRESH, X[:4]]), np.concatenate([LABELS, Y[:4]])
    with pytest.warns(InputWarning, match="4 of 804 rows"):
        without = certify_all(ours, *few, by=np.repeat("all", 804), copies="distinct").worst
    assert without.inputs == certify_all(ours, FRESH, LABELS, by=np.repeat("all", 800)).worst.inputs


def test_ties_of_a_vote_count_against_it() -> None:
    rows = np.repeat([[0.0], [1.0]], 50, axis=0)
    labels = np.repeat([0, 1], 50)
    labels[::2] = 1 - labels[::2]
    with pytest.warns(NoEdgeWarning):
        model = BoostClassifier(n_estimators=1).fit(rows, labels)
    fresh = np.full((60, 1), 0.25), np.ones(60, dtype=int)
    fresh[0][:, 0] += np.linspace(0, 0.1, 60)
    wrong = model.mistakes(*fresh)
    found = certify(model, *fresh, of="recall")
    assert wrong.all()
    assert found.inputs["k"] == 0


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"of": "recal"}, ParameterError, r"'recal' \(did you mean 'recall'\?\); it may be"),
        ({"of": "cost"}, ParameterError, "measures.cost"),
        ({"of": "recall", "end": "top"}, ParameterError, "end is 'top'"),
        ({"of": "recall", "by": "city"}, ParameterError, "no data frame"),
        ({"of": "recall", "by": [1, 2]}, DataError, "one group for each of 800 rows"),
        ({"of": "recall", "delta": 2}, ParameterError, "delta"),
        ({"of": "recall", "copies": "no"}, ParameterError, "copies"),
    ],
)
def test_bad_input(change: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        (certify_all if "by" in change else certify)(MODEL, FRESH, LABELS, **change)


def test_several_claims_are_not_one_certificate() -> None:
    with pytest.raises(ParameterError, match=r"2 claims.*certify_all"):
        certify(MODEL, FRESH, LABELS, of="recall", end="both")


def test_probabilities_are_needed_and_checked() -> None:
    model = RidgeClassifier().fit(X, Y)
    assert certify(model, FRESH, LABELS, of="auc").value > 0.5
    with pytest.raises(NotCertified, match="no predict_proba"):
        certify(model, FRESH, LABELS, of="brier")


def test_missing_labels_are_refused() -> None:
    labels = LABELS.astype(object)
    labels[3] = None
    with pytest.raises(DataError, match="missing labels"):
        certify(MODEL, FRESH, labels, of="recall")


class Guess:
    """Says what its only column says, which is right for three quarters of a rare class."""

    classes_ = np.array([0, 1])

    def predict(self, rows: Any) -> Any:
        return (rows[:, 0] > 0).astype(int)


def test_coverage_of_the_whole_way() -> None:
    generator, failed, runs = np.random.default_rng(0), 0, 150
    for _ in range(runs):
        labels = (generator.random(400) < 0.1).astype(int)
        found = np.where(labels == 1, generator.random(400) < 0.75, generator.random(400) < 0.05)
        rows = np.column_stack([np.where(found, 1.0, -1.0), generator.random(400)])
        family = certify_all(
            Guess(), rows, labels, of=["recall", "precision", "false_positive_rate"]
        )
        failed += (
            family["recall"].value > 0.75
            or family["precision"].value > 0.075 / 0.12
            or family["false_positive_rate"].value < 0.05
        )
    check_coverage("certify(of=...), three claims together", failed, runs, 0.05)


def test_rows_without_a_group_are_a_group_of_their_own() -> None:
    by = [None if north else "south" for north in GROUPS == "north"]
    with pytest.warns(InputWarning, match=r"by is .*'missing'"):
        found = certify_all(MODEL, FRESH, LABELS, of="error", by=by)
    named = certify_all(MODEL, FRESH, LABELS, of="error", by=GROUPS)
    assert "missing" in str(found)
    assert sorted(own.value for own in found) == sorted(own.value for own in named)


def test_log_loss_of_certain_answers_is_certified() -> None:
    labels = np.arange(40) % 2
    model = answers(labels, scores=labels)
    assert certify(model, y=labels, of="log_loss").details["seen"] == 0


def regions(sizes: dict[str, int]) -> Any:
    """Return the name of a region for each row, the rest being "large"."""
    names = np.repeat(list(sizes), list(sizes.values()))
    return np.concatenate([names, np.full(len(FRESH) - names.size, "large")])


def test_small_groups_are_certified_as_one() -> None:
    by = regions({"a": 3, "b": 4, "c": 5, "d": 6})
    with pytest.warns(TooFewRowsWarning, match="4 groups .* one, 'other'"):
        family = certify_all(MODEL, FRESH, LABELS, by=by)
    assert [own.details["group"] for own in family] == ["large", "other"]
    pooled = family.certificates[1]
    wrong = int((SAID != LABELS)[:18].sum())
    assert (pooled.inputs["k"], pooled.inputs["n"]) == (wrong, 18)
    assert pooled.value == pooled_upper(wrong, 18, 0.05, claims=2)
    assert pooled.details["pooled"] == ["a", "b", "c", "d"]
    assert "'a', 'b', 'c' and 'd'" in pooled.claim
    assert all(check.holds for check in verify(pooled))
    with pytest.warns(TooFewRowsWarning, match="as one, '4 small groups'"):
        certify_all(MODEL, FRESH, LABELS, by=np.where(by == "large", "other", by))


def test_claims_of_too_few_rows_are_left_out_and_still_share_delta() -> None:
    with pytest.warns(TooFewRowsWarning, match="1 of 2 claims .*'a'"):
        family = certify_all(MODEL, FRESH, LABELS, by=regions({"a": 3}))
    assert [own.inputs["claims"] for own in family] == [2]
    with pytest.warns(TooFewRowsWarning, match="2 of 3 claims"):  # no binomial: not pooled
        family = certify_all(MODEL, FRESH, LABELS, by=regions({"a": 3, "b": 4}), of="brier")
    assert [own.inputs["claims"] for own in family] == [3]


def pooled_misses(runs: int, seed: int) -> tuple[int, int]:
    """Count claims on a pool that are below its mixed error, and below that of its worst group."""
    generator, missed, twin = np.random.default_rng(seed), 0, 0
    errors = {"a": 0.05, "b": 0.6, "c": 0.3, "d": 0.1}
    for _ in range(runs):
        by = generator.choice([*errors, "large"], size=130, p=[0.02, 0.02, 0.03, 0.03, 0.9])
        y = generator.random(130) < [errors.get(name, 0.1) for name in by]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            family = certify_all(answers(np.zeros(130), classes=[0, 1]), y=y * 1, by=by)
        for own in family.of(group="other"):
            names = own.details["pooled"]
            rates = [errors[name] for name in by if name in names]
            missed += int(own.value < np.mean(rates))
            twin += int(own.value < max(rates))
    return missed, twin


def test_a_pool_is_bounded_although_its_groups_are_chosen_by_their_sizes() -> None:
    missed, twin = pooled_misses(400, seed=0)
    check_coverage("certify_all(by=…), small groups as one", missed, 400, 0.05)
    check_rejected("twin: the pool says something of each of its groups", twin, 400, 0.05)


@pytest.mark.parametrize(
    ("name", "words"),
    [("mae", "absolute_error.clip="), ("rmse", "cannot be bounded"), ("r2", "cannot be bounded"),
     ("roc_auc", "give 'auc'")],
)  # fmt: skip
def test_names_of_other_libraries_lead_to_a_measure(name: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        certify(MODEL, FRESH, LABELS, of=name)
