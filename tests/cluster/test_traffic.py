"""What travels to the client in refills, and what the client has to hold."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distributed import Client

from pacboost import FilterBoostClassifier
from pacboost.errors import ClusterError
from pacboost.parallel.cluster import Cluster
from pacboost.training.filtering.remote import RemoteTask, SentRows
from tests.estimators.filter_sources import noisy, small, write_parquet

PER_ROW = 4 + 1 + 3 * 8 + 8
"""Codes of four columns, label, margin, chance, odds and number: a row of the client's sample."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    X, y = noisy(40_000)
    return write_parquet(tmp_path_factory.mktemp("data") / "rows", X, y, files=2, group=4000)


def test_little_more_than_the_kept_rows_is_fetched(
    folder: Path, threads: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[int, int]] = []
    wait = Cluster.wait

    def weighed(cluster: Cluster, *given: Any, **named: Any) -> Any:
        outcome = wait(cluster, *given, **named)
        value = getattr(outcome, "value", None)
        if isinstance(value, list) and isinstance(value[0], SentRows):
            kept = sum(found.kept.n_rows for found, *_ in value)
            sent.append((len(pickle.dumps(value, protocol=5)), kept))
        return outcome

    monkeypatch.setattr(Cluster, "wait", weighed)
    model = small(sample_rows=4000, n_estimators=40).fit_source(folder, "y", client=threads)
    refills = model.ledger_.refills[1:]
    assert sum(refill.draws for refill in refills) > 3 * sum(refill.accepted for refill in refills)
    fetched, kept = (sum(own) for own in zip(*sent, strict=True))
    assert fetched <= 3 * PER_ROW * kept


def test_the_vote_is_sent_once_in_a_refill(
    folder: Path, threads: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    start = Cluster.start

    def counted(cluster: Cluster, function: Any, given: tuple[Any, ...], *more: Any) -> Any:
        sent.extend(own for own in given if isinstance(own, RemoteTask))
        return start(cluster, function, given, *more)

    monkeypatch.setattr(Cluster, "start", counted)
    model = small(sample_rows=4000, n_estimators=40).fit_source(folder, "y", client=threads)
    drawn = [refill for refill in model.ledger_.refills if refill.draws]
    assert 0 < len(sent) <= len(drawn)


FIT = """
import re
import sys
from distributed import Client
from pacboost import FilterBoostClassifier
from pacboost.errors import ParameterError
address, folder = sys.argv[1:]
model = FilterBoostClassifier(n_estimators=4, random_state=0, memory="100MB", verbose=False)
with Client(address, set_as_default=False) as client:
    try:
        model.fit_source(folder, "y", client=client)
    except ParameterError as refusal:
        least = re.search(r"Allow at least ([0-9,]+) MB", str(refusal))[1]
    memory = int(least.replace(",", "")) + 25  # the process grows between the two fits
    model.set_params(memory=f"{memory}MB").fit_source(folder, "y", client=client)
status = open("/proc/self/status").read()  # ru_maxrss counts the parent too
print(memory * 1_000_000, 1024 * int(status.partition("VmHWM:")[2].split()[0]))
"""


def check_peak_of_client(client: Client, folder: Path) -> None:
    """Fit in a process of its own with about the least memory that is allowed on this machine."""
    command = [sys.executable, "-c", FIT, client.scheduler.address, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    allowed, peak = map(int, done.stdout.split())
    assert peak <= allowed


def test_the_client_stays_within_its_memory(folder: Path, processes: Client) -> None:
    model = FilterBoostClassifier(n_estimators=2, random_state=0, verbose=False)
    model.fit_source(folder, "y", client=False)  # modules would count as the client's memory
    check_peak_of_client(processes, folder)


@pytest.mark.slow
def test_the_client_stays_within_its_memory_on_large_files(
    tmp_path: Path, processes: Client
) -> None:
    for part in range(40):
        X, y = noisy(100_000, part)
        X = np.tile(X, 10)
        write_parquet(tmp_path / f"part{part}", X, y, files=1, group=50_000)
    assert 40 * X.nbytes > 600_000_000
    check_peak_of_client(processes, tmp_path)


def test_a_worker_that_is_too_small_is_named(
    folder: Path, threads: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = next(iter(Cluster(threads).workers()))
    monkeypatch.setattr(Cluster, "memory_limits", lambda _: {worker: 100_000})
    with pytest.raises(ClusterError, match=r"group 0: .*inproc://.* 0 MB"):
        small().fit_source(folder, "y", client=threads)
