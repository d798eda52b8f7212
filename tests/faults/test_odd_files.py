"""Data files cut off, with odd bytes or of another kind, at every command that reads them.

A command ends with 0, or with an error of ours: never with an error of another library.
"""

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.examples import examples
from tests.faults.odd_files import SUFFIXES, commands_survive, damaged, whole_files


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return whole_files(tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("count", [8, pytest.param(300, marks=pytest.mark.slow)])
def test_damaged_files(suffix: str, count: int, intact: dict[str, bytes], tmp_path: Path) -> None:
    for seed in range(count):
        content = damaged(intact[suffix], Random(f"{seed} {suffix}"))
        commands_survive(content, suffix, intact["model"], tmp_path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_of_another_kind(suffix: str, intact: dict[str, bytes], tmp_path: Path) -> None:
    for other in SUFFIXES:
        commands_survive(intact[other], suffix, intact["model"], tmp_path)


@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(content=st.binary(max_size=60) | st.text('a,t\n"01x;\r\t ', max_size=60).map(str.encode))
def test_any_bytes_as_csv(content: bytes, intact: dict[str, bytes], tmp_path: Path) -> None:
    commands_survive(content, ".csv", intact["model"], tmp_path)
