"""Kinds of columns: what is read is shown as it was written, and is the same from a model file."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacboost.sources.kinds.categories import Categories
from pacboost.sources.kinds.column import CellOrigin, InputColumn
from pacboost.sources.kinds.dates import PARTS, Dates, DayOrder
from pacboost.sources.kinds.kind import ColumnKind
from pacboost.sources.kinds.numbers import PlainNumbers
from pacboost.sources.kinds.order import KINDS, from_json, learned, to_json
from pacboost.sources.kinds.texts import Unused
from pacboost.sources.kinds.truths import Truths
from pacboost.sources.spelling import Spelling

EXAMPLES: list[ColumnKind] = [
    PlainNumbers(), PlainNumbers(decimal_comma=True), Truths(), Truths(("no", "yes")),
    Categories(("a", "b")),
    *(Dates(part, order, part == "hour") for part in PARTS for order in (None, *DayOrder)),
]  # fmt: skip


def column(*cells: Any, **options: Any) -> InputColumn:
    return InputColumn("x", np.array(cells, dtype=object), **options)


@pytest.mark.parametrize("kind", EXAMPLES, ids=repr)
def test_a_kind_is_the_same_from_a_file(kind: ColumnKind) -> None:
    assert from_json(json.loads(json.dumps(to_json(kind)))) == kind


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"kind": "tags"},
        {"kind": "numbers"},
        {"kind": "numbers", "decimal_comma": 1},
        {"kind": "truths", "words": ["oui", "non"]},
        {"kind": "date", "part": "era", "order": None, "times": False},
        {"kind": "date", "part": "", "order": "year/day", "times": False},
        {"kind": "date", "part": "", "order": None, "times": False, "more": 1},
        {"kind": "levels", "levels": ["b", "a"]},
    ],
)
def test_what_no_fit_wrote_is_refused(content: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        from_json(content)


@settings(deadline=None, max_examples=60)
@given(st.datetimes().map(lambda moment: moment.replace(second=0, microsecond=0)))
def test_a_date_is_shown_as_it_was_read(moment: Any) -> None:
    number = Dates().number(moment.isoformat(), Spelling())
    assert Dates().show(number) == moment.date().isoformat()


@pytest.mark.parametrize(
    ("cells", "kinds"),
    [
        (["1", "2.5", None], [PlainNumbers()]),
        (["1,5", "2"], [PlainNumbers(decimal_comma=True)]),
        (["yes", "No"], [Truths(("no", "yes"))]),
        (["True", "false"], [Truths()]),
        ([True, False], [Truths()]),
        ([1, 2.5, None], [PlainNumbers()]),
        (["2024-01-31"], [Dates(part) for part in ("", "year", "month", "weekday")]),
        (["red", "1"], [Categories(("1", "red"))]),
        ([f"name {k}" for k in range(60)], [Unused()]),
    ],
)
def test_the_first_kind_that_takes_all_cells_reads_them(
    cells: list[Any], kinds: list[ColumnKind]
) -> None:
    assert learned(column(*cells, by_type=True)) == kinds


def test_an_hour_is_a_column_if_there_are_times() -> None:
    kinds = learned(column("2024-01-31 08:30", "2024-02-01"))
    assert kinds == [Dates(part, times=True) for part in PARTS]
    assert [kind.name("due") for kind in kinds][-1] == "due: hour"
    assert {kind.source(kind.name("due")) for kind in kinds} == {"due"}


def test_the_user_may_say_which_number_is_the_day() -> None:
    cells = ("1/2/2024", "3/4/2024")
    assert learned(column(*cells)) is None  # refused where texts may not be categories
    doubts = [kind.doubt(column(*cells)) for kind in KINDS]
    assert [doubt for doubt in doubts if doubt] == [Dates.doubt(column(*cells))]
    for day_first, order in ((True, DayOrder.DAY_MONTH), (False, DayOrder.MONTH_DAY)):
        origin = CellOrigin(Spelling(day_first=day_first))
        kinds = learned(column(*cells, origin=origin))
        assert kinds is not None
        assert kinds[2] == Dates("month", order)
