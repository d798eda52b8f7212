"""Decided: a fitted model and a rule beside it, which rows that nothing else has seen certify."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from sklearn.base import BaseEstimator

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.coverage import IntervalRule, SetRule, coverage_words
from pacboost.bounds.family import Family
from pacboost.errors import FileError, NotCertified
from pacboost.numerics.markup import bold, facts
from pacboost.questions.inner_models import remembers, snapshot

Kind = TypeVar("Kind")


class Decided(ABC):
    """A fitted model with a certified rule, which goes into the file of the model."""

    def __init__(self, model: BaseEstimator, certificate: Certificate | Family) -> None:
        self.estimator_, self.certificate_ = model, certificate
        self.sentence_ = coverage_words(certificate)

    def save(self, path: str | Path, *, remember_rows: bool = True) -> None:
        """Write the model and the rule to a file, which ``pacboost.load`` reads."""
        if not hasattr(self.estimator_, "save"):
            raise FileError(
                f"{path}: is not written, because {type(self.estimator_).__name__} has no model "
                "file. Pickle it, if those who load it trust you"
            )
        self.estimator_.save(path, remember_rows=remember_rows)

    _words: ClassVar[str]
    """What it is, for ``repr``."""

    @property
    @abstractmethod
    def _facts(self) -> list[tuple[str, str]]:
        """What a notebook shows below the sentence."""

    def _repr_html_(self) -> str:
        return bold(self.sentence_) + facts(self._facts)

    def __repr__(self) -> str:
        kind = "" if isinstance(self.estimator_, list | tuple) else type(self.estimator_).__name__
        return f"<{self._words}{f' of {kind}' if kind else ''}: {self.sentence_}>"


def with_rule(estimator: BaseEstimator, rule: SetRule | IntervalRule) -> Any:
    """Return a copy of a fitted estimator, with the rule if it is one of pacboost."""
    # a copy: a later fit of the same estimator has nothing to do with this rule
    copy = inner = snapshot(estimator)
    # the model of a chosen threshold lies inside it, and files are written from the model
    while remembers(inner) and "estimator_" in vars(inner):
        inner = inner.estimator_
    if remembers(inner) and "model_" in vars(inner):
        inner.model_ = replace(inner.model_, coverage=rule)
    return copy


def kept_rule(model: object, kind: type[Kind], name: str) -> Kind:
    """Return the rule for sets or intervals from a model file."""
    rule = getattr(getattr(model, "model_", None), "coverage", None)
    # a file holds one rule, and intervals are no sets
    if not isinstance(rule, kind):
        raise NotCertified(
            f"{type(model).__name__} holds no {name}; give rows that had no part in the fit, and "
            "their labels"
        )
    return rule
