"""One cluster of processes and one of threads for all tests here that do no harm to them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client

from pacboost.sources.oracles.choose import current_client
from tests.cluster.clusters import local
from tests.estimators.filter_sources import noisy, write_parquet


@pytest.fixture(scope="package")
def processes() -> Iterator[Client]:
    """Two workers, each a process."""
    with local(2) as client:
        yield client


@pytest.fixture(scope="package")
def threads() -> Iterator[Client]:
    """One worker in this process."""
    with local(1, processes=False) as client:
        yield client


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parquet files of 6000 rows."""
    X, y = noisy(6000)
    return write_parquet(tmp_path_factory.mktemp("data") / "rows", X, y, group=700)


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    """A client that stays the current one would have other tests fit on a cluster."""
    yield
    assert current_client() is None
