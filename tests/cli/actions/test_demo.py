"""``pacboost demo`` as a user runs it."""

from __future__ import annotations

from tests.cli.running import answer, well


def test_demo_shows_both_parts() -> None:
    shown = well("demo", "--rounds", "5")
    for part in ("0.4236", "0.6496", "0.9229", "0.5162", "malignant", "certificate", "test rows"):
        assert part in shown


def test_json_has_both_certificates() -> None:
    found = answer("demo", "--rounds", "5")
    assert round(found["certificates"]["ten points"]["value"], 4) == 0.5162
    assert found["certificates"]["breast cancer"]["delta"] == 0
    assert 0 < found["test_error"] < 0.2
