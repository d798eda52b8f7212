"""What a notebook shows: the certificate beside the parameters, records as tables, all escaped."""

import html
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.models.answers import Answer, AnswerList
from pacboost.numerics import markup


def fitted(names: tuple[str, str] = ("no", "yes")) -> BoostClassifier:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 3))
    y = np.array(names)[(X[:, 0] > 0).astype(int)]
    model = BoostClassifier("adaboost", "stump", n_estimators=12, certify="holdout", random_state=0)
    model.fit(X, y)
    assert isinstance(model, BoostClassifier)
    return model


def test_an_estimator_shows_what_it_certifies() -> None:
    model = fitted()
    shown = model._repr_mimebundle_()["text/html"]
    assert "BoostClassifier" in shown
    assert shown.startswith(markup.bold(model.sentence_))
    assert "is wrong on" not in BoostClassifier()._repr_mimebundle_()["text/html"]


def test_a_comparison_has_no_codes_for_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich also uses colours in notebooks
    X = np.random.default_rng(1).normal(size=(80, 2))
    compared = pacboost.compare(X, X[:, 0] > 0, ["adaboost", "logit"], "stump", n_estimators=3)
    assert "\x1b" not in str(compared) + compared._repr_html_()


def test_answers_are_a_list_and_a_frame() -> None:
    rows = np.linspace(-2, 2, 90).reshape(30, 3)
    answers = pacboost.choose_threshold(fitted(), abstain_below=0.9).answer(rows)
    assert isinstance(answers, list)
    frame = answers.to_frame()
    assert frame.shape == (30, 3)
    assert list(frame["guess"]) == [answer.guess for answer in answers]
    shown = answers._repr_html_()
    assert "30 of 30 rows" in shown
    assert shown.count("<tr>") == 21
    few = AnswerList([Answer(None, 0.6, "<b>"), Answer("yes", 0.9, "yes")])._repr_html_()
    assert "1 of 2 rows are answered." in few
    assert "<td>no answer</td><td>0.6000</td><td>&lt;b&gt;</td>" in few


def results() -> list[tuple[Any, str]]:
    """Return an object of every kind that answers a question, and the sentence that it says."""
    generator = np.random.default_rng(2)
    X = generator.normal(size=(600, 3))
    y = np.where(X[:, 0] + generator.normal(size=600) > 0, "<yes>", "no")
    model = fitted(("no", "<yes>"))
    weak = BoostClassifier("adaboost", "stump", n_estimators=1, random_state=0).fit(X[:99], y[:99])
    numbers = pacboost.BoostRegressor(n_estimators=5, random_state=0).fit(X[:300], X[:300, 0])
    careful = pacboost.choose_threshold(model, X, y, recall=0.8)
    sure = pacboost.choose_threshold(model, X, y, target_error=0.4)
    sets, spans = pacboost.sets(model, X, y), pacboost.intervals(numbers, X[300:], X[300:, 0])
    watched = pacboost.Monitor(error=0.05).update_mistakes([0] * 99)
    shuffled = model.permutation_importances(X, y, random_state=0)
    compared = pacboost.compare_models(model, weak, X[100:], y[100:])
    diagnosis = pacboost.diagnose(X, y)
    return [
        *((own, own.sentence_) for own in (careful, sure, sets, spans)),
        *((own, own.sentence) for own in (shuffled, compared, diagnosis, careful.decision)),
        (watched, watched.status().sentences[0]),
    ]


def test_what_answers_a_question_is_shown_with_its_sentence_first() -> None:
    found = results()
    for shown, sentence in found:
        page = shown._repr_html_()
        assert page.startswith(markup.bold(sentence)), type(shown)
        assert "<yes>" not in page
    careful, _ = found[0]
    assert "sk-container" in careful._repr_mimebundle_()["text/html"]  # the diagram comes after it
    careful.threshold = 0.123  # of which nothing is certified
    assert "certified" not in careful._repr_html_().partition("<style")[0]
    importances = found[4][0]
    assert "shuffling 'x0'" in importances.sentence
    assert str(importances).splitlines()[1].startswith("x0  ")


def test_a_page_without_a_path_is_shown_where_it_is_asked_for(tmp_path: Path) -> None:
    model = fitted()
    watched = pacboost.Monitor(error=0.05).update_mistakes([0] * 99)
    for own in (model, watched):
        page = own.report()
        assert page.text == own.report(tmp_path / "page.html").read_text(encoding="utf-8")
        assert page._repr_html_().startswith("<iframe srcdoc=")
        assert html.escape(page.text) in page._repr_html_()
        assert len(repr(page)) < 200
        body = page.text.partition("</style>")[2].partition("<script>")[0]
        assert " %" not in re.sub(r'="[^"]*"', "", body)
        assert "\xa0%" in body


@pytest.mark.parametrize("made", [lambda m: m.model_.answering, lambda m: m.ledger_])
def test_strangers_words_are_escaped(made: object) -> None:
    model = fitted(("<script>alert(1)</script>", "b"))
    assert callable(made)
    assert "<script>alert" not in made(model)._repr_html_()


CELLS = (
    """
import warnings
warnings.simplefilter("ignore")
import numpy as np
import pacboost
X = np.random.default_rng(0).normal(size=(400, 3))
y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
""",
    "model = pacboost.StrongClassifier(0.3, n_estimators=9, n_jobs=1).fit(X, y); model",
    "model.report()",
    "model.certificate_",
    "pacboost.choose_threshold(model, abstain_below=0.9).answer(X)",
    "pacboost.compare(X, y, ['adaboost', 'logit'], 'stump', n_estimators=3, n_jobs=1)",
)
PLOT = "pacboost.plots.rounds(model, X, y)"


@pytest.fixture(scope="module")
def outputs() -> dict[str, Any]:
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    from nbformat.v4 import new_code_cell, new_notebook

    paths = [str(Path("src").resolve()), os.environ.get("PYTHONPATH", "")]
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in (*CELLS, PLOT)])
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute(
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    )
    return {cell.source: cell.outputs for cell in notebook.cells}


@pytest.mark.parametrize("cell", CELLS[1:])
def test_results_are_shown_as_html(cell: str, outputs: dict[str, Any]) -> None:
    (shown,) = (out["data"] for out in outputs[cell] if out.output_type == "execute_result")
    assert "<" in shown["text/html"]
    assert "\x1b" not in shown["text/html"] + shown["text/plain"]
    assert not [out for out in outputs[cell] if out.output_type == "error"]


def test_plots_are_shown(outputs: dict[str, Any]) -> None:
    pictures = [out for out in outputs[PLOT] if "image/png" in out.get("data", {})]
    assert len(pictures) == 1
