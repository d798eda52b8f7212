"""Files that may have so many bytes, as on a full disk."""

import os
import resource
import signal
import warnings
from collections.abc import Callable
from pathlib import Path

import pacboost
from pacboost.errors import FileError
from tests.faults.writers import WRITERS
from tests.models.kinds import saved


def with_room_for(count: int, work: Callable[[], str]) -> str:
    """Do something in a process whose files may have so many bytes; give what it says."""
    read_end, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn of fork beside threads
        child = os.fork()
    if child == 0:
        output = "failed"
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (count, count))
            output = work()
        except BaseException as problem:  # told to the parent
            output = f"{type(problem).__name__}: {problem}"
        finally:
            os.write(write, output.encode())
            os._exit(0)
    os.close(write)
    with os.fdopen(read_end, encoding="utf-8") as pipe:
        output = pipe.read()
    os.waitpid(child, 0)
    return output


def refused(write: Callable[[], object]) -> str:
    """Write; give what our error says."""
    try:
        write()
    except FileError as problem:
        return f"ours: {problem}"
    return "written"


def writing_fails_as_a_whole(name: str, part: float, folder: Path) -> None:
    """Write over a file with room for a part of the new one; the old one has to stay."""
    file, write = WRITERS[name]
    models = [pacboost.load(saved(kind)) for kind in ("stumps", "regressor")]
    path = folder / file
    write(models[1], path)
    room = int(path.stat().st_size * part)
    write(models[0], path)
    before = path.read_bytes()
    output = with_room_for(room, lambda: refused(lambda: write(models[1], path)))
    assert output.startswith("ours: ")
    assert str(path) in output
    assert path.read_bytes() == before
    assert [entry.name for entry in folder.iterdir()] == [file]
