"""Clusters on this machine, for tests."""

import gc
import logging
import os
import signal
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import dask
from distributed import Client, LocalCluster

from pacboost.models.file.format import model_bytes

QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}
"""What a cluster watches of itself takes a tenth of a core; tests have no use for it."""


@contextmanager
def local(workers: int = 2, *, processes: bool = True, **options: Any) -> Iterator[Client]:
    """Start workers with a thread each, and end them."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # workers are killed on purpose
    used = False
    try:
        with (
            dask.config.set(QUIET),
            LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=processes,
                dashboard_address="127.0.0.1:0",
                **options,
            ) as cluster,
            Client(cluster, set_as_default=False) as client,
        ):
            yield client
            used = True
    except KeyError:  # Dask's own, where a worker dies while the cluster is closed
        if not used:
            raise


def process_ids(client: Client) -> dict[str, int]:
    """The process of every worker; none while one of them dies."""
    try:
        return {worker: int(pid) for worker, pid in client.run(os.getpid).items()}
    except OSError:  # the connection to one was lost
        return {}


def kill(process: int) -> None:
    """End a process at once, as a machine that fails does; it may be gone already."""
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return


def forgets(client: Client, seconds: float = 600, before: Collection[Any] = ()) -> bool:
    """Check whether nothing is kept on the cluster; futures are let go by another thread.

    Estimators of other tests may be waiting for the garbage collector, and hold some; those that
    were there ``before`` do not count.
    """
    end = time.monotonic() + seconds
    while not set(client.futures) <= set(before) and time.monotonic() < end:
        gc.collect()
        time.sleep(0.05)
    return set(client.futures) <= set(before)


def bytes_of(model: Any) -> bytes:
    """All that a fit gives: the model, and the words and numbers of its certificate."""
    certificate = model.model_.certificate
    told = "" if certificate is None else certificate.to_json()
    return model_bytes(model.model_) + told.encode()
