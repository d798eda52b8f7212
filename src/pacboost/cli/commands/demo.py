"""``pacboost demo``: boosting in half a minute."""

from __future__ import annotations

import io
import sys
import time

import click

from pacboost.cli import options
from pacboost.cli.output import make_console, print_json
from pacboost.numerics.percent import percent


@click.command(epilog=options.example("pacboost demo"))
@click.option("--rounds", default=50, show_default=True, help="Rounds on the real data set.")
@options.as_json
def command(rounds: int, as_json: bool) -> None:
    """Boost ten points in three rounds, then a real data set, and show the certificates."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split

    from pacboost.cli.commands.fit_memory import show
    from pacboost.estimators.boosting.adaboost import AdaBoostClassifier
    from pacboost.sources.arrays import ArrayTable
    from pacboost.sources.toy import ten_points

    console = make_console(file=io.StringIO()) if as_json else make_console()
    console.rule("ten points, three rules")
    X, y = ten_points()
    toy = AdaBoostClassifier(n_estimators=3)
    started = time.perf_counter()
    toy.fit(X, y)
    console.print(f"(code compiled after {time.perf_counter() - started:.1f} s)")
    show(toy, "", console)
    console.print(
        "Weighted errors 3/10, 3/14, 3/22: each rule is poor, but the vote makes no mistake.\n"
    )

    console.rule("breast cancer: is a tumour malignant?")
    data = load_breast_cancer()
    names = tuple(str(name) for name in data.feature_names)
    labels = data.target_names[data.target]
    train, test, train_labels, test_labels = train_test_split(
        data.data, labels, test_size=0.3, random_state=0
    )
    model = AdaBoostClassifier(n_estimators=rounds, verbose=sys.stderr.isatty())
    model.fit(ArrayTable(train, names), train_labels)
    show(model, "", console)
    error = 1 - model.score(ArrayTable(test, names), test_labels)
    console.print(
        f"On {len(test_labels)} test rows, {percent(error, 1)} of the predictions are wrong. "
        "The certificate above is about the training rows only."
    )
    if as_json:
        parts = {"ten points": toy, "breast cancer": model}
        certified = {name: part.certificate_.to_dict() for name, part in parts.items()}
        print_json({"certificates": certified, "test_rows": len(test_labels), "test_error": error})
