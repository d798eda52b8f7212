"""Code of certificates reads values: nothing is packed into text, or taken out of a sentence."""

import re
from dataclasses import replace

import pytest

import pacboost
from pacboost.bounds import holdout
from pacboost.bounds.measured import certificate
from tests.markdown import HOUSE

PACKED = re.compile(
    r'endswith\("_(lower|upper)"|\.partition\("(; |x|/)"|\.split\("(x|/|; |\|)"\)|for sign in name'
    r"|removeprefix\(str|json\.loads\(.*(details|inputs)|fullmatch\(.*(sample|assumption)"
    r"|\.(remove(pre|suf)fix|replace|r?partition|r?split|startswith|endswith|fullmatch)"
    r"\(f?\"([^\"]*([a-z,] | [a-z%])[^\"]*)\""
)
"""Sides in names, counts such as "40x0 20x2048" and "3/100", sentences that are taken apart."""
OTHERS = {
    "cli/commands/fit.py": "options are declared as click writes them, --yes/--no",
    "cli/group.py": "the same",
    "numerics/markup.py": "a character of HTML",
    "reports/text.py": "the recorded words of a rule are cut to fit a line",
}
"""Files that may take text apart, and why."""
ROOMS = (
    "boosters", "bounds", "cli", "estimators", "fit", "hypotheses", "learners", "ledgers",
    "models", "monitoring", "numerics", "questions", "reports", "samples", "theory", "training",
)  # fmt: skip


@pytest.mark.parametrize(
    "line",
    ['pairs = word.partition("x")', 'lower = certificate.bound.endswith("_lower")',
     'condition.removesuffix(" or missing")', 'size.removesuffix(" %")',
     'note = decision.sentence.removeprefix(str(head))', 'rule.split(", else ")[0]',
     'k, n = part.split("/")[0]', 'of = claim.replace(" is wrong on", "")'],
)  # fmt: skip
def test_a_packed_value_is_found(line: str) -> None:
    assert PACKED.search(line)


@pytest.mark.parametrize("room", ROOMS)
def test_no_value_is_packed_in_text(room: str) -> None:
    source = HOUSE / "src" / "pacboost"
    for path in (source / room).rglob("*.py"):
        if str(path.relative_to(source)) in OTHERS:
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            assert not PACKED.search(line), (path.name, line)


@pytest.mark.parametrize("seen", [-0.1, 1.1])
def test_what_no_rows_can_give_is_refused(seen: float) -> None:
    inputs = {"k": 3, "n": 100, "delta": 0.05, "claims": 1}
    made = certificate("error", "rates.rate_upper", inputs, size=100, seen=0.03)
    assert all(check.holds for check in pacboost.verify(made))
    forged = replace(made, details={"seen": seen})
    assert not all(check.holds for check in pacboost.verify(forged))


@pytest.mark.parametrize("near", [-0.1, 1.1])
def test_a_share_of_rows_outside_its_range_is_refused(near: float) -> None:
    forged = holdout.certificate(3, 100, 0.05).detailed({"near": near})
    assert not all(check.holds for check in pacboost.verify(forged))
    honest = holdout.certificate(3, 100, 0.05).detailed({"near": 0.1})
    assert all(check.holds for check in pacboost.verify(honest))


@pytest.mark.parametrize(
    "facts",
    [{}, {"rows": "fresh"}, {"rows": "votes", "auditors": 1}, {"rows": "votes", "order": "stream"},
     {"rows": "as_they_came"}, {"rows": "votes", "training": 3}, {"rows": "votes", "kept": 3},
     {"rows": "votes", "validation": 0}, {"rows": "votes", "validation": True},
     {"rows": "votes", "training": 9, "of": 3}, {"rows": "votes", "pairs": 60}],
)  # fmt: skip
def test_facts_that_no_way_to_certify_writes_are_refused(facts: dict[str, object]) -> None:
    forged = replace(holdout.certificate(3, 100, 0.05), sample=facts)
    assert not all(check.holds for check in pacboost.verify(forged))
