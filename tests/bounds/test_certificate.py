"""The certificate as an object: what it prints, and JSON both ways."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.bounds import holdout, occam, out_of_bag
from pacboost.bounds.certificate import Certificate
from pacboost.theory import finite, sample_sizes

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

MADE = [
    holdout.certificate(3, 100, 0.05),
    holdout.groups_certificate([0.0, 0.5], 0.05),
    holdout.ordered_certificate(1, 20, 0.05),
    occam.certificate(10, 1000, 100, 5, 2, 0.05),
    finite.certificate(0, 100, 0.05, 3.0),
    sample_sizes.box_certificate(100, 0.05, 2, 0),
]


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


@pytest.mark.parametrize("certificate", [ONE, *MADE])
def test_json_both_ways(certificate: Certificate) -> None:
    again = Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert isinstance(again.assumptions, tuple)
    assert Certificate.from_dict(json.loads(json.dumps(certificate.to_dict()))) == certificate


@given(st.floats(0, 1), st.text(), st.lists(st.text()), st.integers(0, 2**60))
def test_json_keeps_every_bit(value: float, text: str, assumptions: list[str], size: int) -> None:
    one = replace(ONE, value=value, sample=text, assumptions=tuple(assumptions), size=size)
    assert Certificate.from_json(one.to_json()) == one


@pytest.mark.parametrize("certificate", MADE)
def test_every_maker_says_delta_once(certificate: Certificate) -> None:
    assert certificate.inputs["delta"] == certificate.delta
    module, function = certificate.bound.split(".")
    rooms = {
        "holdout": holdout,
        "dependent": holdout,
        "occam": occam,
        "finite": finite,
        "rectangle": sample_sizes,
        "compression": occam,
    }
    assert getattr(rooms[module], function)(**certificate.inputs) == certificate.value


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
    said = {made.bound: "tightness       usually larger" in str(made) for made in MADE}
    assert [bound for bound, loose in said.items() if loose] == ["occam.occam_bound"]
    voters = out_of_bag.vote_certificate(
        "first_order_bound", gibbs=0.1, n=900, divergence=1.0, delta=0.1
    )
    assert 'rows held out (certify="holdout")' in str(voters)
