"""What StrongClassifier learns from a source of rows, which it filters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pacboost.bounds.certificate import Certificate
from pacboost.errors import ParameterError
from pacboost.estimators.filtering.filter_boost import FilterBoostClassifier
from pacboost.estimators.inputs.parameters import draw_seed
from pacboost.estimators.parameters.values import Values
from pacboost.estimators.strong import reading, wishes
from pacboost.estimators.strong.learning import StrongFit, concluded
from pacboost.fit.role_sizes import certifying_draws
from pacboost.questions.verdict import FitMeasurements
from pacboost.reports.text import labels_in_words
from pacboost.sources.oracles.choose import as_oracle

ROUNDS_OF_FILTERING = 300
SHARED = ("epsilon", "delta", "edge", "n_jobs", "device", "verbose", "time_limit")
"""What FilterBoostClassifier goes by as well."""


def drawn(
    asked: Values, source: Any, target: str | None, classes: Any, *, copies: str,
    options: dict[str, Any],
) -> tuple[StrongFit, Certificate | None]:  # fmt: skip
    """Boost by filtering; also return the certificate of the test that stopped the run."""
    refuse(asked)
    seed = draw_seed(asked.random_state)
    oracle = as_oracle(source, target, seed, **options)
    # whoever draws has a loop of its own, whose result is taken over
    filtering = FilterBoostClassifier(
        **{name: getattr(asked, name) for name in SHARED},
        learner="tree" if asked.learner is None else asked.learner,
        n_certify=certifying_draws(oracle.about_rows, asked.epsilon, asked.delta),
        n_estimators=asked.n_estimators or ROUNDS_OF_FILTERING,
        random_state=seed,
    ).fit_source(oracle, classes=classes, copies=copies)
    model = filtering.model_
    rounds = model.ledger.rounds
    own = rounds[-1].training_error if rounds else 1.0
    improving = len(rounds) >= filtering.n_estimators
    evidence = FitMeasurements(len(rounds), own, improving=improving)
    why = "no rows were set apart"
    certified, verdict = concluded(model, model.certificate, asked, evidence, why)
    if model.ledger.asked:
        took = f"It took {labels_in_words(model.ledger)}."
        verdict = replace(verdict, sentence=f"{verdict.sentence} {took}")
    attributes = {
        "verdict_": verdict,
        "decision_": None,
        "evidence_": evidence,
        "choice_": "trees by boosting by filtering, because rows are drawn from a source",
        "proper_": wishes.is_proper(model.vote),
        "_sketches": filtering._sketches,
        "_refusal": filtering._refusal,
    }
    return StrongFit(certified, attributes), filtering.stop_certificate_


def refuse(asked: Values) -> None:
    """Raise if a parameter needs rows in memory."""
    if asked.class_weight is not None:
        raise ParameterError(
            "class_weight needs rows in memory; all rows of a source are drawn alike. "
            "Set class_weight=None",
            parameter="class_weight",
        )
    if wishes.read_wishes(asked.recall, asked.precision, asked.epsilon) is not None:
        raise ParameterError(
            "recall and precision need rows in memory; fit the source without them, and "
            "call pacboost.choose_threshold with new rows",
            parameter="recall",
        )
    if reading.day_first(asked.dates) is not None:
        raise ParameterError(
            "dates is for files that are read as a whole; write the dates of a source as in "
            "2024-01-31, and leave dates at 'auto'",
            parameter="dates",
        )
