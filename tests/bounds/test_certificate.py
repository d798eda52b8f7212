"""The certificate as an object: what it prints, and JSON both ways."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.bounds import filtering, holdout, occam, out_of_bag, selective, wording
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.coverages import COVERAGES
from pacboost.bounds.known_measures import MEASURES
from pacboost.errors import ParameterError
from pacboost.theory import sample_sizes, sequence
from tests.grids import each_value

ONE = Certificate(
    value=0.1169,
    delta=0.05,
    theorem="R ≤ BinInv(k, n, δ)",
    reference="Clopper and Pearson 1934",
    sample={"rows": "held_out"},
    size=12_345,
    independent_of="every choice made in training",
    assumptions=("rows are independent", "nothing drifts"),
    valid_after_looking=False,
    inputs={"k": 3, "share": 0.123456789, "way": "random"},
    ledger_digest="0123456789abcdef0123",
    bound="holdout.clopper_pearson",
)


def test_print_starts_with_the_sentence_and_says_everything() -> None:
    text = str(ONE)
    assert text.splitlines()[0] == ONE.sentence
    for part in (
        "0.1169",
        "95 %",
        ONE.theorem,
        ONE.reference,
        "held-out rows",
        "12,345",
        ONE.independent_of,
        "rows are independent; nothing drifts",
        "not for choosing among models",
        "0.123457",
        "random",
        "0123456789abcdef",
    ):
        assert part in text
    assert "vacuous" not in text
    assert "0123456789abcdef0" not in text


@pytest.mark.parametrize(("value", "vacuous"), [(0.999, False), (1.0, True), (1.2, True)])
def test_vacuous_is_called_vacuous(value: float, vacuous: bool) -> None:
    certificate = replace(ONE, value=value)
    assert certificate.vacuous is vacuous
    assert ("vacuous" in str(certificate)) is vacuous
    assert ("vacuous" in certificate._repr_html_()) is vacuous


def test_html_is_escaped() -> None:
    nasty = replace(ONE, theorem="a < b & c", independent_of="<script>", inputs={"<k>": "<b>"})
    page = nasty._repr_html_()
    assert "a &lt; b &amp; c" in page
    assert "<script>" not in page
    assert "<k>" not in page
    assert page.count("<tr>") == page.count("</tr>") == len(nasty._facts())


@given(st.floats(0, 1), st.text(), st.lists(st.text()), st.integers(0, 2**60))
def test_json_keeps_every_bit(value: float, text: str, assumptions: list[str], size: int) -> None:
    one = replace(ONE, value=value, reference=text, assumptions=tuple(assumptions), size=size)
    assert Certificate.from_json(one.to_json()) == one


# The words of certificates: made from numbers, complete, and never saying more than is proved.

ONE_OF_WORDING = holdout.certificate(3, 100, 0.05)
CLAIMS = {
    "The classifier is wrong on at most 7.58 % of new examples.": ONE_OF_WORDING,
    "The classifier is wrong on at most 85.36 % of the examples of a new group, on average "
    "(every group counts once).": holdout.groups_certificate([0.0, 0.5], 0.05),
    "Of the new examples it answers (confidence 0.9 or more) the classifier is wrong on at most "
    "1.97 %.": selective.certificate(3, 600, 0.05, 20, 0.9),
    "The compressed vote is wrong on at most 10.14 % of new examples.": (
        occam.vote_certificate(0, 990, 1000, 4, 10, 3, 0.05)
    ),
    "The quantised vote is wrong on at most 15.98 % of new examples.": occam.certificate(
        1000, 10_000, 1260, 20, 3, 0.05
    ),
    "The tightest box is wrong on at most 0.78 % of new examples.": sample_sizes.box_certificate(
        1000, 0.05, 2
    ),
    "The majority is wrong on at most 28.45 % of new examples.": filtering.recursive_certificate(
        0.4, 2, 0.05, 10_000, "draws are independent"
    ),
    "The weighted vote is wrong on at most 36.06 % of new examples.": out_of_bag.vote_certificate(
        "tandem_bound", tandem=0.08, n=13_000, divergence=0.0, delta=0.05
    ),
    "The classifier is wrong on at most 0.70 % of new examples, whenever watching stopped.": (
        sequence.certificate(total=0, t=1000, delta=0.05)
    ),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_claims_follow_from_the_numbers(claim: str) -> None:
    assert CLAIMS[claim].claim == claim


QUANTITIES = {**MEASURES, **COVERAGES}
PLAIN_NUMBERS = {name for name, kind in QUANTITIES.items() if not kind.in_per_cent} | {wording.GAP}


@each_value
@pytest.mark.parametrize("of_what", [*wording.SUBJECTS, *QUANTITIES, wording.GAP])
@pytest.mark.parametrize("checked", [True, False])
def test_every_claim_is_a_sentence_with_its_number(of_what: str, checked: bool) -> None:
    made = replace(ONE_OF_WORDING, of_what=of_what, rows_checked=checked)
    for said in (wording.claim(made), wording.sentence(made), wording.sentence(made, 0.01)):
        text = str(said)
        assert text[0].isupper()
        assert text.endswith(".")
        assert said.number.endswith(" %") or of_what in PLAIN_NUMBERS
        assert said.number in text
        is_training = of_what in wording.OF_TRAINING
        assert text.lower().startswith(wording.NOTHING_YET) is is_training
        words = text.lower().removeprefix(wording.NOTHING_YET)
        assert words.startswith(wording.IF_NEW) is not checked
    assert "(99 % confidence" in str(wording.sentence(made, 0.01))


def test_what_a_claim_speaks_of_is_one_of_a_few() -> None:
    with pytest.raises(ParameterError, match="'new examples'"):
        replace(ONE_OF_WORDING, of_what="everything")
    with pytest.raises(ParameterError, match="numbers"):
        replace(ONE_OF_WORDING, details={"rounds": "ten"})


def test_a_stored_claim_is_not_read() -> None:
    content = {**ONE_OF_WORDING.to_dict(), "claim": "It never errs."}
    assert Certificate.from_dict(content) == ONE_OF_WORDING
