"""Read the real data sets as tables of numbers that every library can be given.

PACBOOST_DATA names the folder that has them; its index.csv says for each set which files it has
and which column is the label. A column of text becomes the numbers of its values in alphabetical
order, with -1 for a missing one, so that all libraries see one and the same table. A number that
is missing stays NaN.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HOME = Path(os.environ.get("PACBOOST_DATA", Path(__file__).parents[2] / "shared" / "data"))
Data = tuple[NDArray[np.float64], NDArray[np.int64]]

REPORTED = (
    "adult",
    "bank_additional",
    "magic_telescope",
    "electricity",
    "credit_default",
    "higgs_sample",
    "covtype_7",
    "covtype_2",
    "letter",
    "satimage",
    "pendigits",
)
"""The sets whose errors are published."""

CHOOSING = (
    "phoneme",
    "spambase",
    "churn",
    "twonorm",
    "ringnorm",
    "banana",
    "waveform5000",
    "splice",
    "nursery",
    "german_credit",
    "ijcnn1",
    "breast_cancer_wisconsin",
)
"""The sets on which defaults are chosen, so no published figure may come from them."""

WORDS = {
    "bank_additional": 'bank_additional (without "duration")',
    "electricity": "electricity (shuffled, not split by time)",
    "covtype_7": "covtype, 7 classes (60,000 rows)",
    "covtype_2": "covtype, class 2 or not (60,000 rows)",
}
"""What a reader must know to read a figure, where the name alone does not say it."""

COVTYPE_ROWS = 60_000
MISSING = ["", "?", "NA", "na", "NaN", "nan", "null"]
UNWANTED = {"bank_additional": ["duration"]}
"""How long a call took is known only after it, when its outcome is known too."""


def absent(name: str) -> str | None:
    """Return why a set cannot be read; empty if it can."""
    folder = HOME / _folder(name)
    if folder.is_dir() and (HOME / "index.csv").exists():
        return None
    return f"{name}: absent, skipped ({folder} is not there; PACBOOST_DATA names its folder)"


def read(name: str) -> Data:
    """The numbers and the class numbers 0, 1, ... of a set."""
    if name == "covtype_7":
        return _stratified(*read("covtype"), COVTYPE_ROWS)
    if name == "covtype_2":
        X, y = read("covtype_7")
        return X, (y == 1).astype(np.int64)  # class 2 is the second one
    row = _index(name)
    # Training rows first, as in the sources: random splits depend on the order of the rows.
    files = [HOME / name / file for file in sorted(row["files"].split(), reverse=True)]
    if any(".svm" in file.suffixes for file in files):
        return _svmlight(files)
    return _frames(files, row["label"], UNWANTED.get(name, []))


def _folder(name: str) -> str:
    return "covtype" if name.startswith("covtype") else name


def _index(name: str) -> dict[str, str]:
    import pandas as pd

    index = pd.read_csv(HOME / "index.csv", keep_default_na=False).set_index("name")
    return {str(key): str(value) for key, value in index.loc[name].items()}


def _frames(files: list[Path], label: str, unwanted: list[str]) -> Data:
    import pandas as pd

    parts = [
        pd.read_csv(
            file,
            sep="\t" if ".tsv" in file.suffixes else ",",
            keep_default_na=False,
            na_values=MISSING,
        )
        for file in files
    ]
    frame = pd.concat(parts, ignore_index=True)
    y = _numbers(frame[label])
    features = frame.drop(columns=[label, *unwanted])
    columns = [
        column if pd.api.types.is_numeric_dtype(column) else column.astype("category").cat.codes
        for _, column in features.items()
    ]
    X = np.column_stack([np.asarray(column, np.float64) for column in columns])
    return np.ascontiguousarray(X), y


def _svmlight(files: list[Path]) -> Data:
    from sklearn.datasets import load_svmlight_files

    loaded = load_svmlight_files([str(file) for file in files])
    X = np.vstack([part.toarray() for part in loaded[::2]])
    return np.ascontiguousarray(X), _numbers(np.concatenate(loaded[1::2]))


def _numbers(labels: Any) -> NDArray[np.int64]:
    return np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.int64)


def _stratified(X: NDArray[np.float64], y: NDArray[np.int64], rows: int) -> Data:
    from sklearn.model_selection import train_test_split

    rows_kept, _ = train_test_split(np.arange(len(y)), train_size=rows, stratify=y, random_state=0)
    return X[rows_kept], y[rows_kept]
