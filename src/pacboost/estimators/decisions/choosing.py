"""choose_threshold: a classifier whose recall, precision or false alarms are guaranteed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from pacboost.bounds.answering import check_threshold
from pacboost.bounds.decision import WISHES
from pacboost.bounds.family import Family
from pacboost.bounds.scored_rows import class_place
from pacboost.errors import DataTypeError, NotCertified, ParameterError
from pacboost.estimators.decisions.threshold import AnsweringClassifier, ThresholdClassifier
from pacboost.numerics.checks import meant, positive_whole, probability
from pacboost.questions.answering import certify_answers
from pacboost.questions.mistakes import fresh_labels
from pacboost.questions.new_rows import NewRows
from pacboost.questions.scored_rows import RowsOfModel
from pacboost.questions.thresholds import ThresholdChoice, read_wish
from pacboost.samples.same_example import check_copies
from pacboost.sources.explained_errors import explains_input

PROMISES = (*WISHES, "target_error", "abstain_below")


@overload
def choose_threshold(
    model: object, X: object = None, y: object = None, *, target_error: float, delta: float = 0.05,
    models: int = 1, copies: str = "draws",
) -> AnsweringClassifier: ...  # fmt: skip


@overload
def choose_threshold(
    model: object, X: object = None, y: object = None, *, abstain_below: float, delta: float = 0.05,
    models: int = 1, copies: str = "draws",
) -> AnsweringClassifier: ...  # fmt: skip


@overload
def choose_threshold(model: object) -> AnsweringClassifier: ...


@overload
def choose_threshold(
    model: object, X: object, y: object, *, recall: float | None = None,
    precision: float | None = None, false_positive_rate: float | None = None,
    cost: tuple[float, ...] | None = None, positive: object = None, delta: float = 0.05,
    models: int = 1, copies: str = "draws",
) -> ThresholdClassifier: ...  # fmt: skip


@explains_input
def choose_threshold(
    model: object,
    X: object = None,
    y: object = None,
    *,
    positive: object = None,
    delta: float = 0.05,
    models: int = 1,
    copies: str = "draws",
    **promise: object,
) -> Any:
    """Choose the threshold of a fitted classifier that certifies a requested rate.

    Parameters
    ----------
    model : any fitted classifier with ``predict_proba`` or ``decision_function``
    X, y : rows and labels that had no part in fitting or choosing the model
        Without them ``target_error`` goes by the rows that a fit with ``certify="holdout"`` has set
        apart, or by what came with a model file.
    **promise : exactly one of the next six
    recall : float, default=None
        At least this share of the positive class is found, at as few false alarms as that allows.
    precision : float, default=None
        At least this share of the positive predictions is right, with as many found as that allows.
    false_positive_rate : float, default=None
        At most this share of the other classes is predicted as positive.
    cost : pair of floats, default=None
        The cost of a missed example and that of a false alarm: the threshold with the smallest
        certified mean cost is chosen; to flag every row, or none, is a candidate, too.
    target_error : float, default=None
        At most this share of the answers is wrong: rows whose confidence is below the threshold get
        no answer. The result is then an ``AnsweringClassifier``, and there is no positive class.
    abstain_below : float, default=None
        Rows whose confidence is below this get no answer; the error among the others is certified,
        or without rows only they are answered.
    positive : label, default=None
        The class to be found; None: the second of two classes.
    delta : float, default=0.05
        The probability with which the guarantee may fail; what is certified on the other side
        (``others_``) and the bounds of the curve have the same probability, each of the three.
    models : int, default=1
        How many models are tried on these rows and may be kept; they share delta.
    copies : "draws" or "distinct", default="draws"
        What equal rows are, as in ``certify``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> generator = np.random.default_rng(0)
    >>> X = generator.normal(size=(3000, 1))
    >>> y = X[:, 0] + generator.normal(size=3000) > 1.5
    >>> model = LogisticRegression().fit(X[:1000], y[:1000])
    >>> careful = choose_threshold(model, X[1000:], y[1000:], recall=0.9)
    >>> round(careful.threshold_, 4), round(careful.certificate_.value, 4)
    (0.0779, 0.9003)
    """
    unknown = [name for name in promise if name not in PROMISES]
    if unknown:
        names = ("model", "X", "y", *PROMISES, "positive", "delta", "models", "copies")
        raise DataTypeError(
            f"choose_threshold has no argument {unknown[0]!r}{meant(unknown[0], names)}; it takes "
            f"{', '.join(names)}"
        )
    probability("delta", delta)
    positive_whole("models", models)
    if X is None:
        check_copies(copies)
        if (delta, models, copies) != (0.05, 1, "draws") or positive is not None:
            raise ParameterError(
                "delta, models, copies and positive need X and y; without rows the claim has the "
                "delta of the fit",
                parameter="delta",
            )
        return _known_answers(model, {k: wish for k, wish in promise.items() if wish is not None})
    name, wish = read_wish(promise)
    if name in ("target_error", "abstain_below"):
        if positive is not None:
            raise ParameterError(
                "positive was given with target_error, which is about all classes; leave it out",
                parameter="positive",
            )
        # every class has a confidence, so no class is positive
        options: dict[str, Any] = {name: wish, "delta": delta, "models": models, "copies": copies}
        answers = certify_answers(model, X, _labels(model, y), **options)
        return AnsweringClassifier.of(model, answers, X)
    labels = _labels(model, y)
    rows = RowsOfModel(model, X, labels, labels, np.zeros(labels.size, dtype=np.bool_))
    label = positive_class(rows.classes, positive)
    score = rows.score(label)
    new = NewRows.select([model], X, labels, copies)
    choice = ThresholdChoice.of(score[new.kept], (labels == label)[new.kept], label, delta)
    # the model that is kept was chosen by these rows, so that all that were tried share delta
    decision = replace(choice, sample=new.sample("held_out"), models=models).decide(name, wish)
    others = Family(tuple(map(new.marked, decision.others)), decision.others.delta)
    decision = replace(decision, certificate=new.marked(decision.certificate), others=others)
    return ThresholdClassifier.of(model, decision, X)


def _known_answers(model: object, wishes: dict[str, Any]) -> AnsweringClassifier:
    """Choose the confidence from the held-out rows of the fit."""
    if set(wishes) - {"target_error", "abstain_below"} or len(wishes) > 1:
        raise ParameterError(
            "without rows only target_error or abstain_below may be given, one of them; give X and "
            "y, rows that had no part in the fit",
            parameter="target_error",
        )
    if "abstain_below" in wishes:
        threshold = check_threshold("abstain_below", wishes["abstain_below"])
        _check_classifier(model)
        return AnsweringClassifier.uncertified(model, threshold)
    answering = getattr(getattr(model, "model_", None), "answering", None)
    if answering is None:
        raise NotCertified(
            "the model has no held-out rows; fit with certify='holdout', or give rows that had no "
            "part in the fit, and their labels"
        )
    if wishes:
        # the bounds for all ranks hold together, so the one that is chosen now does, too
        # (docs/proofs/selective.md)
        answering = answering.within(wishes["target_error"])
    elif answering.chosen is None:
        raise ParameterError(
            "no threshold was chosen before; give target_error, the error you allow among the "
            "answered, or abstain_below, the least confidence",
            parameter="target_error",
        )
    return AnsweringClassifier.of(model, answering)


def _labels(model: BaseEstimator, y: object) -> NDArray[Any]:
    _check_classifier(model)
    return fresh_labels(y, model.classes_)


def _check_classifier(model: object) -> None:
    if not hasattr(model, "classes_"):
        raise NotCertified(f"{type(model).__name__} has no classes, so no class has a threshold")
    if not hasattr(model, "predict_proba") and not hasattr(model, "decision_function"):
        raise NotCertified(
            f"{type(model).__name__} has neither predict_proba nor decision_function, so there is "
            "no score to put a threshold on"
        )


def positive_class(labels: NDArray[Any], positive: object) -> Any:
    """Return the positive class: ``positive``, or by default the second of two classes."""
    classes = labels.tolist()
    if positive is None and len(classes) != 2:
        raise NotCertified(
            f"there are {len(classes)} classes; name the one to be found as positive="
        )
    label = classes[1] if positive is None else positive
    return classes[class_place(labels, label)]
