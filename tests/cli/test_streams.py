"""Standard streams that are closed, or whose reader has ended."""

import subprocess
import sys

from pacboost.cli.group import NO_READER

PROGRAM = [sys.executable, "-c", "from pacboost.cli.main import main; main()"]


def test_fit_from_a_closed_standard_input_is_no_bug() -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *PROGRAM, "fit", "-", "--target", "y"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "standard input is closed" in " ".join(done.stderr.split())


def test_a_reader_that_ends_is_no_answer() -> None:
    """1 would mean that the answer is no."""
    with subprocess.Popen(
        [*PROGRAM, "guide"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        complaint = running.stderr.read()
        assert running.wait() == NO_READER
    assert complaint == b""
