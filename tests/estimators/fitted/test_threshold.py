"""choose_threshold: a classifier with a guarantee, its file, its guards, and refusals."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pacboost
from benchmarks import bench_promises, real_data
from pacboost.errors import DataError, FileError, InputWarning, NotCertified, ParameterError
from pacboost.estimators.decisions.threshold import ThresholdClassifier
from tests.bounds.coverage import check_coverage, check_rejected


def world(rows: int, seed: int, names: tuple[Any, Any] = ("well", "sick")) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 3))
    sick = X[:, 0] + 0.5 * X[:, 1] + 0.7 * generator.normal(size=rows) > 1
    return X, np.array(names)[sick.astype(int)]


X, Y = world(800, 0)
FRESH, LABELS = world(1500, 1)
LATER, TRUTH = world(20_000, 2)


@pytest.fixture(scope="module")
def model() -> Any:
    return pacboost.BoostClassifier(n_estimators=40, random_state=0).fit(X, Y)


@pytest.mark.parametrize(
    "wish", [{"recall": 0.9}, {"false_positive_rate": 0.05}, {"precision": 0.75}]
)
def test_it_keeps_its_promise(model: Any, wish: dict[str, Any]) -> None:
    made = pacboost.choose_threshold(model, FRESH, LABELS, positive="sick", **wish)
    said, own = made.predict(LATER) == "sick", TRUTH == "sick"
    seen = {
        "recall": (said & own).sum() / own.sum(),
        "precision": (said & own).sum() / said.sum(),
        "false_positive_rate": (said & ~own).sum() / (~own).sum(),
    }
    for certificate in (made.certificate_, *made.others_):
        better = seen[certificate.of_what] - certificate.value
        assert better > -0.01 if certificate.bound.endswith("_lower") else better < 0.01
    assert made.certificate_.of_what == next(iter(wish))
    assert made.certificate_.rows_checked
    assert f"{made.threshold_:.4g} for class 'sick'" in made.sentence_
    assert "same confidence" in made.sentence_


def test_costs(model: Any) -> None:
    made = pacboost.choose_threshold(model, FRESH, LABELS, positive="sick", cost=(20.0, 1.0))
    careless = pacboost.choose_threshold(model, FRESH, LABELS, positive="sick", cost=(1.0, 20.0))
    assert made.threshold_ < careless.threshold_
    said, own = made.predict(LATER) == "sick", TRUTH == "sick"
    assert 20 * (own & ~said).mean() + (said & ~own).mean() < made.certificate_.value < 20


def test_the_threshold_is_what_predict_uses(model: Any) -> None:
    made = pacboost.choose_threshold(model, FRESH, LABELS, positive="sick", recall=0.9)
    place = model.classes_.tolist().index("sick")
    above = model.predict_proba(LATER)[:, place] >= made.threshold_
    assert ((made.predict(LATER) == "sick") == above).all()
    assert made.score(LATER, TRUTH) > 0.5


@pytest.mark.parametrize("forest", [False, True])
def test_file(model: Any, forest: bool, tmp_path: Path) -> None:
    model = pacboost.RandomForestClassifier(20, random_state=0).fit(X, Y) if forest else model
    made = pacboost.choose_threshold(model, FRESH, LABELS, positive="sick", recall=0.9)
    path = tmp_path / "careful.pacb"
    made.save(path)
    assert all(check.holds for check in pacboost.verify(path))
    again = pacboost.load(path)
    assert isinstance(again, ThresholdClassifier)
    assert (again.predict(LATER) == made.predict(LATER)).all()
    assert again.certificate_ == made.certificate_
    assert again.others_ == made.others_
    assert again.curve_ == made.curve_
    assert "finds at least" in str(pacboost.inspect(path))
    with pytest.raises(NotCertified):
        pacboost.certify(again, FRESH, LABELS)
    again.save(tmp_path / "twice.pacb")
    assert all(check.holds for check in pacboost.verify(tmp_path / "twice.pacb"))
    assert pickle.loads(pickle.dumps(made)).certificate_ == made.certificate_


@pytest.mark.parametrize("kind", [LogisticRegression, RidgeClassifier])
def test_models_of_other_libraries(kind: Any, tmp_path: Path) -> None:
    other = make_pipeline(StandardScaler(), kind()).fit(X, Y)
    made = pacboost.choose_threshold(other, FRESH, LABELS, positive="sick", recall=0.9)
    own = TRUTH == "sick"
    assert (made.predict(LATER)[own] == "sick").mean() > 0.89
    assert made.sentence_.startswith("If these rows are new: ")
    with pytest.raises(FileError, match="has no model file"):
        made.save(tmp_path / "m.pacb")
    with pytest.raises(NotCertified, match="trained on"):
        pacboost.certify(made, FRESH, LABELS)
    assert not pacboost.certify(made, LATER, TRUTH).rows_checked


def test_guards(model: Any) -> None:
    with pytest.raises(NotCertified, match="trained on"):
        pacboost.choose_threshold(model, X, Y, recall=0.9)
    doubled = np.repeat(FRESH, 2, axis=0), np.repeat(LABELS, 2)
    with pytest.warns(InputWarning, match="rows are not counted"):
        once = pacboost.choose_threshold(
            model, *doubled, recall=0.9, positive="sick", copies="distinct"
        )
    plain = pacboost.choose_threshold(model, FRESH, LABELS, recall=0.9, positive="sick")
    assert once.threshold_ == plain.threshold_
    made = pacboost.choose_threshold(model, FRESH, LABELS, recall=0.9, positive="sick")
    with pytest.raises(NotCertified, match="trained on"):
        pacboost.certify(made, FRESH, LABELS, of=pacboost.measures.precision("sick"))
    assert pacboost.certify(made, LATER, TRUTH, of=pacboost.measures.recall("sick")).value > 0.88


def test_several_classes() -> None:
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(3000, 2))
    labels = np.digitize(rows[:, 0] + 0.5 * generator.normal(size=3000), [-0.5, 0.5])
    model = LogisticRegression().fit(rows[:1000], labels[:1000])
    with pytest.raises(NotCertified, match="there are 3 classes"):
        pacboost.choose_threshold(model, rows[1000:], labels[1000:], recall=0.9)
    made = pacboost.choose_threshold(model, rows[1000:], labels[1000:], recall=0.9, positive=1)
    said = made.predict(rows[1000:])
    assert set(said) == {0, 1, 2}
    assert (said[labels[1000:] == 1] == 1).mean() > 0.9


def test_as_an_estimator(model: Any) -> None:
    made = pacboost.choose_threshold(model, FRESH, LABELS, positive="sick", recall=0.9)
    again = clone(made).fit(X, Y)
    assert again.threshold_ == made.threshold_
    with pytest.raises(NotCertified, match="nothing is certified"):
        _ = again.certificate_
    assert (again.predict(LATER) == "sick").any()
    for own in (again, ThresholdClassifier(LogisticRegression(), 0.3, "sick").fit(X, Y)):
        with pytest.raises(NotCertified, match="trained on"):
            pacboost.certify(own, X, Y)


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({}, ParameterError, "exactly one of recall, precision"),
        ({"recall": 0.9, "precision": 0.9}, ParameterError, "exactly one"),
        ({"recall": 1.0}, ParameterError, "strictly between"),
        ({"recall": 0.9999}, NotCertified, r"needs at least 29,956 rows of class 'sick'"),
        ({"precision": 0.999}, NotCertified, "precision 0.999"),
        ({"recall": 0.9, "positive": "ill"}, ParameterError, "the classes are 'sick', 'well'"),
        ({"recall": 0.9, "delta": 0}, ParameterError, "delta"),
    ],
)
def test_bad_input(model: Any, change: dict[str, Any], error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        pacboost.choose_threshold(model, FRESH, LABELS, **{"positive": "sick", **change})


def test_bad_rows(model: Any) -> None:
    with pytest.raises(DataError, match="one label per row"):
        pacboost.choose_threshold(model, FRESH, LABELS[:, None], recall=0.9)
    well = LABELS == "well"
    with pytest.raises(NotCertified, match=r"no rows .*'sick'"):
        pacboost.choose_threshold(model, FRESH[well], LABELS[well], recall=0.9, positive="sick")


RUNS = 200


@pytest.fixture(scope="module", params=["magic_telescope", "spambase", "phoneme"])
def table(request: pytest.FixtureRequest) -> Any:
    if real_data.absent(request.param):
        pytest.skip(str(real_data.absent(request.param)))
    forest = pacboost.RandomForestClassifier(60, random_state=0)
    return request.param, *bench_promises.world(real_data.read(request.param), forest)


@pytest.mark.slow
@pytest.mark.parametrize("wish", [{"recall": 0.95}, {"precision": 0.9}, None])
def test_thresholds_and_sets_on_real_data(table: Any, wish: dict[str, float] | None) -> None:
    name, model, y = table
    rows = bench_promises.draws(len(y), RUNS)
    draws = [
        bench_promises.threshold(model, y, chosen, wish)
        if wish
        else bench_promises.label_set(model, y, chosen)
        for chosen in rows
    ]
    broken = sum(draw is not None and draw[0] for draw in draws)
    check_coverage(f"{name}, {wish or 'sets'}", broken, RUNS, bench_promises.DELTA)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target"), bench_promises.NUMBERS.items())
def test_intervals_on_real_data(name: str, target: str) -> None:
    if real_data.absent(name):
        pytest.skip(str(real_data.absent(name)))
    forest = pacboost.RandomForestRegressor(30, random_state=0)
    model, y = bench_promises.world(bench_promises.numbers(name, target), forest)
    draws = [bench_promises.interval(model, y, rows) for rows in bench_promises.draws(len(y), RUNS)]
    broken = sum(draw is not None and draw[0] for draw in draws)
    check_coverage(f"{name}, intervals", broken, RUNS, bench_promises.DELTA)


@pytest.mark.slow
def test_a_threshold_that_just_reached_the_recall_is_rejected(table: Any) -> None:
    name, model, y = table
    scores, broken = model._said[:, 1], 0
    for chosen in bench_promises.draws(len(y), RUNS):
        least = np.quantile(scores[chosen][y[chosen] == 1], 0.05, method="lower")
        broken += np.mean(scores[y == 1] >= least) < 0.95
    check_rejected(f"{name}, recall as it was seen", broken, RUNS, bench_promises.DELTA)
