"""The parameters that estimators of boosted trees share: what they mean, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pacboost.boosters.booster import Booster, check_shrinkage
from pacboost.boosters.choose import as_booster
from pacboost.errors import ParameterError, invalid
from pacboost.estimators.inputs.documented import guess
from pacboost.fit.rows import LabelledRows
from pacboost.fit.settings import PATIENCE_OF_SINGLE_COLUMNS, QUALITIES, STEPS_OF_BEST
from pacboost.learners.choose import as_learner
from pacboost.learners.tree_parameters import NAMED_INTERACTIONS
from pacboost.models.calibration import NAMES
from pacboost.numerics.checks import integer, meant, positive_whole, real_number
from pacboost.sources.table import Table

# Features that parameters name: by the names of their columns, or by their numbers.


def feature_number(parameter: str, feature: Any, names: Sequence[str] | None, columns: int) -> int:
    """Return the number of the feature that a parameter names.

    >>> feature_number("monotone_constraints", "age", ("id", "age"), 2)
    1
    """
    known = {name: j for j, name in enumerate(names or ())}
    column = known.get(feature, feature) if isinstance(feature, str) else feature
    if not isinstance(column, Integral) or not 0 <= int(column) < columns:
        raise ParameterError(
            f"{parameter} names {feature!r}, which is not a column of X{meant(feature, known)}; "
            "its columns are "
            f"{', '.join(known) if known else f'0 to {columns - 1}'}",
            parameter=parameter,
        )
    return int(column)


def interaction_sets(given: Any, table: Table) -> list[tuple[int, ...]] | str | None:
    """Read interaction constraints: the features, by number, that may be used together.

    >>> import numpy as np
    >>> from pacboost.sources.arrays import ArrayTable
    >>> from pacboost.sources.kinds.dates import Dates
    >>> from pacboost.sources.levels import Levels
    >>> names = ("id", "age", "bought: year")
    >>> table = ArrayTable(np.zeros((1, 3)), names, Levels({}, {2: Dates("year")}))
    >>> interaction_sets([["age", "bought"], [0]], table)
    [(1, 2), (0,)]
    """
    if given is None or (isinstance(given, str) and given in NAMED_INTERACTIONS):
        return given
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise _not_sets(given)
    sets = list(given)
    if not all(isinstance(own, Collection) and not isinstance(own, str) for own in sets):
        raise _not_sets(given)
    return [tuple(sorted({j for feature in own for j in _numbers(feature, table)})) for own in sets]


def _numbers(feature: Any, table: Table) -> list[int]:
    """Return the numbers of the columns that a feature became, such as the parts of a date."""
    names = table.names or ()
    sources = table.levels.sources(names)
    if isinstance(feature, str) and sources.count(feature) > (feature in names):
        return [j for j, source in enumerate(sources) if source == feature]
    return [feature_number("interaction_constraints", feature, table.names, table.n_columns)]


def _not_sets(given: Any) -> ParameterError:
    return ParameterError(
        f"interaction_constraints is {given!r}; it may be a list of sets of features (names or "
        "numbers), 'pairwise', 'no_interactions', or None",
        parameter="interaction_constraints",
    )


def rows_or_share(name: str, value: Any) -> Any:
    """Check a number of rows, or a share of them below 1.

    >>> rows_or_share("min_leaf_rows", 20), rows_or_share("min_leaf_rows", 0.1)
    (20, 0.1)
    """
    if real_number(name, value) > 1 and not float(value).is_integer():
        raise ParameterError(
            f"{name} is {value}; it may be a whole number of rows, or a share of them as a float "
            "below 1",
            parameter=name,
        )
    return value


LIMITS: dict[str, Callable[[str, Any], Any]] = {
    "max_leaves": integer,
    "max_depth": integer,
    "min_leaf_rows": rows_or_share,
    "max_features": real_number,
}


def most_rounds(estimator: Any, default: int, booster: Booster[Any]) -> int:
    """Read the maximum number of rounds."""
    rounds = estimator.n_estimators
    if rounds is None:
        return default
    return with_a_rule(positive_whole("n_estimators", rounds), booster)


def with_a_rule(rounds: int, booster: Booster[Any]) -> int:
    """Return one more round if the first is a constant, so that the vote has a rule."""
    return max(rounds, 2 if booster.prior else 1)


def begins_by_prior(estimator: Any) -> bool:
    """Whether the first round is a constant: a single rule after it would hardly change it."""
    return bool(estimator.n_estimators != 1 or estimator.warm_start)


def share_of_rows(estimator: Any, default: float = 1.0) -> float:
    """Read the share of rows that each tree is grown on."""
    if estimator.subsample is None:
        return default
    share = float(real_number("subsample", estimator.subsample))
    if not 0 < share <= 1:
        raise ParameterError(f"subsample is {share}; it must lie in (0, 1]", parameter="subsample")
    return share


def limits(estimator: Any) -> dict[str, Any]:
    """Return the limits of trees that are set."""
    return {
        name: read(name, getattr(estimator, name))
        for name, read in LIMITS.items()
        if getattr(estimator, name) is not None
    }


def tree_changes(estimator: Any, examples: LabelledRows) -> dict[str, Any]:
    """Read the parameters of trees that are set: limits, monotone and interaction constraints."""
    slopes = _slopes(estimator.monotone_constraints, examples)
    changes = limits(estimator) | ({"monotone": slopes} if slopes else {})
    sets = interaction_sets(estimator.interaction_constraints, examples.table)
    if pairs_wanted(estimator) is not None:
        if sets is not None:
            raise ParameterError(
                "interactions and interaction_constraints were both given: the first chooses which "
                "columns may interact, the second names them; give one of them",
                parameter="interactions",
            )
        sets = "no_interactions"
    return changes if sets is None else changes | {"interactions": sets}


def pairs_wanted(estimator: Any) -> int | None:
    """Read how many pairs of columns may interact; None if all may."""
    count = estimator.interactions
    if count is None:
        return None
    if is_truth(count) or not isinstance(count, Integral) or count < 0:
        raise invalid(
            "interactions",
            count,
            "may be a number of pairs of columns, 0 for columns one "
            "at a time, or None for trees of any columns",
        )
    if count and estimator.warm_start:
        raise ParameterError(
            "interactions chooses its pairs in one fit, so warm_start=True has nothing to go on "
            "from; set warm_start=False, or name the pairs as interaction_constraints",
            parameter="interactions",
        )
    return int(count)


def step_size(estimator: Any) -> Any:
    """Read the learning rate, in (0, 1]; None if it is not set."""
    rate = estimator.learning_rate
    if rate is not None:
        check_shrinkage("learning_rate", real_number("learning_rate", rate))
    return rate


def _slopes(given: Any, examples: LabelledRows) -> dict[int, int]:
    """Read monotone constraints: the features, by number, that may only rise or only fall."""
    if given is None:
        return {}
    table = examples.table
    if isinstance(given, Mapping):
        pairs = list(given.items())
    else:
        listed = np.asarray(given).tolist()
        if not isinstance(listed, list):
            raise invalid(
                "monotone_constraints",
                given,
                "may be a mapping from names or numbers of "
                "features to -1, 0 or +1, a sequence with one for every feature, or None",
            )
        pairs = list(enumerate(listed))
        if len(pairs) != table.n_columns:
            raise ParameterError(
                f"monotone_constraints holds {len(pairs)} numbers for {table.n_columns} features; "
                "give one for every feature, or a mapping from names or numbers",
                parameter="monotone_constraints",
            )
    slopes: dict[int, int] = {}
    for feature, slope in pairs:
        column = feature_number("monotone_constraints", feature, table.names, table.n_columns)
        if slope not in (-1, 0, 1):
            raise ParameterError(
                f"monotone_constraints sets {slope!r} on {feature!r}; it may be -1, 0 or +1",
                parameter="monotone_constraints",
            )
        if slope and column in table.levels:
            raise ParameterError(
                f"a monotone constraint is set on {feature!r}, a category: its levels have no "
                "order. Drop the constraint, or give the column as numbers",
                parameter="monotone_constraints",
            )
        if slope:
            slopes[column] = int(slope)
    return slopes


# What ``early_stopping`` means, for every estimator that has it.
#
# False never stops early: validation rows, if there are some, are measured and recorded. True, a
# number of rounds, "refit" and "auto" stop by validation rows that are given (``X_val``); without
# them, rows are held back.


def early_stopping_of(estimator: Any) -> bool | int | str:
    """Read ``early_stopping``: a truth, a number of rounds, "refit" or "auto"."""
    asked: bool | int | str = estimator.early_stopping
    if is_truth(asked):
        return bool(asked)
    if not isinstance(asked, str):
        return positive_whole("early_stopping", asked)
    if asked not in ("auto", "refit"):
        raise invalid(
            "early_stopping",
            asked,
            "may be True, False, a number of rounds without progress, 'refit' or 'auto'",
        )
    return asked


def calibration_of(estimator: Any) -> str | None:
    """Read ``calibrate``: the default of the class, None, or the name of a method."""
    asked, default = (getattr(holder, "calibrate", None) for holder in (estimator, type(estimator)))
    if asked in (None, default, *NAMES):
        return asked
    names = NAMES if default is None else (default, *NAMES)
    allowed = ", ".join(repr(name) for name in names)
    raise invalid("calibrate", asked, f"may be {allowed} or None")


def yes_or_no(name: str, value: object) -> bool:
    """Return a parameter that is true or false."""
    if not isinstance(value, bool | np.bool_):
        raise invalid(name, value, "must be True or False")
    return bool(value)


def check_quality(quality: str) -> str:
    """Return the quality; raise if its name is unknown."""
    if not isinstance(quality, str) or quality not in QUALITIES:
        raise invalid("quality", quality, f"may be {', '.join(map(repr, QUALITIES))}")
    return quality


def patience(estimator: Any, rounds: int) -> int | None:
    """Return how many rounds without progress end a run, None for never.

    ``rounds`` are those where ``early_stopping`` is no number.
    """
    asked = early_stopping_of(estimator)
    if not isinstance(asked, bool | str):
        return asked
    if not asked:
        return None
    steps = STEPS_OF_BEST if getattr(estimator, "quality", "auto") == "best" else 1
    small = getattr(estimator, "interactions", None) is not None
    return steps * (PATIENCE_OF_SINGLE_COLUMNS if small else rounds)


def is_truth(value: Any) -> bool:
    """Check whether a value is True or False, of Python or NumPy."""
    return isinstance(value, bool | np.bool_)


# Parameters of boosters and learners, reached through the estimator that holds them.
#
# Boosters and learners are frozen records, so a changed parameter means a new one. A name with
# changed parameters stays a name: what is not changed is chosen when the estimator sees the data.
# ``booster__learning_rate`` works in a grid search either way.


@dataclass(frozen=True)
class Named:
    """A booster or learner by name, with the parameters that are set."""

    name: str
    changes: tuple[tuple[str, Any], ...] = ()


def named(choice: Any) -> tuple[Any, dict[str, Any]]:
    """Return a name (or an object), and the parameters that were set together with it."""
    if isinstance(choice, Named):
        return choice.name, dict(choice.changes)
    return choice, {}


def nested(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator's booster and learner, if they are objects."""
    found: dict[str, Any] = {}
    for name in estimator._nested:
        inner = getattr(estimator, name)
        if isinstance(inner, Named):
            found |= {f"{name}__{field}": value for field, value in inner.changes}
        elif is_dataclass(inner) and not isinstance(inner, type | BaseEstimator):
            found |= {f"{name}__{f.name}": getattr(inner, f.name) for f in fields(inner)}
    return found


def set_nested(estimator: Any, params: dict[str, Any]) -> None:
    """Set parameters of an estimator's booster and learner."""
    inner: dict[str, dict[str, Any]] = {}
    for key, value in params.items():
        name, _, rest = key.partition("__")
        inner.setdefault(name, {})[rest] = value
    for name, changes in inner.items():
        setattr(estimator, name, _changed(name, getattr(estimator, name), changes))


def _changed(name: str, holder: Any, changes: dict[str, Any]) -> Any:
    if isinstance(holder, BaseEstimator):
        return holder.set_params(**changes)
    choice, earlier = named(holder)
    record = as_booster(choice) if name == "booster" else as_learner(choice, "learner")
    changed = with_fields(record, {**earlier, **changes}, name)
    if isinstance(choice, str):
        return Named(choice, tuple({**earlier, **changes}.items()))
    return changed


def with_fields(record: Any, changes: dict[str, Any], name: str) -> Any:
    """Return a copy of the record with some fields changed; raise if one is unknown."""
    known = [f.name for f in fields(record)]
    for field in changes:
        if field not in known:
            raise ParameterError(
                f"{type(record).__name__} has no parameter {field!r}, so {name} cannot take it; "
                f"it has {', '.join(known) if known else 'none'}{guess(field, known)}",
                parameter=name,
            )
    return replace(record, **changes)
