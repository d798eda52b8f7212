"""Boosters pass their trial, and broken ones fail it with the claim that they break."""

import re
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_breast_cancer

from pacboost import BoostClassifier
from pacboost.boosters.adaboost import AdaBoost, ExponentialState
from pacboost.boosters.booster import Booster, Floats, Measured
from pacboost.boosters.filtering import FilterBoost, Mada, Measure
from pacboost.boosters.maximal_margin import ArcGV
from pacboost.cli.main import main
from pacboost.errors import ParameterError
from pacboost.numerics.exact import round_vote
from pacboost.theory import try_booster
from tests.markdown import DOCS

QUICK = ["adaboost", "arc_gv", "filter_boost", "gentle", "graph_separation", "logit", "lp", "mada",
         "majority", "measure", "projection", "smooth"]  # fmt: skip


@pytest.mark.parametrize("name", QUICK)
def test_our_boosters_pass(name: str) -> None:
    trial = try_booster(name, rows=60, rounds=12)
    assert trial.holds, str(trial)
    assert trial.runs == 8


class Forgetful(AdaBoost):
    """Weighs no row anew from the third round on."""

    def step(self, state: ExponentialState, agree: Any, measured: Measured) -> ExponentialState:
        weights = state.weights.copy()
        after = super().step(state, agree, measured)
        if len(after.cast) > 2:
            after.weights[:] = weights
        return after


class Timid(AdaBoost):
    """Claims that its votes are the best ones, and casts a tenth of them."""

    plain_votes: ClassVar[bool] = True

    def step(self, state: ExponentialState, agree: Any, measured: Measured) -> ExponentialState:
        return super().step(state, agree, Measured(1000, 495))


class Optimistic(FilterBoost):
    """Promises a hundredth of the rounds."""

    def most_rounds(self, edge: float, epsilon: float) -> float:
        return super().most_rounds(edge, epsilon) / 100


class Light(Mada):
    """Gives the filter half of the weights that it gives the learner, on wrong rows alone."""

    def chances(self, margins: Floats, rounds: int, signs: Any = None) -> Floats:
        chances = super().chances(margins, rounds, signs)
        return np.where(chances == 1, 0.5, chances)


class Amnesiac(ArcGV):
    """Stores nothing, so that a resumed run aims at another margin."""

    def resume(self, state: Any, margins: Any, votes: Any, memory: Any) -> Any:
        return super().resume(state, margins, votes, [0.0 for _ in memory])


class Boastful(FilterBoost):
    """Claims that the error is a fifth of the mean weight."""

    error_factor: ClassVar[float] = 0.2


BROKEN: list[tuple[Booster[Any], str, int | None]] = [
    (Forgetful(), "weights are proportional", 4),
    (Timid(), "edge²", 1),
    (Optimistic(), "most_rounds", None),
    (Light(), "weights are proportional", 2),
    (Amnesiac(), "resumed", None),
    (Boastful(), "error_factor", 1),
]


@pytest.mark.parametrize(("booster", "claim", "number"), BROKEN)
def test_broken_boosters_fail(booster: Booster[Any], claim: str, number: int | None) -> None:
    trial = try_booster(booster, rows=60, rounds=30)
    assert not trial.holds
    first = next(each for each in trial.violations if claim in each.claim)
    assert first.left > first.right
    assert number is None or first.round == number
    assert f"round {first.round}, {first.learner}" in str(trial)


class Steep(Measure):
    """A ramp that falls too steeply, with the rounds of the right one: the usual slip."""

    steep: ClassVar[int] = 2

    @property
    def slope(self) -> float:
        return self.steep * super().slope

    def most_rounds(self, edge: float, epsilon: float) -> float:
        return 1 / (self.share * epsilon * edge) ** 2


class Unbounded(Measure):
    """A ramp twice as steep, with the rounds that follow from it: none."""

    @property
    def slope(self) -> float:
        return 2 * super().slope


@pytest.mark.parametrize("steep", [2, 3, 4])
def test_a_slope_that_is_too_steep_is_caught_by_the_proof_of_its_rounds(steep: int) -> None:
    booster = type("TooSteep", (Steep,), {"steep": steep})(0.4, 0.2)
    trial = try_booster(booster, rows=60, rounds=5)
    assert trial.violations[0].claim.startswith("S + θT/2 ≤ εrT")
    right = type("Right", (Steep,), {"steep": 1})(0.4, 0.2)
    assert try_booster(right, rows=60, rounds=5).holds


def test_a_slope_of_1_7_is_caught() -> None:
    class Slip(Steep):
        @property
        def slope(self) -> float:
            return round_vote(1.7 * self.share * self.epsilon * self.edge)

    trial = try_booster(Slip(0.4, 0.2), rows=60, rounds=5)
    assert [each.claim[:12] for each in trial.violations] == ["S + θT/2 ≤ ε"]


def test_a_booster_without_a_bound_says_so() -> None:
    trial = try_booster(Unbounded(0.4, 0.2), rows=60, rounds=5)
    assert (trial.holds, trial.is_bounded) == (True, False)
    assert "claims no bound on its rounds" in str(trial)
    assert try_booster(Measure(0.4, 0.2), rows=60, rounds=5).is_bounded


def test_promised_rounds_that_are_too_few_are_caught() -> None:
    class Hasty(Measure):
        @property
        def promised_rounds(self) -> float:
            return super().promised_rounds / 20

    trial = try_booster(Hasty(0.4, 0.2), rows=60, rounds=5)
    assert any(each.claim.startswith("rounds until it stops") for each in trial.violations)


def test_bad_arguments_are_refused() -> None:
    for arguments in ({"edge": 0.0}, {"edge": 1.0}, {"rounds": 0}, {"rows": 0}, {"rows": 2**62}):
        with pytest.raises(ParameterError, match=next(iter(arguments))):
            try_booster("adaboost", **arguments)


def test_the_page_on_boosters_is_true_to_the_letter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The class of the page, in a file of its own, passes its trial, fits and gets a name."""
    text = (DOCS / "adding-a-booster.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n([^`]*class ArcGV.*?)```", text, re.DOTALL)
    (tmp_path / "arc_gv.py").write_text(code, encoding="utf-8")
    rows = [f"{a},{b},{a + b > 9}" for a in range(12) for b in range(12)]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,label", *rows]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert try_booster("arc_gv:ArcGV", rows=60, rounds=20).holds
    (command,) = re.findall(r"^PYTHONPATH=. pacboost (fit .*)$", text, re.MULTILINE)
    result = CliRunner().invoke(main, command.split(), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    X, y = load_breast_cancer(return_X_y=True)
    written = BoostClassifier("arc_gv:ArcGV", "stump", 20).fit(X, y)
    ours = BoostClassifier("arc_gv", "stump", 20).fit(X, y)
    assert written.ledger_.digest() == ours.ledger_.digest()
