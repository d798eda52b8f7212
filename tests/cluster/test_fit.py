"""A fit on a cluster: the same bytes as without one, whoever does the work."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client, LocalCluster, Security

from pacboost import FilterBoostClassifier
from pacboost.bounds.wording import DISTINCT_ROWS
from pacboost.errors import DataError, FileError, ParameterError
from pacboost.training.filtering import stream
from tests.cluster.clusters import bytes_of, forgets
from tests.estimators.filter_sources import noisy, small, write_parquet

KINDS: dict[str, dict[str, Any]] = {
    "trees": {},
    "stumps": {"learner": "stump", "n_certify": 0},
    "mada": {"booster": "mada", "epsilon": 0.2},
    "by the book": {"edge": 0.2, "learner": "stump", "n_estimators": 2, "epsilon": 0.3},
    "several passes": {"n_estimators": 30, "sample_rows": 2500},
}


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    X, y = noisy(6000, classes=3)
    X[::7, 1] = np.nan
    names = np.array(["a", "b", "c"])[y]
    return write_parquet(tmp_path_factory.mktemp("data") / "three", X, names, group=700)


@pytest.fixture(scope="module")
def alone(folder: Path) -> FilterBoostClassifier:
    return small().fit_source(folder, "y", client=False)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_model_with_threads(folder: Path, threads: Client, kind: str) -> None:
    alone = small(**KINDS[kind]).fit_source(folder, "y", client=False)
    together = small(**KINDS[kind]).fit_source(folder, "y", client=threads)
    assert bytes_of(together) == bytes_of(alone)
    if kind == "several passes":
        assert together.ledger_.refills[-1].again > 0


def test_the_same_model_where_no_rows_test(
    folder: Path, threads: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "SHARE_TESTING", 0.0)
    alone = small(n_certify=0).fit_source(folder, "y", client=False)
    together = small(n_certify=0).fit_source(folder, "y", client=threads)
    assert bytes_of(together) == bytes_of(alone)
    assert [refill.fresh for refill in together.ledger_.refills][-1] == 0


def test_the_same_model_of_distinct_rows(threads: Client, tmp_path: Path) -> None:
    X, y = noisy(1500)
    rows = np.random.default_rng(0).integers(1500, size=6000)
    folder = write_parquet(tmp_path / "copies", X[rows], y[rows], group=700)
    alone, together = (
        small().fit_source(folder, "y", client=client, copies="distinct")
        for client in (False, threads)
    )
    assert bytes_of(together) == bytes_of(alone)
    certificate = together.certificate_
    assert certificate == alone.certificate_
    assert 60 < certificate.size < 240  # a tenth of the rows, of which a quarter is distinct
    assert DISTINCT_ROWS in certificate.details


def test_the_same_model_of_names_and_dates(threads: Client, tmp_path: Path) -> None:
    """What columns hold is learned by the client, and workers read their blocks by it."""
    generator, rows = np.random.default_rng(0), 3000
    colour = generator.choice(["red", "green", "blue"], rows)
    day = generator.integers(365, size=rows)
    label = np.where((colour == "red") ^ (day > 180), "yes", "no")
    columns = {"colour": colour, "day": np.datetime64("2024-01-01") + day, "y": label}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet", row_group_size=300)
    alone, together = (
        small().fit_source(tmp_path / "rows.parquet", "y", client=client)
        for client in (False, threads)
    )
    assert bytes_of(together) == bytes_of(alone)
    assert alone.certificate_ == together.certificate_
    assert "day: month" in (alone.schema_.names or ())


def test_the_same_model_with_processes(
    folder: Path, three: Path, alone: FilterBoostClassifier, processes: Client
) -> None:
    other = small().fit_source(three, "y", client=False)
    for source, model in ((folder, alone), (three, other)):
        together = small().fit_source(source, "y", client=processes)
        assert bytes_of(together) == bytes_of(model)


def test_the_current_client_is_used(
    folder: Path, alone: FilterBoostClassifier, threads: Client
) -> None:
    ahead, before = [], set(threads.futures)

    def remember(event: Any) -> None:
        if hasattr(event, "vote"):  # a round of boosting
            ahead.append({key for key in threads.futures if "-read-" in str(key)} - before)

    with threads.as_current():
        model = small(callbacks=[remember]).fit_source(folder, "y")
    assert bytes_of(model) == bytes_of(alone)
    assert all(ahead), "workers read the next blocks while the client boosts"
    assert forgets(threads, before=before)


def test_a_checkpoint_goes_on_with_and_without_a_cluster(
    folder: Path, threads: Client, tmp_path: Path
) -> None:
    def stop(event: Any) -> bool:
        return bool(getattr(event, "number", 0) == 9 and hasattr(event, "vote"))

    settings: dict[str, Any] = {"n_estimators": 20, "checkpoint": tmp_path / "run.pac"}
    alone = small(n_estimators=20).fit_source(folder, "y")
    for first, second in ((threads, False), (False, threads)):
        small(**settings, callbacks=[stop]).fit_source(folder, "y", client=first)
        assert (tmp_path / "run.pac").exists()
        resumed = small(**settings).fit_source(folder, "y", client=second)
        assert len(resumed.ledger_) == len(alone.ledger_)
        assert resumed.ledger_.vote_digest == alone.ledger_.vote_digest


def test_a_bad_cell_is_named_by_its_place(tmp_path: Path, threads: Client) -> None:
    X, y = noisy(3000)
    X[1234, 2] = np.inf
    source = write_parquet(tmp_path / "bad", X, y, files=2, group=400)
    with pytest.raises(DataError, match=r"part0.* 3, row 34: .*'x2' holds inf"):
        small(n_estimators=100).fit_source(source, "y", client=threads)


def test_sources_that_workers_cannot_read_are_refused(threads: Client) -> None:
    X, y = noisy(300)
    with pytest.raises(ParameterError, match="Parquet files and Dask"):
        small().fit_source((X, y), client=threads)
    with pytest.raises(ParameterError, match="no current"):
        small().fit_source((X, y), client=True)


def test_black_boxes_are_refused(folder: Path, threads: Client) -> None:
    from sklearn.tree import DecisionTreeClassifier

    model = FilterBoostClassifier(learner=DecisionTreeClassifier(max_depth=2))
    with pytest.raises(ParameterError, match=r"'stump' or 'tree'"):
        model.fit_source(folder, "y", client=threads)


def test_a_file_that_changes_is_named(tmp_path: Path, threads: Client) -> None:
    X, y = noisy(4000)
    source = write_parquet(tmp_path / "rows", X, y, files=2, group=500)

    def write_again(event: Any) -> None:
        write_parquet(source, X[::-1], y[::-1], files=2, group=500)

    model = small(n_estimators=60, callbacks=[write_again])
    with pytest.raises(FileError, match=r"part\d.parquet: was changed"):
        model.fit_source(source, "y", client=threads)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
def test_a_fit_over_tls(tmp_path: Path) -> None:
    X, y = noisy(2000)
    folder = write_parquet(tmp_path / "rows", X, y, files=1, group=500)
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj",
         "/CN=localhost", "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    ours = {"tls_ca_file": str(certificate), "require_encryption": True}
    for role in ("client", "scheduler", "worker"):
        ours |= {f"tls_{role}_cert": str(certificate), f"tls_{role}_key": str(key)}
    security = Security(**ours)
    with (
        LocalCluster(
            n_workers=1, processes=False, protocol="tls://", security=security,
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster, security=security, set_as_default=False) as client,
    ):  # fmt: skip
        assert client.scheduler.address.startswith("tls://")
        model = small(n_estimators=4).fit_source(folder, "y", client=client)
    assert bytes_of(model) == bytes_of(small(n_estimators=4).fit_source(folder, "y", client=False))
