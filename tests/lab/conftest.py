"""A server of the lab for all tests of this folder, and a browser for each of their files."""

from collections.abc import Iterator

import pytest

from pacboost.lab.app import Lab
from tests.lab.lab_browser import LabBrowser, serving


@pytest.fixture(scope="session")
def lab_server() -> Iterator[Lab]:
    with serving() as lab:
        yield lab


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory, lab_server: Lab) -> Iterator[LabBrowser]:
    with LabBrowser(tmp_path_factory.mktemp("chromium")) as opened:
        opened.visit(lab_server.address)
        yield opened
