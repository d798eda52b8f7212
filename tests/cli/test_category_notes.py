"""Columns of a file that are read as categories, and were hardly meant as such, are noted."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from pacboost.cli.inputs.examples import read_examples
from pacboost.errors import InputWarning
from pacboost.sources.data_file import DataFile

ROWS = 60


def read(folder: Path, cells: list[str]) -> None:
    path = folder / "rows.csv"
    rows = (f'{k % 7},"{cell}",{"ab"[k % 2]}' for k, cell in enumerate(cells))
    path.write_text("\n".join(["size,price,label", *rows]), encoding="utf-8")
    read_examples(DataFile(path), "label")


@pytest.mark.parametrize("sign", ["${:.2f}", "{:.2f} €", "{}%", "1'{:03d}"])
def test_signs_beside_numbers_are_noted(tmp_path: Path, sign: str) -> None:
    with pytest.warns(InputWarning, match="'price' holds mostly numbers and is read as categories"):
        read(tmp_path, [sign.format(k) for k in range(ROWS)])


def test_a_word_among_numbers_is_noted_by_what_it_is(tmp_path: Path) -> None:
    with pytest.warns(InputWarning, match="because 'unknown' is no number"):
        read(tmp_path, [*map(str, range(ROWS)), "unknown"])


def test_names_that_differ_in_every_row_are_noted(tmp_path: Path) -> None:
    with pytest.warns(InputWarning, match="'price' holds another value in every row"):
        read(tmp_path, [f"C{k:04d}" for k in range(ROWS)])


@pytest.mark.parametrize("cell", ["1/{}/24", "{}-12-2024", "{} Dec 2024", "Dec {}, 2024"])
def test_dates_that_are_not_read_are_noted(tmp_path: Path, cell: str) -> None:
    with pytest.warns(InputWarning, match="'price' holds dates such as .* is read as categories"):
        read(tmp_path, [cell.format(1 + k % 12) for k in range(ROWS)])


def test_classes_that_differ_in_capitals_only_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("size,label\n1,yes\n2,Yes\n3,no\n")
    with pytest.warns(InputWarning, match="'Yes' and 'yes' in 'label' differ in small and capital"):
        read_examples(DataFile(path), "label")


@pytest.mark.parametrize("levels", [["red", "green", "blue"], ["1", "2", "3", "4 or more"]])
def test_categories_are_not_noted(tmp_path: Path, levels: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(tmp_path, [levels[k % len(levels)] for k in range(ROWS)])
