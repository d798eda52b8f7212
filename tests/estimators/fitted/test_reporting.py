"""Every model that can be loaded has a page, alone and with rows; wrong wishes are refused."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost import theory
from pacboost.boosters import AdaBoost
from pacboost.errors import DataError, FileError, NoEdgeWarning, OneClassWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 4))
TWO = np.where(X[:, 0] + 0.5 * X[:, 1] > 0.2, "yes", "no")
THREE = np.array(["low", "mid", "top"])[np.digitize(X[:, 0] + X[:, 2], [-0.5, 0.7])]
SEVERAL = (X[:, :3] > 0.3).astype(int)
NUMBER = X[:, 0] * 2 - X[:, 3]
TEXTS = [
    f"{'lost' if k % 3 else 'new'} card {'please' if k % 2 else 'now'} {k % 7}" for k in range(240)
]
INTENT = np.array(["new" if k % 3 == 0 else "lost" for k in range(240)])
EARLY, LATE = slice(0, 180), slice(180, None)

Make = Callable[[], tuple[Any, Any, Any]]


def boost(**given: Any) -> Any:
    return pacboost.BoostClassifier(random_state=0, **given)


KINDS: dict[str, Make] = {
    "stumps": lambda: (pacboost.AdaBoostClassifier(n_estimators=20, random_state=0), X, TWO),
    "held out": lambda: (boost(certify="holdout", n_estimators=15), X, TWO),
    "stumps of three classes": lambda: (boost(booster="adaboost", learner="stump"), X, THREE),
    "trees of three classes": lambda: (boost(n_estimators=8), X, THREE),
    "samme": lambda: (boost(booster=AdaBoost(multiclass="samme"), n_estimators=5), X, THREE),
    "calibrated": lambda: (boost(calibrate="sigmoid", n_estimators=8), X, TWO),
    "several labels": lambda: (boost(booster="adaboost", learner="stump"), X, SEVERAL),
    "numbers": lambda: (pacboost.BoostRegressor(n_estimators=8, random_state=0), X, NUMBER),
    "texts": lambda: (pacboost.TextBoostClassifier(n_estimators=12, random_state=0), TEXTS, INTENT),
    "filtered": lambda: (
        pacboost.FilterBoostClassifier(n_estimators=10, random_state=0), X, TWO,
    ),
    "bagged": lambda: (theory.BaggedBoost(3, n_estimators=9, random_state=0), X, TWO),
    "subsampled": lambda: (theory.SubsampledBoost(3, n_estimators=9, random_state=0), X, TWO),
    "majority": lambda: (theory.MajorityOfBoosters(3, n_estimators=9, random_state=0), X, TWO),
    "three oracles": lambda: (theory.ThreeWayBoost(max_draws=9_000, random_state=0), X, TWO),
    "three learners": lambda: (theory.ThreeLearnerBoost(random_state=0), X, TWO),
    "forest": lambda: (pacboost.RandomForestClassifier(12, random_state=0), X, THREE),
    "certified forest": lambda: (
        pacboost.RandomForestClassifier(12, certify="holdout", random_state=0), X, TWO,
    ),
    "forest of numbers": lambda: (pacboost.ExtraTreesRegressor(12, random_state=0), X, NUMBER),
}  # fmt: skip


class Reader(HTMLParser):
    """Reads a page as a strict browser would: every element is closed, in order."""

    VOID = frozenset({"meta", "link", "input", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += [given["id"] or ""] if "id" in given else []
        self.links += [given["href"] or ""] if tag == "a" else []
        self.loads += [v or "" for k, v in attrs if k in ("src", "srcset", "data", "poster")]
        self.loads += [given["href"] or ""] if tag == "link" else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data.replace("\xa0", " "))


def read(path: Path) -> Reader:
    text = path.read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert len(set(reader.ids)) == len(reader.ids)
    assert all(link.startswith("#") and link[1:] in reader.ids for link in reader.links)
    assert all(load.startswith("data:") for load in reader.loads)
    assert not re.search(r"\bnan\b|\binf\b|None", " ".join(reader.text))
    assert not re.search(r'="[^"]*\bnan\b', text)
    return reader


def fitted(kind: str) -> tuple[Any, Any, Any]:
    model, rows, labels = KINDS[kind]()
    return model.fit(rows[EARLY], labels[EARLY]), rows[LATE], labels[LATE]


@pytest.mark.filterwarnings("ignore::pacboost.errors.TooFewRowsWarning")
@pytest.mark.filterwarnings("ignore::pacboost.errors.NoEdgeWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_page_and_a_file_of_it_has_the_same(kind: str, tmp_path: Path) -> None:
    model, rows, labels = fitted(kind)
    first = model.report(tmp_path / "first.html")
    assert first == tmp_path / "first.html"
    alone = read(first)
    model.save(tmp_path / "model.pacb")
    loaded = pacboost.load(tmp_path / "model.pacb")
    loaded.report(tmp_path / "again.html")
    if not model.model_.forest:  # a forest knows why it has no certificate, a file not
        assert (tmp_path / "again.html").read_bytes() == first.read_bytes()
    loaded.report(tmp_path / "rows.html", rows, labels)
    more = read(tmp_path / "rows.html")
    shown = {"predicted"} if kind in ("numbers", "forest of numbers") else {"margins", "confusion"}
    assert shown <= set(more.ids)
    held_out = kind in ("held out", "filtered", "certified forest")
    assert shown & set(alone.ids) == ({"confusion"} if held_out else set())
    assert first.stat().st_size < 500_000
    model.report(tmp_path / "rows_again.html", rows, labels)
    assert not list(tmp_path.glob("*.part"))


def test_a_page_has_the_numbers_of_the_model(tmp_path: Path) -> None:
    model, rows, labels = fitted("held out")
    text = " ".join(read(model.report(tmp_path / "a.html", rows, labels, title="Loans")).text)
    value, wrong = model.certificate_.value, int(model.mistakes(rows, labels).sum())
    assert "Loans" in text
    said = f"At most {np.ceil(1000 * value) / 10:g} % wrong on future examples like these"
    assert said in text.replace("  ", " ")
    assert model.certificate_.claim in text
    assert f"{60 - wrong} of 60 rows" in text
    assert model.ledger_.digest()[:32] in text


def test_words_of_strangers_are_words_only(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&"
    frame = pandas.DataFrame({evil: X[:, 0], "level": np.where(X[:, 1] > 0, evil, "b")})
    labels = np.where(X[:, 0] > 0, evil, "good")
    model = boost(
        learner="stump", n_estimators=6, certify="holdout", categorical_features=["level"]
    )
    model.fit(frame[EARLY], labels[EARLY])
    page = model.report(tmp_path / "a.html", frame[LATE], labels[LATE], title=evil)
    assert "<script>alert" not in page.read_text()
    assert "<img" not in page.read_text()
    assert evil in " ".join(read(page).text)
    texts = [f"{evil} {k % 2}" for k in range(60)]
    classes = np.array([evil, "b"])[np.arange(60) % 2]
    spoken = pacboost.TextBoostClassifier(n_estimators=4, random_state=0).fit(texts, classes)
    said = spoken.report(tmp_path / "b.html", texts, classes).read_text()
    assert "<script>alert" not in said
    assert "<img" not in said
    assert said.count("<script>") == 1


def test_a_constant_and_an_empty_vote_have_pages(tmp_path: Path) -> None:
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 2)
    with pytest.warns(OneClassWarning):
        one = pacboost.AdaBoostClassifier(random_state=0).fit(X, np.array(["only"] * 240))
    read(one.report(tmp_path / "a.html", X, np.array(["only"] * 240)))
    with pytest.warns(NoEdgeWarning):
        none = pacboost.AdaBoostClassifier(random_state=0).fit(corners, [0, 1, 1, 0] * 2)
    read(none.report(tmp_path / "b.html", corners, [0, 1, 1, 0] * 2))


def test_what_is_asked_wrongly_is_refused(tmp_path: Path) -> None:
    model, rows, labels = fitted("stumps")
    with pytest.raises(DataError, match="without y"):
        model.report(tmp_path / "a.html", rows)
    with pytest.raises(DataError, match="without X"):
        model.report(tmp_path / "a.html", y=labels)
    with pytest.raises(DataError, match="not among the classes"):
        model.report(tmp_path / "a.html", rows, ["maybe"] * len(rows))
    with pytest.raises(FileError, match="cannot be written"):
        model.report(tmp_path / "nowhere" / "a.html")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="not fitted"):
        pacboost.AdaBoostClassifier().report(tmp_path / "a.html")
