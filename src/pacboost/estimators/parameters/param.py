"""Param: all that is known of a parameter before any row is seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import indent
from typing import Any

from pacboost.estimators.parameters.checks import ParamCheck

BOOSTED = ("BoostClassifier", "BoostRegressor")
CHOSEN = "StrongClassifier"
FILTERED = "FilterBoostClassifier"
TREES = (*BOOSTED, FILTERED)
ONE_RUN = (*BOOSTED, "AdaBoostClassifier", "TextBoostClassifier")
BAGS = ("BaggingClassifier", "BaggingRegressor")
FORESTS = tuple(f"{trees}{kind}" for trees in ("RandomForest", "ExtraTrees")
                for kind in ("Classifier", "Regressor"))  # fmt: skip
VOTES = (*ONE_RUN, CHOSEN, FILTERED, *BAGS, *FORESTS)


@dataclass(frozen=True)
class Param:
    """A parameter of some estimators, by the names of their classes.

    Signatures and docstrings of these classes repeat name and default where editors read them, and
    ``tests/estimators/test_parameters.py`` holds them equal. A class that describes the parameter
    in its docstring keeps its own description.
    """

    name: str
    default: Any
    check: ParamCheck
    meaning: str = ""
    """What docstrings say of it; empty where every class says it in its own words."""
    of: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    """What other libraries call it; these names are accepted."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """The default of classes that have another one."""
    absent: Any = None
    """What a fit goes by in an estimator that does not have it."""
    option: str = ""
    """Its option of ``pacboost fit``, if it has one."""
    help: str = ""
    """What the option does, if that is not the meaning."""

    def default_of(self, kind: str) -> Any:
        """Return the default in a class."""
        return self.defaults.get(kind, self.default)

    @property
    def entry(self) -> str:
        """The description for a docstring, of NumPy's form; empty if there is none."""
        if not self.meaning:
            return ""
        head = f"{self.name} : {self.check.words}, default={self.default!r}\n"
        return head + indent(self.meaning.strip(), "    ")
