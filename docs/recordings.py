"""Recorded runs of the lab, as pages of the site that can be scrubbed without a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pacboost.lab.routes import write_page

NOISE = {"kind": "moons", "n": 300, "noise": 0.2, "spread": 0.12}
SPIRALS = {"kind": "spirals", "n": 250, "seed": 2}
TREE = {"name": "tree", "parameters": {"max_leaves": 4, "max_depth": 6}}
LARGE = {"name": "tree", "parameters": {"max_leaves": 8, "max_depth": 4}}

Runs = list[tuple[dict[str, Any], int]]
RECORDINGS: dict[str, tuple[str, Runs]] = {
    "toy": ("The toy example", [({"data": {"kind": "lecture"}}, 10)]),
    "margins": ("Margins after the training error is 0",
                [({"data": SPIRALS, "learner": TREE}, 150)]),
    "noise": ("Label noise: AdaBoost beside BrownBoost",
              [({"data": NOISE, "learner": TREE}, 80),
               ({"data": NOISE, "learner": TREE,
                 "booster": {"name": "brown", "parameters": {"epsilon": 0.25}}}, 80)]),
    "bagging": ("Boosting beside bagging",
                [({"data": {"kind": "spirals", "n": 300}, "learner": LARGE}, 60),
                 ({"data": {"kind": "spirals", "n": 300}, "learner": LARGE,
                   "method": "bagging"}, 60)]),
}  # fmt: skip


def write_recordings(folder: Path) -> None:
    """Write all pages into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (title, runs) in RECORDINGS.items():
        write_page(folder / f"{name}.html", runs, title)


if __name__ == "__main__":
    write_recordings(Path("lab"))
