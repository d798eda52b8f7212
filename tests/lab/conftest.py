"""A server of the lab for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pacboost.lab.app import Lab
from tests.lab.serving import serving


@pytest.fixture(scope="session")
def lab_server() -> Iterator[Lab]:
    """Serve the lab on any free port."""
    with serving() as lab:
        yield lab
