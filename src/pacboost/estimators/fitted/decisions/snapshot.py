"""A fitted model as it is now, which later fits of the model leave as it is.

What is certified of a model is about the model that was there. ``fit`` gives a model new attributes
and keeps the object, so whoever holds the object would hold another model afterwards.
"""

from __future__ import annotations

from copy import copy
from typing import Any


def snapshot(model: Any) -> Any:
    """Copy a fitted model, but not what it has learned: both share that until one is fitted again.

    >>> class Guess:
    ...     def fit(self, label):
    ...         self.label_ = label
    ...         return self
    >>> model = Guess().fit("a")
    >>> kept, _ = snapshot(model), model.fit("b")
    >>> kept.label_, model.label_
    ('a', 'b')
    """
    if isinstance(model, list | tuple):
        return type(model)(map(snapshot, model))
    try:
        made = copy(model)
    except Exception:  # what other libraries do when they are copied is not known
        return model
    attributes = getattr(made, "__dict__", {})
    steps = attributes.get("steps")
    if isinstance(steps, list):  # of a pipeline, which fits these objects themselves
        attributes["steps"] = [(name, snapshot(step)) for name, step in steps]
    if type(made).__name__ == "FrozenEstimator":
        attributes["estimator"] = snapshot(attributes.get("estimator"))
    return made
