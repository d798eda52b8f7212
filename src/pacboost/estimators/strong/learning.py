"""What StrongClassifier learns and certifies from rows in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pacboost.bounds.certificate import Certificate
from pacboost.errors import DataError, NotCertified, warn
from pacboost.estimators.decisions.choosing import positive_class
from pacboost.estimators.inputs.parameters import draw_seed
from pacboost.estimators.parameters.values import Values
from pacboost.estimators.strong import reading, wishes
from pacboost.estimators.strong.dividing import set_apart, weights_of
from pacboost.estimators.strong.labelled import LabelledData
from pacboost.estimators.strong.reading import Reading
from pacboost.estimators.strong.search import CertifiedFit, EpsilonSearch
from pacboost.estimators.strong.ways import OWNER, Way, choose, own_columns
from pacboost.fit.roles import Roles, RolesAsk
from pacboost.fit.targets import read_labels
from pacboost.models.model import Model
from pacboost.models.schema import ColumnOptions, Schema
from pacboost.questions import verdict
from pacboost.questions.verdict import FitMeasurements, Verdict
from pacboost.samples.sketch import Sketch
from pacboost.sources.columns import Columns, read_texts
from pacboost.sources.explained_errors import named_among
from pacboost.sources.given import GivenRows
from pacboost.sources.rows import Rows
from pacboost.sources.table import Table


@dataclass(frozen=True, eq=False)
class StrongFit:
    """A certified model, and what else StrongClassifier keeps, by the names of attributes."""

    model: Model
    attributes: dict[str, Any]


def learned(asked: Values, given: Reading, copies: str) -> StrongFit:
    """Set rows apart, learn from the others until epsilon is certified, and say what holds."""
    seed = draw_seed(asked.random_state)
    own = own_columns(asked)
    if own is not None:
        given = replace(given, X=own.divisible(given.X))
    columns = given.X if own is not None else _columns(given.X, asked.text_columns)
    number = Rows.of(columns).count
    if not number:
        raise DataError("X has no rows; at least one is needed")
    labels = read_labels(given.y, number, several=True)
    wish = wishes.read_wishes(asked.recall, asked.precision, asked.epsilon)
    if wish and labels.ndim == 1:
        positive_class(np.unique(labels), asked.positive)
    parts = RolesAsk(
        seed, epsilon=asked.epsilon, delta=asked.delta, chooses_threshold=wish is not None
    )
    roles, promise, why = set_apart(given, labels, parts, copies)
    weights = weights_of(given.sample_weight, asked.class_weight, labels, roles)
    rows, texts = _open_rows(columns, given.X, roles, asked) if own is None else (columns, [])
    if own is not None and not isinstance(columns, GivenRows):
        rows = _read(given.X, roles, own)
    data = LabelledData(rows, labels, weights)
    many = labels.ndim > 1 or (asked.edge is not None and np.unique(labels).size > 2)
    way = choose(asked, _why_texts(data, texts), texts, number, several=many)
    promise = replace(promise, weighted=weights is not None)
    # the seed that an estimator with this random_state would draw
    best = EpsilonSearch(way, data, roles, promise, draw_seed(seed), asked.time_limit).run()
    for warning in best.fitted.warnings:
        warn(str(warning), type(warning))
    assert best.evidence is not None
    model, judged = concluded(best.model, best.certificate, asked, best.evidence, why)
    attributes = {"verdict_": judged, "decision_": None, **_of_the_fit(best, way, roles, data)}
    if wish is not None:
        try:
            attributes["decision_"] = wishes.decided(model, data, roles, wish, asked)
        except NotCertified as reason:
            attributes["verdict_"] = wishes.missed(wish, reason, asked.delta)
        else:
            attributes["verdict_"] = wishes.verdict_of(attributes["decision_"], asked.delta)
    return StrongFit(model, attributes | {"_dropped": given.dropped})


def concluded(
    model: Model, certificate: Certificate | None, asked: Values, evidence: FitMeasurements,
    why: str,
) -> tuple[Model, Verdict]:  # fmt: skip
    """Put the certificate into the model, and compare it with epsilon.

    ``why`` says why nothing is certified, if nothing is.
    """
    kept = certificate or model.certificate
    certified = model if kept is None else replace(model, certificate=kept.of(model.digest()))
    if certificate is None:
        return certified, verdict.nothing_certified(why, asked.delta, asked.epsilon)
    names = [str(name) for name in model.classes.tolist()]
    return certified, verdict.judge(
        certificate, asked.delta, asked.epsilon, evidence, model.held_out, names
    )


def _of_the_fit(best: CertifiedFit, way: Way, roles: Roles, data: LabelledData) -> dict[str, Any]:
    parts = {"learn": roles.learn, "watch": roles.validate, "certify": roles.certify}
    # all rows are remembered, certifying ones included: no later certificate may use them
    rows = best.model.schema.comparable(data.rows) if data.are_texts else data.rows
    watch = best.watcher.watch
    return {
        "choice_": f"{way.words}, because {way.why}",
        "parts_": {name: int(part.size) for name, part in parts.items()},
        "evidence_": best.evidence,
        "proper_": wishes.is_proper(best.model.vote),
        "settings_": best.fitted.settings,
        "calibration_error_": best.fitted.calibration_error,
        "_sketches": (Sketch.from_table(rows),),
        "_curves": best.watcher.curves,
        "_best_round": None if watch is None else watch.best_round,
    }


def _columns(X: object, text_columns: Any) -> Any:
    """Prepare X so that rows can be counted and selected: texts, named columns, or X."""
    if reading.is_texts(X):
        return read_texts(X)
    columns = None if text_columns is None else reading.columns_of(X)
    return X if columns is None else columns


def _open_rows(columns: Any, X: object, roles: Roles, asked: Values) -> tuple[Any, list[str]]:
    """Return rows and the names of their text columns; rows without text become a table."""
    if reading.is_texts(X):
        return columns, []
    texts = asked.text_columns
    if not isinstance(columns, Columns):
        texts = None
    elif texts == "auto":
        texts = columns.take(roles.known).sentences()
    if texts:
        return columns, list(texts)
    return _read(X, roles, ColumnOptions(OWNER, asked.categorical_features, keeps_sparse=True)), []


def _read(X: object, roles: Roles, options: ColumnOptions) -> Table:
    """Return rows as a table; kinds and levels of columns come from rows that may teach."""
    if not roles.certify.size:
        return Schema.learn(X, options)[1]
    with named_among(X, lambda rows: Schema.learn(rows, options)):
        schema, _ = Schema.learn(Rows.of(X).alone(roles.known), options)
    return schema.read(X)


def _why_texts(data: LabelledData, texts: list[str]) -> str | None:
    if not data.are_texts:
        return None
    named = " and ".join(map(repr, texts))
    return f"{named} {'hold' if len(texts) > 1 else 'holds'} texts" if texts else "rows are texts"
