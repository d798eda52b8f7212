"""The parts of a page: what they say is what the numbers are, rounded to the safe side."""

import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pacboost
from pacboost.bounds import holdout
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.held_out import HeldOut
from pacboost.bounds.rounding import confidence
from pacboost.hypotheses.vote import Vote
from pacboost.models.model import Model, without_rounds
from pacboost.models.schema import Schema
from pacboost.numerics.percent import percent, percent_above
from pacboost.reports.page import calibration, confusion
from pacboost.reports.page.charts import Scale, round_numbers, tag
from pacboost.reports.page.document import line, page, sentence
from pacboost.reports.page.subject import TRAINED, Evidence, Numbers, Shown, Subject
from tests.examples import examples
from tests.grids import each_value

CERTIFICATE = holdout.certificate(30, 1000, 0.05)


def subject(*certificates: Certificate, classes: tuple[str, ...] = ("no", "yes")) -> Subject:
    model = Model(
        classes=np.array(classes), schema=Schema(2, ("a", "b")), vote=Vote([], np.empty(0)),
        ledger=without_rounds(""),
    )  # fmt: skip
    return Subject(model, "A method", certificates, "", np.array([0.75, 0.25]))


def judged(rows: int = 200, classes: int = 2, seed: int = 0) -> Evidence:
    rng = np.random.default_rng(seed)
    own, chances = rng.integers(classes, size=rows), rng.dirichlet(np.ones(classes), size=rows)
    said = chances.argmax(axis=1)
    stages = {k: np.clip(rng.normal(0.01 * k, 0.3, rows), -1, 1) for k in (1, 5, 20)}
    shown = (Shown(3, "yes", "no", -0.5, (("a", "1"),)),)
    return Evidence(own, said, own != said, chances, stages, shown)


MARKS = "<>&;\"'=/ !-\n\x00ab\u00e9\u2603"


@examples(50)
@given(st.floats(1e-6, 2.0))
def test_a_limit_is_never_said_to_be_smaller_than_it_is(value: float) -> None:
    said = float(percent_above(value).removesuffix(" %")) / 100
    assert said >= min(value, 1) * (1 - 1e-9)
    assert said <= min(1, 1.12 * value + 1e-8)


@examples(50)
@given(st.floats(0, 1))
def test_a_share_is_said_with_small_error(value: float) -> None:
    assert float(percent(value).removesuffix(" %")) / 100 == pytest.approx(
        value, rel=0.06, abs=1e-7
    )


@examples(50)
@given(st.text(MARKS), st.text(MARKS))
def test_text_and_attributes_cannot_break_out(text: str, attribute: str) -> None:
    element = tag("p", text, title=attribute)
    inside = element[len('<p title="') : -len("</p>")]
    title, _, body = inside.partition('">')
    assert "<" not in title + body
    assert '"' not in title


@examples(50)
@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 9))
def test_ticks_lie_between_the_ends_and_are_few(low: float, width: float, most: int) -> None:
    ticks = round_numbers(low, low + width, most)
    assert len(ticks) <= most + 1
    assert all(low - 1e-6 * width <= t <= low + width * (1 + 1e-6) for t in ticks)


@examples(50)
@given(st.lists(st.floats(-5, 900), min_size=2), st.sampled_from(["even", "bent"]))
def test_scales_keep_the_order_and_stay_inside(values: list[float], kind: str) -> None:
    places = Scale(-2, 700, 10, 90, kind, 3, 2).at(sorted(values))
    assert (np.diff(places) >= -1e-9).all()
    assert places.min() >= 10 - 1e-9
    assert places.max() <= 90 + 1e-9


def test_the_sentence_says_what_is_certified() -> None:
    said = sentence(subject(CERTIFICATE))
    assert said.strong == "4.1 %"
    assert confidence(0.001) == "99.9 %"


def test_the_sentence_claims_nothing_without_a_certificate() -> None:
    trained = replace(CERTIFICATE, delta=0.0, value=0.5, bound="training.product_bound")
    for known in (subject(), subject(trained)):
        said = sentence(known)
        assert "pacboost.certify(" in said.note
        assert len(said.strong) < 30  # it does not break, and fits on a phone
        assert "%" not in str(said)
        assert line(known, None) is None
    vacuous = holdout.certificate(5, 5, 0.05)
    assert "No error below 100 %" in str(sentence(subject(vacuous)))
    numbers = Numbers(np.array([1.0, 2.0]), np.array([1.5, 2.5]))
    assert "mean absolute error is 0.5." in str(sentence(subject(classes=()), numbers))


def test_the_line_has_a_mark_for_all_that_is_known() -> None:
    rows = judged()
    drawn = str(line(subject(CERTIFICATE), rows))
    assert "30 of 1,000" in drawn
    assert percent(rows.error) in drawn
    assert f"“{('no', 'yes')[rows.commonest[0]]}”" in drawn


def test_bars_of_margins_count_every_row_once() -> None:
    values = np.random.default_rng(1).uniform(-1, 1, 500)
    bars = calibration.histogram(values)
    assert bars.sum() == pytest.approx(1)
    assert bars[: calibration.BARS // 2].sum() == pytest.approx((values <= 0).mean())
    near = calibration.histogram(values, 0.1)
    assert near[0] == pytest.approx((values <= -0.095).mean())
    assert near[: calibration.BARS // 2].sum() == pytest.approx((values <= 0).mean())


def test_groups_of_confidence_hold_every_row_once() -> None:
    rng = np.random.default_rng(2)
    sure, right = rng.choice(np.array([0.5, 0.6, 0.9]), 300), rng.random(300) < 0.7
    parts = calibration.equal_parts(sure, right)
    assert sum(own for _, _, own in parts) == 300
    assert sum(hits for _, hits, _ in parts) == right.sum()
    assert [mean for mean, _, _ in parts] == pytest.approx([0.5, 0.6, 0.9])


@pytest.mark.parametrize("classes", [2, 5, 30])
def test_the_confusion_matrix_counts_every_row_once(classes: int) -> None:
    rows = judged(classes=classes)
    names = tuple(f"class {k}" for k in range(classes))
    section = confusion.confusion(subject(classes=names), rows)
    assert section is not None
    if classes <= confusion.MAX_TABLE_CLASSES:
        cells = re.findall(r"shade\d\"><b>(\d+)</b>", section.body)
        assert sum(map(int, cells)) == rows.rows
    else:
        cells = re.findall(r"<title>class \d+ → class \d+: (\d+) rows", section.body)
        assert sum(map(int, cells)) == rows.rows
        assert "The most common mistakes" in section.body


def test_the_same_page_twice_has_the_same_bytes() -> None:
    first, second = (page(subject(CERTIFICATE), judged()) for _ in range(2))
    assert first == second
    assert page(subject(CERTIFICATE), judged(seed=1)) != first


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


@each_value
@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("below", ["paper", "card", "faint"])
@pytest.mark.parametrize("above", ["ink", "soft", "blue", "red"])
def test_letters_stand_out_in_both_themes(above: str, below: str, theme: int) -> None:
    style = files("pacboost.reports.page").joinpath("style.css").read_text()
    colours = {
        name: pair
        for name, *pair in re.findall(r"--(\w+): light-dark\((#\w{6}), (#\w{6})\)", style)
    }
    light, dark = sorted((luminance(colours[name][theme]) for name in (above, below)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5  # what WCAG asks of text


def test_rows_that_were_trained_on_are_marked_wherever_they_give_numbers() -> None:
    rows = judged()
    marked = page(subject(CERTIFICATE), replace(rows, has_training_rows=True))
    assert marked.count(TRAINED) == 5  # margins, calibration, confusion, ranking, hardest rows
    assert TRAINED not in page(subject(CERTIFICATE), rows)
    numbers = Numbers(np.array([1.0, 2.0, 4.0]), np.array([1.5, 2.5, 3.5]), has_training_rows=True)
    assert TRAINED in page(subject(classes=()), numbers)


def test_held_out_rows_are_shown_without_data() -> None:
    labels = np.repeat(["no", "yes"], [150, 50])
    said = np.where(np.arange(200) % 10 == 0, "yes", labels)
    held_out = HeldOut.of(labels, said, np.array(["no", "yes"]))
    shown = page(replace(subject(CERTIFICATE), held_out=held_out))
    assert "185 of 200" in shown
    assert "always predicted" in shown
    assert '<section id="confusion"' in shown
    assert '<section id="confusion"' not in page(subject(CERTIFICATE))


def test_the_bound_on_the_training_error_is_in_the_details() -> None:
    trained = replace(
        CERTIFICATE, delta=0.0, of_what="training rows", bound="training.product_bound"
    )
    both = page(subject(CERTIFICATE, trained))
    for shown in (both, page(subject(trained))):
        assert "<summary>The bound on" in shown


GENERATOR = np.random.default_rng(0)
ROWS = GENERATOR.normal(size=(4000, 3))
Y = np.where(ROWS[:, 0] + 0.5 * GENERATOR.normal(size=4000) > 1, "sick", "well")
MODEL = pacboost.BoostClassifier(n_estimators=10, random_state=0).fit(ROWS[:1000], Y[:1000])


def part(path: Path, name: str = "promises") -> str:
    """Return a section of a page; nothing if the page has none of this name."""
    _, _, after = path.read_text(encoding="utf-8").partition(f'<section id="{name}"')
    return re.sub(r"\s+", " ", after.partition("</section>")[0])


def test_everything_certified_is_listed_with_its_rows(tmp_path: Path) -> None:
    sets = pacboost.sets(MODEL, ROWS[1000:2500], Y[1000:2500], coverage=0.9)
    careful = pacboost.choose_threshold(
        sets.estimator_, ROWS[1000:2500], Y[1000:2500], recall=0.9, positive="sick"
    )
    groups = np.where(ROWS[2500:, 1] > 0, "north", "south")
    found = pacboost.certify_all(
        careful, ROWS[2500:], Y[2500:], of=pacboost.measures.false_negative_rate("sick"), by=groups
    )
    said = part(careful.report(tmp_path / "page.html", ROWS[2500:], Y[2500:], certified=found))
    claims = [careful.certificate_, *careful.others_, sets.rule.certificate, *found]
    for own in claims:
        assert own.claim.replace("'", "&#x27;") in said
        assert f">{own.size:,}<" in said
    assert said.count("95 %") >= len(claims)
    assert f"Worst group: {found.worst_group}" in said
    assert "for all thresholds" in said
    assert "At most" not in (tmp_path / "page.html").read_text("utf-8").split("</h1>")[0][-400:]
    plain = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Nothing is proved" not in plain
    errors = np.mean(careful.predict(ROWS[2500:]) != Y[2500:])
    assert f"{100 * errors:.1f} %" in plain  # of the threshold, not of the plain vote


def test_answers_and_intervals_have_their_panels(tmp_path: Path) -> None:
    modest = pacboost.choose_threshold(MODEL, ROWS[1000:], Y[1000:], target_error=0.05)
    said = part(modest.report(tmp_path / "page.html"))
    assert "Answers that are given" in said
    numbers = pacboost.BoostRegressor(n_estimators=5, random_state=0).fit(
        ROWS[:1000], ROWS[:1000, 0]
    )
    assert part(numbers.report(tmp_path / "page.html")) == ""
    numbers = pacboost.intervals(numbers, ROWS[1000:], ROWS[1000:, 0]).estimator_
    said = part(numbers.report(tmp_path / "page.html"))
    assert "Prediction intervals" in said
    assert "wide on average" in said


RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 4))
SCORE = X[:, 0] + X[:, 1] * X[:, 2]
TWO, MANY = SCORE > 0, np.digitize(SCORE, [-1, 0, 1])
LARGER = RNG.normal(size=(5000, 4))
SEVERAL = np.stack([SCORE > 0, SCORE > 1], axis=1).astype(int)
SEEDED: dict[str, Any] = {"certify": "holdout", "random_state": 0}
FITS: dict[str, Any] = {
    "boosted trees": lambda: pacboost.BoostClassifier(n_estimators=5, **SEEDED).fit(X, TWO),
    "many classes": lambda: pacboost.BoostClassifier(n_estimators=5, **SEEDED).fit(X, MANY),
    "several labels": lambda: pacboost.AdaBoostClassifier(n_estimators=5, **SEEDED).fit(X, SEVERAL),
    "forest": lambda: pacboost.RandomForestClassifier(5, **SEEDED).fit(X, MANY),
    "committee": lambda: pacboost.theory.ThreeLearnerBoost("stump", **SEEDED).fit(X, TWO),
    "strong": lambda: pacboost.StrongClassifier(n_estimators=5, random_state=0).fit(X, TWO),
    "filtering": lambda: pacboost.FilterBoostClassifier(n_estimators=4, random_state=0).fit(
        LARGER, np.digitize(LARGER[:, 0] + LARGER[:, 1], [-1, 0, 1])
    ),
}


@pytest.mark.parametrize("kind", FITS)
def test_held_out_rows_give_curves_and_a_file_keeps_them(kind: str, tmp_path: Path) -> None:
    model = FITS[kind]()
    model.save(tmp_path / "m.pacb")
    loaded = pacboost.load(tmp_path / "m.pacb")
    path = loaded.report(tmp_path / "m.html")
    assert path.read_bytes() == model.report(tmp_path / "fresh.html").read_bytes()
    section = part(path, "ranking")
    rows = loaded.model_.held_out.rows
    assert f"{rows:,} held-out rows" in section
    assert "ROC curve" in section
    assert "Precision and recall" in section
    assert min(own.auc for own in loaded.model_.held_out.ranks.values()) > 0.5


def test_given_rows_give_the_curves_and_rows_of_the_fit_are_marked(tmp_path: Path) -> None:
    model = pacboost.BoostClassifier(n_estimators=5, random_state=0).fit(X[:300], TWO[:300])
    assert part(model.report(tmp_path / "m.html"), "ranking") == ""
    for rows, seen in ((slice(0, 300), True), (slice(300, 600), False)):
        section = part(model.report(tmp_path / "m.html", X[rows], TWO[rows]), "ranking")
        assert "300 rows given" in section
        assert (TRAINED in section) == seen


def test_columns_are_shown_as_what_they_are(tmp_path: Path) -> None:
    """True and false, days of the week and dates; the most important columns first."""
    days = pd.date_range("2024-01-01", periods=600)
    weekend = np.array([day.isoweekday() > 5 for day in days])
    fragile = RNG.random(600) < 0.5
    frame = pd.DataFrame({"noise": X[:, 0], "day": days, "fragile": fragile})
    model = pacboost.BoostClassifier(n_estimators=40, max_features=1.0, certify="holdout",
                                     random_state=0)  # fmt: skip
    model.fit(frame, weekend ^ (fragile & (X[:, 1] > 0)))
    section = part(model.report(tmp_path / "m.html", frame, weekend), "shapes")
    weekdays, truth = section.index("weekday"), section.index(">fragile<")
    assert weekdays < truth
    assert ">Saturday" in section[weekdays:truth]
    assert ">true<" in section[truth:]
    assert ">2024-" in section
    explanation = str(model.explain(frame.iloc[[5]]))
    assert " = Saturday" in explanation
    assert f"fragile = {fragile[5]}" in explanation


def test_columns_that_change_little_are_folded(tmp_path: Path) -> None:
    rows = RNG.normal(size=(2000, 2))
    target = 10 * np.sign(rows[:, 0]) + 0.1 * np.sign(rows[:, 1])
    model = pacboost.BoostRegressor(n_estimators=20, random_state=0).fit(rows, target)
    text = model.report(tmp_path / "m.html").read_text(encoding="utf-8")
    shown, found, folded = text.partition("<summary>1 more column changes little")
    assert found
    assert "What x0 adds" in shown
    assert "What x1 adds" not in shown
    assert "What x1 adds" in folded.partition("</details>")[0]
