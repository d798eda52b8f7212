"""Random bags of rows, and a way to work on several of them at once with results in order.

A bag holds rows drawn from the training rows, with replacement (Breiman 1996) or without (pasting:
Breiman 1999), and perhaps some of the features only (Ho 1998; Louppe and Geurts 2012). What is in a
bag follows from the seed and its number alone. It is never drawn again, whatever it holds: a bag
drawn until every class is in it has looked at labels of rows that stay outside, and then their
mistakes certify nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pacboost.training.bags.out_of_bag import chance_outside

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Bag:
    """How often each row is in the bag, and the features it includes; None means all."""

    counts: NDArray[np.int64]
    features: NDArray[np.intp] | None
    seed: int
    """The seed for everything else that is random in making the member."""

    @property
    def inside(self) -> NDArray[np.intp]:
        """The rows in the bag."""
        return np.flatnonzero(self.counts)

    @property
    def outside(self) -> NDArray[np.intp]:
        """The rows that are not in the bag."""
        return np.flatnonzero(self.counts == 0)


@dataclass(frozen=True)
class Bags:
    """How bags are drawn.

    >>> bags = Bags(rows=6, drawn=6, columns=3, kept=3, seed=1)
    >>> bags.bag(0).counts.tolist(), bags.bag(1).counts.tolist()
    ([2, 0, 1, 1, 1, 1], [0, 1, 1, 4, 0, 0])
    >>> round(bags.chance_outside, 3)
    0.335
    """

    rows: int
    drawn: int
    columns: int
    kept: int
    seed: int
    replacement: bool = True
    features_replaced: bool = False
    """Whether features are drawn with replacement too."""

    def bag(self, number: int) -> Bag:
        """Draw the bag of this number."""
        generator = np.random.default_rng((self.seed, number))
        if self.replacement:
            rows = generator.integers(self.rows, size=self.drawn)
        else:
            rows = generator.permutation(self.rows)[: self.drawn]
        counts = np.bincount(rows, minlength=self.rows)
        features = None
        if self.kept < self.columns or self.features_replaced:
            features = generator.choice(self.columns, self.kept, replace=self.features_replaced)
        return Bag(counts, features, int(generator.integers(2**31)))

    @property
    def hold_all(self) -> bool:
        """Whether every bag holds all rows, so that none is outside."""
        return not self.replacement and self.drawn == self.rows

    @property
    def chance_outside(self) -> float:
        """The probability that a row is outside a bag."""
        return chance_outside(self.rows, self.drawn, replacement=self.replacement)


def in_order(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    threads: int,
    unwanted: Event | None = None,
) -> Generator[Result]:
    """Apply a function to items on several threads, and give the results in order.

    Only a few items ahead are begun, so that results do not pile up. Results that the caller no
    longer wants are dropped, and ``unwanted`` is set, so that a function which takes long can look
    at it and end early: a thread cannot be ended from outside, and all are waited for.

    >>> list(in_order(abs, [-2, 3, -4], threads=2))
    [2, 3, 4]
    """
    if threads <= 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="pacboost") as pool:
        begun: deque[Future[Result]] = deque()
        try:
            for item in items:
                begun.append(pool.submit(function, item))
                if len(begun) > 2 * threads:
                    yield _awaited(begun.popleft())
            while begun:
                yield _awaited(begun.popleft())
        finally:
            if unwanted is not None:
                unwanted.set()
            for future in begun:
                future.cancel()


def _awaited(future: Future[Result]) -> Result:
    """Wait for a result, a little at a time, so that Ctrl-C can interrupt.

    Once polars is imported, the system restarts interrupted waits, and Ctrl-C would not end a wait
    that has no time limit.
    """
    while not wait([future], timeout=0.1).done:
        pass
    return future.result()
