"""Data files that are damaged, and the commands that read them."""

import warnings
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
from click.testing import CliRunner

from pacboost.cli.main import main

RNG = np.random.default_rng(0)
N = 120
FRAME = pd.DataFrame(
    {
        "a": RNG.normal(size=N).round(3),
        "b": RNG.choice(["x", "y", "ü"], N),
        "t": RNG.integers(0, 2, N),
    }
)
LINES = "".join(f"{label} 1:{value} 3:2\n" for label, value in zip(FRAME.t, FRAME.a, strict=True))
BUG = "This is a bug in pacboost"


def whole_files(folder: Path) -> dict[str, bytes]:
    """Whole files of each kind, and a model."""
    FRAME.to_csv(folder / "rows.csv", index=False)
    FRAME.to_parquet(folder / "rows.parquet")
    FRAME.to_json(folder / "rows.jsonl", orient="records", lines=True)
    (folder / "rows.svmlight").write_text(LINES, encoding="utf-8")
    result = {path.suffix: path.read_bytes() for path in folder.iterdir()}
    model = folder / "m.pacb"
    done = run("fit", folder / "rows.csv", "--target", "t", "--rounds", "3", "--output", model)
    assert done == "", done
    return {**result, "model": model.read_bytes()}


def run(*words: object) -> str:
    """Run a command; give what is wrong with how it ended, or nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = CliRunner().invoke(main, [str(word) for word in words])
    problem = done.exception
    if BUG in done.output or (problem and not isinstance(problem, SystemExit)):
        return f"{words[0]}: {problem!r} {done.output[-500:]}"
    return ""


def damaged(content: bytes, random: Random) -> bytes:
    """Cut a file off, change bytes, repeat or leave out parts."""
    for _ in range(random.choice((1, 1, 2, 4))):
        place = random.randrange(len(content) + 1)
        other = min(len(content), place + random.choice((1, 3, 40)))
        odd = random.choice(
            (b"", b"\x00", b"\xff\xfe", b"\n", b'"', b",,,", b"\r", b"1e999", b"nan", b"{", b"[[",
             b"\xef\xbb\xbf", b"-9" * 200, bytes(random.randrange(256) for _ in range(8)))
        )  # fmt: skip
        content = random.choice(
            (content[:place], content[:place] + odd + content[other:], content[:other] * 2, odd)
        )
    return content


def commands_survive(content: bytes, suffix: str, model: bytes, folder: Path) -> None:
    rows, saved_model = folder / f"rows{suffix}", folder / "m.pacb"
    rows.write_bytes(content)
    saved_model.write_bytes(model)
    model_path = folder / "made.pacb"
    result = [
        run("fit", rows, "--target", "t", "--rounds", "2", "--output", model_path),
        run("predict", saved_model, rows, "--output", folder / "answers.csv"),
        run("certify", saved_model, rows, "--target", "t"),
    ]
    assert not any(result), "\n".join(filter(None, result))


SUFFIXES = (".csv", ".jsonl", ".parquet", ".svmlight")
