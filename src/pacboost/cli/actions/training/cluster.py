"""The cluster that ``pacboost fit --cluster`` names: workers on this machine, or a scheduler."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import click

from pacboost.cli.output import echo
from pacboost.errors import ClusterError
from pacboost.sources.optional import need

LOCAL = re.compile(r"local(?::([0-9]+))?")
ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx)://.+")
SECONDS_TO_CONNECT = 30


@contextmanager
def cluster_client(name: str | None) -> Iterator[Any]:
    """Give a client of the cluster, and end what was started for it; False: there is none."""
    if name is None:
        yield False
        return
    local = LOCAL.fullmatch(name)
    if local is None and not ADDRESS.fullmatch(name):
        raise click.UsageError(
            f"--cluster is {name!r}; it may be local:4 (workers on this machine, here 4), or the "
            "address of a scheduler such as tcp://host:8786"
        )
    distributed = need("distributed", "dask")
    logging.getLogger("distributed").setLevel(logging.ERROR)  # our errors say what went wrong
    with ExitStack() as stack:
        try:
            if local is not None:
                workers = None if local[1] is None else int(local[1])
                cluster = distributed.LocalCluster(
                    n_workers=workers, threads_per_worker=1, dashboard_address=":0"
                )
                client = distributed.Client(stack.enter_context(cluster), set_as_default=False)
            else:
                client = distributed.Client(name, set_as_default=False, timeout=SECONDS_TO_CONNECT)
        except (OSError, TimeoutError, ValueError) as problem:
            raise ClusterError(
                f"the cluster {name} cannot be reached: {problem}. Is the scheduler running, and "
                "is its address right?"
            ) from problem
        stack.enter_context(client)
        threads = sum(client.nthreads().values())
        echo(
            f"{len(client.nthreads())} workers with {threads} threads; Dask's dashboard: "
            f"{client.dashboard_link or 'none'}",
            err=True,
        )
        yield client
