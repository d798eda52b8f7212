""" "Show the code": the Python that reproduces a run, and the same fit done here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pacboost.lab import stopping
from pacboost.lab.choices import RECTANGLE, code_of, knob_values
from pacboost.lab.data import TEST_ROWS, TEST_SEED
from pacboost.lab.engine import LabRun
from pacboost.lab.session import LabSession, check_done
from pacboost.lab.spec import MAX_ROUNDS, RunSpec, read_run, whole

Lines = list[str]
ROUNDS = [
    "for entry in model.ledger_.rounds:",
    "    print(entry.number, entry.rule, entry.error, entry.vote, entry.training_error)",
]
"""Lines that print the rounds of the page."""


def fitted(run: LabRun, rounds: int) -> Any:
    """Fit the classifier of the code with this number of rounds."""
    parameters = run.model.get_params(deep=False) | {"n_estimators": rounds}
    if "callbacks" in parameters:
        parameters["callbacks"] = [lambda entry: stopping.check()]
    model = type(run.model)(**parameters)
    return model.fit(run.points.X, run.points.y)


def code(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the program of a run."""
    spec = read_run(asked.get("run"))
    rounds = whole("rounds", asked.get("rounds"), 1, MAX_ROUNDS)
    run = session.run(spec)
    check_done(run, rounds)
    data, needs = _data(session, spec)
    imports, steps = _model(spec, rounds)
    ending = ["print(1 - model.score(X, y))"] if spec.method == "bagging" else ROUNDS
    text = "\n".join([*sorted({*data[0], *imports}), "", *data[1], "", *steps, "", *ending])
    return {"code": text + "\n", "needs": needs}


_LECTURE = ["from pacboost.sources.toy import lecture_points"], ["X, y = lecture_points()"]
_PAINTED = ["import numpy as np"], ["X, y = np.empty((0, 2)), np.empty(0, dtype=int)"]


def _data(session: LabSession, spec: RunSpec) -> tuple[tuple[Lines, Lines], Lines]:
    """Return the imports, the lines that define the rows, and the files they need."""
    kind, needs = spec.data["kind"], []
    if kind == "lecture":
        imports, lines = _LECTURE
    elif kind == "points":
        imports, lines = _PAINTED
    elif kind == "csv":
        needs.append(session.files.get(spec.data.get("digest")).name)
        imports, lines = _csv(needs[0], spec.data)
    elif kind == "long_servedio":
        imports, lines = _long_servedio(spec.data)
    elif kind == "calls":
        n, seed = (int(knob_values(spec.data)[name]) for name in ("n", "seed"))
        imports = ["from pacboost.sources.toy import counted_calls"]
        lines = [
            f"X, y, _ = counted_calls({n}, {seed})",
            f"X_test, y_test, _ = counted_calls({TEST_ROWS}, {seed + TEST_SEED})",
        ]
    else:
        imports, lines = _world(spec.data)
    edits = _edits(spec.data, session.points(spec.data).base)
    return ([*imports, *(["import numpy as np"] if edits else [])], [*lines, *edits]), needs


def _world(data: Mapping[str, Any]) -> tuple[Lines, Lines]:
    knobs, seed = knob_values(data), int(knob_values(data)["seed"])
    if data["kind"] == "rectangle":
        names = "Boxes, LabelNoise" if knobs["noise"] else "Boxes"
        line = f"from pacboost.theory.worlds import {names}"
        world = repr(RECTANGLE)
        if knobs["noise"]:
            world = f"LabelNoise({world}, {knobs['noise']!r})"
    else:
        line = "from pacboost.theory.sampling import Plane"
        arguments = ", ".join(f"{name}={knobs[name]!r}" for name in ("noise", "share", "spread"))
        world = f'Plane("{data["kind"]}", {arguments})'
    return [line], [
        f"world = {world}",
        f"X, y = world.draw({int(knobs['n'])}, {seed})",
        f"X_test, y_test = world.draw({TEST_ROWS}, {seed + TEST_SEED})",
    ]


def _long_servedio(data: Mapping[str, Any]) -> tuple[Lines, Lines]:
    knobs = knob_values(data)
    seed, noise = int(knobs["seed"]), knobs["noise"]
    return ["from pacboost.theory.pictures.learning import long_servedio_points"], [
        f"X, y, _ = long_servedio_points({int(knobs['n'])}, {noise!r}, {seed})",
        f"X_test, _, y_test = long_servedio_points({TEST_ROWS}, {noise!r}, {seed + TEST_SEED})",
    ]


def _csv(name: str, data: Mapping[str, Any]) -> tuple[Lines, Lines]:
    omitted = ("edits", "digest", "name")
    parameters = {key: value for key, value in data.items() if key not in omitted}
    return ["from pathlib import Path", "from pacboost.lab.data import csv_points"], [
        f"X, y, X_test, y_test = csv_points(Path({name!r}), {parameters!r})"
    ]


def _edits(data: Mapping[str, Any], base: int) -> Lines:
    # in the order of the page: added points have numbers after all others, and points are
    # deleted last, because that moves the numbers of all that follow
    edits: Mapping[str, Any] = data.get("edits") or {}
    lines: Lines = []
    if edits.get("added"):
        places = [[x, y] for x, y, _ in edits["added"]]
        lines += [
            f"X = np.concatenate([X, {places!r}])",
            f"y = np.concatenate([y, {[label for _, _, label in edits['added']]!r}])",
        ]
    lines += [f"X[{int(point)}] = {place!r}" for point, place in (edits.get("moved") or {}).items()]
    if edits.get("flipped"):
        lines += [f"y[{[int(point) for point in edits['flipped']]!r}] *= -1"]
    if edits.get("deleted"):
        gone = [int(point) for point in edits["deleted"]]
        lines += [f"X, y = np.delete(X, {gone!r}, axis=0), np.delete(y, {gone!r})"]
    return lines


def _model(spec: RunSpec, rounds: int) -> tuple[Lines, Lines]:
    """Return the imports and the lines that fit, one fit per change of booster or learner."""
    if spec.method == "bagging":
        imported, learner = code_of("learner", spec.learner)
        line = f"model = BaggingClassifier({learner}, {rounds}, random_state={spec.seed}).fit(X, y)"
        return ["from pacboost import BaggingClassifier", imported], [line]
    # a booster cannot change within a fit: each change is a fit that begins with the rules so far
    chain = [spec]
    while chain[0].changes:
        chain.insert(0, chain[0].parent)
    imports: Lines = ["from pacboost import BoostClassifier"]
    lines: Lines = []
    for place, part in enumerate(chain):
        last = place == len(chain) - 1
        count = rounds if last else chain[place + 1].changes[-1].after
        if count == 0:
            continue
        part_imports, expression = _fit(part, count, keeps=bool(lines))
        imports += part_imports
        lines += [f"model = {expression}"]
        if not last:
            lines += ["rules = dict(enumerate(model.model_.vote.hypotheses, start=1))"]
    return imports, lines


def _fit(spec: RunSpec, rounds: int, *, keeps: bool) -> tuple[Lines, str]:
    kinds = zip(("booster", "learner"), spec.current, strict=True)
    (first, booster), (second, learner) = (code_of(what, choice) for what, choice in kinds)
    imports = [first, second]
    own_rules = spec.own_rules
    if own_rules or keeps:
        imports += ["from pacboost.theory.learners import Scripted"]
        rules = repr(own_rules)
        if keeps:
            rules = f"{{**rules, **{rules}}}" if own_rules else "rules"
        learner = f"Scripted({rules}, {learner})"
    arguments = f"    {booster},\n    {learner},\n    {rounds},\n    early_stopping=False,\n"
    return imports, f"BoostClassifier(\n{arguments}    random_state={spec.seed},\n).fit(X, y)"
