"""``pacboost fit`` by filtering, as a user runs it."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from numpy.typing import NDArray

import pacboost
from pacboost.estimators.filtering import filter_session as sessions
from pacboost.estimators.filtering.filter_boost import FilterBoostClassifier
from pacboost.ledgers.ledger import Round
from pacboost.loading import load
from pacboost.models.file.format import model_bytes
from pacboost.sources.oracles import csv_lines, lines
from tests.cli.running import answer, refused, run, well, write_csv
from tests.grids import each_value, one_in

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

SMALL = ["--rounds", "6", "--sample-rows", "400", "--leaves", "4"]


def examples(rows: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 3))
    noise = generator.normal(scale=0.3, size=rows)
    return X, np.where(X[:, 0] + X[:, 1] * (X[:, 2] > 0) + noise > 0, "yes", "no")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three Parquet files of 1,000 rows, each in row groups of 200."""
    folder: Path = tmp_path_factory.mktemp("files") / "data"
    folder.mkdir()
    for part in range(3):
        X, y = examples(1_000, part)
        columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}
        parquet.write_table(pa.table(columns), folder / f"{part}.parquet", row_group_size=200)
    return folder


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    X, y = examples(1_500, 7)
    columns = dict(zip("abc", X.T.tolist(), strict=True)) | {"y": y}
    return write_csv(tmp_path_factory.mktemp("files") / "data.csv", columns)


@pytest.fixture(scope="module")
def sparse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    X, y = examples(1_500, 8)
    text = [
        f"{1 if label == 'yes' else -1} 1:{row[0]!r} 2:{row[1]!r} 3:{row[2]!r}"
        for row, label in zip(X.tolist(), y, strict=True)
    ]
    path: Path = tmp_path_factory.mktemp("files") / "data.svm"
    path.write_text("\n".join(text) + "\n")
    return path


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    duckdb = pytest.importorskip("duckdb")
    X, y = examples(1_500, 9)
    path: Path = tmp_path_factory.mktemp("files") / "data.duckdb"
    with duckdb.connect(str(path)) as connection:
        rows = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y})
        connection.register("rows", rows)
        connection.execute("CREATE TABLE examples AS SELECT * FROM rows")
    return path


def fit(*arguments: object) -> Result:
    return run("fit", *map(str, arguments))


def words(result: Result) -> str:
    return " ".join(result.output.split())


def shown(result: Result) -> None:
    """All that a newcomer is told."""
    assert result.exit_code == 0, result.output
    text = words(result)
    assert text.startswith("At most ")
    for part in (
        "held-out rows",
        "Always saying '",
        "Next: ",
        "rounds 6 (booster",
        "new examples, in the last test",
        "of them (",
        "stopped all 6 rounds are done",
        "certificate The classifier is wrong on at most",
        "counted on",
    ):
        assert part in text, result.output
    wide = [line for line in result.output.splitlines() if len(line) > 80]
    assert not [line for line in wide if "/" not in line]  # paths are as long as they are


def test_a_pattern_of_parquet_files(folder: Path) -> None:
    shown(fit(f"{folder}/*.parquet", "--target", "y", *SMALL))


def test_a_folder_and_its_files_give_the_same_model(folder: Path, tmp_path: Path) -> None:
    files = sorted(folder.iterdir(), reverse=True)
    first, second = tmp_path / "a.pacb", tmp_path / "b.pacb"
    shown(fit(folder, "--target", "y", *SMALL, "--output", first))
    shown(fit(*files, "--target", "y", *SMALL, "--output", second))
    one, other = (load(path).model_ for path in (first, second))
    assert model_bytes(one) == model_bytes(other)
    direct = FilterBoostClassifier(n_estimators=6, sample_rows=400, max_leaves=4, random_state=0)
    direct.fit_source(folder, "y")
    assert one.ledger.core() == direct.ledger_.core()
    rows = pa.table(dict(zip("abc", examples(50, 4)[0].T, strict=True)))
    again = pacboost.load(first)
    assert again.decision_function(rows).tolist() == direct.decision_function(rows).tolist()


@one_in(3)
@pytest.mark.parametrize("ask", [["--filter"], ["--memory", "4GB"], ["--time", "60s"]])
def test_a_csv_file_if_asked_to(table: Path, ask: list[str]) -> None:
    shown(fit(table, "--target", "y", *SMALL[:2], *ask))


@pytest.mark.parametrize("slow", ["cut", "read"])
def test_a_time_limit_that_reading_exceeds_writes_nothing(
    table: Path, slow: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while a scan finds where lines begin; the limit is kept within a tenth and a block."""
    monkeypatch.setattr(lines, "BLOCK_BYTES", 1000)
    kind, name = (lines, "last_end") if slow == "cut" else (csv_lines.CsvOracle, "read")
    usual, begun = getattr(kind, name), list[float]()

    def slowly(*given: Any, **named: Any) -> Any:
        begun.append(time.monotonic())
        time.sleep(0.1)
        return usual(*given, **named)

    monkeypatch.setattr(kind, name, slowly)
    output = tmp_path / "model.pacb"
    asked = ["fit", table, "--target", "y", *SMALL, "--time", "1s", "--output", output]
    assert "the time limit ended" in refused(*asked, code=1)
    assert begun[-1] - begun[0] < 1.1
    assert not list(tmp_path.iterdir())


def test_a_csv_file_is_read_into_memory_unless_asked(table: Path) -> None:
    assert "300 held-out rows" in well(
        "fit", table, "--target", "y", "--rounds", "6", "--booster", "adaboost"
    )


def test_svmlight_has_no_target(sparse: Path) -> None:
    shown(fit(sparse, *SMALL))
    assert "leave out --target" in refused("fit", sparse, "--target", "y")


def test_a_table_and_a_query(database: Path) -> None:
    shown(fit(database, "--table", "examples", "--target", "y", *SMALL))
    query = "SELECT a, b, y FROM examples WHERE c > 0"
    assert "rounds 6" in well("fit", database, "--query", query, "--target", "y", *SMALL)


@each_value
@pytest.mark.parametrize("booster", ["logit", "measure", "mada", "smooth", "projection"])
@pytest.mark.parametrize("learner", ["stump", "tree"])
def test_every_booster(folder: Path, booster: str, learner: str) -> None:
    options = ["--booster", booster, "--learner", learner, "--rounds", "4", "--sample-rows", "400"]
    said = well("fit", folder, "--target", "y", *options)
    assert f"(booster {booster}, learner {learner})" in said


def test_a_promised_edge_is_tested(folder: Path) -> None:
    options = ["--epsilon", "0.3", "--rounds", "2", "--learner", "stump", "--delta", "0.1"]
    said = well("fit", folder, "--target", "y", "--edge", "0.3", *options)
    assert "booster filter_boost" in said


def test_columns_can_be_left_out(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.pacb"
    result = fit(folder, "--target", "y", *SMALL, "--drop", "b", "--drop", "c", "--output", path)
    shown(result)
    assert load(path).model_.names == ("a",)


def test_classes_can_be_named(table: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.pacb"
    classes = "no, maybe,yes"
    well("fit", table, "--target", "y", *SMALL, "--classes", classes, "--output", path)
    assert load(path).classes_.tolist() == ["maybe", "no", "yes"]


def interrupt_in(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have Ctrl-C come after so many rounds; 0: before the first."""
    advance = sessions.Session.advance

    def interrupted(self: sessions.Session, watchers: Sequence[Any]) -> None:
        def watch(event: object) -> None:
            if not number or (isinstance(event, Round) and event.number == number):
                raise KeyboardInterrupt

        advance(self, [*watchers, watch])

    monkeypatch.setattr(sessions.Session, "advance", interrupted)


def test_ctrl_c_keeps_what_was_learned(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, checkpoint, whole = (tmp_path / name for name in ("m.pacb", "point", "whole.pacb"))
    ask = ["--rounds", "12", "--sample-rows", "400", "--checkpoint", checkpoint]
    with monkeypatch.context() as patch:
        interrupt_in(9, patch)
        shown = refused("fit", folder, "--target", "y", *ask, "--output", model, code=130)
    for part in ("rounds 9", "stopped interrupted", f"continues from {checkpoint}"):
        assert part in shown
    assert len(load(model).votes_) == 9
    well("fit", folder, "--target", "y", *ask, "--output", model)
    assert not checkpoint.exists()
    well("fit", folder, "--target", "y", *ask, "--output", whole)
    one, other = (model_bytes(load(path).model_) for path in (model, whole))
    assert one == other


def test_ctrl_c_before_the_first_round(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_in(0, monkeypatch)
    assert "before the first round" in refused(
        "fit", folder, "--target", "y", *SMALL, "--output", tmp_path / "m.pacb", code=130
    )
    assert list(tmp_path.iterdir()) == []


def test_json_is_all_that_is_printed(folder: Path, tmp_path: Path) -> None:
    found = answer("fit", folder, "--target", "y", *SMALL, "--output", tmp_path / "m.pacb")
    loaded = pacboost.load(tmp_path / "m.pacb")
    assert found["certificate"] == loaded.certificate_.to_dict()
    assert found["rounds"] == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "nope"], "'nope'"),
        (["--target", "y", "--memory", "lots"], "memory is 'lots'"),
        (["--target", "y", "--memory", "1MB"], "MB"),
        (["--target", "y", "--time", "-1"], "time_limit is '-1'"),
        (["--target", "y", "--rounds", "0"], "n_estimators is 0"),
        (["--target", "y", "--booster", "adaboost"], "booster is 'adaboost'"),
        (["--target", "y", "--output", "no/such/folder/m.pacb"], "folder does not exist"),
        (["--target", "y", "--drop", "d"], "'d'"),
        ([], "Missing option '--target'"),
        (["--target", "y", "--table", "t"], "apply to .duckdb files only"),
        (["--target", "y", "--missing", "unknown"], "apply to CSV files only"),
        (["--target", "y", "--categories"], "--categories cannot be combined with"),
        (["--target", "y", "--certify", "holdout"], "--certify cannot be combined with"),
        (["--target", "y", "--validation", "0.1"], "--validation cannot be combined with"),
        (["--target", "y", "--resample"], "--resample cannot be combined with"),
        (["--target", "y", "--text", "a"], "--text cannot be combined with"),
        (["--target", "y", "--time-column", "a"], "--time-column cannot be combined with"),
        (["--target", "y", "--booster", "gentlest"], "gentlest"),
    ],
)
def test_wrong_usage(folder: Path, arguments: list[str], message: str) -> None:
    assert message in refused("fit", folder, *arguments)


def test_wrong_usage_of_a_database(database: Path) -> None:
    for both in ([], ["--table", "examples", "--query", "SELECT 1"]):
        assert "with either --table" in refused("fit", database, "--target", "y", *both)


def test_in_memory_the_target_is_needed_and_boosters_are_known_by_name(table: Path) -> None:
    assert "Missing option '--target'" in refused("fit", table)
    assert "'nobody' is not one" in refused("fit", table, "--target", "y", "--booster", "nobody")
    well("fit", table, "--target", "y", "--booster", "measure", "--rounds", 2)
    refused("fit", "--target", "y")


def test_files_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name, message in (
        ("empty", "holds no file"),
        ("*.parquet", "no file matches"),
        ("none.parquet", "no such file"),
    ):
        assert message in refused("fit", tmp_path / name, "--target", "y")


def test_a_compressed_file_cannot_be_filtered(tmp_path: Path) -> None:
    path = tmp_path / "data.csv.gz"
    path.write_bytes(b"")
    assert "Decompress it" in refused("fit", path, "--target", "y", "--filter")


def test_verbose_shows_the_view(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = FilterBoostClassifier(n_estimators=6, sample_rows=400, random_state=0, verbose=True)
    model.fit_source(folder, "y")
    told = capsys.readouterr().err
    assert "6 of at most 6" in told
    assert "certified" in told


def test_verbose_tells_of_every_batch(capsys: pytest.CaptureFixture[str]) -> None:
    model = FilterBoostClassifier(n_estimators=50, random_state=0, verbose=True)
    for seed in range(2):
        model.partial_fit(*examples(400, seed), classes=["no", "yes"])
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("batch 1: ")
    assert told[1].startswith("batch 2: ")
