"""Compiled code on disk that is damaged, stale, or cannot be written: a call works all the same."""

import errno
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pytest

from pacboost.kernels.runtime import compile_note, disk_cache, jit
from pacboost.kernels.runtime.disk_cache import CheckedFiles
from pacboost.kernels.runtime.jit import kernel

pytestmark = pytest.mark.skipif(not jit.HAS_ENTRIES, reason="numba's own cache is used")


@pytest.fixture
def double(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Make the same kernel again, as a new process would; its cache is a folder of its own."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def make() -> Any:
        def doubled(x: Any) -> Any:
            return x + x

        return kernel(doubled)

    return make


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.nbc"))


def hits(function: Any) -> int:
    return sum(function.stats.cache_hits.values())


def test_a_later_process_loads_what_was_compiled(double: Any, tmp_path: Path) -> None:
    assert double()(3) == 6
    (file,) = files(tmp_path)
    again = double()
    assert (again(4), hits(again)) == (8, 1)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [file]


def test_every_combination_of_types_has_a_file(double: Any, tmp_path: Path) -> None:
    """Two processes that compile for different types at once cannot take each other's code."""
    one, other = double(), double()
    one(3)
    other(0.25)
    assert len(files(tmp_path)) == 2
    again = double()
    assert (again(0.25), again(3), hits(again)) == (0.5, 6, 2)


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut short": lambda data: data[: len(data) // 2],
    "text": lambda data: b"\x80\xff not code at all",
    "one bit": lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
    "another hash": lambda data: bytes(32) + data[32:],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_files_are_compiled_again(double: Any, tmp_path: Path, damage: Any) -> None:
    assert double()(3) == 6
    (file,) = files(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    again = double()
    assert (again(3), hits(again)) == (6, 0)
    later = double()
    assert (later(3), hits(later)) == (6, 1)


def test_code_of_another_source_is_compiled_again(
    double: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where only a part that is compiled into the kernel changed, in another file."""
    assert double()(3) == 6
    monkeypatch.setattr(disk_cache, "kernel_sources", lambda: b"other")
    again = double()
    assert (again(3), hits(again)) == (6, 0)


def test_a_full_disk_costs_no_call(
    double: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tempfile.mkstemp

    def full(*words: Any, **named: Any) -> tuple[int, str]:
        """A file can be made, but nothing can be written to it."""
        Path(made(*words, **named)[1]).touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "mkstemp", full)
    assert double()(3) == 6
    assert files(tmp_path) == []


def test_half_a_file_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, target: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        CheckedFiles(tmp_path, "double", "").write("key", b"code")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """What is said of it where nobody waits, when kernels of ours are compiled."""
    monkeypatch.setattr(compile_note, "not_kept", None)
    monkeypatch.setattr(compile_note, "_said", set())

    def read() -> str:
        for _ in range(2):
            compile_note.say_to_a_person()
        return capsys.readouterr().err

    return read


def test_without_any_folder_nothing_is_kept_and_that_is_said_once(noted: Any) -> None:
    without_a_file: dict[str, Any] = {}
    exec("def doubled(x):\n    return x + x", without_a_file)
    function: Any = kernel(without_a_file["doubled"])
    assert (function(3), function(4)) == (6, 8)
    assert function.stats.cache_path is None
    assert noted().count("in every process: neither") == 1


@pytest.mark.skipif(os.name != "posix", reason="folders there have no such modes")
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o772, 0o700])
def test_code_is_not_loaded_from_a_folder_that_others_write_to(
    double: Any, noted: Any, tmp_path: Path, mode: int
) -> None:
    """What is loaded is unpickled, which runs whatever they wrote."""
    assert (double()(3), noted()) == (6, "")
    (file,) = files(tmp_path)
    file.parent.chmod(mode)
    disk_cache.others_write.cache_clear()
    again = double()
    assert (again(3), hits(again)) == (6, int(mode == 0o700))
    assert noted().count(f"other users can write to {file.parent}") == int(mode != 0o700)


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root gives files away")
def test_who_owns_a_folder_or_one_above_it_matters(tmp_path: Path) -> None:
    folder = tmp_path / "above" / "cache"
    folder.mkdir(parents=True)
    for place, mode, owner, expected in [
        (folder, 0o755, 0, False), (folder, 0o755, 12345, True), (folder, 0o775, 0, False),
        (folder.parent, 0o777, 0, True), (folder.parent, 0o1777, 0, False),
        (folder.parent, 0o755, 12345, True), (folder.parent, 0o1777, 12345, True),
    ]:  # fmt: skip
        os.chown(folder, 0, 0)
        os.chown(folder.parent, 0, 0)
        os.chown(place, owner, 0)
        place.chmod(mode)
        assert disk_cache.others_write.__wrapped__(folder) is expected, (place, mode, owner)
    os.chown(folder.parent, 0, 12345)
    folder.parent.chmod(0o775)
    assert disk_cache.others_write.__wrapped__(folder)


@pytest.mark.skipif(os.name != "posix", reason="files there have no such owners")
@pytest.mark.parametrize("change", ["mode", "owner"])
def test_a_file_that_others_could_have_written_is_refused_and_written_anew(
    double: Any, noted: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path, change: str
) -> None:
    if change == "owner" and os.getuid() != 0:
        pytest.skip("only root gives files away")
    assert double()(3) == 6
    (file,) = files(tmp_path)
    if change == "mode":
        file.chmod(0o666)
    else:
        os.chown(file, 12345, 12345)
    again, later = double(), double()
    assert (again(3), hits(again), later(3), hits(later)) == (6, 0, 6, 1)
    assert capsys.readouterr().err.count(str(file)) == 1
    assert (file.stat().st_uid, file.stat().st_mode & 0o777) == (os.getuid(), 0o600)


FIT = """
from pacboost import AdaBoostClassifier
rows = [[k, k % 3] for k in range(60)]
model = AdaBoostClassifier(n_estimators=3).fit(rows, [k % 2 for k, _ in rows])
print(model.ledger_.digest())
"""


@pytest.mark.slow
def test_many_processes_compile_at_once(tmp_path: Path) -> None:
    """All of them find an empty folder, and all write into it; then the files are whole."""
    here = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", FIT]
    pipe = subprocess.PIPE
    started = [subprocess.Popen(command, env=here, stdout=pipe, stderr=pipe) for _ in range(6)]
    said = [process.communicate(timeout=1_800) for process in started]
    assert [process.returncode for process in started] == [0] * 6, said
    assert len({out for out, _ in said}) == 1
    written = {file: file.stat().st_mtime_ns for file in files(tmp_path)}
    assert written
    later = subprocess.run(command, env=here, capture_output=True, check=True, timeout=1_800)
    assert later.stdout == said[0][0]
    assert {file: file.stat().st_mtime_ns for file in files(tmp_path)} == written
    assert {file.suffix for file in tmp_path.rglob("*") if file.is_file()} == {".nbc"}
