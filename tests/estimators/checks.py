"""scikit-learn's checks as cases of a test: an estimator meets all of them once.

The first classifier and the first regressor of a list meet every check. Others of a class share
its constructor, the reading of input and its messages, so here they meet half of the checks of what
was learned, in turn. Other classes meet all of these, and every sixth of the rest, each class
beginning with another one. The whole grid is run by ``make slow``.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest
import sklearn
from sklearn.base import is_regressor
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

OF_WHAT_IS_LEARNED = {
    "check_classifiers_one_label",
    "check_classifiers_train",
    "check_fit2d_1sample",
    "check_methods_subset_invariance",
    "check_regressors_train",
    "check_sample_weight_equivalence_on_dense_data",
}

LABELS_CHANGE = sklearn.__version__.startswith("1.6.")
"""scikit-learn 1.6 shuffles rows, then names the two classes of a binary classifier by the first
row, so its weighted and its repeated rows may have other labels."""


def name_of(check: Any) -> str:
    return str(getattr(check, "func", check).__name__)


def is_binary(estimator: Any) -> bool:
    tags = get_tags(estimator).classifier_tags
    return tags is not None and not tags.multi_class


def checks_of(*estimators: Any, without: Callable[[Any, str], bool] | None = None) -> list[Any]:
    """List estimators and checks, but those ``without`` says are not for an estimator."""
    cases = []
    for place, estimator in enumerate(estimators):
        first = type(estimator) not in {type(one) for one in estimators[:place]}
        leads = all(is_regressor(one) != is_regressor(estimator) for one in estimators[:place])
        settings = re.sub(r" at 0x\w+", "", str(estimator))  # the same name in every process
        for number, (own, check) in enumerate(estimator_checks_generator(estimator)):
            name = name_of(check)
            if without is not None and without(estimator, name):
                continue
            if LABELS_CHANGE and "weight_equivalence" in name and is_binary(estimator):
                continue
            plain = not getattr(check, "keywords", None)  # not on mapped files or other types
            learned = name in OF_WHAT_IS_LEARNED
            every = (1 if first else 2) if learned else 6
            in_turn = plain and (first or learned) and (number + place) % every == 0
            marks = () if leads or in_turn else pytest.mark.slow
            cases.append(pytest.param(own, check, id=f"{settings}-{name}", marks=marks))
    return cases
