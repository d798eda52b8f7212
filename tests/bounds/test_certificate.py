"""The certificate as an object: what it prints, and JSON both ways."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.bounds import holdout, occam, out_of_bag
from pacboost.bounds.certificate import Certificate

ONE = Certificate(
    value=0.1169,
    delta=0.05,
    theorem="R ≤ BinInv(k, n, δ)",
    reference="Clopper and Pearson 1934",
    sample="held-out rows",
    size=12_345,
    independent_of="every choice made in training",
    assumptions=("rows are independent", "nothing drifts"),
    valid_after_looking=False,
    inputs={"k": 3, "share": 0.123456789, "way": "random"},
    ledger_digest="0123456789abcdef0123",
    bound="holdout.clopper_pearson",
)


def test_print_starts_with_the_claim_and_says_everything() -> None:
    text = str(ONE)
    assert text.splitlines()[0] == ONE.claim
    for part in (
        "0.1169",
        "0.05",
        ONE.theorem,
        ONE.reference,
        "held-out rows",
        "12,345",
        ONE.independent_of,
        "rows are independent; nothing drifts",
        "no longer valid",
        "0.123457",
        "random",
        "0123456789abcdef",
    ):
        assert part in text
    assert "vacuous" not in text
    assert "0123456789abcdef0" not in text


def test_what_holds_always_says_so() -> None:
    text = str(replace(ONE, delta=0.0, assumptions=(), valid_after_looking=True))
    assert "0 (holds always)" in text
    assert "still valid" in text
    assert "nothing" in text


def test_without_a_ledger_there_is_no_digest() -> None:
    assert "ledger" in str(ONE)
    assert "ledger" not in str(replace(ONE, ledger_digest=""))


@pytest.mark.parametrize(("value", "vacuous"), [(0.999, False), (1.0, True), (1.2, True)])
def test_vacuous_is_called_vacuous(value: float, vacuous: bool) -> None:
    certificate = replace(ONE, value=value)
    assert certificate.vacuous is vacuous
    assert ("vacuous" in str(certificate)) is vacuous
    assert ("vacuous" in certificate._repr_html_()) is vacuous


def test_html_is_escaped() -> None:
    nasty = replace(ONE, theorem="a < b & c", sample="<script>", inputs={"<k>": "<b>"})
    page = nasty._repr_html_()
    assert "a &lt; b &amp; c" in page
    assert "<script>" not in page
    assert "<k>" not in page
    assert page.count("<tr>") == page.count("</tr>") == len(nasty._facts())


@given(st.floats(0, 1), st.text(), st.lists(st.text()), st.integers(0, 2**60))
def test_json_keeps_every_bit(value: float, text: str, assumptions: list[str], size: int) -> None:
    one = replace(ONE, value=value, sample=text, assumptions=tuple(assumptions), size=size)
    assert Certificate.from_json(one.to_json()) == one


def test_it_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        ONE.value = 0.0  # type: ignore[misc]


def test_json_refuses_what_is_no_number() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        replace(ONE, value=float("nan")).to_json()


def test_other_json_is_refused() -> None:
    with pytest.raises(KeyError):
        Certificate.from_json("{}")
    with pytest.raises(TypeError):
        Certificate.from_dict({**ONE.to_dict(), "surprise": 1})


def test_bounds_by_training_rows_say_that_a_hold_out_is_tighter() -> None:
    assert "tightness       usually larger" in str(occam.certificate(10, 1000, 100, 5, 2, 0.05))
    assert "tightness" not in str(holdout.certificate(3, 100, 0.05))
    voters = out_of_bag.vote_certificate(
        "first_order_bound", gibbs=0.1, n=900, divergence=1.0, delta=0.1
    )
    assert 'rows held out (certify="holdout")' in str(voters)
