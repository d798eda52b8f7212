"""How wrong can it be? A certificate for any fitted classifier, from rows it has never seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.bounds import holdout, shift
from pacboost.bounds.answering import Answering, at_thresholds, by_ranks
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.family import Family
from pacboost.bounds.wording import MEASURES
from pacboost.errors import DataError, NotCertified, ParameterError
from pacboost.models.answers import asked, confidence
from pacboost.numerics.checks import meant, positive_whole, probability
from pacboost.questions.answers import as_models
from pacboost.questions.measuring import Measuring, claims_of, group_names, read_measures
from pacboost.questions.mistakes import fresh_labels, mistakes, refuse_other_labels, rows_and_labels
from pacboost.questions.moved import filtered
from pacboost.questions.new_rows import UNCHECKED, NewRows
from pacboost.questions.scored_rows import ScoredRows
from pacboost.samples.groups import numbered
from pacboost.sources.dataframe import is_frame, open_frame
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.oracles.dask_collections import is_collection


def by_column(model: Any, X: Any, by: Any, name: str = "by") -> tuple[Any, Any]:
    """Return rows as the model reads them, and the groups: a column that is named, or values."""
    if not isinstance(by, str):
        return X, by
    if not is_frame(X):
        raise ParameterError(
            f"{name} is {by!r}, which names a column, and X is no data frame; give an array with "
            "a value for every row",
            parameter=name,
        )
    frame = open_frame(X)
    if by not in frame.columns:
        raise ParameterError(
            f"{name} is {by!r}{meant(by, frame.columns)}; the columns are "
            f"{', '.join(map(repr, frame.columns))}",
            parameter=name,
        )
    features = getattr(model, "feature_names_in_", None)
    if features is not None and by not in [str(name) for name in features]:
        X = frame.drop(by).to_native()
    return X, frame[by].to_list()


def groups_of_rows(by: Any, rows: int) -> NDArray[Any]:
    """Return the name of the group of every row."""
    groups = np.asarray(by, dtype=object) if isinstance(by, list) else np.asarray(by)
    if groups.shape != (rows,):
        raise DataError(f"by has shape {groups.shape}; one group for each of {rows} rows is needed")
    return group_names(groups)


def _answers(model: Any, X: Any, y: Any, names: list[str]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return labels and predictions; refuse measures that the model has no answers for."""
    numbers = [name for name in names if MEASURES[name].numbers]
    regressor = not _is_classifier(model)
    if numbers and not regressor:
        raise NotCertified(
            f"the measure {numbers[0]!r} is for models that predict numbers, not classes"
        )
    if regressor and len(numbers) < len(names):
        other = next(name for name in names if name not in numbers)
        allowed = ", ".join(repr(name) for name, kind in MEASURES.items() if kind.numbers)
        raise NotCertified(
            f"the measure {other!r} is for classifiers, and this model predicts numbers; allowed "
            f"are {allowed}"
        )
    labels = fresh_labels(y)
    predictions = asked(model, X)
    if predictions.shape != labels.shape:
        raise DataError(f"predict gave shape {predictions.shape} for {labels.size} labels")
    if not regressor:
        refuse_other_labels(getattr(model, "classes_", predictions), labels)
    return labels, predictions


def _is_classifier(model: Any) -> bool:
    if hasattr(model, "classes_") or hasattr(model, "predict_proba"):
        return True
    if hasattr(model, "ledger_"):  # of ours: one that predicts numbers has no mistakes
        return hasattr(model, "mistakes")
    tags = getattr(model, "__sklearn_tags__", lambda: None)()
    kinds = getattr(model, "_estimator_type", ""), getattr(tags, "estimator_type", None)
    return "regressor" not in kinds


__all__ = ["UNCHECKED", "certify", "certify_all", "mistakes"]


@explains_input
def certify(
    model: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    target: str | None = None,
    of: Any = "error",
    positive: Any = None,
    end: str | None = None,
    top_k: int = 5,
    p_min: float = 0.001,
    clip: float | None = None,
    larger_than: float | None = None,
    delta: float = 0.05,
    models: int = 1,
    groups: Any = None,
    ordered: bool = False,
    copies: str = "draws",
    shares: Any = None,
    said: Any = None,
    scores: Any = None,
    missing: str = "abstain",
    ratio: Any = None,
    ratio_bound: float | None = None,
    new_rows: Any = None,
    seed: int = 0,
) -> Certificate:
    """Bound the error on new examples, or another measure, by rows not used in fitting.

    ``certify_all`` certifies several measures, classes, groups or ends at once.

    Parameters
    ----------
    model : any fitted classifier with ``predict``; a regressor for "absolute_error" and
        "large_errors"
        A pacboost model remembers a sketch of its training rows and refuses those, also within
        pipelines, searches and other wrappers, and after it was saved or pickled. Where nothing
        is remembered the claim begins with "If these rows are new".
    X, y : rows and labels that had no part in fitting or choosing the model
        Of Dask collections, a random choice of at most about 200,000 rows is read by the workers
        of the current client, if there is one, and fetched.
    target : str, default=None
        The column of X that holds the labels if y is None. X is then a data frame, also of Dask.
    of : str or matrix of costs, default="error"
        What to certify: "error", "recall", "precision", "false_positive_rate",
        "false_negative_rate", "f1", "jaccard", "balanced_error", "top_k_error", "auc", "brier",
        "log_loss"; a matrix of costs (true classes down, predictions across) or a mapping
        {(true, said): cost}; of regressors "absolute_error" and "large_errors".
    positive : label, default=None
        The class that recall, precision and the like speak of. None: the second of two classes.
    end : "lower", "upper" or None, default=None
        None: the end that matters, lower for what should be high and upper for what should be low.
    top_k : int, default=5
        For "top_k_error": how many of the most probable classes count.
    p_min : float, default=0.001
        For "log_loss": smaller probabilities count as this, because the loss is unbounded.
    clip : float, default=None
        For "absolute_error": larger errors count as this; to be stated beforehand.
    larger_than : float, default=None
        For "large_errors": the share of examples whose error is larger than this.
    delta : float, default=0.05
        The probability with which the claim, or any of several, may fail.
    models : int, default=1
        How many models are scored on these rows and may be kept: each pays its share of delta.
    groups : array of group labels, default=None
        Give it when rows of one group (a patient, a customer) depend on each other: then groups,
        not rows, are counted. Allowed for means over rows: error, top_k_error, brier, log_loss,
        costs, absolute_error, large_errors.
    ordered : bool, default=False
        Set it when the rows come in the order of time and may depend on the past: the claim is then
        about the period watched. Allowed for error, top_k_error and large_errors.
    copies : "draws" or "distinct", default="draws"
        What equal rows are. "draws": each is an independent draw, and counts. "distinct": rows
        that are equal in every column are copies: one of them counts, and none if it equals a
        training row. Rows that are nearly equal, or belong together otherwise, need ``groups``.
    shares : mapping or "any", default=None
        New examples have other shares of the classes, and within each class are like these: of
        every class its share, or its least and largest as a pair; "any" for whatever they are. To
        be known beforehand, or from other rows; the error is certified.
    said : array or str, default=None
        In the place of the model: the answers that somebody has given for these rows, or the
        column of X that holds them. X may then be left out, but copies of rows are found by the
        columns of X alone. The claim begins with "If these rows are new".
    scores : array or str, default=None
        With ``said``, for "auc" and the like: the larger, the more likely a row is of the class
        ``positive``.
    missing : "abstain" or "wrong", default="abstain"
        With ``said``, what None, NaN or an empty text is. "abstain": the claim speaks of the
        answers that are given. "wrong": it counts as a mistake. Both say how many are missing.
    ratio : array, or function of X, default=None
        The world has moved: how much more likely each row is there than here, up to a factor. Coins
        keep a row with the chance ratio/ratio_bound, and rows that are kept certify.
    ratio_bound : float, default=None
        The largest ratio that is possible, fixed before the rows are seen. Learned weights are
        clipped there, by default at 10.
    new_rows : table of rows, default=None
        Rows of a world that has moved, without labels. A third of all rows is set apart to learn
        the ratio; the claim is about the examples that the learned weights describe.
    seed : int, default=0
        The seed of the coins. Trying several is trying several models.

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
    >>> print(certify(said=["ok", "bad", "ok", ""] * 30, y=["ok", "bad", "bad", "ok"] * 30).claim)
    If these rows are new: the classifier is wrong on at most 42.40 % of new examples, counting \
answers only: 25.0 % of these rows have none.
    """
    if said is not None:
        options = (X, y, target, scores, missing, of, positive, groups)
        ((model,), X, y, groups), target = as_models(_instead(model, said), *options), None
    is_plain_error = isinstance(of, str) and of == "error" and end is None
    if shares is not None:
        if ratio is not None or new_rows is not None:
            raise ParameterError(
                "shares was given with ratio or new_rows; a world moves by one of these",
                parameter="shares",
            )
        if not is_plain_error or positive is not None or groups is not None or ordered:
            raise ParameterError(
                "shares speaks of the error, by independent rows; leave out of, end, positive, "
                "groups and ordered",
                parameter="shares",
            )
        X, y = rows_and_labels(X, y, target)
        labels = fresh_labels(y)
        family = certify_all(model, X, y, by=labels, delta=delta, models=models, copies=copies)
        classes = [*labels.tolist(), *np.asarray(getattr(model, "classes_", ())).tolist()]
        return shift.shares_certificate(family, shares, classes, models)
    if not is_plain_error:
        family = certify_all(
            model, X, y, target=target, of=of, positive=positive, end=end, top_k=top_k,
            p_min=p_min, clip=clip, larger_than=larger_than, delta=delta, models=models,
            groups=groups, ordered=ordered, copies=copies, ratio=ratio,
            ratio_bound=ratio_bound, new_rows=new_rows, seed=seed,
        )  # fmt: skip
        if len(family) > 1:
            raise ParameterError(
                f"these are {len(family)} claims, and certify makes one; name one measure, one "
                "class by positive= and one end, or call certify_all",
                parameter="of",
            )
        return family.certificates[0]
    X, y = _read(model, X, y, target, None, groups, models, ordered=ordered)
    if positive is not None:
        raise ParameterError(
            "positive was given, and the error speaks of all classes; name a measure, too",
            parameter="positive",
        )
    share = probability("delta", delta) / models
    wrong = mistakes(model, X, y)
    each = groups is None and not ordered
    rows = NewRows.select([model], X, y, copies, each=each)
    rows = filtered(rows, X, y, ratio, ratio_bound, new_rows, seed, each=each)
    certificate: Certificate
    if groups is not None:
        numbers = numbered(np.asarray(groups), wrong.size)
        certificate = holdout.groups_certificate(_shares(wrong, numbers, rows.kept), share)
    else:
        k, n = int(wrong[rows.kept].sum()), rows.kept.size
        if ordered:
            certificate = holdout.ordered_certificate(k, n, share)
        else:
            sample = rows.sample("held-out rows, ties counted as errors")
            certificate = holdout.certificate(k, n, delta, models, sample)
    return rows.marked(certificate)


@explains_input
def certify_all(
    model: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    target: str | None = None,
    of: Any = "error",
    positive: Any = None,
    by: Any = None,
    end: str | None = None,
    top_k: int = 5,
    p_min: float = 0.001,
    clip: float | None = None,
    larger_than: float | None = None,
    delta: float = 0.05,
    models: int = 1,
    groups: Any = None,
    ordered: bool = False,
    copies: str = "draws",
    said: Any = None,
    scores: Any = None,
    missing: str = "abstain",
    ratio: Any = None,
    ratio_bound: float | None = None,
    new_rows: Any = None,
    seed: int = 0,
) -> Family:
    """Certify several claims by rows not used in fitting: they share delta and hold together.

    Parameters
    ----------
    of : str, matrix of costs, or list of these, default="error"
        What to certify, as in ``certify``.
    positive : label or list of labels, default=None
        The classes that recall, precision and the like speak of. None: the second of two classes,
        and each of more.
    by : str or array, default=None
        A column of X, or the group of every row: every group is certified. ``worst``,
        ``worst_group`` and ``gap`` of the family compare them; a gap needs ``end="both"``.
    end : "lower", "upper", "both" or None, default=None
        None: the end that matters, lower for what should be high and upper for what should be low.
    others : as in ``certify``

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.arange(400.0)[:, None]
    >>> y = X[:, 0] > 200
    >>> tree = DecisionTreeClassifier().fit(X[::2], y[::2])
    >>> found = certify_all(tree, X[1::2], y[1::2], of=["recall", "precision"])
    >>> round(found["recall"].value, 4), round(found["precision"].value, 4)
    (0.9455, 0.9634)
    """
    if said is not None:
        columns = (X, y, target, scores, missing, of, positive, groups, by)
        ((model,), X, y, groups, by), target = as_models(_instead(model, said), *columns), None
    X, y = _read(model, X, y, target, by, groups, models, ordered=ordered)
    options = {"top_k": top_k, "p_min": p_min, "clip": clip, "larger_than": larger_than}
    level = probability("delta", delta)
    X, named = by_column(model, X, by)
    names = read_measures(of, options)
    labels, said = _answers(model, X, y, names)
    each = groups is None and not ordered
    new = NewRows.select([model], X, labels, copies, each=each)
    new = filtered(new, X, labels, ratio, ratio_bound, new_rows, seed, each=each)
    tied = np.zeros(labels.size, dtype=np.bool_)
    if hasattr(model, "ledger_") and not MEASURES[names[0]].numbers:
        tied = np.asarray(model.mistakes(X, y) & (said == labels))  # right only as ties have to end
    rows = ScoredRows(model, X, labels, said, tied)
    group = None if named is None else groups_of_rows(named, labels.size)
    distinct = [] if group is None else np.unique(group).tolist()
    claims = claims_of(rows, names, positive, distinct, end)
    words = "held-out rows in the order of time" if ordered else "held-out rows"
    sample = new.sample(words if groups is None else "whole groups that were held out")
    measuring = Measuring(rows, new.kept, options, level, models, sample)
    if groups is not None:
        place = numbered(np.asarray(groups), labels.size)
        family = measuring.by_dependent_groups(claims, place)
    elif ordered:
        family = measuring.over_time(claims)
    else:
        family = measuring.family(claims, group)
    return Family(tuple(map(new.marked, family)), family.delta)


def _instead(model: Any, said: Any) -> list[Any]:
    if model is not None:
        raise ParameterError(
            "a model and said= were both given; answers take the model's place", parameter="said"
        )
    return [said]


def _read(
    model: Any, X: Any, y: Any, target: str | None, by: Any, groups: Any, models: int,
    *, ordered: bool,
) -> tuple[Any, Any]:  # fmt: skip
    """Return rows and labels in memory."""
    positive_whole("models", models)
    if groups is not None and ordered:
        raise ParameterError(
            "groups and ordered were both given; rows are one or the other", parameter="groups"
        )
    if by is not None and (groups is not None or ordered):
        raise ParameterError(
            "by cannot be combined with groups or ordered: within a group of by, no theorem here "
            "covers rows that depend on each other",
            parameter="by",
        )
    if is_collection(X) and (ordered or groups is not None or not isinstance(by, str | None)):
        raise ParameterError(
            "of Dask collections a random choice of rows is fetched: groups=, ordered= and by= as "
            "an array cannot follow it. Name a column by by=, or compute the rows first.",
            parameter="by",
        )
    return rows_and_labels(X, y, target)


def _shares(
    wrong: NDArray[np.bool_], numbers: NDArray[np.intp], counted_rows: NDArray[np.intp]
) -> list[float]:
    """Return the share of mistakes among the rows that count, for every group that has some."""
    _, place = np.unique(numbers[counted_rows], return_inverse=True)
    shares = np.bincount(place, weights=wrong[counted_rows]) / np.bincount(place)
    return [float(share) for share in shares]


@explains_input
def certify_answers(
    model: Any,
    X: Any,
    y: Any,
    *,
    target_error: float | None = None,
    abstain_below: float | None = None,
    delta: float = 0.05,
    models: int = 1,
    copies: str = "draws",
) -> Answering:
    """Bound the error among the rows that are answered, for every threshold of the confidence.

    Parameters
    ----------
    model : any fitted classifier with ``predict`` and ``predict_proba``
        Its confidence is the probability it gives to the class it predicts.
    X, y : rows and labels that had no part in fitting or choosing the model
    target_error : float, default=None
        Choose the smallest threshold whose certified error is at most this. It has to be fixed
        before the rows are looked at: it is then tested threshold by threshold, at three quarters
        of delta, and bounds for all thresholds share the rest.
    abstain_below : float, default=None
        A threshold fixed beforehand: the only one, so its bound is the best there is for it.
        Without it there are 20, at which a twentieth, two twentieths, … of the rows are answered.
    delta : float, default=0.05
        The probability with which the errors may fail, all of them together; so may the shares.
    models : int, default=1
        How many models are tried on these rows and may be kept: each pays its share of delta.
    copies : "draws" or "distinct", default="draws"
        What equal rows are, as in ``certify``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.random.default_rng(0).normal(size=(2000, 1))
    >>> y = X[:, 0] + np.random.default_rng(1).normal(size=2000) > 0
    >>> model = LogisticRegression().fit(X[:500], y[:500])
    >>> answering = certify_answers(model, X[500:], y[500:], target_error=0.1)
    >>> round(answering.error, 4), answering.point.answered, answering.point.mistakes
    (0.0949, 300, 13)
    """
    if target_error is not None and abstain_below is not None:
        raise ParameterError(
            "target_error and abstain_below were both given; the first finds the threshold that "
            "the second names, so give one of them",
            parameter="target_error",
        )
    positive_whole("models", models)
    if not hasattr(model, "predict_proba"):
        raise NotCertified(
            f"{type(model).__name__} has no predict_proba, so nothing says how confident it is"
        )
    wrong = mistakes(model, X, y)
    rows = NewRows.select([model], X, y, copies)
    decided, chances = asked(model, X), asked(model, X, "predict_proba")
    sure = confidence(decided, chances, np.asarray(model.classes_))
    counted_rows = rows.kept
    sure, wrong = np.asarray(sure)[counted_rows], wrong[counted_rows]
    table = answering(sure, wrong, delta, target_error, abstain_below, models)
    return replace(table, rows_checked=rows.checked, assumptions=rows.assumptions)


def answering(
    sure: ArrayLike,
    wrong: ArrayLike,
    delta: float,
    target_error: float | None,
    abstain_below: float | None,
    models: int = 1,
) -> Answering:
    """Bound the error among the answered, by confidences and mistakes on held-out rows."""
    if abstain_below is not None:
        return replace(at_thresholds(sure, wrong, delta, [abstain_below]), models=models).at(0)
    table = replace(by_ranks(sure, wrong, delta, target=target_error), models=models)
    return table if target_error is None else table.within(target_error)
