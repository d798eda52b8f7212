"""Create a booster from the choice of a user: a name, a class path, or a function."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from pacboost.boosters.booster import Booster
from pacboost.boosters.loss import Loss
from pacboost.boosters.objective import CustomLoss, CustomObjective
from pacboost.boosters.registry import BOOSTERS, LOSS_NAMES, LOSSES, loss_names
from pacboost.errors import ParameterError, shown
from pacboost.numerics.checks import meant

MISSING_FUNCTION = (
    "this model was trained with a function as objective, and model files hold no functions; "
    "to fit again, set {} to that function"
)


def as_loss(choice: Any) -> Loss[Any]:
    """Return the regression booster for a loss, given by its name or as a function."""
    # a class is callable, too, but was meant as a name: it is refused below
    if callable(choice) and not isinstance(choice, type):
        return CustomLoss(choice)
    if isinstance(choice, str) and choice == CustomLoss.name:
        raise ParameterError(MISSING_FUNCTION.format("loss"), parameter="loss")
    name = LOSS_NAMES.get(choice, choice) if isinstance(choice, str) else ""
    if name in LOSSES:
        return LOSSES[name]()
    raise _unknown("loss", choice, loss_names(), "or a function")


def as_booster(choice: Any) -> Booster[Any]:
    """Return the booster for a name, ``"module:Class"``, a booster, or a function."""
    if isinstance(choice, Booster):
        return choice
    if callable(choice) and not isinstance(choice, type):
        return CustomObjective(choice)
    if isinstance(choice, str) and choice == CustomObjective.name:
        raise ParameterError(MISSING_FUNCTION.format("booster"), parameter="booster")
    if isinstance(choice, str) and ":" in choice:
        return _imported(choice)()
    if isinstance(choice, str) and choice in BOOSTERS:
        return BOOSTERS[choice]()
    others = "'module:Class' for your class, a booster (an object, not a class), or a function"
    raise _unknown("booster", choice, BOOSTERS, others)


def _unknown(parameter: str, choice: object, names: Iterable[str], others: str) -> ParameterError:
    return ParameterError(
        f"{parameter} is {shown(choice)}{meant(shown(choice), names)}; it may be "
        f"{', '.join(map(repr, names))}, {others} of (y, score) that returns gradient and "
        "curvature",
        parameter=parameter,
    )


def _imported(path: str) -> type[Booster[Any]]:
    module, _, name = path.partition(":")
    try:
        kind = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as problem:
        raise ParameterError(
            f"booster is {path!r}, which cannot be imported: {problem}. It must be 'module:Class', "
            "and Python must find the module: install it, or name its folder in PYTHONPATH",
            parameter="booster",
        ) from problem
    if not (isinstance(kind, type) and issubclass(kind, Booster)):
        refusal = f"booster is {path!r}, which is not a subclass of pacboost's Booster"
        raise ParameterError(refusal, parameter="booster")
    return kind
