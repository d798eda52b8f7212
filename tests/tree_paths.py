"""Which features a tree asks for on the way to each leaf, and which may meet on one path."""

from typing import Any

from pacboost.hypotheses.tree import TreeRule


def paths(rule: TreeRule) -> list[set[int]]:
    """Return the features asked for on the way to every leaf."""
    actual: list[set[int]] = []

    def walk(node: int, asked: set[int]) -> None:
        if node < 0:
            actual.append(asked)
            return
        asked = asked | {int(rule.feature[node])}
        walk(int(rule.left[node]), asked)
        walk(int(rule.right[node]), asked)

    walk(0 if rule.feature.size else -1, set())
    return actual


def may_interact(asked: set[int], sets: Any, features: int) -> bool:
    """The definition: all in one set, where features without a set are a set together."""
    if isinstance(sets, str):
        return len(asked) <= {"no_interactions": 1, "pairwise": 2}[sets]
    rest = set(range(features)).difference(*sets)
    return any(asked <= set(allowed) for allowed in [*sets, rest])
