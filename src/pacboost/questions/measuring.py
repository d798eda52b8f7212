"""What certify_all counts: every measure, class, group and end of one simultaneous family."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost import measures
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.family import Family
from pacboost.bounds.measures import (
    MIN_RATIO_FOR_RANKS,
    RATES,
    certificate,
    halves_of_pairs,
    write_parts,
    written,
    wrong_shares,
)
from pacboost.bounds.wording import MEASURES, MeasureKind
from pacboost.errors import NotCertified, ParameterError, TooFewRowsWarning, invalid, warn
from pacboost.measures import MeasureSpec
from pacboost.numerics.checks import meant
from pacboost.numerics.same_bits import mean
from pacboost.questions.scored_rows import Mask, ScoredRows, class_place

Of = str | MeasureSpec | Sequence[str | MeasureSpec]
NEED_OPTIONS = {"cost": "costs", "absolute_error": "clip=", "large_errors": "larger_than="}
"""Measures that cannot be named by a text alone."""
OTHER_NAMES = {
    "mae": "absolute_error", "mean_absolute_error": "absolute_error", "roc_auc": "auc",
    "balanced_accuracy": "balanced_error", "accuracy": "error",
}  # fmt: skip
"""Names of scikit-learn and others, and the measure that is certified instead."""
UNBOUNDED = ("rmse", "mse", "mean_squared_error", "root_mean_squared_error", "r2", "r2_score")
OPTIONS_TO_SHOW = ("top_k", "p_min", "larger_than")
ENDS = ("lower", "upper", "both")
Counted = tuple[str, dict[str, Any], int, float]
"""The name of a bound, what goes to it, the number of rows, and what was seen."""


@dataclass(frozen=True)
class Claim:
    """One claim of a family: a measure, its class and group if it has any, and an end."""

    measure: MeasureSpec
    label: object = None
    group: str | None = None
    end: str = "upper"

    @property
    def name(self) -> str:
        """The name of the measure."""
        return self.measure.name

    @property
    def about(self) -> MeasureKind:
        """The kind of the measure."""
        return MEASURES[self.name]

    def words(self) -> str:
        """Name the measure, its class and its group for messages."""
        of_class = f" of class {self.label!r}" if self.about.of_class else ""
        return f"{self.name}{of_class}" + (f" in group {self.group!r}" if self.group else "")


def read_measures(of: Of) -> list[MeasureSpec]:
    """Return the measures that ``of`` names; raise for names of measures that need options."""
    parts = of if isinstance(of, list | tuple) else [of]
    return list(dict.fromkeys(map(_measure, parts)))


@cache
def _by_name(name: str) -> MeasureSpec:
    measure: MeasureSpec = getattr(measures, name)()
    return measure


def _measure(part: object) -> MeasureSpec:
    if isinstance(part, MeasureSpec):
        return part
    by_name = [name for name in MEASURES if name not in NEED_OPTIONS]
    if isinstance(part, str) and part in by_name:
        return _by_name(part)
    if isinstance(part, str) and part in NEED_OPTIONS:
        raise ParameterError(
            f"of is {part!r}, which has an option without a default; give "
            f"pacboost.measures.{part}({NEED_OPTIONS[part]})",
            parameter="of",
        )
    if isinstance(part, str) and part in UNBOUNDED:
        raise ParameterError(
            f"of is {part!r}, which cannot be bounded, since a single error may be arbitrarily "
            "large; certify measures.absolute_error(clip=) or measures.large_errors("
            "larger_than=) instead",
            parameter="of",
        )
    if isinstance(part, str) and part in OTHER_NAMES:
        name = OTHER_NAMES[part]
        option = f"measures.{name}({NEED_OPTIONS[name]})" if name in NEED_OPTIONS else repr(name)
        raise ParameterError(f"of is {part!r}; give {option}, which is certified", parameter="of")
    raise ParameterError(
        f"of is {part!r}{meant(part, MEASURES) if isinstance(part, str) else ''}; it may be "
        f"{', '.join(map(repr, by_name))}, a measure of pacboost.measures, or a list of these",
        parameter="of",
    )


def claims_of(
    rows: ScoredRows, of: Sequence[MeasureSpec], groups: Sequence[str], end: str | None
) -> list[Claim]:
    """List all claims, in the order of measures, classes, groups and ends."""
    if end is not None and end not in ENDS:
        raise invalid("end", end, f"may be {', '.join(map(repr, ENDS))}, or None")
    claims = []
    for measure in of:
        about = MEASURES[measure.name]
        default_end = "lower" if about.higher_is_better else "upper"
        ends = ["lower", "upper"] if end == "both" else [end or default_end]
        for label in _labels(rows, measure.positive) if about.of_class else [None]:
            places: list[str | None] = [*groups] or [None]
            claims += [Claim(measure, label, group, side) for group in places for side in ends]
    return claims


def _labels(rows: ScoredRows, positive: object) -> list[Any]:
    """Return the positive classes: the named ones, the second of two, or all of several."""
    classes: list[Any] = rows.classes.tolist()
    if positive is None:
        return classes[1:] if len(classes) == 2 else classes
    labels = positive if isinstance(positive, list | tuple) else [positive]
    for label in labels:
        class_place(rows.classes, label)
    return list(labels)


class TooFewRows(NotCertified):
    """A claim has too few rows to certify anything better than one half."""


MAX_CLAIMS_NAMED = 5


class Pool(NamedTuple):
    """Groups that are certified as one, and the name of the pool."""

    name: str
    groups: list[str]


NO_POOL = Pool("", [])


def pool_of(groups: NDArray[Any], claims: Sequence[Claim], delta: float, models: int) -> Pool:
    """Return the groups with too few rows for a claim, if there are several that may be pooled.

    A pool has the rate of its groups mixed as in these rows: given the group of each row, the
    mistakes are independent, and the tails of their number are no larger than binomial ones
    (Hoeffding 1956, theorem 4). Only names of groups are looked at.
    """
    names, sizes = np.unique(groups, return_counts=True)
    needed = rows_for_a_half(delta, len(claims) * models)
    small: list[str] = names[sizes < needed].tolist()
    if len(small) < 2 or any(claim.name not in RATES for claim in claims):
        return NO_POOL
    name = "other" if "other" not in names else f"{len(small)} small groups"
    warn(
        f"{len(small)} groups have fewer than {needed} rows and are certified as one, {name!r}: "
        f"{', '.join(map(repr, small[:MAX_CLAIMS_NAMED]))}"
        f"{' and others' * (len(small) > MAX_CLAIMS_NAMED)}",
        TooFewRowsWarning,
    )
    return Pool(name, small)


@dataclass(frozen=True, eq=False)
class Measuring:
    """Certifies claims by rows."""

    rows: ScoredRows
    kept: NDArray[np.intp]
    delta: float
    models: int
    sample: str
    pool: Pool = NO_POOL

    def family(self, claims: Sequence[Claim], groups: NDArray[Any] | None) -> Family:
        """Certify all claims, which share delta."""
        shared = len(claims) * self.models
        certificates, left_out = [], []
        for claim in claims:
            try:
                certificates.append(self._one(claim, groups, shared))
            except TooFewRows as problem:
                # Claims that are left out keep their share of delta, so others do not depend on it.
                if claim.group is None:
                    raise
                left_out.append((claim.words(), problem))
        if not certificates:
            raise left_out[0][1]
        if left_out:
            names = "; ".join(words for words, _ in left_out[:MAX_CLAIMS_NAMED])
            warn(
                f"{len(left_out)} of {len(claims)} claims have too few rows and are left out: "
                f"{names}{' and others' * (len(left_out) > MAX_CLAIMS_NAMED)}",
                TooFewRowsWarning,
            )
        return Family(tuple(certificates), self.delta)

    def _one(self, claim: Claim, groups: NDArray[Any] | None, shared: int) -> Certificate:
        chosen = self._chosen
        if claim.group is not None and groups is not None:
            chosen &= groups == claim.group
        return self._made(claim, self._counted(claim, chosen, shared), shared)

    @property
    def _chosen(self) -> Mask:
        chosen = np.zeros(self.rows.size, dtype=np.bool_)
        chosen[self.kept] = True
        return chosen

    def _made(self, claim: Claim, counted: Counted, shared: int, **unit: str) -> Certificate:
        bound, inputs, size, estimate = counted
        inputs |= {"delta": self.delta, "claims": shared}
        return certificate(
            claim.name, bound, inputs, size=size, sample=self.sample,
            **self._details(claim), seen=estimate, **unit,
        )  # fmt: skip

    def _details(self, claim: Claim) -> dict[str, Any]:
        details: dict[str, Any] = {}
        if claim.about.of_class:
            details["class"] = str(claim.label)
        if claim.group is not None:
            details["group"] = claim.group
            if claim.group == self.pool.name:
                details["pooled"] = json.dumps(self.pool.groups, ensure_ascii=False)
        if claim.name == "balanced_error":
            details["classes"] = json.dumps(list(map(str, self._classes())), ensure_ascii=False)
        options = {name: getattr(claim.measure, name) for name in OPTIONS_TO_SHOW}
        details |= {name: value for name, value in options.items() if value is not None}
        return details

    def _counted(self, claim: Claim, chosen: Mask, shared: int) -> Counted:
        if claim.name == "auc":
            return self._auc(claim, chosen, shared)
        if claim.name == "balanced_error":
            return self._balanced(claim, chosen, shared)
        if not claim.about.rate and claim.name not in ("f1", "jaccard"):
            return self._mean(claim, chosen, shared)
        inside, event = self.rows.event(claim.measure, claim.label)
        k, n = self._in_event(claim, inside & chosen, event)
        self._enough(n, shared, claim)
        is_pool = claim.group is not None and claim.group == self.pool.name
        kind = "f1" if claim.name == "f1" else "pooled" if is_pool else "rate"
        estimate = 2 * k / (n + k) if claim.name == "f1" else k / n
        return f"rates.{kind}_{claim.end}", {"k": k, "n": n}, n, estimate

    def _in_event(self, claim: Claim, inside: Mask, event: Mask) -> tuple[int, int]:
        """Count rows; doubtful ones count in the way that makes the claim weaker."""
        doubtful = self.rows.doubtful
        counted = event & ~doubtful if claim.end == "lower" else event | doubtful
        return int((counted & inside).sum()), int(inside.sum())

    def _balanced(self, claim: Claim, chosen: Mask, shared: int) -> Counted:
        labels = self.rows.labels
        _, wrong = self.rows.event(measures.error())
        names, parts = self._classes(), []
        for label in names:
            k, n = self._in_event(claim, (labels == label) & chosen, wrong)
            self._enough(n, shared * len(names), claim, f"rows of class {label!r}")
            parts.append((k, n))
        estimate = sum(k / n for k, n in parts) / len(parts)
        size = sum(n for _, n in parts)
        return f"rates.balanced_{claim.end}", {"parts": write_parts(parts)}, size, estimate

    def _classes(self) -> list[Any]:
        names = dict.fromkeys(self.rows.classes.tolist())
        return [*names | dict.fromkeys(self.rows.labels.tolist())]

    def _mean(self, claim: Claim, chosen: Mask, shared: int) -> Counted:
        values, scale = self.rows.losses(claim.measure)
        losses = self._weakened(values, claim.end)[chosen]
        self._enough(losses.size, shared, claim)
        return self._mean_of(losses, scale, claim.end, claim.name == "cost")

    def _weakened(self, values: NDArray[np.float64], end: str) -> NDArray[np.float64]:
        return np.where(self.rows.doubtful, 0.0 if end == "lower" else 1.0, values)

    @staticmethod
    def _mean_of(losses: NDArray[np.float64], scale: float, end: str, rare: bool = True) -> Counted:
        estimate = scale * mean(losses)
        if end == "lower":
            text = {"savings": written(1 - losses, rare)}
        else:
            text = {"losses": written(losses, rare)}
        return f"losses.mean_{end}", {**text, "scale": scale}, losses.size, estimate

    def _auc(self, claim: Claim, chosen: Mask, shared: int) -> Counted:
        score = self.rows.score(claim.label)
        is_positive, doubtful = self.rows.labels == claim.label, self.rows.doubtful
        bad = -np.inf if claim.end == "lower" else np.inf
        positives = np.where(doubtful, bad, score)[is_positive & chosen]
        negatives = np.where(doubtful, -bad, score)[~is_positive & chosen]
        self._enough(positives.size, shared, claim, f"rows of class {claim.label!r}")
        self._enough(negatives.size, shared, claim, "rows of other classes")
        halves = halves_of_pairs(positives, negatives)
        size = positives.size + negatives.size
        estimate = halves / (2 * positives.size * negatives.size)
        n_smaller, n_larger = sorted((positives.size, negatives.size))
        if n_larger >= MIN_RATIO_FOR_RANKS * n_smaller:
            # Turned round, a negative is as far above the positives as it was below.
            turned = n_smaller != positives.size
            wrong = wrong_shares(*((-negatives, -positives) if turned else (positives, negatives)))
            if claim.end == "lower":
                text = {"losses": written(wrong, rare=False)}
            else:
                text = {"savings": written(1 - wrong, rare=False)}
            return f"losses.ranks_{claim.end}", {**text, "others": n_larger}, size, estimate
        inputs = {"halves": halves, "positives": positives.size, "negatives": negatives.size}
        return f"losses.auc_{claim.end}", inputs, size, estimate

    def _enough(self, n: int, shared: int, claim: Claim, what: str = "") -> None:
        """Raise if even rows without a mistake would not certify one half."""
        needed = rows_for_a_half(self.delta, shared)
        if n < needed:
            what = what or _among(claim)
            raise TooFewRows(
                f"{claim.words()}: there are {n} {what}, and at least {needed} are needed before "
                f"anything better than one half can be certified with delta/{shared} = "
                f"{self.delta / shared:.3g}. Collect more of these rows, or leave this claim out"
            )

    def by_dependent_groups(self, claims: Sequence[Claim], place: NDArray[np.intp]) -> Family:
        """Certify means of independent groups, by the mean loss of each group."""
        shared, certificates = len(claims) * self.models, []
        place = np.unique(place[self.kept], return_inverse=True)[1]
        for claim in claims:
            if not claim.about.averages:
                raise NotCertified(_no_dependent(claim.name, "groups"))
            values, scale = self.rows.losses(claim.measure)
            losses = self._weakened(values, claim.end)[self.kept]
            means = np.bincount(place, weights=losses) / np.bincount(place)
            self._enough(means.size, shared, claim, "groups")
            counted = self._mean_of(np.clip(means, 0, 1), scale, claim.end)
            certificates.append(self._made(claim, counted, shared, unit="groups"))
        return Family(tuple(certificates), self.delta)

    def over_time(self, claims: Sequence[Claim]) -> Family:
        """Certify rates over time."""
        shared, certificates = len(claims) * self.models, []
        for claim in claims:
            if not (claim.about.averages and claim.about.rate) or claim.end != "upper":
                raise NotCertified(_no_dependent(f"{claim.end} end of {claim.name}", "ordered"))
            inside, event = self.rows.event(claim.measure)
            k, n = self._in_event(claim, inside & self._chosen, event)
            counted = "rates.ordered_upper", {"k": k, "n": n}, n, k / n
            certificates.append(self._made(claim, counted, shared, unit="period"))
        return Family(tuple(certificates), self.delta)


def rows_for_a_half(delta: float, shared: int) -> int:
    """Return the number of rows that certify one half if all of them are right."""
    return math.ceil(math.log(shared / delta) / math.log(2) * (1 - 1e-12))


def _among(claim: Claim) -> str:
    of_class = {
        "recall": f"rows of class {claim.label!r}",
        "false_negative_rate": f"rows of class {claim.label!r}",
        "false_positive_rate": f"rows of other classes than {claim.label!r}",
        "precision": f"rows predicted as {claim.label!r}",
        "f1": f"rows of class {claim.label!r} or predicted as such",
        "jaccard": f"rows of class {claim.label!r} or predicted as such",
    }
    return of_class.get(claim.name, "rows")


def _no_dependent(what: str, how: str) -> str:
    averages = ", ".join(
        name for name, kind in MEASURES.items() if kind.averages and (kind.rate or how == "groups")
    )
    return (
        f"{what} cannot be certified with {how}: no theorem here bounds it where rows depend on "
        f"each other. Allowed are the upper ends of {averages}; or use rows that are independent"
    )
