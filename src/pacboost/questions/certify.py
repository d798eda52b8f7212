"""How wrong can it be? A certificate for any fitted classifier, from rows it has never seen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.bounds import holdout
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.class_shares import shares_certificate
from pacboost.bounds.counting import rows_for_a_half
from pacboost.bounds.family import Family
from pacboost.bounds.held_out import HeldOut
from pacboost.bounds.known_measures import MEASURES
from pacboost.bounds.measures.error import Error
from pacboost.bounds.quantity import Measure
from pacboost.errors import DataError, InputWarning, NotCertified, ParameterError, warn
from pacboost.models.answers import asked
from pacboost.numerics.checks import positive_whole, probability
from pacboost.numerics.percent import percent, percent_above
from pacboost.questions.answers import Answers, joined
from pacboost.questions.labelled_rows import by_column, groups_of_rows, rows_and_labels
from pacboost.questions.measuring import (
    NO_POOL,
    Measuring,
    Of,
    claims_of,
    pool_of,
    read_measures,
)
from pacboost.questions.mistakes import (
    check_answers,
    check_order,
    fresh_labels,
    judged,
    mistakes,
    predicts_numbers,
    refuse_other_labels,
)
from pacboost.questions.new_rows import NewRows
from pacboost.questions.scored_rows import RowsOfModel
from pacboost.samples.groups import numbered
from pacboost.shift import Shares, Shift
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.optional import is_collection

if TYPE_CHECKING:
    from pacboost.ledgers.ledger import Ledger
    from pacboost.questions.moved import LearnedRatio


@explains_input
def certify(
    model: object,
    X: Any = None,
    y: Any = None,
    *,
    of: str | Measure = "error",
    end: str | None = None,
    delta: float = 0.05,
    models: int = 1,
    groups: Any = None,
    ordered: bool = False,
    copies: str = "draws",
    shift: Shift | LearnedRatio | None = None,
) -> Certificate:
    """Bound the error on new examples, or another measure, by rows not used in fitting.

    ``certify_all`` certifies several measures, classes, groups or ends at once.

    Parameters
    ----------
    model : any fitted classifier with ``predict``, a regressor, or ``pacboost.answers``
        A pacboost model remembers a sketch of its training rows and refuses those, also within
        pipelines, searches and other wrappers, and after it was saved or pickled. Where nothing
        is remembered the claim begins with "If these rows are new".
    X, y : rows and labels that had no part in fitting or choosing the model
        y may be the name of a column of X, a data frame. Of Dask collections, a random choice of at
        most about 200,000 rows is read by the workers of the current client, if there is one, and
        fetched. Answers need no X.
    of : str or measure, default="error"
        What to certify: the name of a measure, such as "recall", "balanced_error" or "auc", or a
        measure of ``pacboost.measures``, which lists them all, with its options, such as
        ``measures.recall("fraud")``, ``measures.cost(matrix)`` or, of regressors,
        ``measures.large_errors(larger_than=50)``.
    end : "lower", "upper" or None, default=None
        None: the end that matters, lower for what should be high and upper for what should be low.
    delta : float, default=0.05
        The probability with which the claim, or any of several, may fail.
    models : int, default=1
        How many models are scored on these rows and may be kept; they share delta.
    groups : array of group labels, default=None
        Give it when rows of one group (a patient, a customer) depend on each other: then groups,
        not rows, are counted. Allowed for means over all rows, such as the error or costs.
    ordered : bool, default=False
        Set it when the rows come in the order of time and may depend on the past: the claim is then
        about the period watched. Allowed for error, top_k_error and large_errors.
    copies : "draws" or "distinct", default="draws"
        What equal rows are. "draws": each is an independent draw, and counts. "distinct": rows
        that are equal in every column are copies: one of them counts, and none if it equals a
        training row. Rows that are nearly equal, or belong together otherwise, need ``groups``.
    shift : value of ``pacboost.shift``, default=None
        How the world has moved since: ``shift.ratio(weights, bound=5)``,
        ``shift.new_rows(X_new)``, or, for the error, ``shift.shares({"late": 0.4, "early": 0.6})``.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.arange(400.0)[:, None]
    >>> y = X[:, 0] > 200
    >>> tree = DecisionTreeClassifier().fit(X[::2], y[::2])
    >>> certificate = certify(tree, X[1::2], y[1::2])
    >>> certificate.inputs["k"], round(certificate.value, 4)
    (1, 0.0235)
    >>> round(certify(tree, X[1::2], y[1::2], of="recall").value, 4)
    0.9534
    """
    measures = read_measures(of)
    is_plain_error = end is None and [*map(type, measures)] == [Error]
    if isinstance(shift, Shares):
        if not is_plain_error or groups is not None or ordered:
            raise ParameterError(
                "shift.shares certifies the error by independent rows; leave out of, end, groups "
                "and ordered",
                parameter="shift",
            )
        return _for_shares(model, X, y, shift, delta=delta, models=models, copies=copies)
    if not is_plain_error:
        family = certify_all(
            model, X, y, of=of, end=end, delta=delta, models=models, groups=groups,
            ordered=ordered, copies=copies, shift=shift,
        )  # fmt: skip
        # of several claims that share delta one could be shown alone, as if it had all of delta
        if len(family) > 1:
            raise ParameterError(
                f"these are {len(family)} claims, and certify makes one; name one measure, one "
                "class, as in measures.recall(positive), and one end, or call certify_all",
                parameter="of",
            )
        return family.certificates[0]
    model, X, y, groups, _ = _in_memory(model, X, y, measures, groups, None, ordered)
    share = probability("delta", delta) / positive_whole("models", models)
    wrong, predictions = judged(model, X, y)
    rows = _counted_rows(model, X, y, copies, shift, each=groups is None and not ordered)
    if groups is not None:
        numbers = numbered(np.asarray(groups), wrong.size)
        certificate = holdout.groups_certificate(_shares(wrong, numbers, rows.kept), share)
    else:
        k, n = int(wrong[rows.kept].sum()), rows.kept.size
        if ordered:
            certificate = holdout.ordered_certificate(k, n, share)
        else:
            sample = rows.sample("votes")
            certificate = holdout.certificate(k, n, delta, models, sample)
            if shift is None:
                _warn_if_unlike_training(model, certificate.value)
    certificate = rows.marked(certificate)
    return certificate if shift else _beside(certificate, model, y, rows.kept, predictions)


@explains_input
def certify_all(
    model: object,
    X: Any = None,
    y: Any = None,
    *,
    of: Of = "error",
    by: Any = None,
    end: str | None = None,
    delta: float = 0.05,
    models: int = 1,
    groups: Any = None,
    ordered: bool = False,
    copies: str = "draws",
    shift: Shift | LearnedRatio | None = None,
) -> Family:
    """Certify several claims by rows not used in fitting: they share delta and hold together.

    Parameters
    ----------
    of : str, measure, or list of these, default="error"
        What to certify, as in ``certify``. Measures of a class make a claim for the second of two
        classes or each of several, or for those that ``measures.recall(["a", "b"])`` names.
    by : str or array, default=None
        A column of X, or the group of every row: every group is certified. ``worst``,
        ``worst_group`` and ``gap`` of the family compare them; a gap needs ``end="both"``. Small
        groups are certified as one, "other", mixed as in these rows; a claim with too few rows is
        left out. Both are warned of.
    end : "lower", "upper", "both" or None, default=None
        None: the end that matters, lower for what should be high and upper for what should be low.
    others : as in ``certify``

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.arange(400.0)[:, None]
    >>> y = X[:, 0] > 200
    >>> tree = DecisionTreeClassifier().fit(X[::2], y[::2])
    >>> family = certify_all(tree, X[1::2], y[1::2], of=["recall", "precision"])
    >>> round(family["recall"].value, 4), round(family["precision"].value, 4)
    (0.9455, 0.9634)
    """
    measures, level = read_measures(of), probability("delta", delta)
    positive_whole("models", models)
    model, X, y, groups, by = _in_memory(model, X, y, measures, groups, by, ordered)
    X, named = by_column(model, X, by)
    labels, predictions = _answers(model, X, y, measures)
    new = _counted_rows(model, X, labels, copies, shift, each=groups is None and not ordered)
    # a tie counts as an error everywhere here, and predict has to name some class: it may name the
    # right one
    tied = np.zeros(labels.size, dtype=np.bool_)
    if hasattr(model, "ledger_") and not measures[0].of_numbers:
        # right only as ties have to end
        tied = np.asarray(mistakes(model, X, y) & (predictions == labels))
    rows = RowsOfModel(model, X, labels, predictions, tied)
    group = None if named is None else groups_of_rows(named, labels.size)
    names = [] if group is None else np.unique(group).tolist()
    claims, pool = claims_of(rows, measures, names, end), NO_POOL
    if group is not None:
        # by names and sizes of groups alone: a pool that was found by its mistakes would have to be
        # paid for
        pool = pool_of(group[new.kept], claims, level, models)
        group = np.where(np.isin(group, pool.groups), pool.name, group.astype(object))
        claims = claims_of(rows, measures, np.unique(group.astype(str)).tolist(), end)
    in_groups = "held_out" if groups is None else "groups"
    sample = new.sample("in_time" if ordered else in_groups)
    measuring = Measuring(rows, new.kept, level, models, sample, pool)
    if groups is not None:
        family = measuring.by_dependent_groups(claims, numbered(np.asarray(groups), labels.size))
    elif ordered:
        family = measuring.over_time(claims)
    else:
        family = measuring.family(claims, group)
    return Family(tuple(map(new.marked, family)), family.delta)


def _for_shares(
    model: object, X: Any, y: Any, shift: Shares, *, delta: float, models: int, copies: str
) -> Certificate:
    model, X, y, _, _ = _in_memory(model, X, y, read_measures("error"), None, None, False)
    labels = fresh_labels(y)
    names, sizes = np.unique(labels, return_counts=True)
    needed = rows_for_a_half(probability("delta", delta), names.size * models)
    # each class has its own bound: one without rows would have the bound 1, and decide the sum
    if sizes.min() < needed:
        raise NotCertified(
            f"there are {sizes.min()} rows of class {names[sizes.argmin()]!r}, and at least "
            f"{needed} of each class are needed. Collect more of these rows"
        )
    family = certify_all(model, X, y, by=labels, delta=delta, models=models, copies=copies)
    classes = [*labels.tolist(), *np.asarray(getattr(model, "classes_", ())).tolist()]
    certificate = shares_certificate(family, shift.shares, classes, models)
    return _beside(certificate, model, labels, np.arange(labels.size), asked(model, X))


def _beside(
    certificate: Certificate, model: object, y: ArrayLike, kept: NDArray[np.intp],
    predictions: NDArray[Any],
) -> Certificate:  # fmt: skip
    """Return a certificate with counts of labels and predictions, for its sentence."""
    labels = np.asarray(y)
    classes = getattr(model, "classes_", None)
    if classes is None:
        classes = np.array(list(dict.fromkeys(labels.tolist())))
    counted = HeldOut.of(labels[kept], predictions[kept], np.asarray(classes))
    names = tuple(map(str, np.asarray(classes).tolist()))
    return certificate if counted is None else replace(certificate, beside=(counted, names))


def _in_memory(
    model: object, X: Any, y: Any, of: list[Measure], groups: Any, by: Any, ordered: bool
) -> tuple[Any, Any, Any, Any, Any]:
    """Return model, rows, labels, groups and by; for answers, only the rows that count."""
    check_order("certify(model, X, y)", {"model": model}, X, y)
    if groups is not None and ordered:
        raise ParameterError(
            "groups and ordered were both given; give one of them", parameter="groups"
        )
    if by is not None and (groups is not None or ordered):
        raise ParameterError(
            "by cannot be combined with groups or ordered: within a group of by, no theorem here "
            "covers rows that depend on each other",
            parameter="by",
        )
    if isinstance(model, Answers) and model.missing is not None:
        numbers = any(measure.of_numbers for measure in of)
        (model,), X, y, groups, by = joined([model], X, y, groups, by, numbers=numbers)
        return model, X, y, groups, by
    if is_collection(X) and (ordered or groups is not None or not isinstance(by, str | None)):
        raise ParameterError(
            "a random sample of a Dask collection is fetched, so groups=, ordered= and arrays in "
            "by= cannot be used. Name a column in by=, or compute the rows first.",
            parameter="by",
        )
    return model, *rows_and_labels(X, y), groups, by


# A model seldom errs more on its training rows than on new ones: easy rows were chosen to certify.
TRAINING_LEVEL = 0.001
"""Chance at most of a training error that warns although certifying rows are like training rows."""


def _warn_if_unlike_training(model: object, bound: float) -> None:
    """Warn if the model errs far more often on its training rows than it may on new ones."""
    ledger: Ledger | None = getattr(model, "ledger_", None)
    if not ledger or ledger.weighted or ledger.several_labels or ledger.refills:
        return
    if ledger.potential == "none":  # members that were not boosted together
        return
    learned = ledger.rounds[-1].training_error
    k = min(ledger.rows, round(learned * ledger.rows))
    if holdout.clopper_pearson_lower(k, ledger.rows, TRAINING_LEVEL) > bound:
        warn(
            f"the model is wrong on {percent(learned)} of the rows it learned from, and on at most "
            f"{percent_above(bound)} of examples like these: these rows are unlike the training "
            "rows, so check how they were chosen",
            InputWarning,
        )


def _counted_rows(
    model: object,
    X: Any,
    y: ArrayLike,
    copies: str,
    shift: Shift | LearnedRatio | None,
    *,
    each: bool,
) -> NewRows:
    """Return the rows that certify: new ones, and after a shift those that are kept at random."""
    rows = NewRows.select([model], X, y, copies, each=each)
    if shift is None:
        return rows
    if isinstance(shift, Shares):
        raise ParameterError(
            "shift.shares is for certify, which bounds the error", parameter="shift"
        )
    from pacboost.questions.moved import filtered  # loads the kernels

    return filtered(rows, X, y, shift, each=each)


def _shares(
    wrong: NDArray[np.bool_], numbers: NDArray[np.intp], counted_rows: NDArray[np.intp]
) -> list[float]:
    _, place = np.unique(numbers[counted_rows], return_inverse=True)
    shares = np.bincount(place, weights=wrong[counted_rows]) / np.bincount(place)
    return [float(share) for share in shares]


def _answers(
    model: object, X: object, y: ArrayLike, of: list[Measure]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return labels and predictions; refuse measures that do not suit the model."""
    names = [measure.name for measure in of]
    numbers = [measure.name for measure in of if measure.of_numbers]
    regressor = predicts_numbers(model)
    if numbers and not regressor:
        raise NotCertified(
            f"the measure {numbers[0]!r} is for models that predict numbers, not classes"
        )
    if regressor and len(numbers) < len(names):
        other = next(name for name in names if name not in numbers)
        allowed = ", ".join(repr(name) for name, kind in MEASURES.items() if kind.of_numbers)
        raise NotCertified(
            f"the measure {other!r} is for classifiers, and this model predicts numbers; allowed "
            f"are {allowed}"
        )
    labels = fresh_labels(y)
    predictions = asked(model, X)
    if predictions.shape != labels.shape:
        raise DataError(
            f"predict returned shape {predictions.shape} for {labels.size} labels; it must return "
            "one prediction per row"
        )
    if not regressor:
        refuse_other_labels(getattr(model, "classes_", predictions), labels)
        check_answers(predictions, labels, getattr(model, "classes_", ()))
    return labels, predictions
