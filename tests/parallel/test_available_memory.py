"""The memory that is available: the smallest of what the machine and its groups leave."""

import subprocess
import sys
from pathlib import Path

import pytest

from pacboost.parallel.memory import available_bytes

GIGABYTE = 2**30


def machine(root: Path, groups: str, **files: str) -> Path:
    """Write what a system says of itself; names of files have ``__`` in place of slashes."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(groups)
    (root / "proc/meminfo").write_text(f"MemTotal: 99 kB\nMemAvailable:    {8 * 2**20} kB\n")
    for name, content in files.items():
        place = root / "sys/fs/cgroup" / name.replace("__", "/").replace("-", ".")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    return root


def test_the_memory_of_the_machine(tmp_path: Path) -> None:
    assert available_bytes(machine(tmp_path, "")) == 8 * GIGABYTE


def test_nothing_is_known(tmp_path: Path) -> None:
    assert available_bytes(tmp_path / "none") is None


@pytest.mark.parametrize(
    ("groups", "folder", "files"),
    [
        ("0::/a/b\n", "a", ("memory-max", "memory-current", "inactive_file")),
        (
            "5:memory:/a\n",
            "memory__a",
            ("memory-limit_in_bytes", "memory-usage_in_bytes", "total_inactive_file"),
        ),
    ],
)
def test_a_control_group_leaves_less(
    tmp_path: Path, groups: str, folder: str, files: tuple[str, str, str]
) -> None:
    limit, used, cached = files
    content = {
        f"{folder}__{limit}": str(6 * GIGABYTE),
        f"{folder}__{used}": str(3 * GIGABYTE),
        f"{folder}__memory-stat": f"anon 5\n{cached} {GIGABYTE}\n",
    }
    assert available_bytes(machine(tmp_path, groups, **content)) == 4 * GIGABYTE


def test_no_limit_is_none(tmp_path: Path) -> None:
    files = {"a__memory-max": "max", "a__memory-current": "7"}
    assert available_bytes(machine(tmp_path, "0::/a\n", **files)) == 8 * GIGABYTE


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is of Linux")
def test_a_limit_of_addresses() -> None:
    program = (
        "import resource, pacboost\n"
        "from pacboost.parallel.memory import available_bytes\n"
        "resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))\n"
        "print(available_bytes())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert 0 < int(done.stdout) < 3 * GIGABYTE
