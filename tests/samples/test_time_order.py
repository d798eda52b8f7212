"""Which rows have times, where they are no table."""

from pacboost.samples.time_order import have_times


def test_records_that_are_no_table_tell_by_their_single_values() -> None:
    """Rows of a learner of one's own may hold lists, or names that other rows lack."""
    rows = [{"when": f"2024-01-{day:02}", "items": [day] * day} for day in range(1, 29)]
    assert have_times(rows)
    assert not have_times([{"items": row["items"]} for row in rows])
    assert not have_times([*[{"a": 1, "items": [1]}] * 30, {"b": 2}])
