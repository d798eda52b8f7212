"""Parameters mean what people think, and the same in every class."""

import inspect
import math
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from sklearn.utils._param_validation import validate_parameter_constraints

import pacboost
from pacboost import (
    AdaBoostClassifier,
    BoostClassifier,
    BoostRegressor,
    FilterBoostClassifier,
    TextBoostClassifier,
)
from pacboost.boosters import Logit
from pacboost.errors import PacboostError, ParameterError
from pacboost.estimators.parameters import checks
from pacboost.estimators.parameters.param import Param
from pacboost.estimators.parameters.table import PARAMS, declared
from pacboost.estimators.parameters.values import Values
from pacboost.learners import Tree
from pacboost.theory import BoostByMajority
from tests.grids import one_in
from tests.public import estimators

X = np.random.default_rng(0).normal(size=(400, 6))
NOISE = np.random.default_rng(1).random(400) < 0.2
Y = (X[:, 0] + X[:, 1] * X[:, 2] > 0) ^ NOISE
TEXTS = ["my card was lost", "top up my phone"] * 50
TOPICS = ["card", "phone"] * 50
VALID = X + 0.3
QUICK: dict[str, Any] = {"n_estimators": 6, "random_state": 0}


def trees(**parameters: Any) -> bytes:
    return BoostClassifier(**QUICK | parameters).fit(X, Y).decision_function(X).tobytes()


def test_a_float_of_features_is_a_share_and_a_whole_number_a_count() -> None:
    assert trees(max_features=1.0) == trees(max_features=6) != trees()
    assert trees(max_features=1) != trees()
    assert trees(max_features=np.float64(0.5)) == trees(max_features=np.int64(3)) == trees()
    for wrong in (2.0, 1.5, 0, 0.0, -1, float("nan"), True):
        with pytest.raises(ParameterError, match="max_features is"):
            trees(max_features=wrong)
    assert Tree(max_features=1.0).deterministic
    assert not Tree(max_features=1).deterministic


def test_a_fraction_of_rows_in_a_leaf_is_a_share() -> None:
    assert trees(min_leaf_rows=0.1, subsample=1.0) == trees(min_leaf_rows=40, subsample=1.0)
    assert trees(min_leaf_rows=5.0) == trees(min_leaf_rows=5) == trees()
    assert trees(min_leaf_rows=0.1, subsample=0.5) == trees(min_leaf_rows=20, subsample=0.5)
    with pytest.raises(ParameterError, match="min_leaf_rows is"):
        trees(min_leaf_rows=-0.1)


@pytest.mark.parametrize("kind", [AdaBoostClassifier, BoostClassifier, BoostRegressor])
def test_a_number_for_early_stopping_is_patience(kind: Any) -> None:
    parameters = {"n_estimators": 300, "learning_rate": 1.0, "random_state": 0}
    rounds: list[Any] = []
    model = kind(early_stopping=7, callbacks=[rounds.append], **parameters).fit(X, Y)
    assert "for 7 rounds" in model.ledger_.stopped
    assert len(rounds) == len(model.ledger_) + 7
    same = kind(early_stopping=7, **parameters).fit(X, Y)
    assert len(same.ledger_) == len(model.ledger_)
    assert np.array_equal(same.predict(X), model.predict(X))
    for wrong in (0, -3, 2.5, "never", None):
        with pytest.raises(ParameterError, match="early_stopping is"):
            kind(early_stopping=wrong).fit(X, Y)
        with pytest.raises(ParameterError, match="early_stopping is"):
            kind(early_stopping=wrong).fit(X, Y, X_val=VALID, y_val=Y)


@pytest.mark.parametrize("kind", [AdaBoostClassifier, BoostClassifier, BoostRegressor])
def test_without_early_stopping_validation_rows_are_only_recorded(kind: Any) -> None:
    parameters = {"n_estimators": 60, "learning_rate": 1.0, "random_state": 0}
    model = kind(early_stopping=False, **parameters).fit(X, Y, X_val=VALID, y_val=Y)
    plain = kind(early_stopping=False, **parameters).fit(X, Y)
    assert np.array_equal(model.predict(X), plain.predict(X))
    assert len(model.ledger_) == len(plain.ledger_) == 60
    seen = [entry.validation for entry in model.ledger_.rounds]
    assert None not in seen
    assert seen[-1] > min(seen)
    stopped = kind(early_stopping=True, **parameters).fit(X, Y, X_val=VALID, y_val=Y)
    assert len(stopped.ledger_) < 60


@pytest.mark.parametrize("kind", [AdaBoostClassifier, BoostByMajority])
def test_early_stopping_has_the_same_choices_everywhere(kind: Any) -> None:
    """With few rows "auto" holds none back; "refit" boosts on all of them in the end."""
    assert kind(early_stopping="auto", random_state=0).fit(X, Y).ledger_.rows == 400
    again = kind(early_stopping="refit", random_state=0).fit(X, Y).ledger_
    assert again.rows == 400
    assert "refit" in again.stopped


@pytest.mark.parametrize(
    "model",
    [
        BoostClassifier(n_estimators=1),
        BoostRegressor(n_estimators=1, random_state=0),
        FilterBoostClassifier(n_estimators=1, sample_rows=200),
        BoostClassifier("adaboost", n_estimators=1),
        AdaBoostClassifier(n_estimators=1),
    ],
    ids=str,
)
def test_one_round_gives_a_rule(model: Any) -> None:
    model.fit(X, Y)
    assert len(np.unique(model.model_.vote.scores(model._open(X)))) > 1


def test_one_round_of_words_gives_a_rule() -> None:
    model = TextBoostClassifier(n_estimators=1).fit(TEXTS, TOPICS)
    assert model.predict(TEXTS[:2]).tolist() == TOPICS[:2]
    rare = [0] * 90 + [1] * 30
    model = TextBoostClassifier(n_estimators=1).fit(["a b"] * 90 + ["c d"] * 30, rare)
    assert model.predict(["a b", "c d"]).tolist() == [0, 1]


@pytest.mark.parametrize("options", [{}, {"learning_rate": 0.01}, {"calibrate": "sigmoid"}])
def test_one_round_separates_a_rarer_class(options: dict[str, Any]) -> None:
    """A rule of a small learning rate would not outvote the shares of the classes."""
    rows = np.random.default_rng(0).uniform(size=(400, 1))
    rare = (rows[:, 0] > 0.75).astype(int)
    model = BoostClassifier(n_estimators=1, random_state=0, **options).fit(rows, rare)
    assert model.score(rows, rare) > 0.97
    model = BoostClassifier(n_estimators=1, warm_start=True, random_state=0, **options)
    model.fit(rows, rare).set_params(n_estimators=3).fit(rows, rare)
    assert len(model.ledger_) == 3


KINDS: list[Any] = list(estimators().values())
NUMBERS = [
    "delta", "edge", "epsilon", "holdout", "l2", "learning_rate", "max_bins", "max_depth",
    "max_features", "max_leaves", "max_samples", "max_vote", "min_leaf_rows", "min_samples_leaf",
    "min_samples_split", "min_weight_fraction_leaf", "n_certify", "n_estimators",
    "n_jobs", "n_estimators", "sample_rows", "settle", "learning_rate", "subsample",
    "time_limit", "memory", "validation_fraction",
]  # fmt: skip
NEEDED: dict[str, dict[str, Any]] = {
    "delta": {"certify": "holdout"},
    "holdout": {"certify": "holdout"},
    "settle": {"bootstrap": True},
    "validation_fraction": {"early_stopping": True},
}
"""What has to be set for a parameter to be looked at."""
CASES = [
    pytest.param(kind, name, id=f"{kind.__name__}-{name}")
    for kind in KINDS
    for name in NUMBERS
    if name in inspect.signature(kind).parameters
]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_truth_values_are_refused_where_numbers_are_expected(kind: Any, name: str) -> None:
    known = inspect.signature(kind).parameters
    more = {key: value for key, value in NEEDED.get(name, {}).items() if key in known}
    rows, labels = (TEXTS, TOPICS) if kind is TextBoostClassifier else (X, Y.astype(int))
    for value in (True, False):
        with pytest.raises(ParameterError, match=f"{name} is {value}"):
            kind(**{name: value} | more).fit(rows, labels)


ODD = [
    np.float64(0.5), np.float32(0.5), np.float16(0.5), np.longdouble(0.5), np.int8(3), np.uint8(3),
    np.int64(3), np.bool_(True), np.str_("no such word"), np.array(0.5), np.array(3),
    np.array([1, 2]), np.array(["a", "b"]), np.array([]), np.eye(2), np.datetime64("2020-01-01"),
    10**30, -(10**30), 10**5000, math.inf, math.nan, 1e308, -1, 0, "", b"x", 1j, Decimal("0.5"),
    {"a": 1}, [1, "a"], {1}, object(), int,
]  # fmt: skip
SMALL = {"n_estimators": 3, "random_state": 0, "n_bags": 3, "n": 3, "max_members": 9, "n_jobs": 1}
SMALL |= {"verbose": False, "max_draws": 10_000}
OWN_SENTENCES = {
    ("TextBoostClassifier", "text_columns"): "of a list of texts no column can be named",
    ("BoostClassifier", "eval_metric"): "what a function raises passes as it is",
    ("BoostRegressor", "eval_metric"): "the same",
}
"""Where a value that can be used is the reason why something else cannot."""


def small_fit(kind: Any, **given: Any) -> Any:
    known = inspect.signature(kind).parameters
    texts = kind is TextBoostClassifier
    rows, labels = (TEXTS, TOPICS) if texts else (X[:80, :3], Y[:80].astype(int))
    quick = {name: value for name, value in SMALL.items() if name in known}
    return kind(**quick | given).fit(rows, labels)


@pytest.mark.filterwarnings("ignore::UserWarning")
@one_in(30)
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        pytest.param(kind, name, id=f"{kind.__name__}-{name}")
        for kind in KINDS
        for name in inspect.signature(kind).parameters
        if (kind.__name__, name) not in OWN_SENTENCES
    ],
)
def test_an_odd_parameter_is_used_or_named(kind: Any, name: str) -> None:
    more = NEEDED.get(name, {}).items()
    known = inspect.signature(kind).parameters
    for value in ODD:
        try:
            small_fit(kind, **{name: value, **{key: own for key, own in more if key in known}})
        except PacboostError as problem:
            said = str(problem)
        else:
            continue
        assert name in said, value
        assert len(said) < 1000


def in_numpy(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(in_numpy, value))
    kinds = {bool: np.bool_, int: np.int32, float: np.float64, str: np.str_}
    return kinds[type(value)](value) if type(value) in kinds else value


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_parameters_from_numpy_give_the_same_model(kind: Any) -> None:
    given = {
        name: SMALL.get(name, parameter.default)
        for name, parameter in inspect.signature(kind).parameters.items()
    }
    wrapped = {name: in_numpy(value) for name, value in given.items()}
    model, again = small_fit(kind, **given), small_fit(kind, **wrapped)
    assert all(again.get_params(deep=False)[name] is value for name, value in wrapped.items())
    rows = TEXTS if kind is TextBoostClassifier else X[:, :3]
    assert np.asarray(model.predict(rows)).tobytes() == np.asarray(again.predict(rows)).tobytes()
    if hasattr(model, "ledger_"):
        assert model.ledger_.digest() == again.ledger_.digest()


@pytest.mark.parametrize(
    ("make", "value"),
    [
        (lambda rate: AdaBoostClassifier(learning_rate=rate), np.array(0.5)),
        (lambda l2: BoostRegressor(n_estimators=3, l2=l2, random_state=0), np.int8(100)),
        (lambda rate: BoostClassifier(Logit(rate), n_estimators=3), np.float16(0.3)),
        (lambda rate: BoostClassifier(n_estimators=3).set_params(booster__learning_rate=rate),
         np.float32(0.3)),
    ],
)  # fmt: skip
def test_numbers_from_numpy_are_those_of_python(make: Any, value: Any) -> None:
    one, other = (
        make(number).set_params(random_state=0).fit(X, Y) for number in (value, value.item())
    )
    assert one.ledger_.digest() == other.ledger_.digest()
    assert one.predict(X).tobytes() == other.predict(X).tobytes()


def defaults() -> dict[str, dict[str, list[str]]]:
    """For every name of a parameter, its defaults and the classes that have them."""
    found: dict[str, dict[str, list[str]]] = {}
    for kind in KINDS:
        for parameter in inspect.signature(kind).parameters.values():
            own = found.setdefault(parameter.name, {})
            own.setdefault(repr(parameter.default), []).append(kind.__name__)
    return found


DECLARED = [
    pytest.param(param, kind, id=f"{kind}-{param.name}") for param in PARAMS for kind in param.of
]


@pytest.mark.parametrize(("param", "kind"), DECLARED)
def test_signatures_and_docstrings_say_what_is_declared(param: Param, kind: str) -> None:
    """Editors show both; code goes by the declaration."""
    signature = inspect.signature(getattr(pacboost, kind)).parameters
    assert signature[param.name].default == param.default_of(kind)
    default = repr(param.default_of(kind)).replace("'", '"')
    text = inspect.getdoc(getattr(pacboost, kind)) or ""
    assert re.search(rf"^{param.name} : .*default={re.escape(default)}$", text, flags=re.MULTILINE)


def test_a_name_is_declared_once_for_a_class() -> None:
    pairs = [(param.name, kind) for param in PARAMS for kind in param.of]
    assert len(pairs) == len(set(pairs))


def test_what_several_classes_have_is_declared() -> None:
    """A name of one class alone, or of a class and its kin, is described and checked there."""
    for name, own in defaults().items():
        kinds = {kind for several in own.values() for kind in several if hasattr(pacboost, kind)}
        undeclared = {kind for kind in kinds if declared(kind, name) is None}
        families = {
            re.sub("Classifier|Regressor|RandomForest|ExtraTrees", "", k) for k in undeclared
        }
        # of forests, bags and vocabularies it means three things
        assert len(families) <= 2 or name == "max_features", (name, undeclared)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if hasattr(pacboost, kind.__name__)])
def test_constraints_are_those_of_scikit_learn(kind: Any) -> None:
    constraints = kind._parameter_constraints
    given = kind().get_params(deep=False)
    validate_parameter_constraints(constraints, given, caller_name=kind.__name__)
    for name in constraints:
        wrong = {**given, name: object()}
        with pytest.raises(ValueError, match=name):
            validate_parameter_constraints(constraints, wrong, caller_name=kind.__name__)


@pytest.mark.parametrize(
    ("check", "right", "wrong"),
    [
        (checks.Whole(least=1), 3, 0),
        (checks.Whole(), -3, 2.5),
        (checks.Number(), 2.5, "2.5"),
        (checks.Share(), 1, 1.5),
        (checks.Probability(), 0.5, 1),
        (checks.RowsOrShare(), 0.5, 1.5),
        (checks.Choice(("a", "b")), "b", "c"),
        (checks.Truth(), False, 0),
        (checks.Patience(), "refit", "never"),
        (checks.Seconds(), "2m", "soon"),
        (checks.Bytes(), "2GB", "much"),
    ],
)
def test_checks_name_the_parameter_and_take_what_they_gave(
    check: checks.ParamCheck, right: Any, wrong: Any
) -> None:
    """A fit may call another one of the same estimator, whose values were read before."""
    value = check.checked("name", right)
    assert check.checked("name", value) == value
    assert value == right or isinstance(right, str)
    for refused in (wrong, None, True if not isinstance(right, bool | str) else [1]):
        with pytest.raises(ParameterError, match=r"^name is"):
            check.checked("name", refused)
    assert replace(check, optional=True).checked("name", None) is None


def test_an_absent_parameter_has_a_value_that_a_fit_goes_by() -> None:
    values = Values.defaults(AdaBoostClassifier, n_estimators=7)
    assert (values.n_estimators, values.quality, values.derive) == (7, "auto", False)
    with pytest.raises(ParameterError, match="n_estimators is 0"):
        Values.defaults(AdaBoostClassifier, n_estimators=0)


def test_fit_takes_the_same_arguments_in_the_same_order() -> None:
    """X, y and sample_weight by place, as in scikit-learn; all others by name."""
    for kind in KINDS:
        _, *given = inspect.signature(kind.fit).parameters.values()
        by_place = [one.name for one in given if one.kind is one.POSITIONAL_OR_KEYWORD]
        assert by_place in (["X", "y"], ["X", "y", "sample_weight"]), kind
        assert all(one.default == ("draws" if one.name == "copies" else None) for one in given[2:])
        if "class_weight" in inspect.signature(kind).parameters:
            assert by_place[-1] == "sample_weight", kind


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if "class_weight" in inspect.signature(kind).parameters]
)
def test_class_weights_are_the_same_everywhere(kind: Any) -> None:
    texts = kind is TextBoostClassifier
    rows, labels = (TEXTS, np.tile([0, 1], 50)) if texts else (X, Y.astype(int))
    labels = labels.copy()
    labels[: len(labels) // 4] = 0
    share = np.mean(labels == 1)
    balanced = {0: 0.5 / (1 - share), 1: 0.5 / share}
    quick = {} if kind in (AdaBoostClassifier, pacboost.StrongClassifier) else {"n_estimators": 5}
    found = []
    for given in ({"class_weight": "balanced"}, {"class_weight": balanced}, {}):
        model = kind(random_state=0, **quick, **given)
        weights = None if given else np.where(labels == 1, balanced[1], balanced[0])
        if kind is not pacboost.StrongClassifier or given:  # which balances the rows learned from
            found.append(model.fit(rows, labels, sample_weight=weights).predict_proba(rows))
    if kind is not pacboost.StrongClassifier:
        np.testing.assert_allclose(found[0], found[1], atol=1e-9)
        np.testing.assert_allclose(found[1], found[2], atol=1e-9)
    with pytest.raises(ParameterError, match="class_weight is 'heavy'"):
        kind(class_weight="heavy").fit(rows, labels)
