"""Bags, forests and comparisons whose members are made by workers: the same bytes as without."""

import pickle
from dataclasses import replace
from functools import cached_property
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client
from joblib import parallel_config
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

import pacboost
from pacboost import BaggingClassifier, ExtraTreesRegressor, RandomForestClassifier
from pacboost.errors import ClusterError
from pacboost.parallel import cluster
from pacboost.parallel.cluster import Cluster
from pacboost.parallel.jobs import Job
from pacboost.training.bags.bagging import MemberElsewhere
from tests.cluster.clusters import forgets
from tests.estimators.filter_sources import noisy

X, y = noisy(400)
KINDS: dict[str, Any] = {
    "bags of trees": BaggingClassifier(n_estimators=9, certify="oob", random_state=1),
    "bags of stumps": BaggingClassifier("stump", 6, random_state=1),
    "bags of small trees": BaggingClassifier("tree", 6, max_features=0.5, random_state=1),
    "bags of a black box": BaggingClassifier(GaussianNB(), 6, random_state=1),
    "a forest": RandomForestClassifier(25, oob_score=True, random_state=1),
    "a forest that settles": RandomForestClassifier(200, settle=10, random_state=1),
    "random cuts": ExtraTreesRegressor(12, random_state=1),
}


def content(value: Any) -> Any:
    """All bytes of an object: a pickle's also depend on which of its parts are the same object."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return [(name, content(own)) for name, own in value.items()]
    if isinstance(value, list | tuple):
        return [content(own) for own in value]
    if hasattr(value, "__dict__") and not isinstance(value, type):
        cached = {n for n in vars(value) if isinstance(getattr(type(value), n, 0), cached_property)}
        return type(value), content({n: vars(value)[n] for n in vars(value) if n not in cached})
    return pickle.dumps(value)


def fitted(kind: str) -> Any:
    """All that a fit leaves behind."""
    return content(clone(KINDS[kind]).fit(X, y))


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_members_on_workers(kind: str, processes: Client) -> None:
    alone = fitted(kind)
    with parallel_config("dask", client=processes):
        together = fitted(kind)
    assert together == alone


def test_members_are_made_by_workers(threads: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    call = MemberElsewhere.__call__

    def counted(self: MemberElsewhere, number: int) -> Any:
        made.append(number)
        return call(self, number)

    monkeypatch.setattr(MemberElsewhere, "__call__", counted)
    before = set(threads.futures)
    with parallel_config("dask", client=threads):
        RandomForestClassifier(7, random_state=0).fit(X, y)
    assert sorted(made) == list(range(7))
    RandomForestClassifier(7, random_state=0).fit(X, y)
    assert len(made) == 7
    assert forgets(threads, before=before)


def in_a_task() -> bool:
    with parallel_config("dask"):
        return cluster.joblib_cluster() is None


def test_a_fit_within_a_task_hands_nothing_on(processes: Client) -> None:
    # not by a worker of this process: joblib's client there would stay the current one here
    assert processes.submit(in_a_task, pure=False).result(timeout=60)
    with processes.as_current():
        assert not in_a_task()


def test_rows_that_do_not_fit_a_worker_are_refused(
    threads: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = next(iter(Cluster(threads).workers()))
    monkeypatch.setattr(Cluster, "memory_limits", lambda _: {worker: 10_000})
    model = RandomForestClassifier(5)
    with (
        parallel_config("dask", client=threads),
        pytest.raises(ClusterError, match=r"take .*inproc://.* may use"),
    ):
        model.fit(X, y)
    assert not hasattr(model, "model_")


def test_a_learner_that_cannot_be_sent(threads: Client) -> None:
    class Odd(GaussianNB):  # type: ignore[misc]
        def __reduce__(self) -> Any:
            raise RuntimeError("stay here")

    with parallel_config("dask", client=threads), pytest.raises(ClusterError, match="stay here"):
        BaggingClassifier(Odd(), 3).fit(X, y)


def test_comparing_on_workers(processes: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {"n_estimators": 5, "verbose": False}
    boosters = ["adaboost", "mada", GaussianNB()]
    alone = pacboost.compare(X, y, boosters, "stump", **given)
    waited: list[Job[Any]] = []
    result = Job.result

    def noted(job: Job[Any]) -> Any:
        waited.append(job)
        return result(job)

    monkeypatch.setattr(Job, "result", noted)
    with parallel_config("dask", client=processes):
        together = pacboost.compare(X, y, boosters, "stump", **given)
    assert len(waited) == len(boosters)
    timeless = [[replace(own, seconds=0.0) for own in found] for found in (alone, together)]
    assert timeless[0] == timeless[1]
    assert str(alone.differences) == str(together.differences)


def test_dask_collections_are_gathered(threads: Client) -> None:
    rows = pd.DataFrame(X, columns=list("abcd"))
    lazy = dd.from_pandas(rows, npartitions=3), dd.from_pandas(pd.Series(y), npartitions=3)
    for kind in ("bags of trees", "a forest"):
        alone = content(clone(KINDS[kind]).fit(rows, y))
        with threads.as_current(), parallel_config("dask"):
            assert content(clone(KINDS[kind]).fit(*lazy)) == alone
