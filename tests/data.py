"""Real data sets, where they are at hand: PACBOOST_DATA names the folder."""

import os
from pathlib import Path

import pytest

from pacboost.sources.data_file import MISSING, DataFile
from pacboost.sources.file_rows import LabelledTable, read_csv

HOME = Path(os.environ.get("PACBOOST_DATA", Path(__file__).parents[2] / "shared" / "data"))


def real_data(name: str, target: str, *, categories: bool = False) -> LabelledTable:
    """Read a set, or skip the test and say why."""
    path = HOME / name / "data.csv.gz"
    if not path.exists():
        pytest.skip(f"needs the data set {name}; set PACBOOST_DATA to the folder that has it")
    own = MISSING - {"-"} if name == "credit_approval" else MISSING  # its labels are + and -
    return read_csv(DataFile(path, missing=own), target, categories=categories)
