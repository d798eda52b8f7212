"""Constraints on trees as options: in which direction a column may act, and with which others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

RULES = {"pairwise": "pairwise", "no-interactions": "no_interactions"}
SLOPES = {"+1": 1, "1": 1, "-1": -1}


def constraints(given: Mapping[str, Any]) -> dict[str, Any]:
    """Give the parameters of the estimator that the options stand for; none if none was given."""
    found: dict[str, Any] = {}
    if given["monotone"]:
        found["monotone_constraints"] = slopes(given["monotone"])
    if given["interact"]:
        found["interaction_constraints"] = interactions(given["interact"])
    return found


def slopes(asked: Sequence[str]) -> dict[str, int]:
    """Read the columns in which predictions may only rise or only fall.

    >>> slopes(["age=+1", "price=-1"])
    {'age': 1, 'price': -1}
    """
    found: dict[str, int] = {}
    for each in asked:
        name, _, slope = each.rpartition("=")
        if not name or slope not in SLOPES:
            raise click.UsageError(
                f"--monotone is {each!r}; write a column and +1 (may only rise) or -1 (may only "
                "fall), as in --monotone age=+1"
            )
        if found.setdefault(name, SLOPES[slope]) != SLOPES[slope]:
            raise click.UsageError(f"--monotone sets both +1 and -1 on {name!r}; give one of them")
    return found


def interactions(asked: Sequence[str]) -> str | list[list[str]]:
    """Read which columns may be used together on the way to a leaf.

    >>> interactions(["age,income", "place"]), interactions(["pairwise"])
    ([['age', 'income'], ['place']], 'pairwise')
    """
    if len(asked) == 1 and asked[0] in RULES:
        return RULES[asked[0]]
    rule = next((each for each in asked if each in RULES), None)
    if rule is not None:
        raise click.UsageError(f"--interact {rule} stands alone; leave the other --interact out")
    return [[name.strip() for name in each.split(",") if name.strip()] for each in asked]
