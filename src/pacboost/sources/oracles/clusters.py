"""Which cluster reads a source: the one of a client that is given, else of the current client."""

from __future__ import annotations

import sys
from typing import Any

from pacboost.errors import ParameterError
from pacboost.parallel.cluster import Cluster
from pacboost.parallel.remote_task import THIS_PROCESS, worker_name
from pacboost.sources.oracles.choose import as_oracle
from pacboost.sources.oracles.dask_parts import DaskOracle, is_dask_source
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.sources.oracles.remote import RemoteOracle, SpreadOracle


def current_client() -> Any | None:
    """Give the Dask client of this process, if there is one; in a task of a worker there is none.

    >>> current_client() is None
    True
    """
    distributed = sys.modules.get("distributed")
    if distributed is None or worker_name() != THIS_PROCESS:
        return None
    try:
        return distributed.default_client()
    except ValueError:  # there is none
        return None


def open_source(
    source: Any,
    target: str | None,
    seed: int,
    client: Any = None,
    timeout: float | None = None,
    **options: Any,
) -> AbstractOracle:
    """Draw from a source, by the workers of a cluster where there is one."""
    if not is_dask_source(source):
        return on_cluster(as_oracle(source, target, seed, **options), client, timeout)
    found = _client(client)
    if found is None:
        return DaskOracle(source, target, seed, **options)
    cluster = Cluster(found, timeout)
    return RemoteOracle(DaskOracle(source, target, seed, cluster=cluster, **options), cluster)


def _client(client: Any) -> Any | None:
    if client is False:
        return None
    return current_client() if client is None or client is True else client


def on_cluster(
    oracle: AbstractOracle, client: Any = None, timeout: float | None = None
) -> AbstractOracle:
    """Have workers read a source, where there are some and the source can be read anywhere.

    ``client=False`` keeps it in this process. A client that is given, rather than current, is not
    passed over: a source that workers cannot read is refused.
    """
    found = _client(client)
    if isinstance(oracle, SpreadOracle) and found is not None:
        return RemoteOracle(oracle, Cluster(found, timeout))
    if client is None or client is False:
        return oracle
    if found is None:
        raise ParameterError("client is True, and there is no current Dask client; make one first")
    raise ParameterError(
        "the workers of a cluster read Parquet files and Dask collections, not what a "
        f"{type(oracle).__name__} reads; write the data as Parquet files, or give client=False"
    )
