"""Two classifiers on the same rows: the exact test, the difference of risks, and a broken twin."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost.bounds.exact_tests import difference_interval, sign_test_p
from pacboost.errors import InputWarning, NotCertified, ParameterError
from tests.bounds.coverage import check_coverage, check_rejected
from tests.runs import several_runs
from tests.worlds import noisy

CHANCES = (0.06, 0.03, 0.11, 0.8)
"""Only the first is wrong, only the second, both, neither: the difference is 0.03."""


def test_the_test_is_mcnemars_exact_one() -> None:
    for b, c in ((1, 9), (0, 0), (7, 7), (30, 12)):
        expected = 1.0 if b + c == 0 else binomtest(b, b + c).pvalue
        assert sign_test_p(b, c) == pytest.approx(expected, rel=1e-9)


def failures(runs: int, n: int, delta: float, unpaired: bool) -> int:
    generator = np.random.default_rng(n)
    failed = 0
    for b, c, _, _ in generator.multinomial(n, CHANCES, size=runs):
        if unpaired:  # the seen difference, give or take its standard deviation
            spread = np.sqrt(b + c) / n
            low, high = (b - c) / n - spread, (b - c) / n + spread
        else:
            low, high = difference_interval(int(b), int(c), n, delta)
        failed += not low <= 0.03 <= high
    return failed


@several_runs(60, 1000)
@pytest.mark.parametrize("n", [30, 400])
def test_coverage(n: int, runs: int) -> None:
    check_coverage(f"difference of risks, n={n}", failures(runs, n, 0.05, False), runs, 0.05)
    check_rejected(f"one standard deviation, n={n}", failures(1000, n, 0.05, True), 1000, 0.05)


def test_comparisons_have_differences() -> None:
    X, y = noisy(800, 4, seed=1)
    found = pacboost.compare(X, y, ["adaboost", "mada", "logit"], "stump", n_estimators=10)
    assert len(found.differences) == 3
    one = found.difference("adaboost", "logit")
    other = found.difference("logit", "adaboost")
    assert one.only_one_wrong == other.only_other_wrong
    assert one.pairs == 3
    seen = found["adaboost"].test_error, found["logit"].test_error
    assert seen[0] is not None
    assert seen[1] is not None
    assert one.interval[0] <= seen[0] - seen[1] <= one.interval[1]
    assert len(found.to_dict()["differences"]) == 3
    with pytest.raises(KeyError, match="same rows"):
        found.difference("adaboost", "lp")


def test_two_fitted_models() -> None:
    X, y = noisy(600, 4, seed=1)
    fresh, labels = noisy(900, 4, seed=2)
    models = DecisionTreeClassifier(max_depth=1).fit(X, y), LogisticRegression().fit(X, y)
    found = pacboost.compare_models(*models, fresh, labels, names=("stump", "logistic"))
    wrong = [model.predict(fresh) != labels for model in models]
    assert found.only_one_wrong == int((wrong[0] & ~wrong[1]).sum())
    assert found.interval[0] <= wrong[0].mean() - wrong[1].mean() <= found.interval[1]
    assert "'stump'" in found.sentence
    ours = pacboost.AdaBoostClassifier(n_estimators=9).fit(X, y)
    with pytest.raises(NotCertified, match="trained on"):
        pacboost.compare_models(ours, models[0], X, y)
    mixed = np.vstack([fresh, X[:3]]), np.concatenate([labels, y[:3]])
    with pytest.warns(InputWarning, match="3 of 903 rows"):
        once = pacboost.compare_models(ours, models[0], *mixed, copies="distinct")
    assert once.rows == len(fresh)
    with pytest.raises(ParameterError, match="delta"):
        pacboost.compare_models(*models, fresh, labels, delta=0)
