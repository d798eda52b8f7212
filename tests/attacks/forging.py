"""Certified models for forgers, the bound as they compute it, and whether a file stands."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import pacboost
from pacboost import AdaBoostClassifier, StrongClassifier, pacboost_check
from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.wording import ASSUMED_BESIDE, UNANSWERED
from pacboost.errors import PacboostError
from pacboost.questions.verify import verify
from tests.models.kinds import KINDS, numbers

WITHOUT = ("regressor", "derived", "three", "majority", "forest_of_classes", "forest_of_numbers")
"""Kinds that certify nothing."""


def compressed() -> Any:
    X, score = numbers(500)
    model = AdaBoostClassifier(n_estimators=8, random_state=0).fit(X, score > 0)
    return pacboost.theory.compress(model, X, score > 0)


def answered() -> Any:
    X, score = numbers(500)
    model = AdaBoostClassifier(n_estimators=8, random_state=0).fit(X[:250], score[:250] > 0)
    return pacboost.choose_threshold(model, X[250:], score[250:] > 0, target_error=0.4)


def certified_three() -> Any:
    X, score = numbers(500)
    model = pacboost.theory.ThreeLearnerBoost("stump", certify="holdout", random_state=0)
    return model.fit(X, score > 0)


def certified_majority() -> Any:
    X, score = numbers(500)
    model = pacboost.theory.MajorityOfBoosters(n_estimators=3, certify="holdout", random_state=0)
    return model.fit(X, score > 0)


def strong() -> Any:
    X, score = numbers(500)
    return StrongClassifier(epsilon=0.3, random_state=0).fit(X, np.where(score > 0, "yes", "no"))


def bagged_trees() -> Any:
    X, score = numbers(500)
    model = pacboost.RandomForestClassifier(8, certify="oob", random_state=0)
    return model.fit(X, score > 0)


def held_out(**how: Any) -> Any:
    """Fit with a fifth of 500 rows held out; a column may say when rows were drawn."""
    X, score = numbers(500)
    if how.pop("timed", False):
        days = np.datetime64("2026-01-01") + np.arange(500)
        X = pd.DataFrame({"day": days, **{f"x{j}": X[:, j] for j in range(X.shape[1])}})
    labels = np.column_stack([score > 0, score > 2]) if how.pop("several", False) else score > 0
    if how.pop("weighted", False):
        how["sample_weight"] = np.linspace(1, 2, 500)
    model = AdaBoostClassifier(n_estimators=8, certify="holdout", random_state=0)
    return model.fit(X, labels, **how)


MADE: dict[str, Callable[[], Any]] = {
    **{kind: make for kind, make in KINDS.items() if kind not in WITHOUT},
    "compressed": compressed, "answered": answered, "certified_three": certified_three,
    "certified_majority": certified_majority, "strong": strong, "bagged_trees": bagged_trees,
    "timed": partial(held_out, timed=True), "weighted": partial(held_out, weighted=True),
    "distinct": partial(held_out, copies="distinct"), "labels": partial(held_out, several=True),
}  # fmt: skip


def stands(path: Path) -> bool:
    """Whether verify says so; a file that cannot be loaded does not stand."""
    try:
        found = verify(path)
    except PacboostError:
        return False
    assert all(check.words for check in found)
    return all(check.holds for check in found)


def consistent(content: dict[str, Any], n: int) -> None:
    """Claim to have counted n rows where the predictions of others were kept, by the same bound."""
    claim = content["certificate"]
    if claim and claim["bound"] == "holdout.clopper_pearson" and content.get("held_out"):
        claim["inputs"]["n"] = claim["size"] = n
        claim["value"] = clopper_pearson(**claim["inputs"])


def holds(path: Path) -> bool:
    """Whether the checker that knows nothing of pacboost says so of everything in a file."""
    found = pacboost_check.check(path.read_bytes())
    return {answer for _, answer, _ in found} == {pacboost_check.HOLDS}


Forge = Callable[[dict[str, Any]], object]


def baseline(**fields: Any) -> Forge:
    """Change what a file says of always giving the most frequent answer."""
    return lambda content: content["held_out"].update(fields)


def predictions(count: list[int], **fields: Any) -> Forge:
    """Change how often two classes were predicted: right and wrong of the first, of the second."""

    def forge(content: dict[str, Any]) -> None:
        names, pairs = ("own", "said", "count"), [(0, 0), (0, 1), (1, 0), (1, 1)]
        lines = [(*pair, times) for pair, times in zip(pairs, count, strict=True) if times]
        columns = np.array(lines, dtype=np.int64).reshape(-1, 3).T
        content["held_out"].update(dict(zip(names, columns.copy(), strict=True)), **fields)

    return forge


def without(part: str) -> Forge:
    def forge(content: dict[str, Any]) -> None:
        if part == "held_out":
            del content["held_out"]
            return
        del content["held_out"]["ranks"]
        other_table(content)

    return forge


other_table = predictions([57, 5, 6, 32], baseline_wrong=38)
"""A table of the strong classifier's 100 rows with the right number of mistakes."""
NO_TABLE = predictions([0, 0, 0, 0], labels=2)


def areas(**fields: float) -> Forge:
    """Change what a file says of the area below the first curve."""
    return lambda content: content["held_out"]["ranks"][0].update(fields)


BASELINES: list[tuple[str, Forge]] = [
    *((kind, areas(auc=auc)) for kind in ("strong", "mixed", "labels") for auc in (0.0, 0.999)),
    ("distinct", lambda content: content["answering"].update(assumptions=[""])),
    *(("strong", baseline(baseline_wrong=wrong)) for wrong in (0, 10, 11, 47, 49, 97, 99, 100)),
    *(("strong", baseline(commonest=common)) for common in ([1], [], [0, 1], [7])),
    ("strong", baseline(commonest=[1], baseline_wrong=52)),
    *(("strong", baseline(labels=labels)) for labels in (1, 2)),
    ("strong", NO_TABLE),
    ("strong", lambda content: (NO_TABLE(content), baseline(baseline_wrong=97)(content))),
    *(("strong", predictions(count)) for count in ([52, 0, 11, 37], [41, 11, 0, 48])),
    ("strong", predictions([48, 4, 6, 42])),
    ("strong", predictions([42, 6, 5, 47], commonest=[1])),
    ("strong", predictions([89, 5, 6, 0], baseline_wrong=6)),
    ("strong", other_table),
    *(("strong", without(part)) for part in ("ranks", "held_out")),
    *(("mixed", baseline(baseline_wrong=wrong)) for wrong in (0, 12, 23)),
    ("mixed", baseline(commonest=[2], baseline_wrong=20)),
    *(("labels", baseline(baseline_wrong=wrong)) for wrong in (0, 97)),
    *(("labels", baseline(commonest=common)) for common in ([1], [9], [1, 0])),
    ("labels", baseline(labels=0)),
    *((kind, baseline(baseline_wrong=1)) for kind in ("stumps", "filtered", "forest")),
]
"""Files in which the answer that is given most often is another, or its mistakes, or what is
counted beside them."""


SAID: dict[str, Any] = {
    "theorem": "R ≤ k/n", "reference": "Nobody 2026", "independent_of": "everything",
    "sample": {"rows": "drawn by an auditor"},
}  # fmt: skip


def other_words(claim: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return a claim without each detail or assumption, with each cut, and with other texts."""
    details, assumptions = claim["details"], claim["assumptions"]
    for name in details:
        rest = {other: value for other, value in details.items() if other != name}
        yield f"no {name}", {**claim, "details": rest}
        if name in (*ASSUMED_BESIDE, *UNANSWERED):
            yield f"{name} is 0", {**claim, "details": {**details, name: 0}}
    for place, words in enumerate(assumptions):
        before, after = assumptions[:place], assumptions[place + 1 :]
        yield f"no {words}", {**claim, "assumptions": before + after}
        cut = words[: len(words) * 3 // 4]
        yield f"only {cut}", {**claim, "assumptions": [*before, cut, *after]}
    yield "more", {**claim, "assumptions": [*assumptions, "an auditor was there"]}
    if assumptions:
        yield "twice", {**claim, "assumptions": [*assumptions, *assumptions[:1]]}
    for name, words in SAID.items():
        yield name, {**claim, name: words}
    yield "sample", {**claim, "sample": {**claim["sample"], "auditors": 1}}


def unanswered(content: dict[str, Any]) -> None:
    """Say that a quarter of the rows had no answer, as an honest certificate would."""
    claim = content["certificate"]
    claim["details"]["missing_abstain"] = 0.25
    claim["assumptions"].append("empty answers (25.0 %) do not count")


def fooled(path: Path) -> str:
    """Return which programs say that a file stands; "" if none does."""
    return "verify " * stands(path) + "checker" * holds(path)
