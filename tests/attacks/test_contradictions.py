"""Files and certificates that contradict themselves: neither verify nor the checker accepts them.

All digests are computed anew, as a forger can, so that only the contents can tell.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial, reduce
from operator import getitem
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

import pacboost
from pacboost import pacboost_check as checker
from pacboost.bounds import holdout, selective
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.measured import certificate
from pacboost.errors import FileError, ParameterError
from pacboost.questions.verify import verify
from tests.attacks.forging import consistent, fooled, other_words
from tests.grids import each_value
from tests.model_files import forged, opened
from tests.models.kinds import numbers

Content = dict[str, Any]
WISHES: dict[str, Any] = {"recall": 0.6, "precision": 0.6, "cost": (3, 1)}
NAMES = (*WISHES, "sets", "held out")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write a model with a threshold for each wish, and one with a set for each class."""
    folder, (X, score) = tmp_path_factory.mktemp("models"), numbers(500)
    y = (score > 0).astype(int)
    model = pacboost.AdaBoostClassifier(n_estimators=4, random_state=0).fit(X[:200], y[:200])
    paths = {name: folder / f"{name}.pacb" for name in NAMES}
    held_out = pacboost.AdaBoostClassifier(n_estimators=4, certify="holdout", random_state=0)
    held_out.fit(X, y).save(paths["held out"])
    for name, wish in WISHES.items():
        choice: Any = {name: wish}
        pacboost.choose_threshold(model, X[200:], y[200:], positive=1, **choice).save(paths[name])
    pacboost.sets(model, X[200:], y[200:], coverage=0.7, by_class=True).save(paths["sets"])
    return paths


def decision(*place: Any, **fields: Any) -> Callable[[Content], None]:
    """Change fields of the decision, or of what lies at a place within it."""

    def forge(content: Content) -> None:
        reduce(getitem, place, content["decision"]).update(fields)

    return forge


wished, other = partial(decision, "certificate"), partial(decision, "others", 0)
detail = partial(decision, "certificate", "details")


def one_sequence(content: Content) -> None:
    content["decision"]["certificate"]["inputs"]["claims"] = 1
    content["decision"]["certificate"]["sample"] = {"rows": "held_out"}


def swapped_classes(content: Content) -> None:
    first, second = content["coverage"]["certificates"]
    first["details"]["class"], second["details"]["class"] = "1", "0"


def all_mistakes_gone(content: Content) -> None:
    content["certificate"]["inputs"]["k"] = 0
    consistent(content, content["held_out"]["rows"])


FORGERIES: list[tuple[str, Callable[[Content], None]]] = [
    ("recall", wished(of_what="precision")),
    ("recall", other(of_what="recall")),
    ("recall", decision(wish="precision")),
    ("recall", decision(positive=0)),
    ("recall", detail(**{"class": "0"})),
    ("recall", wished(size=1_000_000)),
    ("recall", decision(positives=1_000)),
    ("recall", wished(assumptions=[])),
    ("recall", wished(rows_checked=False)),
    ("recall", detail(missing_wrong=-3.0)),
    ("precision", wished(of_what="recall")),
    ("cost", other(of_what="precision")),
    ("cost", decision(wish="recall")),
    ("held out", lambda content: consistent(content, 9_000_000)),
    ("held out", lambda content: content["answering"].update(rows=9_000_000)),
    ("sets", swapped_classes),
    ("sets", lambda content: content["coverage"]["certificates"][0].update(assumptions=[])),
]


@pytest.mark.parametrize("name", NAMES)
def test_files_as_they_were_written_hold(name: str, files: dict[str, Path]) -> None:
    assert all(check.holds for check in verify(files[name]))
    assert {answer for _, answer, _ in checker.check(files[name].read_bytes())} == {checker.HOLDS}


@pytest.mark.parametrize(("name", "forge"), FORGERIES)
def test_a_contradiction_does_not_hold(
    name: str, forge: Callable[[Content], None], files: dict[str, Path], tmp_path: Path
) -> None:
    path = forged(Path(copy(files[name], tmp_path / "forged.pacb")), forge)
    with suppress(FileError):  # or it does not even load
        assert not all(check.holds for check in verify(path))
    assert checker.FAILS in {answer for _, answer, _ in checker.check(path.read_bytes())}


@each_value
@pytest.mark.parametrize("name", [*WISHES, "sets"])
@pytest.mark.parametrize("place", [0, 1])
def test_no_other_words_of_a_decision_hold(
    name: str, place: int, files: dict[str, Path], tmp_path: Path
) -> None:
    """Nor those of a set: a detail, an assumption or a text that is left out, cut or replaced."""
    path, accepted = Path(copy(files[name], tmp_path / "forged.pacb")), {}

    def claims(content: Content) -> list[Content]:
        if name == "sets":
            return list(content["coverage"]["certificates"])
        return [content["decision"]["certificate"], *content["decision"]["others"]]

    def replaced(other: Content, content: Content) -> None:
        claim = claims(content)[place]
        claim.clear()
        claim.update(other)

    for words, other in other_words(claims(opened(path))[place]):
        forged(path, partial(replaced, other))
        accepted[words] = fooled(path)
    assert not any(accepted.values()), accepted


def test_mistakes_are_not_fewer_than_the_predictions_show(
    files: dict[str, Path], tmp_path: Path
) -> None:
    path = forged(Path(copy(files["held out"], tmp_path / "forged.pacb")), all_mistakes_gone)
    assert [check.name for check in verify(path) if not check.holds] == ["bound"]


def test_many_thresholds_are_counted_in_no_time() -> None:
    """A file may name any number of them."""
    points = (selective.Point(0.0, 2**62, 0, 2**62, 2**62),)
    assert selective.passed(points, 2**62, 2**62, 0.05, 1e-9) == frozenset()


def test_sequences_of_tests_are_those_planned(files: dict[str, Path], tmp_path: Path) -> None:
    path = forged(Path(copy(files["precision"], tmp_path / "forged.pacb")), one_sequence)
    assert not all(check.holds for check in verify(path))
    assert checker.FAILS in {answer for _, answer, _ in checker.check(path.read_bytes())}


RATE = {"k": 97, "n": 100, "delta": 0.05, "claims": 1}
RECALL = certificate("recall", "rates.rate_lower", RATE, size=100, **{"class": "1"})
HELD_OUT = holdout.certificate(3, 100, 0.05)


@pytest.mark.parametrize(
    "forgery",
    [
        replace(RECALL, of_what="auc"),
        replace(RECALL, of_what="error"),
        replace(RECALL, size=1_000_000),
        replace(RECALL, assumptions=()),
        RECALL.detailed({"missing_abstain": -3.0}),
        replace(RECALL, rows_checked=False),
        replace(RECALL.unchecked(), rows_checked=True),
        replace(HELD_OUT, rows_checked=False),
        HELD_OUT.repeating_learned(1.5),
    ],
)
def test_a_certificate_that_contradicts_itself(forgery: Certificate) -> None:
    assert not verify(forgery)[0].holds


def test_certificates_in_every_honest_form_hold() -> None:
    for honest in (RECALL, RECALL.unchecked(), RECALL.detailed({"missing_wrong": 0.1}), HELD_OUT):
        assert verify(honest)[0].holds
        assert verify(honest.under(contamination=0.01))[0].holds


def test_a_bound_certifies_only_its_measures() -> None:
    with pytest.raises(ParameterError, match="bounds 'recall'"):
        certificate("precision", "deciding.order_lower", {"claims": 1}, size=1)


@pytest.mark.parametrize("bound", ["deciding.curve_upper", "deciding.curve_lower"])
def test_no_curve_counts_more_rows_than_there_are(bound: str) -> None:
    with pytest.raises(ValueError, match="no count"):
        checker.OF_ROWS[bound](101, 100, Fraction(1, 20))
