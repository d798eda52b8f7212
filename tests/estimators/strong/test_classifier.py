"""StrongClassifier: what it chooses, when it stops, what it says, and what it hands on."""

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost import BoostClassifier, StrongClassifier
from pacboost.bounds.holdout import clopper_pearson
from pacboost.errors import NotCertified, ParameterError
from pacboost.estimators.strong import search
from pacboost.fit.roles import RolesAsk, divide
from pacboost.samples.same_example import Examples
from pacboost.theory.finite_worlds import BooleanConcept
from pacboost.theory.worlds import Halfspaces
from tests.worlds import noisy

X, Y = noisy(600, 4, seed=3, noise=0.1)
TEXTS = ["I lost my card", "my card was stolen", "top up my phone", "how do I top up"] * 25
INTENTS = ["card", "card", "top-up", "top-up"] * 25


@pytest.fixture(scope="module")
def fitted() -> StrongClassifier:
    return StrongClassifier(n_estimators=10, random_state=0).fit(X, Y)


def test_the_certificate_counts_mistakes_on_rows_set_apart(fitted: StrongClassifier) -> None:
    model = fitted
    assert model.parts_ == {"learn": 480, "watch": 0, "certify": 120}
    inputs = model.certificate_.inputs
    assert inputs["n"] == 120
    assert inputs["models"] == 1
    assert model.certificate_.value == clopper_pearson(int(inputs["k"]), 120, 0.05)
    assert model.sentence_ == model.verdict_.sentence
    assert model.sentence_.startswith("At most ")
    assert model.ledger_.rows == 480


def test_texts_are_boosted_as_lists_of_words() -> None:
    model = StrongClassifier(n_estimators=20, random_state=0).fit(TEXTS, INTENTS, copies="draws")
    assert model.model_.text is not None
    assert "rows are texts" in model.choice_
    assert model.predict(["they took my card", "top up please"]).tolist() == ["card", "top-up"]
    assert model.certificate_.size == 20


def test_a_world_is_drawn_from() -> None:
    model = StrongClassifier(0.3, n_estimators=10, random_state=0).fit(Halfspaces((3.0, 2.0)))
    assert model.ledger_.refills
    # of the draws that tested the stop and the rows set apart, those with the smaller bound
    assert model.certificate_.bound == "filtering.error_by_draws"
    assert model.certificate_.size == 50_000
    assert model.verdict_.reached
    assert "drawn from a source" in model.choice_
    assert model.predict(np.array([[2.0, 2.0]])).tolist() == [1]


def test_it_stops_as_soon_as_epsilon_is_certified() -> None:
    model = StrongClassifier(0.45, random_state=0).fit(X, Y)
    assert model.verdict_.reached
    assert model.ledger_.stopped == "the certificate reached 0.45"
    assert len(model.ledger_) < 50
    assert model.certificate_.inputs["models"] == 2
    assert model.ledger_.rows == 432


def test_a_look_that_fails_is_followed_by_one_more_at_half_of_delta(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Watching rows that are too hopeful suggest a look after the first round."""
    monkeypatch.setattr(search, "likely", lambda *_: 0.0)
    model = StrongClassifier(0.05, n_estimators=30, random_state=0).fit(X, Y)
    assert not model.verdict_.reached
    inputs = model.certificate_.inputs
    assert inputs["models"] == 2
    assert model.certificate_.value == clopper_pearson(int(inputs["k"]), 120, 0.025)
    assert len(model.ledger_) > 1


def test_without_a_sign_of_epsilon_there_is_one_look_with_all_of_delta() -> None:
    model = StrongClassifier(0.01, n_estimators=10, random_state=0).fit(X, Y)
    assert not model.verdict_.reached
    assert model.certificate_.inputs["models"] == 1


def test_noise_is_named_where_nothing_more_can_be_learned() -> None:
    noise = np.random.default_rng(0).integers(2, size=600)
    model = StrongClassifier(0.2, n_estimators=150, random_state=0).fit(X, noise)
    assert not model.verdict_.reached
    assert "the weak learner's edge" in model.sentence_
    assert model.evidence_.edge_vanished
    assert model.evidence_.expected_error > 0.2


def test_more_certified_examples_are_asked_for_where_they_would_do() -> None:
    concept = BooleanConcept(4, lambda bits: bits[:, 0] > 0)
    rows, labels = concept.draw(100, 0)
    model = StrongClassifier(0.05, random_state=0).fit(rows, labels)
    assert model.certificate_.inputs["k"] == 0
    assert model.verdict_.more_certified == 59 - 20
    assert "39 more certified examples" in model.sentence_


@pytest.mark.parametrize("rows", [2, 5, 39])
def test_tiny_data_is_fitted_all_the_same_and_says_what_is_missing(rows: int) -> None:
    values = np.arange(float(rows))[:, None]
    labels = values[:, 0] >= rows / 2
    model = StrongClassifier(random_state=0).fit(values, labels)
    assert model.score(values, labels) == 1
    assert model.parts_["certify"] == 0
    assert model.certificate_.delta == 0  # it speaks of training rows
    assert f"{rows} rows are too few" in model.sentence_
    assert "59 certified examples" in model.sentence_


def test_proper_where_one_rule_decides(fitted: StrongClassifier) -> None:
    concept = BooleanConcept(4, lambda bits: bits[:, 0] > 0)
    rows, labels = concept.draw(200, 0)
    assert StrongClassifier(n_estimators=5, random_state=0).fit(rows[:, :1], labels).proper_
    assert not fitted.proper_


def test_save_and_load_give_the_estimator_and_the_certificate_back(tmp_path: Path) -> None:
    model = StrongClassifier(0.3, n_estimators=10, random_state=0).fit(X, Y)
    path = tmp_path / "m.pacb"
    model.save(path)
    back = pacboost.load(path)
    assert isinstance(back, BoostClassifier)
    assert back.certificate_ == model.certificate_
    assert np.array_equal(back.decision_function(X), model.decision_function(X))
    assert all(check.holds for check in pacboost.verify(path))


def test_another_fit_forgets_the_last_one() -> None:
    model = StrongClassifier(n_estimators=5, random_state=0).fit(X, Y)
    model.fit(TEXTS, INTENTS)
    assert not model.levels_
    assert model.predict(["my card"]).tolist() == ["card"]


pd = pytest.importorskip("pandas")

METHODS = [
    "explain", "shap_values", "apply", "rules", "importances", "permutation_importances",
    "partial_dependence", "staged_predict",
]  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> Any:
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": generator.normal(size=300),
            "kind": generator.choice(["a", "b", "c"], 300),
            "when": pd.date_range("2024-01-01", periods=300, freq="7h"),
            "weight": generator.uniform(1, 2, 300),
        }
    )
    frame["y"] = np.where(frame["size"] + (frame["kind"] == "a") > 0.5, "yes", "no")
    return frame


@pytest.fixture(scope="module")
def model(rows: Any) -> StrongClassifier:
    made = StrongClassifier(n_estimators=8, random_state=0, verbose=0)
    return made.fit(rows, "y", sample_weight="weight")


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_listed_and_described_once_there_is_a_model(
    model: StrongClassifier, name: str
) -> None:
    assert name in dir(model)
    assert inspect.getdoc(getattr(model, name)) == inspect.getdoc(getattr(BoostClassifier, name))


def test_rows_of_the_frame_that_was_fitted_are_understood(
    model: StrongClassifier, rows: Any
) -> None:
    """Columns that are no features (target and weights) are in them, and dates as they came."""
    assert model.apply(rows).shape == (300, len(model.ledger_))
    shares = model.shap_values(rows[:4])
    assert shares.values.shape == (4, model.schema_.n_columns)
    total = shares.values.sum(axis=1) + shares.base_values
    np.testing.assert_allclose(total, model.decision_function(rows[:4]), atol=1e-9)
    assert "size" in str(model.explain(rows[:1]))
    assert len(list(model.staged_predict(rows[:3]))) == len(model.ledger_)
    assert len(model.importances(by="count")) == model.schema_.n_columns


@pytest.mark.parametrize("wrong", [0, 2, 10, 30])
def test_a_look_is_suggested_when_it_will_probably_succeed(wrong: int) -> None:
    rate = clopper_pearson(wrong, 100, search.UNSURE)
    expected = clopper_pearson(round(300 * rate), 300, 0.05, 2)
    assert search.likely(wrong / 100, 100, 300, 0.05) == expected
    assert (expected <= 0.1) is (wrong <= 2)


@pytest.mark.parametrize("classes", [2, 3])
def test_edge_and_doubt_are_measured_on_rows_that_were_not_learned_from(classes: int) -> None:
    generator = np.random.default_rng(1)
    labels = np.where(generator.random(600) < 0.7, (X[:, 0] > 0) + (X[:, 1] > 1) * (classes - 2), 0)
    model = StrongClassifier(0.01, n_estimators=3, random_state=0).fit(X, labels)
    seed = int(np.random.RandomState(0).randint(2**31))
    rows = divide(Examples(600, None), RolesAsk(seed, epsilon=0.01)).certify
    staged = [np.zeros((rows.size, classes)), *model.staged_predict_proba(X[rows])][1:]
    scores = list(model.staged_decision_function(X[rows]))
    truth, edges = np.eye(classes)[labels[rows]], []
    for chances, before, after in zip(staged, scores, scores[1:], strict=False):
        added = after - before
        added = np.stack([-added, added], axis=1) if added.ndim == 1 else added
        pulled = (truth - chances) * added
        edges.append(pulled.sum() / np.abs(pulled).sum())
    evidence = model.evidence_
    assert evidence.watching == rows.size
    assert evidence.edge == pytest.approx(np.mean(edges))
    assert evidence.expected_error == pytest.approx(np.mean(1 - staged[-1].max(axis=1)))


@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
@pytest.mark.parametrize("dependent", ["groups", "time"])
def test_whole_groups_and_later_rows_choose_the_rounds(dependent: str) -> None:
    """Each group has a level of its own, which rows drawn one by one would give away."""
    generator = np.random.default_rng(0)
    group = np.repeat(np.arange(60), 10)
    rows = np.column_stack([generator.normal(size=60)[group], generator.normal(size=600)])
    labels = generator.integers(2, size=60)[group]
    model = StrongClassifier(random_state=0).fit(rows, labels, **{dependent: group})  # type: ignore[arg-type]
    assert model.parts_["watch"] > 0
    alone = StrongClassifier(random_state=0).fit(rows, labels, copies="draws")
    assert len(model.ledger_) < len(alone.ledger_)


def test_many_noisy_classes_are_not_overconfident() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(4_000, 6))
    y = (X[:, :5] + 1.5 * generator.gumbel(size=(4_000, 5))).argmax(axis=1)
    model = StrongClassifier(random_state=0).fit(X[:1_000], y[:1_000])
    shares = model.predict_proba(X[1_000:])
    sure, right = shares.max(axis=1).mean(), (shares.argmax(axis=1) == y[1_000:]).mean()
    assert sure - right < 0.05


def world(rows: int, seed: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    X_WISHES = generator.normal(size=(rows, 4))
    sick = X_WISHES[:, 0] + 0.5 * X_WISHES[:, 1] + 0.5 * generator.normal(size=rows) > 1
    return X_WISHES, np.where(sick, "sick", "well")


X_WISHES, Y_WISHES = world(3000, 0)
LATER, TRUTH = world(20_000, 1)


@pytest.fixture(scope="module")
def careful() -> StrongClassifier:
    return StrongClassifier(recall=0.9, positive="sick", n_estimators=40, random_state=0).fit(
        X_WISHES, Y_WISHES
    )


def test_recall(careful: StrongClassifier) -> None:
    assert careful.decision_ is not None
    assert careful.threshold_ == careful.decision_.threshold
    assert careful.certificate_.of_what == "recall"
    assert careful.certificate_.value >= 0.9
    assert careful.parts_["certify"] == 600
    assert careful.verdict_.reached
    assert careful.sentence_.startswith("Of the new examples of class 'sick'")
    own = TRUTH == "sick"
    assert (careful.predict(LATER)[own] == "sick").mean() >= 0.88


def test_precision() -> None:
    model = StrongClassifier(precision=0.8, positive="sick", n_estimators=40, random_state=2).fit(
        X_WISHES, Y_WISHES
    )
    said = model.predict(LATER) == "sick"
    assert (TRUTH[said] == "sick").mean() >= 0.78
    assert model.certificate_.value == 0.8


def test_file_page_and_guards(careful: StrongClassifier, tmp_path: Path) -> None:
    careful.save(tmp_path / "m.pacb")
    assert all(check.holds for check in pacboost.verify(tmp_path / "m.pacb"))
    again = pacboost.load(tmp_path / "m.pacb")
    assert (again.predict(LATER) == careful.predict(LATER)).all()
    careful.report(tmp_path / "page.html")
    assert "finds at least" in (tmp_path / "page.html").read_text(encoding="utf-8")
    with pytest.raises(NotCertified, match="trained on"):
        pacboost.certify(careful, X_WISHES, Y_WISHES, of=pacboost.measures.recall("sick"))
    found = pacboost.certify(careful, LATER, TRUTH, of=pacboost.measures.recall("sick"))
    assert found.rows_checked
    assert careful.mistakes(LATER, TRUTH).mean() == (careful.predict(LATER) != TRUTH).mean()


def test_a_promise_that_cannot_be_kept_is_said() -> None:
    model = StrongClassifier(recall=0.999, positive="sick", n_estimators=5, random_state=0).fit(
        X_WISHES, Y_WISHES
    )
    assert model.verdict_.reached is False
    assert "for recall 0.999" in model.sentence_
    assert "2,995 rows of class 'sick'" in model.sentence_
    assert model.decision_ is None
    assert not hasattr(model, "threshold_")


@pytest.mark.parametrize(
    ("parameters", "fit", "match"),
    [
        ({"recall": 0.9, "epsilon": 0.1}, {}, "recall and epsilon were given"),
        ({"recall": 0.9, "precision": 0.9}, {}, "recall and precision were given"),
        ({"recall": 1.0}, {}, "strictly between"),
        ({"recall": 0.9}, {"groups": np.arange(3000) // 3}, "independent rows"),
        ({"recall": 0.9}, {"time": np.arange(3000)}, "independent rows"),
    ],
)
def test_bad_input(parameters: dict[str, Any], fit: dict[str, Any], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        StrongClassifier(**parameters).fit(X_WISHES, Y_WISHES, **fit)
