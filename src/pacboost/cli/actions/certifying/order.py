"""Are the rows of a file in an order by chance? Asked before they certify anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pacboost.cli.output import working
from pacboost.questions.row_order import RowOrder, watch_order


def order_of_rows(model: Any, X: Any, y: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Warn, or refuse, as --order says; give what JSON adds.

    Rows of groups, and rows that are said to be in the order of time, may have any order.
    """
    free = given.get("groups") is not None or given.get("ordered", False)
    with working("testing the order of the rows"):
        found: RowOrder | None = watch_order("any" if free else given["order"], X, y, model)
    return {} if found is None else {"order": found.to_dict()}
