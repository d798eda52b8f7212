"""Folders whose modules have the names of others, and commands that are run in them."""

import sys
from collections.abc import Iterable
from pathlib import Path
from random import Random

SOURCE = Path(__file__).parents[2] / "src"
HOSTILE = "from pathlib import Path\nPath(__file__).with_suffix('.ran').touch()\n"
FIT_A_MODEL = "fit data.csv --target y --learner stump --rounds 3 --output m.pacb"
CALLS = {
    "alone": (
        "fit data.csv --target b --loss squared_error --rounds 3 --output n.pacb",
        "intervals n.pacb new.csv --target b --output i.pacb",
        "doctor", "guide", "plan holdout --epsilon 0.1 --delta 0.1", "demo --theory",
    ),
    "rows": ("diagnose data.csv --target y", "compare data.csv --target y --rounds 3"),
    "model": (
        FIT_A_MODEL, "verify m.pacb", "inspect m.pacb", "export m.pacb --output m.c",
        "report m.pacb", "predict m.pacb new.csv", "ask m.pacb a=1", "lab absent.csv --target y",
    ),
    "new rows": (
        FIT_A_MODEL, "certify m.pacb new.csv --target y",
        "watch m.pacb new.csv --target y --error 0.4",
        "threshold m.pacb new.csv --target y --recall 0.5 --output t.pacb",
        "sets m.pacb new.csv --target y --output s.pacb",
    ),
    "studies": (
        "draw data.csv --rows 60 --output q.csv", "jury data.csv --judges y,b --truth y",
        "cascade data.csv q.csv --teacher y --draw q.draw.json --target-error 0.2",
        "audit data.csv --said y --truth y",
    ),
}  # fmt: skip
COMMAND = """
import sys
from pacboost.cli.main import main
if __name__ == "__main__":
    main(sys.argv[1:])
"""
ON_A_CLUSTER = "fit data.csv --target y --rounds 2 --cluster local:2 --output k.pacb"


def console_script(folder: Path) -> list[str]:
    """Write the command as pip does: Python puts its folder into the path, not the current one."""
    script = folder / "bin" / "pacboost"
    script.parent.mkdir()
    script.write_text(COMMAND, encoding="utf-8")
    return [sys.executable, "-W", "ignore", str(script)]


def hostile_folder(folder: Path, modules: Iterable[str], random: Random | None = None) -> None:
    """Write rows beside modules that leave a mark; ``random`` makes packages of some of them."""
    folder.mkdir(exist_ok=True)
    for name in modules:
        module = folder / f"{name}.py"
        if random is not None and random.random() < 0.3:
            module = folder / name / "__init__.py"
            module.parent.mkdir()
        module.write_text(HOSTILE, encoding="utf-8")
    for file, first in (("data", 0), ("new", 1000)):
        rows = "".join(f"{k},{k % 3 + k / 1e4},{k % 2}\n" for k in range(first, first + 120))
        (folder / f"{file}.csv").write_text(f"a,b,y\n{rows}", encoding="utf-8")
