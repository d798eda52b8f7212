"""Files are written whole, where links lead, and never in the place of something else."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from pacboost.errors import FileError
from pacboost.sources.optional import atomic_write


def test_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with atomic_write(path) as part:
        part.write_text("one")
        assert not path.exists()
    assert path.read_text() == "one"
    with suppress(KeyError), atomic_write(path) as part:
        part.write_text("half")
        raise KeyError
    assert path.read_text() == "one"
    assert list(tmp_path.iterdir()) == [path]


def test_writers_of_one_path_have_files_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.touch(mode=0o600)
    with atomic_write(path) as part, atomic_write(path) as other:
        assert part != other
        part.write_text("first")
        other.write_text("second")
    assert path.read_text() == "first"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "real.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    with atomic_write(link) as part:
        part.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"


@pytest.mark.parametrize("what", ["pipe", "folder"])
def test_what_is_no_file_is_refused(tmp_path: Path, what: str) -> None:
    path = tmp_path / what
    os.mkfifo(path) if what == "pipe" else path.mkdir()
    with pytest.raises(FileError, match=what), atomic_write(path):
        pass
    assert path.is_fifo() or path.is_dir()


@pytest.mark.skipif(os.name == "nt", reason="files are kept there while they are open")
@pytest.mark.parametrize("folder", ["plain", "odd [*] name"])
def test_what_a_killed_process_left_is_removed(tmp_path: Path, folder: str) -> None:
    """A file of a process that lives is kept: it may be writing."""
    path = tmp_path / folder / f"{folder}.txt"
    path.parent.mkdir()
    ended = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    (left,) = path.parent.iterdir()
    living = left.with_name(left.name.replace(left.name.split(".")[-2], f"{os.getppid()}-0"))
    living.touch()
    with atomic_write(path) as part:
        part.write_text("whole")
    assert sorted(path.parent.iterdir()) == sorted([path, living])


KILLED = """
import os, signal, sys
from pathlib import Path
from pacboost.sources.optional import atomic_write
with atomic_write(Path(sys.argv[1])) as part:
    part.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
