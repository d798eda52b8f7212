"""SHAP values and trees in the forms that the shap package uses.

shap is not needed. Where it is installed, values come as its ``Explanation``, which all its plots
take; else as an object with the same attributes.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.hypotheses.tree import TreeRule
from pacboost.models.explain.attribution import reach
from pacboost.models.model import Model
from pacboost.samples.bins import upper_cuts
from pacboost.sources.table import Table

Doubles = NDArray[np.float64]
LEAST_SHARE = 1e-12
"""shap refuses nodes without weight."""


@dataclass(frozen=True, eq=False)
class ShapValues:
    """SHAP values with the attributes of ``shap.Explanation``; ``values[k]`` belongs to row k."""

    values: Doubles
    """(rows, features), with more than two classes (rows, features, classes)."""
    base_values: Doubles
    """(rows,) or (rows, classes): the score of an unknown row, the same in every line."""
    data: NDArray[Any]
    """(rows, features): the rows as numbers; a category is the number of its level."""
    display_data: NDArray[Any] | None
    """The rows with the names of levels, if there are categories."""
    feature_names: list[str]
    output_names: list[str] | None
    """What each output speaks for, with more than two classes."""

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> ShapValues:
        """Give some rows."""
        shown = None if self.display_data is None else self.display_data[rows]
        return ShapValues(
            self.values[rows], self.base_values[rows], self.data[rows], shown, self.feature_names,
            self.output_names,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"ShapValues(shape={self.values.shape}, feature_names={self.feature_names})"


def in_shap_form(model: Model, table: Table, shares: Doubles, expected: Any) -> Any:
    """Put shares and the expected score together, as shap's ``Explanation`` if it is installed."""
    rows = table.rows()
    names = [str(name) for name in model.classes] if shares.ndim == 3 else None
    base = np.broadcast_to(np.asarray(expected), (len(rows), *np.shape(expected))).copy()
    found = ShapValues(shares, base, rows, _shown(model, rows), list(model.column_names), names)
    try:
        shap = import_module("shap")
    except ImportError:
        return found
    return shap.Explanation(**{field.name: getattr(found, field.name) for field in fields(found)})


def _shown(model: Model, rows: NDArray[Any]) -> NDArray[Any] | None:
    """Put the names of levels into the place of their numbers; None for missing values there."""
    columns = model.levels.columns
    if not columns:
        return None
    shown = rows.astype(object)
    for j, levels in columns.items():
        known = ~np.isnan(rows[:, j])
        shown[:, j] = None
        shown[known, j] = [levels[int(k)] for k in rows[known, j]]
    return shown


@dataclass(frozen=True, eq=False)
class ShapTree:
    """One tree as arrays, splits first and then leaves; children of leaves are -1."""

    children_left: NDArray[np.int32]
    children_right: NDArray[np.int32]
    children_default: NDArray[np.int32]
    """Where missing values go."""
    features: NDArray[np.int32]
    thresholds: Doubles
    """A value of at most so much goes left."""
    values: Doubles
    """(nodes, outputs): what a leaf adds; of a split, the mean of its leaves."""
    node_sample_weight: Doubles
    """The weight of training rows in each node."""


def shap_trees(model: Model) -> dict[str, Any]:
    """Give the dictionary of trees that ``shap.TreeExplainer`` takes.

    Constants, such as the first round of LogitBoost, are in its ``base_offset``.
    """
    _refuse_others(model)
    offset = np.zeros(model.vote.outputs)
    trees = []
    for rule, vote in zip(model.vote.hypotheses, model.vote.votes, strict=True):
        assert isinstance(rule, TreeRule)
        if rule.feature.size == 0:
            offset += float(vote) * rule.values[0]
        else:
            trees.append(asdict(_shap_tree(rule, float(vote))))
    if not trees:
        raise DataError("the vote holds a constant only, so shap has no tree to explain")
    return {
        "internal_dtype": np.float64,
        "input_dtype": np.float64,
        "objective": None,
        "tree_output": "raw_value",
        "base_offset": float(offset[0]) if offset.size == 1 else offset,
        "trees": trees,
    }


def _refuse_others(model: Model) -> None:
    what = next((rule for rule in model.vote.hypotheses if not isinstance(rule, TreeRule)), None)
    if model.text is not None or what is not None:
        kind = "rules about words" if what is None else f"{type(what).__name__} rules"
        raise DataError(
            f"the vote holds {kind}, and shap's dictionary has trees on numbers only; "
            "shap_values(X) explains votes of trees, explain(x) any vote"
        )
    split = {j for rule in model.vote.hypotheses for j in _categories(rule)}
    if split:
        names = ", ".join(model.column_names[j] for j in sorted(split))
        raise DataError(
            f"trees split categories by sets of levels ({names}), and shap's dictionary has "
            "thresholds only. shap_values(X) explains such trees; or fit with these columns as "
            "numbers (categorical_features=None)"
        )


def _categories(rule: Any) -> set[int]:
    return set(rule.feature[rule.member >= 0].tolist())


def _shap_tree(rule: TreeRule, vote: float) -> ShapTree:
    splits, leaves = rule.feature.size, len(rule.values)
    none = np.full(leaves, -1, dtype=np.int32)

    def nodes(children: NDArray[np.int32]) -> NDArray[np.int32]:
        numbers = np.where(children >= 0, children, splits + ~children)
        return np.concatenate([numbers.astype(np.int32), none])

    left, right = nodes(rule.left), nodes(rule.right)
    missing = np.append(rule.missing_left, np.zeros(leaves, dtype=np.bool_))
    weight = np.maximum(reach(rule), LEAST_SHARE)
    values = np.concatenate([np.zeros((splits, rule.values.shape[1])), vote * rule.values])
    for t in range(splits - 1, -1, -1):
        both = [left[t], right[t]]
        first, second = weight[both] / (weight[left[t]] + weight[right[t]])
        values[t] = first * values[left[t]] + second * values[right[t]]
    return ShapTree(
        left,
        right,
        np.where(missing, left, right),
        np.concatenate([rule.feature, none]).astype(np.int32),
        np.concatenate([_thresholds(rule), np.zeros(leaves)]),
        values,
        weight * max(float(rule.cover[0]), LEAST_SHARE),
    )


def _thresholds(rule: TreeRule) -> Doubles:
    """Give the thresholds that doubles can be compared with; infinity divides off the missing."""
    found = np.full(rule.feature.size, np.inf)
    for t, (feature, cut) in enumerate(zip(rule.feature, rule.cut, strict=True)):
        own = rule.bins.thresholds[feature]
        if cut < own.size:
            found[t] = upper_cuts(own[cut : cut + 1])[0]
    return found
