"""Objects that tasks on workers need whole: the rows of a fit, and how its members are made.

An object is sent in pieces, each as the argument of a task, and put together on a worker; other
workers get it from there. The scheduler keeps the pieces as long as the object is needed, so it can
be made again if it is lost with a worker.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from pacboost.errors import ClusterError
from pacboost.parallel.cluster import Cluster
from pacboost.parallel.cluster_jobs import Shared
from pacboost.parallel.remote_task import THIS_PROCESS, worker_name

PIECE = 2**23
"""Bytes sent at once; Dask warns of tasks that are larger than ten million."""
TIMES_HELD = 4
"""A worker holds an object, its pieces, and what it makes of it: so many times its size."""


def joblib_cluster() -> Cluster | None:
    """Give the cluster of ``joblib.parallel_config("dask")``, if this is called within that.

    A task of a worker does not hand work on to others: it would wait for them and block its worker.

    >>> joblib_cluster() is None
    True
    """
    if "joblib._dask" not in sys.modules or worker_name() != THIS_PROCESS:
        return None
    backend, _ = sys.modules["joblib.parallel"].get_active_backend()
    client = getattr(backend, "client", None)
    return None if client is None else Cluster(client)


def send(cluster: Cluster, thing: Any, what: str) -> Shared[Any]:
    """Have an object on workers; refuse one that is too large for any of them."""
    try:
        content = import_module("cloudpickle").dumps(thing, protocol=5)
    except Exception as problem:  # pickling calls code of others, which may raise anything
        raise ClusterError(
            f"{what} cannot be sent to workers of a cluster ({type(problem).__name__}: {problem}). "
            'Fit without joblib.parallel_config("dask").'
        ) from problem
    for worker, limit in cluster.memory_limits().items():
        if limit and TIMES_HELD * len(content) > limit:
            raise ClusterError(
                f"{what} take {len(content) / 1e6:,.0f} MB, and a worker needs "
                f"{TIMES_HELD * len(content) / 1e6:,.0f} MB for them; worker {worker} may use "
                f"{limit / 1e6:,.0f} MB. Give workers more memory, take fewer rows, or use "
                "FilterBoostClassifier, which does not need all rows in one memory."
            )
    pieces = (content[k : k + PIECE] for k in range(0, len(content), PIECE))
    return cluster.share(_put_together, *(cluster.share(_same, piece) for piece in pieces))


def _same(piece: bytes) -> bytes:
    return piece


def _put_together(*pieces: bytes) -> Any:
    return import_module("cloudpickle").loads(b"".join(pieces))
