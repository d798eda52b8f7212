"""Files in a bucket, from a server that speaks S3: with and without a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

import pacboost
from pacboost.errors import ClusterError, FileError
from tests.cli.running import run, well
from tests.cluster.clusters import bytes_of, local
from tests.estimators.filter_sources import noisy, small, write_parquet

s3fs = pytest.importorskip("s3fs", reason="needs a server: pip install 's3fs' 'moto[server]'")
moto = pytest.importorskip("moto.server", reason="needs a server: pip install 'moto[server]'")
pytestmark = pytest.mark.filterwarnings("default")  # other libraries warn here

KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
QUICK = ("--target", "y", "--rounds", 5, "--seed", 0, "--sample-rows", 1500)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    X, y = noisy(3000)
    return write_parquet(tmp_path_factory.mktemp("data") / "rows", X, y, files=2, group=500)


@pytest.fixture(scope="module")
def bucket(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A bucket with the files; what finds it, and opens it, is in the environment."""
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    nowhere = str(tmp_path_factory.mktemp("home") / "none")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in KEYS.items():
            patch.setenv(name, value)
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
            patch.setenv(name, nowhere)
        system = s3fs.S3FileSystem()
        system.mkdir("bucket")
        system.put(f"{folder}/", "bucket/rows/", recursive=True)
        yield system
        s3fs.S3FileSystem.clear_instance_cache()
    server.stop()


@pytest.fixture
def workers(bucket: Any) -> Iterator[Client]:
    with local(2) as client:
        yield client


def test_a_bucket_gives_the_model_of_the_files(folder: Path, bucket: Any, workers: Client) -> None:
    alone = bytes_of(small().fit_source(folder, "y", client=False))
    for address in ("s3://bucket/rows", "s3://bucket/r*", "s3://bucket/rows/*.parquet"):
        assert bytes_of(small().fit_source(address, "y", client=False)) == alone
    assert bytes_of(small().fit_source("s3://bucket", "y", client=workers)) == alone


def test_a_file_that_lies_there_twice_is_refused(bucket: Any) -> None:
    for name in ("a", "b"):
        bucket.copy("bucket/rows/part0.parquet", f"bucket/twice/{name}.parquet")
    with pytest.raises(FileError, match=r"b\.parquet.*a\.parquet"):
        small().fit_source("s3://bucket/twice", "y", client=False)
    bucket.rm("bucket/twice", recursive=True)


def test_the_command_reads_a_bucket(folder: Path, bucket: Any, tmp_path: Path) -> None:
    models = tmp_path / "alone.pacb", tmp_path / "together.pacb"
    well("fit", folder, *QUICK, "--output", models[0])
    well("fit", "s3://bucket/rows", *QUICK, "--output", models[1], "--cluster", "local:2")
    alone, together = (pacboost.load(path) for path in models)
    assert alone.ledger_.digest() == together.ledger_.digest()


@pytest.mark.parametrize(
    ("address", "environment", "complaint"),
    [
        ("s3://bucket/none", {}, "s3://bucket/none: there is no"),
        ("s3://none/rows", {}, "no such .*bucket does not"),
        ("s3://none/*.parquet", {}, "no file matches"),
        ("s3://bucket/rows", dict.fromkeys(KEYS), "AWS_ACCESS_KEY_ID"),
        ("s3://bucket/rows", {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "AWS_ENDPOINT_URL"),
    ],
)
def test_what_is_wrong_is_said(
    bucket: Any, monkeypatch: pytest.MonkeyPatch, address: str, environment: dict[str, str | None],
    complaint: str,
) -> None:  # fmt: skip
    for name, value in environment.items():
        monkeypatch.delenv(name) if value is None else monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()  # a new process has no connection yet
    with pytest.raises(FileError, match=complaint):
        small().fit_source(address, "y", client=False)
    assert run("fit", address, *QUICK).exit_code == 2
    monkeypatch.undo()
    small(n_estimators=2).fit_source("s3://bucket/rows", "y", client=False)


def forget_keys() -> None:
    for name in KEYS:
        del os.environ[name]


def test_keys_are_not_sent_to_workers(bucket: Any, workers: Client) -> None:
    first, _ = workers.scheduler_info()["workers"]
    workers.run(forget_keys, workers=[first])
    model = small(n_estimators=2).fit_source("s3://bucket/rows", "y", client=workers)
    assert len(model.ledger_)
    _, other = workers.scheduler_info()["workers"]
    workers.run(forget_keys, workers=[other])
    workers.run(s3fs.S3FileSystem.clear_instance_cache)
    with pytest.raises(ClusterError, match=r"tcp:.* refused"):
        small(n_estimators=2).fit_source("s3://bucket/rows", "y", client=workers)


def test_files_that_are_written_again(bucket: Any, folder: Path, workers: Client) -> None:
    bucket.put(f"{folder}/", "bucket/again/", recursive=True)
    small(n_estimators=2).fit_source("s3://bucket/again", "y", client=False)
    X, y = noisy(3000, 1)
    other = write_parquet(folder.parent / "other", X, y, files=2, group=500)

    def write_again(event: Any) -> None:
        fresh = s3fs.S3FileSystem(skip_instance_cache=True)  # as another process would
        fresh.put(f"{other}/", "bucket/again/", recursive=True)

    for client in (False, workers):
        bucket.put(f"{folder}/", "bucket/again/", recursive=True)
        model = small(n_estimators=60, callbacks=[write_again])
        changed = r"part\d.parquet: was changed"
        with pytest.raises((FileError, ClusterError), match=changed):
            model.fit_source("s3://bucket/again", "y", client=client)
    model = small(n_estimators=2).fit_source("s3://bucket/again", "y", client=False)
    alone = small(n_estimators=2).fit_source(other, "y", client=False)
    assert bytes_of(model) == bytes_of(alone)
