"""Reasons to stop are values; each kind has one sentence."""

from __future__ import annotations

import re

import pytest

from pacboost.training.run.stop_reason import SENTENCES, Stop, StopReason, sentence_of


@pytest.mark.parametrize("kind", Stop)
def test_every_kind_has_a_sentence(kind: Stop) -> None:
    names = re.findall(r"\{(\w+)", SENTENCES[kind])
    reason = StopReason(kind, dict.fromkeys(names, 0.25))
    assert sentence_of(reason)


def test_a_run_that_goes_on_has_no_sentence() -> None:
    assert sentence_of(None) == ""


def test_rounds_kept_and_a_refit_are_part_of_the_reason() -> None:
    plain = StopReason(Stop.ALL_ROUNDS, {"rounds": 9})
    assert plain == StopReason(Stop.ALL_ROUNDS, {"rounds": 9})
    kept = StopReason(Stop.ALL_ROUNDS, {"rounds": 9}, kept=4)
    refitted = StopReason(Stop.ALL_ROUNDS, {"rounds": 9}, best_round=4)
    assert len({str(plain), str(kept), str(refitted)}) == 3
    assert kept.kind is refitted.kind is Stop.ALL_ROUNDS
