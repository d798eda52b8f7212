"""Fit by filtering, from files of any size."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from glob import has_magic
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from pacboost.cli.group import INTERRUPTED
from pacboost.cli.inputs.files import check_output, missing_words, separator
from pacboost.cli.inputs.given import given
from pacboost.cli.options import MEAN_FILTERING
from pacboost.cli.output import (
    bold,
    echo,
    make_console,
    print_parts,
    report_model,
    save_model,
    sentence_of,
)
from pacboost.errors import ClusterError
from pacboost.estimators.filtering.filter_boost import FilterBoostClassifier
from pacboost.reports.text import refills_table, summary
from pacboost.sources.data_file import read_as_a_whole
from pacboost.sources.optional import need
from pacboost.sources.oracles.choose import COMPRESSED, DATABASES, KINDS
from pacboost.sources.oracles.csv_lines import CsvOracle
from pacboost.sources.oracles.files import File, find_files
from pacboost.sources.oracles.remote_files import address_of, is_remote
from pacboost.sources.oracles.svmlight import SvmlightOracle
from pacboost.sources.targets import read_labels

LOCAL = re.compile(r"local(?::([0-9]+))?")
ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx)://.+")
SECONDS_TO_CONNECT = 30


@contextmanager
def cluster_client(name: str | None) -> Iterator[Any]:
    """Connect to the cluster of --cluster within the block; yield False without the option.

    The name is ``local:4`` for workers on this machine, or the address of a scheduler.
    """
    if name is None:
        yield False
        return
    local = LOCAL.fullmatch(name)
    if local is None and not ADDRESS.fullmatch(name):
        raise click.UsageError(
            f"--cluster is {name!r}; it may be local:4 (workers on this machine, here 4), or the "
            "address of a scheduler such as tcp://host:8786"
        )
    distributed = need("distributed")
    logging.getLogger("distributed").setLevel(logging.ERROR)  # our errors say what went wrong
    with ExitStack() as stack:
        # workers are started by "python -c", which would import from the working directory
        unsafe = "PYTHONSAFEPATH" not in os.environ
        if unsafe:
            os.environ["PYTHONSAFEPATH"] = "1"
            stack.callback(os.environ.pop, "PYTHONSAFEPATH")
        try:
            if local is not None:
                workers = None if local[1] is None else int(local[1])
                cluster = stack.enter_context(private_cluster(workers))
                client = distributed.Client(cluster, set_as_default=False)
            else:
                client = distributed.Client(name, set_as_default=False, timeout=SECONDS_TO_CONNECT)
        except (OSError, TimeoutError, ValueError) as problem:
            raise ClusterError(
                f"the cluster {name} cannot be reached: {problem}. Is the scheduler running, and "
                "is its address right?"
            ) from problem
        stack.enter_context(client)
        threads = sum(client.nthreads().values())
        dashboard = "none" if local is not None else client.dashboard_link or "none"
        echo(
            f"{len(client.nthreads())} workers with {threads} threads; Dask's dashboard: "
            f"{dashboard}",
            err=True,
        )
        yield client


@contextmanager
def private_cluster(workers: int | None) -> Iterator[Any]:
    """Start workers on this machine that obey nobody but this process.

    Whoever can connect to Dask's scheduler or to a worker runs code there, and any user of a
    machine can connect to its ports. Temporary certificates, which only these processes have, shut
    the others out. Workers spill pickles to a folder that belongs to this user, and not to one
    with a name that another user may take first. The status pages would tell everybody what runs.
    """
    distributed, _ = need("distributed"), need("cryptography")  # makes the certificates
    pages: dict[str, list[str]] = {
        "distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []
    }  # fmt: skip
    with (
        TemporaryDirectory(prefix="pacboost-") as folder,
        need("dask").config.set(pages),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            security=True,
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            local_directory=folder,
        ) as cluster,
    ):
        yield cluster


SUFFIXES = tuple(suffix for kind in KINDS for suffix in kind)


def by_filtering(data: Sequence[Path], arguments: Mapping[str, Any]) -> bool:
    """Check whether the format of the files, or an option, asks for boosting by filtering.

    >>> by_filtering([Path("a.parquet")], {}), by_filtering([Path("a.csv")], {})
    (True, False)
    >>> by_filtering([Path("a.csv")], {"memory": "2GB"})
    True
    """
    # several files, or options that only filtering has, say which fit is meant; the promise of a
    # learner of the user is for rows in memory, too
    own = not isinstance(arguments.get("learner"), str | None)
    asked = {name for name in MEAN_FILTERING if arguments.get(name)} - ({"edge"} if own else set())
    if len(data) > 1 or asked:
        return True
    path = data[0]
    if is_remote(address_of(path)):
        return True
    if path.is_dir() or (has_magic(str(path)) and not path.exists()):
        return True
    others = tuple(suffix for suffix in SUFFIXES if suffix not in CsvOracle.suffixes)
    return path.name.lower().endswith(others) and not read_as_a_whole(path)


def run_filtering(
    data: Sequence[Path], target: str | None, output: Path | None, arguments: Mapping[str, Any]
) -> None:
    """Fit, show the result, and save it if an output is given; also after Ctrl-C."""
    check_output(output, *data)
    source = [address_of(path) for path in data]
    named = {name: arguments[name] for name in ("table", "query", "drop")} | {
        "missing": missing_words(arguments["missing"]) if arguments["missing"] else None,
        "sep": separator(arguments["sep"]),
        "copies": "" if arguments["copies"] == "draws" else arguments["copies"],
    }
    options: dict[str, Any] = {name: value for name, value in named.items() if value}
    _check(find_files(source, (*SUFFIXES, *COMPRESSED)), target, options)
    model = FilterBoostClassifier(**given("FilterBoostClassifier", arguments))
    labels = None
    if arguments["classes"] is not None:
        labels = read_labels([text.strip() for text in arguments["classes"].split(",")])
    try:
        with cluster_client(arguments["cluster"]) as client:
            model.fit_source(source, target, labels, client=client, **options)
    except KeyboardInterrupt:
        if hasattr(model, "model_") and len(model.ledger_):
            _show(model, data, output, arguments)
        else:
            echo("Interrupted before the first round was finished; nothing was saved.", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    _show(model, data, output, arguments)


def _check(files: Sequence[File], target: str | None, options: Mapping[str, Any]) -> None:
    lines = files[0].name.lower().endswith(SvmlightOracle.suffixes)
    if target is None and not lines:
        raise click.UsageError(
            f"Missing option '--target': the column of {files[0]} that holds the labels."
        )
    if lines and (target is not None or options.get("drop")):
        raise click.UsageError(
            f"{files[0]}: svmlight lines begin with the label, and columns have no names; "
            "leave out --target and --drop"
        )
    database = files[0].name.lower().endswith(DATABASES)
    if database and ("table" in options) == ("query" in options):
        raise click.UsageError(f"{files[0]}: name what to read with either --table or --query")
    written = files[0].name.lower().endswith(CsvOracle.suffixes)
    if not written and ("missing" in options or "sep" in options):
        raise click.UsageError(f"{files[0]}: --missing and --sep apply to CSV files only")
    if not database and ("table" in options or "query" in options):
        raise click.UsageError(f"{files[0]}: --table and --query apply to .duckdb files only")


def _show(
    model: FilterBoostClassifier,
    data: Sequence[Path],
    output: Path | None,
    arguments: Mapping[str, Any],
) -> None:
    files = str(data[0]) if len(data) == 1 else f"{data[0]} and {len(data) - 1} more"
    save_model(model, output, forget_rows=arguments["forget_rows"])
    if not arguments["as_json"]:
        print_parts(*([bold(sentence), ""] if (sentence := sentence_of(model)) else []))
        ledger, console = model.ledger_, make_console()
        console.print(refills_table(ledger, files))
        certificate, stop = model.model_.certificate, model.stop_certificate_
        certified = (certificate, None if certificate == stop else stop)
        console.print(summary(ledger, *certified, details=arguments["details"]))
    report_model(model, files, output, as_json=arguments["as_json"])
    checkpoint = model.checkpoint
    with suppress(OSError):
        if checkpoint is not None and Path(checkpoint).exists():
            echo(f"The same command continues from {checkpoint}.", err=arguments["as_json"])
