"""Draw accuracy by time (``accuracy_by_time.png``) from the tables of docs/benchmarks.md.

    python docs/gallery/accuracy_by_time.py

Each point is a library with its default settings: the geometric mean of its log loss, and of its
time, over 37 small tables, as ratios to CatBoost.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "benchmarks.md"
PLACES = {
    "BoostClassifier()": (6, -13),
    "ChimeraBoost 0.34, quality 5": (-50, -15),
    'quality="best"': (7, -8),
    "ChimeraBoost 0.34, ensembles of 8": (6, 9),
}
"""Where names are written, in points, whose usual place others would cover."""
HEAD = "| times CatBoost"


def measure(page: Path = PAGE) -> dict[str, tuple[float, float]]:
    """Return time and log loss by name, from the first table of ratios."""
    text = page.read_text(encoding="utf-8")
    lines = text[text.index(HEAD) :].split("\n\n")[0].splitlines()
    head, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines)
    points = {}
    for row in rows:
        time, loss = (row[head.index(name)].split()[0] for name in ("time", "log loss"))
        points[row[0].replace("`", "")] = float(time.strip("*")), float(loss.strip("*"))
    return points


def draw(points: dict[str, tuple[float, float]], path: Path | None = None) -> Any:
    """Draw the points, and write the picture if there is a path."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.2), layout="constrained")
    axes = figure.subplots()
    for name, (time, loss) in points.items():
        is_ours = re.search("Classifier|quality=", name) is not None
        color = "#c0392b" if is_ours else "#555555"
        axes.scatter(time, loss, color=color, s=45, zorder=3)
        label = name.replace('quality="', "pacboost, ").replace('"', "")
        label = label.replace("BoostClassifier()", "pacboost")
        label = re.sub(r" \d+\.[\d.]+", "", label)
        place = PLACES.get(name, (6, 4))
        axes.annotate(label, (time, loss), xytext=place, textcoords="offset points", color=color)
    axes.set(xscale="log", xlim=(0.015, 2.5), ylim=(0.88, 1.43))
    axes.set_xlabel("time, CatBoost = 1 (logarithmic; left is faster)")
    axes.set_ylabel("log loss, CatBoost = 1 (lower is better)")
    axes.set_xticks([0.03, 0.1, 0.3, 1], [".03", ".1", ".3", "1"])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    if path is not None:
        figure.savefig(path, dpi=110)
    return figure


if __name__ == "__main__":
    draw(measure(), Path(__file__).with_suffix(".png"))
