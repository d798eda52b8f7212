"""``pacboost fit --cluster``, and files at addresses that fsspec reads."""

import shutil
import stat
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import fsspec
import psutil
import pytest
from distributed import Client, Security

import pacboost
from pacboost.cli.commands import fit_filtering as action
from pacboost.errors import DataError, FileError
from pacboost.sources.oracles.arrow import SUFFIXES
from pacboost.sources.oracles.files import find_files
from pacboost.sources.oracles.remote_files import storage_errors
from tests.cli.running import run, well
from tests.cluster.clusters import bytes_of
from tests.estimators.filter_sources import noisy, small, write_parquet

QUICK = ("--rounds", 5, "--seed", 0, "--sample-rows", 1500)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    X, y = noisy(3000)
    return write_parquet(tmp_path_factory.mktemp("data") / "rows", X, y, files=2, group=500)


def test_the_command_gives_the_same_model_with_a_cluster(
    folder: Path, tmp_path: Path, processes: Client
) -> None:
    address = processes.scheduler.address
    alone, together = tmp_path / "alone.pacb", tmp_path / "together.pacb"
    well("fit", folder, "--target", "y", *QUICK, "--output", alone)
    result = run("fit", folder, "--target", "y", *QUICK, "--output", together, "--cluster", address)
    assert result.exit_code == 0, result.output
    assert "2 workers with 2 threads" in result.stderr
    models = [pacboost.load(path) for path in (alone, together)]
    assert models[0].ledger_.digest() == models[1].ledger_.digest()
    assert models[0].certificate_ == models[1].certificate_


def listening() -> list[tuple[str, int]]:
    """The addresses at which this process and those that it started wait for others."""
    here = psutil.Process()
    every = [one for own in (here, *here.children(recursive=True)) for one in own.net_connections()]
    return [tuple(one.laddr) for one in every if one.status == psutil.CONN_LISTEN]


def test_local_workers_obey_nobody_else_and_tell_nobody_what_runs() -> None:
    """Any user of a machine can connect to its ports, and Dask runs what it is sent."""
    before = set(listening())
    with action.cluster_client("local:1") as client:
        opened = set(listening()) - before
        assert {host for host, _ in opened} == {"127.0.0.1"}
        for address in (client.scheduler.address, *client.nthreads()):
            place = address.partition("://")[2]
            for kind, own in (("tcp", None), ("tls", Security.temporary())):
                with pytest.raises(OSError, match=rf"{place}|TLS certificate"):
                    Client(f"{kind}://{place}", security=own, timeout=1, set_as_default=False)
        assert client.submit(abs, -3).result() == 3
        for host, port in opened:
            for page in ("/status", "/info/main/workers.html", "/json/identity.json", "/metrics"):
                with pytest.raises(OSError, match=r"404|reset|disconnected"):
                    urlopen(f"http://{host}:{port}{page}", timeout=5)


def test_local_workers_spill_to_a_folder_of_their_own_and_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder with a name that all know may belong to another user, who changes the pickles."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with action.cluster_client("local:1") as client:
        (folder,) = (Path(one) for one in client.run(spills_to).values())
        private = next(one for one in folder.parents if one.parent == tmp_path)
        assert stat.S_IMODE(private.stat().st_mode) == 0o700
        assert client.submit(abs, -3).result() == 3
        cluster = client.cluster
    assert not private.exists()
    assert client.status == "closed"
    assert str(cluster.status) == "Status.closed"


def spills_to(dask_worker: Any) -> str:
    return str(dask_worker.local_directory)


def test_clusters_that_are_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(action, "SECONDS_TO_CONNECT", 0.5)
    for name, complaint in (("nearby", "local:4"), ("tcp://127.0.0.1:9", "cannot be reached")):
        result = run("fit", folder, "--target", "y", "--cluster", name)
        assert result.exit_code == 2, result.output
        assert complaint in " ".join(result.output.split())


def test_addresses_give_the_model_of_the_files(folder: Path, threads: Client) -> None:
    system = fsspec.filesystem("memory")
    system.put(f"{folder}/", "/rows/", recursive=True)
    system.pipe("/rows/_written.parquet", b"not for us")
    try:
        first = bytes_of(small().fit_source(folder, "y", client=False))
        for address in ("memory://rows", "memory://rows/part*.parquet", f"file://{folder}"):
            assert bytes_of(small().fit_source(address, "y", client=False)) == first
        assert bytes_of(small().fit_source("memory://rows", "y", client=threads)) == first
        text = well("fit", "memory://rows", "--target", "y", *QUICK)
        assert "memory:" in text
    finally:
        system.rm("/rows", recursive=True)


def test_an_archive_gives_the_model_of_its_files(
    folder: Path, tmp_path: Path, processes: Client
) -> None:
    archive = shutil.make_archive(str(tmp_path / "rows"), "zip", folder)
    first = bytes_of(small().fit_source(folder, "y", client=False))
    whole, some = f"zip://::{archive}", f"zip://part*.parquet::file://{archive}"
    assert bytes_of(small().fit_source(whole, "y", client=processes)) == first
    assert bytes_of(small().fit_source(some, "y", client=False)) == first


def test_addresses_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"memory://none: "):
        find_files("memory://none", SUFFIXES)
    with pytest.raises(FileError, match=r"nosuch://a: cannot be opened"):
        find_files("nosuch://a", SUFFIXES)
    with pytest.raises(FileError, match="only paths or"):
        find_files(["memory://a", str(tmp_path)], SUFFIXES)
    fsspec.filesystem("memory").pipe("/table.csv", b"a,y\n1,2\n")
    with pytest.raises(FileError, match="only Parquet files"):
        small().fit_source("memory://table.csv", "y")
    with pytest.raises(FileError, match="no file matches"):
        find_files("memory://*.nothing.parquet", SUFFIXES)


def test_a_file_that_is_written_again_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files in a bucket have a tag each, which is another one once they are written again."""
    system, tags = fsspec.filesystem("memory"), ["first"]
    system.pipe("/a.parquet", b"rows")
    info, plain_open = type(system).info, type(system).open

    def tagged_open(self: Any, path: str, *more: Any) -> Any:
        opened = plain_open(self, path, *more)
        opened.details = self.info(path)
        return opened

    monkeypatch.setattr(type(system), "info", lambda *own: {**info(*own), "ETag": tags[-1]})
    monkeypatch.setattr(type(system), "open", tagged_open)
    (file,) = find_files("memory://a.parquet", SUFFIXES)
    with file.open() as opened:
        assert opened.read() == b"rows"
    tags.append("second")
    with pytest.raises(FileError, match=r"a.parquet: was changed"):
        file.open()


def test_errors_of_storage_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoCredentialsError(Exception):
        """What the library of a storage raises."""

    for problem, complaint in (
        (NoCredentialsError("none"), r"\(none\).* AWS_ACCESS_KEY_ID"),
        (ConnectionError("no route"), r"no route.* AWS_ENDPOINT_URL"),
        (FileNotFoundError("No such bucket"), r"\(No such bucket\)"),
    ):
        with pytest.raises(FileError, match=complaint), storage_errors("s3://bucket/a"):
            raise problem
    with pytest.raises(DataError, match="as it is"), storage_errors("s3://bucket/a"):
        raise DataError("as it is")
    registry = import_module("fsspec.registry")  # whose name fsspec gives to another thing
    known = {"class": "no_such_library.System", "err": "no_such_library is needed"}
    monkeypatch.setitem(registry.known_implementations, "odd", known)
    with pytest.raises(FileError, match="no_such_library"):
        find_files("odd://a", SUFFIXES)
