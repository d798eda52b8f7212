"""What holds for every public estimator, whichever it is.

Looking at it in a notebook (Tab, dir, hasattr and its display) never raises; every parameter is
documented; threads change no byte, one class is warned of, and a fit that fails changes nothing.
"""

import inspect
import re
import warnings
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import pacboost
from pacboost.errors import DataError, NotCertified, OneClassWarning
from pacboost.models.file.format import model_bytes
from pacboost.numerics.markup import escape
from tests.public import estimators

ESTIMATORS = list(estimators())


def made(name: str) -> Any:
    return estimators()[name]()


def rows_for(name: str) -> tuple[Any, Any]:
    if name == "TextBoostClassifier":
        return ["a good day", "bad weather"] * 20, np.tile([0, 1], 20)
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :4], y


@cache
def fitted(name: str, **options: Any) -> Any:
    model = made(name)
    known = model.get_params()
    quick = {"n_estimators": 3, "n_members": 3, "n_jobs": 1, "random_state": 0, **options}
    quick["max_draws"] = 30_000
    model.set_params(**{key: value for key, value in quick.items() if key in known})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*rows_for(name))


def content(model: Any) -> bytes:
    """The model as a file, or what it predicts if it has none."""
    if hasattr(model, "model_"):
        return model_bytes(model.model_)
    return np.asarray(model.predict(rows_for(type(model).__name__)[0])).tobytes()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_threads_change_no_byte_and_seeds_repeat_it(name: str) -> None:
    assert content(fitted(name)) == content(fitted(name, n_jobs=3))


@pytest.mark.parametrize(
    "name", [name for name in ESTIMATORS if "Regressor" not in name and name != "ConfidenceBoost"]
)
def test_one_class_is_warned_of_and_predicted(name: str) -> None:
    X, y = rows_for(name)
    model = made(name)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model.fit(X, np.full(len(y), "good"))
    told = [warning for warning in heard if issubclass(warning.category, OneClassWarning)]
    assert {warning.filename for warning in told} == {__file__}
    assert "one class only ('good')" in str(told[0].message)
    assert set(model.predict(X)) == {"good"}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_fit_that_fails_leaves_the_last_one(name: str) -> None:
    model = fitted(name)
    before = content(model)
    X, y = rows_for(name)
    with pytest.raises(DataError):
        model.fit(X[:10], y[:3])
    assert content(model) == before


@pytest.mark.parametrize("name", ESTIMATORS)
def test_looking_raises_nothing_before_and_after_fit(name: str) -> None:
    for model in (made(name), fitted(name)):
        for attribute in dir(type(model)):
            hasattr(model, attribute)
        assert "fit" in dir(model)
        assert dict(inspect.getmembers(model))["get_params"]
        assert name in repr(model)
        assert name in model._repr_html_()
        assert set(model._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_a_property_that_does_not_apply_is_absent_and_says_why() -> None:
    model = fitted("RandomForestRegressor")
    assert not hasattr(model, "certificate_")
    assert "certificate_" not in dict(inspect.getmembers(model))
    with pytest.raises(NotCertified, match=r"pacboost\.intervals"):
        _ = model.certificate_


def test_the_display_does_not_write_out_all_rules() -> None:
    """The arrays of 100 trees, written as text, would take seconds and megabytes."""
    X, y = load_breast_cancer(return_X_y=True)
    model = pacboost.BoostClassifier("logit", "tree", 100, random_state=0).fit(X, y)
    for value in (model.model_, model.ledger_, model.estimators_[0]):
        assert len(repr(value)) < 200
    assert len(model._repr_html_()) < 200_000


def test_a_strong_classifier_shows_its_sentence() -> None:
    model = fitted("StrongClassifier")
    assert escape(model.sentence_) in model._repr_html_()


KINDS: list[Any] = list(estimators().values())


def entries(kind: Any) -> dict[str, tuple[str, str]]:
    text = inspect.getdoc(kind) or ""
    part = text.split("Parameters\n----------\n")[1].split("\n\n")[0]
    found = re.findall(r"^(\w+) : (.*)\n((?:    .*(?:\n|$))*)", part + "\n", re.MULTILINE)
    return {name: (head, body) for name, head, body in found}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_parameter_is_documented_by_itself(kind: Any) -> None:
    known = inspect.signature(kind).parameters
    documented = entries(kind)
    assert len(KINDS) > 15
    assert sorted(documented) == sorted(known)
    for name, (head, body) in documented.items():
        default = repr(known[name].default).replace("'", '"')
        assert head.endswith(f"default={default}"), f"{name} : {head}"
        assert body.strip(), f"{name} has no meaning"
        assert not re.search(r"as in \w+(Boost|Classifier|Regressor)", body), f"{name}: elsewhere"
    section = (inspect.getdoc(kind) or "").split("Parameters\n----------\n")[1].split("\n\n")[0]
    heads = [line for line in section.splitlines() if not line.startswith(" ")]
    assert [line for line in heads if line.split(" : ")[0] not in known] == []


CLASSES = list(estimators().values())


def ancestors(kind: type) -> list[type]:
    return [base for base in kind.__mro__[1:] if base.__module__.startswith("pacboost")]


def methods(kind: type) -> set[str]:
    """Functions and properties that a class defines; those of Python and scikit-learn aside."""
    return {
        name
        for name, value in vars(kind).items()
        if (callable(value) or isinstance(value, property)) and not name.startswith("__")
    }


@pytest.mark.parametrize("kind", CLASSES)
def test_no_method_is_chosen_by_the_order_of_bases(kind: type) -> None:
    for one, other in combinations(ancestors(kind), 2):
        if not (issubclass(one, other) or issubclass(other, one)):
            assert not methods(one) & methods(other), (one, other)


def test_no_base_declares_methods_for_the_type_checker_alone() -> None:
    """Imports of types may be for the type checker; methods that another class brings may not."""
    for path in (Path(pacboost.__file__).parent / "estimators").rglob("*.py"):
        assert "    if TYPE_CHECKING" not in path.read_text(encoding="utf-8"), path
