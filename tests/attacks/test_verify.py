"""Files whose model or certificate was changed: verify never says that the certificate stands.

The changes are those of somebody who edits a file and makes its SHA-256 right again. Somebody who
also computes the digest of the certificate anew can make any file, and no check can tell.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost import AdaBoostClassifier
from pacboost.bounds import wording
from pacboost.errors import PacboostError
from pacboost.models.file import container
from pacboost.models.file.document import MemoryBudget
from pacboost.questions.verify import checks, verify
from tests.attacks.forging import (
    BASELINES,
    MADE,
    Forge,
    areas,
    fooled,
    holds,
    other_words,
    stands,
    unanswered,
)
from tests.cli.running import run
from tests.grids import one_in
from tests.model_files import changed, forged, opened
from tests.models.kinds import frame, numbers

HARMLESS = ("versions", "seconds")
"""What a file may be changed in: with what it was written, and how long rounds took."""


@cache
def written(kind: str, folder: Path) -> bytes:
    path = folder / f"{kind}.pacb"
    MADE[kind]().save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture
def fresh(folder: Path, tmp_path: Path) -> Callable[[str], tuple[Path, str]]:
    def made(kind: str) -> tuple[Path, str]:
        path = tmp_path / f"{kind}.pacb"
        path.write_bytes(written(kind, folder))
        return path, container.kind_of(path)

    return made


@pytest.mark.parametrize("kind", MADE)
def test_a_file_as_it_was_written_stands(kind: str, fresh: Any) -> None:
    path, _ = fresh(kind)
    assert stands(path), verify(path)
    again = pacboost.load(path)
    again.save(path)
    assert stands(path)


def leaves(value: Any, place: str = "") -> Iterator[tuple[Any, Any, str]]:
    """Return what holds each leaf of a document, its key, and where it lies.

    Of entries of a list that lie at the same place, the first and the last are given.
    """
    if isinstance(value, dict):
        keys: list[Any] = sorted(value)
    else:
        keys = sorted({0, len(value) - 1}) if value else []
    for key in keys:
        where = f"{place}.{key}"
        if isinstance(value[key], dict | list) and value[key]:
            yield from leaves(value[key], where)
        else:
            yield value, key, where


def flipped(value: Any) -> Any:
    """Return another value of the same kind, as near as possible."""
    if isinstance(value, np.ndarray):
        other = value.copy()
        if value.size:
            other.flat[value.size // 2] = flipped(value.flat[value.size // 2])
        return other
    if isinstance(value, bool | np.bool_):
        return not value
    if isinstance(value, int | np.integer):
        return int(value) + (1 if value < 2**62 else -1)
    if isinstance(value, float | np.floating):
        return 0.5 if value != value else np.nextafter(value, type(value)("inf"))  # noqa: PLR0124
    if isinstance(value, str):
        return value[:-1] + ("x" if value[-1:] != "x" else "y")
    return 1 if value is None else [1]


@one_in(3)
@pytest.mark.parametrize("kind", MADE)
def test_every_leaf_of_a_file_counts(kind: str, fresh: Any) -> None:
    """Change one leaf after the other: the file does not load, or its certificate falls."""
    path, container_kind = fresh(kind)
    document = opened(path, container_kind)
    size, missed, looked = path.stat().st_size, [], 0

    def falls() -> bool:
        try:
            content = container.Content(container_kind, document, MemoryBudget.of(size), "")
            return not all(check.holds for check in checks(content, path))
        except PacboostError:
            return True

    assert not falls()
    for holder, key, where in leaves(document):
        old = holder[key]
        if isinstance(old, np.ndarray) and old.size == 0:
            continue
        holder[key] = flipped(old)
        looked += 1
        harmless = where.startswith(".about.") and set(HARMLESS) & set(where.split("."))
        if not falls() and not harmless:
            missed.append(where)
        holder[key] = old
    assert missed == []
    assert looked > 30
    assert not falls()


def swapped(values: Any) -> Any:
    return [*values[1:], values[0]]


def swap_classes(content: dict[str, Any]) -> None:
    content["model"]["classes"] = swapped(content["model"]["classes"])


def permute_names(content: dict[str, Any]) -> None:
    content["about"]["names"] = swapped(content["about"]["names"])


def rename_levels(content: dict[str, Any]) -> None:
    columns = content["model"].get("text", {}).get("columns", ())
    among = [column.get("levels", []) for column in columns]
    for levels in (*content["model"]["levels"].values(), *among):
        levels[:] = swapped(levels) if levels else []


def swap_votes(content: dict[str, Any]) -> None:
    content["model"]["votes"] = content["model"]["votes"][::-1].copy()


def move_bins(content: dict[str, Any]) -> None:
    content["model"]["bins"]["thresholds"] = content["model"]["bins"]["thresholds"] + np.float32(1)


def zero_answers(content: dict[str, Any]) -> None:
    for point in content["answering"]["points"]:
        point[2] = 0


def claiming(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda content: content["certificate"].update(fields)


def fewer_mistakes(content: dict[str, Any]) -> None:
    content["certificate"]["inputs"]["k"] = 0


def without_digest(content: dict[str, Any]) -> None:
    del content["certificate"]["model_digest"]
    swap_classes(content)


def other_digest(content: dict[str, Any]) -> None:
    content["certificate"]["model_digest"] = "0" * 64
    swap_classes(content)


ATTACKS = [
    *(
        (kind, swap_classes)
        for kind in ("stumps", "certified_three", "certified_majority", "filtered", "forest")
    ),
    *((kind, swap_classes) for kind in ("many_classes", "words", "mixed", "strong")),
    ("trees", permute_names),
    ("words", permute_names),
    ("trees", rename_levels),
    ("mixed", rename_levels),
    *((kind, swap_votes) for kind in ("stumps", "answered")),
    *((kind, move_bins) for kind in ("stumps", "trees", "forest", "bagged_trees")),
    *((kind, zero_answers) for kind in ("stumps", "mixed", "answered")),
    *((kind, fewer_mistakes) for kind in ("stumps", "forest", "strong")),
    *(
        (kind, claiming(claim="The classifier never errs."))
        for kind in ("forest", "bagged_trees", "stumps")
    ),
    *((kind, claiming(value=0.001)) for kind in ("forest", "stumps", "compressed")),
    *((kind, claiming(size=10**9)) for kind in ("forest", "bagged_trees", "strong")),
    *((kind, without_digest) for kind in ("stumps", "forest")),
    *((kind, other_digest) for kind in ("stumps", "forest")),
]


@pytest.mark.parametrize(("kind", "attack"), ATTACKS)
def test_a_changed_file_does_not_stand(kind: str, attack: Any, fresh: Any) -> None:
    path, container_kind = fresh(kind)
    before = opened(path, container_kind)
    changed(path, attack, container_kind)
    assert str(opened(path, container_kind)) != str(before)
    assert not stands(path)
    said = run("verify", path)
    assert said.exit_code != 0
    assert "the certificate stands" not in said.stdout
    try:
        pacboost.load(path).save(path)  # to write a model again proves nothing
    except PacboostError:
        return
    assert not stands(path)


@pytest.mark.parametrize("kind", ["certified_three", "certified_majority"])
def test_an_area_is_that_of_its_curve(kind: str, fresh: Any) -> None:
    """The checker does not know their rules."""
    path, container_kind = fresh(kind)
    for name in ("auc", "average_precision"):
        for value in (0.0, 0.001, 0.999):
            forged(path, areas(**{name: value}), container_kind)
            assert not stands(path)


@pytest.mark.parametrize(("kind", "forge"), BASELINES)
def test_no_other_baseline_stands(kind: str, forge: Forge, fresh: Any) -> None:
    """With all digests made anew, only the counts can tell; both programs do."""
    path, container_kind = fresh(kind)
    assert holds(path)
    forged(path, forge, container_kind)
    assert not fooled(path)


WORDED = ("strong", "mixed", "filtered", "timed", "weighted", "distinct", "unanswered", "trees")


@pytest.mark.parametrize("kind", WORDED)
def test_no_other_words_stand(kind: str, fresh: Any) -> None:
    """A notice, an assumption or a text that is left out, cut or replaced is missed."""
    path, container_kind = fresh("strong" if kind == "unanswered" else kind)
    forged(path, unanswered if kind == "unanswered" else lambda content: None, container_kind)
    assert stands(path), verify(path)
    assert holds(path)
    claim = opened(path, container_kind)["certificate"]
    accepted = {}
    for name, other in other_words(claim):
        forged(path, partial(replace_certificate, other), container_kind)
        accepted[name] = fooled(path)
    assert not any(accepted.values()), accepted


@pytest.mark.parametrize("kind", ["bagged_trees", "compressed", "certified_three"])
def test_no_other_words_stand_where_verify_is_alone(kind: str, fresh: Any) -> None:
    """The checker knows neither their bounds nor their rules."""
    path, container_kind = fresh(kind)
    accepted = {}
    for name, other in other_words(opened(path, container_kind)["certificate"]):
        forged(path, partial(replace_certificate, other), container_kind)
        accepted[name] = stands(path)
    assert not any(accepted.values()), accepted


def replace_certificate(other: dict[str, Any], content: dict[str, Any]) -> None:
    content["certificate"] = other


def test_a_notice_stands_beside_its_assumption() -> None:
    """The worlds above are worth something: their certificates have the notices."""
    named = {"timed": "have_times", "weighted": "without_weights", "distinct": "distinct_rows"}
    for kind, detail in {**named, "mixed": "share_learned"}.items():
        certificate = MADE[kind]().certificate_
        assert detail in certificate.details
        assert set(wording.assumed_beside(certificate.details)) <= set(certificate.assumptions)


def test_a_certificate_that_is_replaced_is_bound_to_the_last_model(tmp_path: Path) -> None:
    path, (X, score) = tmp_path / "m.pacb", numbers(500)
    model = AdaBoostClassifier(n_estimators=8, random_state=0).fit(X, score > 0)
    pacboost.theory.compress(model, X, score > 0).save(path)
    assert stands(path)
    loaded = pacboost.load(path)
    fresh, truth = numbers(700)
    pacboost.choose_threshold(loaded, fresh[500:], truth[500:] > 0, target_error=0.5).save(path)
    assert stands(path)


def test_frames_are_asked_by_name() -> None:
    """The attacks on names are worth something: the columns of the frame have names."""
    assert list(frame().columns) == ["a", "colour", "b"]
