"""Continue an earlier run: recover the state after its rounds, and check that it fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pacboost.boosters.booster import Booster, RevisingBooster
from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Answers, Hypothesis
from pacboost.hypotheses.tree import TreeRule
from pacboost.ledgers.ledger import Ledger
from pacboost.samples.sample import Sample
from pacboost.training.run.loop import Run
from pacboost.training.run.rounds import Rounds
from pacboost.training.run.scores import Floats


def resume(
    run: Run, hypotheses: Sequence[Hypothesis], votes: Sequence[float], ledger: Ledger
) -> None:
    """Continue after the rounds of an earlier run on the same sample, by the same methods."""
    if not ledger.rounds:
        return
    _refuse_other_methods(run.booster.name, run.learner.name, ledger)
    memories = [entry.memory for entry in ledger.rounds]
    run.state = _state_after(run.rounds, run.state, hypotheses, votes, memories)
    _refuse_other_rows(run.rounds, run.state, ledger)
    run.plain_votes = run.plain_votes and ledger.plain_votes
    run.done = run.recorder.replayed(hypotheses, votes, ledger.rounds, run.state)
    finished = run.rounds.finished(ledger.rounds[-1])
    run.stopped = finished or run.booster.stop(run.state) or ""


def keep_first_rounds(run: Run, earlier: Run, number: int) -> None:
    """Continue after the first rounds of a run on some of these rows, in the same bins.

    For regression, whose rounds bound nothing: the record of these rounds stays that of the rows
    they were trained on. Values are whole multiples of a unit; if the rows that are new change it,
    no round is kept.
    """
    units = {each.booster.unit(each.state) for each in (run, earlier)}
    done = earlier.done[:number]
    if len(units) > 1 or not done:
        return
    rules = _in_bins([finished.hypothesis for finished in done], run.sample)
    entries = [replace(finished.entry, validation=None) for finished in done]
    votes = [1.0] * len(done)
    memories = [entry.memory for entry in entries]
    run.state = _state_after(run.rounds, run.state, rules, votes, memories)
    run.rounds.potential.resume(entries, run.state, run.rounds.first_weights)
    run.done = run.recorder.replayed(rules, votes, entries, run.state)


def continue_on_other_rows(
    run: Run, margins: Floats, votes: Sequence[float], path: Floats | None = None
) -> None:
    """Continue from a vote that was trained on other rows, given the margins of these."""
    run.rounds.continue_on_other_rows()
    run.state = _state_on_other_rows(run.booster, run.state, margins, votes, path)


def _refuse_other_methods(booster: str, learner: str, ledger: Ledger) -> None:
    """Raise unless the earlier rounds were made by the same booster and learner."""
    if (booster, learner) != (ledger.booster, ledger.learner):
        raise ParameterError(
            f"the earlier rounds are of {ledger.booster} with {ledger.learner}, these would be "
            f"of {booster} with {learner}; one record cannot hold both. Start afresh with "
            "warm_start=False"
        )


def _state_after(
    rounds: Rounds,
    state: Any,
    hypotheses: Sequence[Hypothesis],
    votes: Sequence[float],
    memories: Sequence[list[float]],
) -> Any:
    """Turn a fresh state into the one that the earlier rounds led to, and let the scores follow."""
    booster, sample = rounds.booster, rounds.sample
    margins = rounds.scores.recomputed(hypotheses, votes)
    if isinstance(booster, FilteringBooster) and booster.by_path:
        path = followed(booster, sample, hypotheses, memories, cells=rounds.cells)
        return booster.continue_on_other_rows(state, margins, votes, path)
    if isinstance(booster, RevisingBooster):
        for rule, memory in zip(hypotheses, memories, strict=True):
            state = booster.recall(state, _agreement(rule, sample), memory)
    state = booster.resume(state, margins, votes, memories[-1])
    rounds.scores.look(booster, state, None)
    return state


def _in_bins(hypotheses: Sequence[Hypothesis], sample: Sample) -> list[Hypothesis]:
    """Return trees the bins object of a sample whose bins are equal to theirs."""
    assert sample.bins is not None
    return [
        replace(rule, bins=sample.bins) if isinstance(rule, TreeRule) else rule
        for rule in hypotheses
    ]


def _state_on_other_rows(
    booster: Booster[Any],
    state: Any,
    margins: Floats,
    votes: Sequence[float],
    path: Floats | None,
) -> Any:
    """Turn a fresh state into one of rows on which the earlier rounds were not trained."""
    if not isinstance(booster, FilteringBooster):
        raise ParameterError(
            f"{booster.name} cannot continue on other rows: its weights do not follow from the "
            "margins; take a booster that can filter, such as logit"
        )
    return booster.continue_on_other_rows(state, margins, votes, path) if len(votes) else state


def followed(
    booster: FilteringBooster[Any],
    sample: Sample,
    rules: Sequence[Hypothesis],
    memories: Sequence[Sequence[float]],
    *,
    cells: bool,
) -> Floats:
    """Follow the path of every row once more; ``cells``: the values of rules include the vote."""
    path = booster.start(sample.signs.shape)
    for rule, memory in zip(rules, memories, strict=True):
        said = rule.values[rule.cells(sample)]
        agree = said * sample.signs / (booster.rate if cells else 1.0)
        path = booster.follow(path, agree, memory)
    return path


def _refuse_other_rows(rounds: Rounds, state: Any, ledger: Ledger) -> None:
    """Raise unless the mean potential = ∏ Z_t on these rows, up to the rounding of weights.

    The bound rests on this equation alone, so it decides whether the old rounds still count. Votes
    may be so large that rounding would excuse anything. So the number of rows and the training
    error, which is exact, have to be the recorded ones too.
    """
    sample, entries = rounds.sample, ledger.rounds
    agrees = rounds.potential.resume(entries, state, rounds.first_weights)
    same_error = sample.targets is not None or (
        rounds.training_error(state) == entries[-1].training_error
    )
    if not (agrees and same_error and ledger.rows == sample.n_rows):
        raise ParameterError(
            "the earlier rounds were not trained on these rows, labels and weights, so their "
            "record does not hold here. Go on with the same data (and an integer random_state "
            "if rows are held back), or start afresh with warm_start=False"
        )


def _agreement(rule: Hypothesis, sample: Sample) -> Answers:
    """Return for every row and output whether the rule's value has the right sign."""
    said = np.sign(rule.values).astype(np.int8)[rule.cells(sample)]
    return said * sample.signs
