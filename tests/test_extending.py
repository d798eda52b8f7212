"""docs/extending.md is true: a booster, a certificate and a command are one file each."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from pacboost.kernels.native import native

ROOT = Path(__file__).parents[1]
FILE = re.compile(r"<!-- not run: src/(pacboost/\S+) -->\n```python\n(.*?)```", re.DOTALL)
PROGRAM = """
import numpy as np, pacboost
from pacboost.boosters.registry import BOOSTERS
from pacboost.lab.choices import OFFERS
from pacboost.bounds import rule_of_three
X = np.random.default_rng(0).normal(size=(200, 2))
model = pacboost.BoostClassifier("halfway", "stump", n_estimators=4).fit(X, X[:, 0] > X[:, 1])
assert "halfway" in BOOSTERS and OFFERS["halfway"].about == "Aim at half of the edge."
assert model.ledger_.booster == "halfway"
model.save("m.pacb")
assert all(check.holds for check in pacboost.verify("m.pacb"))
made = rule_of_three.certificate(100, 0.05)
assert "at most 3.00 %" in made.claim, made.claim
assert all(check.holds for check in pacboost.verify(made))
forged = type(made)(**{**vars(made), "value": made.value / 2})
assert not all(check.holds for check in pacboost.verify(forged))

from click.testing import CliRunner
from pacboost.cli.main import main
def run(*words):
    found = CliRunner().invoke(main, words)
    assert found.exit_code == 0, found.output
    return found.output
assert "edges" in run("--help")
rows = [f"{a},{b},{int(a > b)}" for a, b in X.tolist()]
open("rows.csv", "w").write("\\n".join(["a,b,y", *rows]))
words = "--target y --booster halfway --learner stump --rounds 4 --output n.pacb"
run("fit", "rows.csv", *words.split())
for name in ("m.pacb", "n.pacb"):
    lines = run("edges", name).splitlines()
    assert len(lines) == 4
    assert all(0 < float(line.split()[1]) < 1 for line in lines)
"""


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with the files of the page: links to what is there, compiled code included."""
    folder = tmp_path_factory.mktemp("copy")
    files = dict(FILE.findall((ROOT / "docs" / "extending.md").read_text(encoding="utf-8")))
    assert len(files) == 3
    folders = {parent for name in files for parent in Path(name).parents} - {Path()}
    for place in sorted(folders):
        (folder / place).mkdir()
        for entry in (ROOT / "src" / place).iterdir():
            if entry.relative_to(ROOT / "src") not in folders:
                (folder / place / entry.name).symlink_to(entry)
    for name, code in files.items():
        (folder / name).write_text(code, encoding="utf-8")
    built = Path(native.__file__)  # beside the sources, or in the environment
    (folder / "pacboost" / "kernels").unlink()
    shutil.copytree(ROOT / "src" / "pacboost" / "kernels", folder / "pacboost" / "kernels")
    for module in built.parent.glob("native_*"):
        shutil.copy(module, folder / "pacboost" / "kernels")
    registry = folder / "pacboost" / "boosters" / "registry.py"
    lines = registry.read_text(encoding="utf-8")
    registry.unlink()
    registry.write_text(lines.replace("MODULES = {", 'MODULES = {\n    "halfway": "halfway",'))
    return folder


def test_a_booster_a_certificate_and_a_command_are_one_file_each(copied: Path) -> None:
    # without ``site``, which would put the sources of this clone before every other path
    libraries = sysconfig.get_path("purelib"), sysconfig.get_path("platlib")
    path = os.pathsep.join([str(copied), *libraries])
    done = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM],
        cwd=copied, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
