"""Draws from svmlight files, checked against scikit-learn's reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from pacboost.errors import FileError, PacboostError, ParameterError
from pacboost.sources.oracles import lines
from pacboost.sources.oracles.lines import SvmlightOracle
from tests.sources.oracles.passes import check_draws, of_size, sequence

N = 60


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two files, in blocks of few lines."""
    monkeypatch.setattr(lines, "BLOCK", 200)
    generator = np.random.default_rng(0)
    X = generator.normal(size=(N, 9)) * (generator.random((N, 9)) < 0.3)
    X[0, 8] = 1.0
    y = np.where(generator.random(N) < 0.5, 1, -1)
    dump_svmlight_file(X[:25], y[:25], str(tmp_path / "1.svm"), zero_based=False)
    dump_svmlight_file(X[25:], y[25:], str(tmp_path / "2.libsvm"), zero_based=False)
    return tmp_path


def test_passes(folder: Path) -> None:
    check_draws(lambda: SvmlightOracle(folder, 3), N)


def test_the_same_rows_as_scikit_learn_reads(folder: Path) -> None:
    rows, values, labels = sequence(SvmlightOracle(folder), of_size(7))
    order = np.argsort(rows)
    read = [load_svmlight_file(str(folder / n), n_features=9) for n in ("1.svm", "2.libsvm")]
    np.testing.assert_array_equal(values[order], sp.vstack([X for X, _ in read]).toarray())
    assert [labels[k] for k in order] == np.concatenate([y for _, y in read]).tolist()


def test_remarks_queries_and_empty_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.svm"
    path.write_text("# from 1999\n+1 qid:3 1:0.5\t3:-2e1 # good\n\n-1\n 0.5  2:7 \r\n")
    oracle = SvmlightOracle(path)
    rows, values, labels = sequence(oracle, of_size(9))
    order = np.argsort(rows)
    assert values[order].tolist() == [[0.5, 0, -20], [0, 0, 0], [0, 7, 0]]
    assert [labels[k] for k in order] == [1, -1, 0.5]


def test_features_may_count_from_0_and_be_more_than_there_are(tmp_path: Path) -> None:
    (tmp_path / "a.svm").write_text("1 0:5 1:6\n")
    oracle = SvmlightOracle(tmp_path, zero_based=True)
    assert oracle.draw(1).table.rows().tolist() == [[5, 6]]
    wide = SvmlightOracle(tmp_path, n_features=4, zero_based=True)
    assert wide.draw(1).table.rows().tolist() == [[5, 6, 0, 0]]


GOOD = "1 1:0.5 3:1\n" * 30


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ": there are no rows"),
        (GOOD + "1 2\n", ", line 31: '2' is not a feature; those are written as number:value"),
        (GOOD + "1 2 3:4:5\n", ", line 31: '2' is not a feature"),
        (GOOD + "1 2:3:4\n", ", line 31: '3:4' is not a number"),
        (GOOD + "1 a:3\n", ", line 31: 'a:3' is not a feature"),
        (GOOD + "1 1:x\n", ", line 31: 'x' is not a number"),
        (GOOD + "1 1:1_0\n", ", line 31: '1_0' is not a number"),
        (GOOD + "yes 1:1\n", ", line 31: 'yes' is not a number"),
        (GOOD + "1 3:1 2:1\n", ", line 31: feature 2 follows feature 3; numbers have to ascend"),
        (
            GOOD + "1 0:1\n",
            ", line 31: feature 0 follows feature 0; numbers have to ascend, from 1",
        ),
        (GOOD + "1 2:inf\n", ", line 31: column 1 holds inf; values have to be finite"),
        (GOOD + "nan 2:1\n", ", line 31: has no label"),
    ],
)
def test_what_is_said_of_broken_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    path = tmp_path / "bad.svm"
    path.write_text(text)
    for size in (2**23, 50):
        monkeypatch.setattr(lines, "BLOCK", size)
        with pytest.raises(PacboostError) as caught:
            sequence(SvmlightOracle(path), of_size(10))
        assert str(caught.value).startswith(f"{path}{said}")


@pytest.mark.parametrize("n_features", [0, 1.5])
def test_features_are_a_whole_number(folder: Path, n_features: Any) -> None:
    with pytest.raises(ParameterError, match="n_features is"):
        SvmlightOracle(folder, n_features=n_features)


def test_a_feature_beyond_those_named(folder: Path) -> None:
    with pytest.raises(FileError, match=r"feature \d follows .* from 1 to 3"):
        sequence(SvmlightOracle(folder, n_features=3), of_size(9))
