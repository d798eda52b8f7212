"""What the door of exports takes, and what it refuses in words."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

import pacboost as pb
from pacboost import theory
from pacboost.boosters import AdaBoost
from pacboost.errors import FileError, ParameterError
from pacboost.estimators.decisions.threshold import ThresholdClassifier
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Vote
from pacboost.models.export.export import export
from pacboost.models.export.onnx import to_onnx
from pacboost.models.export.program import cut_of_score, program_of
from pacboost.models.export.python import to_python
from pacboost.models.export.trees import Trees, of_vote
from pacboost.numerics.exact import round_vote
from pacboost.samples.bins import Bins
from pacboost.sources.arrays import ArrayTable
from tests.examples import examples
from tests.grids import one_in
from tests.models.export.cases import COMPILER, case, compiled, each, exported, run

X = np.random.default_rng(0).normal(size=(120, 3))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


def test_the_ending_of_the_path_says_the_kind(tmp_path: Path) -> None:
    model = case("stumps").estimator
    export(model, tmp_path / "m.py")
    export(model.model_, str(tmp_path / "other.txt"), kind="python")
    assert (tmp_path / "m.py").read_bytes() == (tmp_path / "other.txt").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.py", "other.txt"]


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("m.java", None, "the extension of 'm.java' is no known kind"),
        ("m.py", "fortran", "kind is 'fortran'"),
    ],
)
def test_other_kinds_are_refused(name: str, kind: str | None, said: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=said):
        export(case("stumps").estimator, tmp_path / name, kind=kind)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"m\.py: cannot be written"):
        export(case("stumps").estimator, tmp_path / "nowhere" / "m.py")


def boxes() -> Any:
    return pb.AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=3).fit(X, Y)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (pb.BoostClassifier, "holds no vote of rules and no forest"),
        (lambda: pb.BaggingClassifier(n_estimators=3).fit(X, Y), "BaggingClassifier cannot be"),
        (boxes, "Function rules"),
        (lambda: theory.BaggedBoost(3, random_state=0).fit(X, Y), "Decision rules"),
        (lambda: theory.ThreeLearnerBoost(random_state=0).fit(X, Y), "Three rules|one vote each"),
    ],
)
def test_what_cannot_be_exported_says_what_can(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        program_of(make())


@pytest.mark.parametrize("name", ["forest", "trees"])
def test_too_many_splits_are_refused(name: str) -> None:
    model = case(name).estimator
    size = program_of(model).trees.feature.size
    assert program_of(model, max_splits=size).trees.feature.size == size
    with pytest.raises(ParameterError, match=f"have {size:,} splits, and .* holds {size - 1:,}"):
        program_of(model, max_splits=size - 1)


def test_it_says_what_it_is_and_what_was_certified() -> None:
    model = pb.AdaBoostClassifier(certify="holdout", n_estimators=5, random_state=0).fit(X, Y)
    what, certified = program_of(model).about
    assert "3 columns in, 2 classes" in what
    assert model.certificate_.claim in certified
    assert certified.endswith("(95 % confidence)")


# Exported models with a threshold decide as predict does, on the threshold itself, too.

EXACT = ["stumps", "trees", "sigmoid", "isotonic", "temperature", "forest", "forest, many"]
ROUNDED = ["trees, many", "isotonic, many"]
SOME = 2_000


def cautious(name: str, place: int) -> tuple[Any, Any, Any]:
    """A model whose threshold is the probability of one of the rows, and rows to be decided."""
    model = case(name)
    frame, numbers = model.frame[:SOME], np.ascontiguousarray(model.numbers[:SOME])
    chances = model.estimator.predict_proba(frame)[:, place]
    at = float(np.sort(chances)[int(0.6 * SOME)])
    label = model.estimator.classes_.tolist()[place]
    made = ThresholdClassifier(model.estimator, at, label)
    made._start(model.estimator)
    if name in ROUNDED:  # probabilities are rounded elsewhere in other ways
        apart = np.abs(chances - at) > 1e-12
        frame, numbers = frame[apart], np.ascontiguousarray(numbers[apart])
    else:
        assert (chances == at).any()
    expected = made.predict(frame)
    assert (expected != model.estimator.predict(frame)).any()
    return made, (model.cells, frame, numbers), expected


@one_in(3)
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("name", [*EXACT, *ROUNDED])
def test_every_program_uses_the_threshold(name: str, place: int, tmp_path: Path) -> None:
    made, (cells, frame, numbers), expected = cautious(name, place)
    program = run(to_python(program_of(made)))
    rows = [cells[k] for k in frame.index]
    assert program.predict(rows) == expected.tolist()
    onnx = pytest.importorskip("onnxruntime", reason="needs onnxruntime, which runs graphs")
    session = onnx.InferenceSession(to_onnx(program_of(made)), providers=["CPUExecutionProvider"])
    with np.errstate(over="ignore"):
        (found,) = session.run(["label"], {"X": numbers.astype(np.float32)})
    assert np.array_equal(found, expected)
    if COMPILER is not None:
        export(made, tmp_path / "m.c")
        library = compiled(tmp_path / "m.c")
        assert np.array_equal(made.classes_[each(library.m_predict, numbers)], expected)


def test_the_certificate_comes_along(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(3000, 3))
    y = X[:, 0] + generator.normal(size=3000) > 1
    model = pb.BoostClassifier(n_estimators=10, random_state=0).fit(X[:1000], y[:1000])
    careful = pb.choose_threshold(model, X[1000:], y[1000:], recall=0.9)
    text = to_python(program_of(careful))
    assert "finds at least" in " ".join(text.split())
    rows = generator.normal(size=(500, 3)).astype(np.float32).astype(np.float64)
    assert run(text).predict(rows.tolist()) == careful.predict(rows).tolist()
    careful.save(tmp_path / "m.pacb")
    again = to_python(program_of(pb.load(tmp_path / "m.pacb")))
    assert run(again).predict(rows.tolist()) == careful.predict(rows).tolist()
    strong = pb.StrongClassifier(recall=0.8, random_state=0, n_estimators=20).fit(X, y)
    assert "finds at least" in " ".join(program_of(strong).about)
    assert (
        run(to_python(program_of(strong))).predict(rows.tolist()) == strong.predict(rows).tolist()
    )


def test_thresholds_that_all_or_none_reach() -> None:
    model = case("trees").estimator.model_
    assert cut_of_score(model, 0.0, 1).at == -1e200
    assert cut_of_score(model, 0.0, 0).at == 1e200
    with pytest.raises(ParameterError, match="no score"):
        cut_of_score(model, 1.5, 1)
    several = ThresholdClassifier(case("several").estimator, 0.5)
    several._start(case("several").estimator)
    with pytest.raises(ParameterError, match="knows no threshold"):
        program_of(several)


# Trees laid out for export give the scores of the vote, bit for bit.

CUTS = np.array([-1.5, 0.0, 0.1, 7.0], dtype=np.float32)
VALUES = [math.nan, -2.0, -1.5, 0.0, 0.1, float(CUTS[2]), 0.2, 7.0, 9.0]


def walked(trees: Trees, row: NDArray[np.float32]) -> NDArray[np.float64]:
    """Add up what trees say of a row, as plainly as can be."""
    total = np.zeros(trees.outputs)
    for at in trees.roots:
        while at >= 0:
            value = row[trees.feature[at]]
            if np.isnan(value):
                left = trees.missing_left[at]
            elif trees.subset[at] >= 0:
                left = int(value) in trees.subsets[trees.subset[at]]
            else:
                left = value <= trees.cut[at]
            at = trees.left[at] if left else trees.right[at]  # noqa: PLW2901
        total += trees.lines[~at]
    return total


signs = st.sampled_from([-1, 1])
stumps = st.builds(
    StumpRule, st.integers(0, 1), st.sampled_from([*CUTS.tolist(), math.inf]), st.just(0), signs,
    signs,
)  # fmt: skip
votes = st.floats(-3, 3).map(round_vote)


@examples(60)
@given(
    st.lists(st.tuples(stumps, votes), max_size=30), st.lists(st.sampled_from(VALUES), min_size=2)
)
def test_any_stumps_become_one_tree_a_column(
    pairs: list[tuple[StumpRule, float]], values: list[float]
) -> None:
    X = np.array(values[: len(values) // 2 * 2]).reshape(-1, 2)
    vote = Vote([rule for rule, _ in pairs], np.array([cast for _, cast in pairs]))
    trees = of_vote(vote)
    assert trees.roots.size == len({rule.feature for rule, _ in pairs})
    found = [walked(trees, row.astype(np.float32))[0] for row in X]
    assert found == vote.scores(ArrayTable(X)).tolist()


SPLITS, ALL, NO_LEVEL = (1, 3), (0, 1, 2, 3, 4), ()


def small_tree(levels: tuple[int, ...] | None = None) -> TreeRule:
    """A split of a category with five levels, by a cut or by levels, and one of a number."""
    bins = Bins(
        (np.arange(0.5, 4, dtype=np.float32), CUTS), np.zeros(2, np.int64), np.array([5, 0])
    )
    members = np.zeros((1, 256), dtype=np.uint8)
    members[0, [*(levels or ()), bins.missing]] = 1
    splits = [np.array(own, dtype=np.int32) for own in ([0, 1], [2, 4], [1, -2], [-1, -3])]
    feature, cut, left, right = splits
    member = np.array([-1 if levels is None else 0, -1], dtype=np.int32)
    return TreeRule(
        bins, feature, cut, np.array([False, True]), left, right, member,
        members, np.ones(2), np.ones(5), np.array([[0.5, -1.0], [2.0, 3.0], [-4.0, 0.25]]),
    )  # fmt: skip


def test_levels_missing_values_and_constants() -> None:
    bins = small_tree().bins
    constant = TreeRule.constant(bins, np.array([1.0, -1.0]))
    rules = [small_tree(SPLITS), small_tree(), small_tree(ALL), small_tree(NO_LEVEL), constant]
    vote = Vote(rules, np.array([1.0, 0.5, 0.25, 8.0, 2.0]), 2)
    X = np.array([[a, b] for a in [math.nan, 0, 1, 2, 3, 4] for b in VALUES])
    trees = of_vote(vote)
    assert np.array_equal(
        [walked(trees, x.astype(np.float32)) for x in X], vote.scores(ArrayTable(X))
    )
    assert trees.subsets == ((1, 3),)
    assert len(trees.roots) == 5


# Exported lists of words read texts, and rows with texts in them, as the model does.

WORDS = ["card", "Card", "lost", "naïve", "ΑΣ", "straße", "2", "top", "up", "it's", "—", "x_y", "İ"]


def texts(rows: int, seed: int) -> list[str]:
    generator = np.random.default_rng(seed)
    sizes = generator.integers(0, 7, size=rows)
    return [" ".join(generator.choice(WORDS, size=size)) for size in sizes]


def labels(rows: list[str], kind: str) -> Any:
    held = np.array([["card" in row, "up" in row, "2" in row] for row in rows])
    if kind == "several":
        return held.astype(np.int64)
    number = held[:, 0] * 1 + held[:, 1] * (2 if kind == "many" else 0)
    return np.array(["a", "b", "c", "d"])[number]


def agrees(model: Any, rows: Any, cells: list[Any]) -> None:
    """Compare answers, probabilities and scores; the scores bit for bit."""
    program = exported(model)
    assert np.array_equal(program.predict(cells), model.predict(rows))
    np.testing.assert_allclose(
        program.predict_proba(cells), model.predict_proba(rows), rtol=1e-12, atol=1e-15
    )
    scores = model.decision_function(rows)
    assert np.array_equal(program._MODEL.scores(cells), scores.reshape(len(cells), -1))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("two", {}),
        ("many", {"skips": 2, "ngrams": (1, 3)}),
        ("many", {"calibrate": "isotonic", "lowercase": False}),
        ("many", {"ngrams": None, "characters": (2, 4)}),
        ("several", {"characters": (3, 3), "abstain": False}),
        ("many", {"booster": "adaboost", "learning_rate": 0.37}),
        ("two", {"booster": AdaBoost(confidence_rated=False), "length": 1, "candidates": None}),
    ],
)
@pytest.mark.usefixtures("isotonic_from_few_rows")
def test_texts_are_read_as_in_training(kind: str, options: dict[str, Any]) -> None:
    train, asked = texts(300, seed=0), [*texts(300, seed=1), "", "unknown words", "\n—"]
    model = pb.TextBoostClassifier(**{"n_estimators": 12, "random_state": 0, **options})
    agrees(model.fit(train, labels(train, kind)), asked, asked)


def test_rows_with_texts_in_them() -> None:
    generator = np.random.default_rng(0)
    said = texts(1500, seed=2)
    ages = np.where(generator.random(1500) < 0.1, np.nan, generator.integers(18, 90, size=1500) / 2)
    cities = generator.choice(np.array(["Rome", "Bern", 'O"slo\n', None], dtype=object), size=1500)
    rows = [
        {"said": text, "age": None if np.isnan(age) else float(age), "city": city}
        for text, age, city in zip(said, ages, cities, strict=True)
    ]
    wanted = labels(said, "many")
    wanted[(np.nan_to_num(ages) > 30) & (cities == "Rome")] = "old in Rome"
    model = pb.TextBoostClassifier(text_columns=["said"], n_estimators=15, random_state=0)
    model.fit(rows[:500], wanted[:500])
    reading: Any = model.features_
    cuts = [c for column in reading.columns for c in getattr(column, "thresholds", ())]
    for row, age in zip(rows[500:], np.repeat(cuts, 9), strict=False):
        row["age"] = float(np.nextafter(age, generator.choice([-np.inf, np.inf, age])))
    rows[600]["city"], rows[601]["age"] = "never seen", 1e39
    agrees(model, rows, rows)
    with pytest.raises(ValueError, match="no column 'said'"):
        exported(model).predict([{"age": 3}])


def test_columns_may_stand_for_words() -> None:
    X = np.random.default_rng(0).integers(-1, 2, size=(400, 6)).astype(np.float64)
    X[::7, 2] = np.nan
    model = pb.BoostClassifier(learner=pb.learners.Words(), n_estimators=10, random_state=0)
    model.fit(X, (X[:, 0] != 0) & (X[:, 3] == 0))
    agrees(model, X, X.tolist())


@pytest.mark.parametrize("ending", ["c", "onnx"])
def test_texts_go_to_python_only(ending: str, tmp_path: Path) -> None:
    model = pb.TextBoostClassifier(n_estimators=2).fit(["a", "b", "a", "b"], [0, 1, 0, 1])
    with pytest.raises(ParameterError, match="Python only"):
        export(model, tmp_path / f"m.{ending}")
    assert not list(tmp_path.iterdir())
