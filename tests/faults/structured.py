"""Changes to what a model file means: numbers, words and lengths, with every checksum right again.

Where ``tests.models.file.mutants`` changes bytes and the document, this changes values: one number
of an array, the length of an array, two fields of a record. The file is whole, and its digests are
those of the new content, as somebody could write them who knows the format.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np

from pacboost.models.file import container

WHOLE = (0, 1, 2, -1, -2, 3, 7, 100, 2**15, 2**31 - 1, 2**31, 2**40, 2**53, 2**62, -(2**40))
REAL = (
    0.0, -0.0, 1.0, -1.0, 0.5, 1.0000001, 0.9999999, 2.0, -0.25, 5e-324, 1e-300, 1e-9, 1e9, 1e149,
    1e150, -1e150, 1e200, 1e300, -1e300, 1.7e308,
)  # fmt: skip
WORDS = (
    "", "x", "adaboost", "brown", "logit", "three_way", "square", "filter_boost", "Tree", "Stump",
    "soft", "total", "lp", "quantile", "holdout.clopper_pearson",
    "training.product_bound",    "\x1b[31m", "<script>", "=1+1", "a\nb", "ü" * 300,
)  # fmt: skip


def mutated(content: dict[str, Any], random: Random) -> dict[str, Any]:
    """Change one value or some, and compute the digests of the claims again."""
    content = copy.deepcopy(content)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        found = list(places(content))
        holder, key = random.choice(found)
        _change(holder, key, found, random)
    for name in container.CLAIMS:
        claim = content.get(name)
        if isinstance(claim, dict) and claim:
            content[name] = {**claim, container.FIELD: ""}
    try:
        return container.sealed(content)
    except (AttributeError, LookupError, TypeError, ValueError):  # no digest goes with such content
        return content


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Return every list or dictionary within a value, with every key of it."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def _change(holder: Any, key: Any, places: list[tuple[Any, Any]], random: Random) -> None:
    value = holder[key]
    if random.random() < 0.05:
        other, name = random.choice(places)
        holder[key] = copy.deepcopy(other[name])
    elif random.random() < 0.04:
        del holder[key]
    elif isinstance(value, np.ndarray):
        holder[key] = _other_array(value, random)
    elif isinstance(value, bool):
        holder[key] = not value
    elif isinstance(value, int):
        holder[key] = random.choice((value + 1, value - 1, 2 * value, *WHOLE))
    elif isinstance(value, float):
        holder[key] = random.choice((-value, value * 2, value / 2, *REAL))
    elif isinstance(value, str):
        holder[key] = random.choice((*WORDS, value[:-1], value + value))
    elif isinstance(value, list) and value:
        holder[key] = random.choice((value[:-1], value[1:], value[::-1], [*value, value[0]], []))
    elif isinstance(value, dict):
        holder[key] = random.choice(({}, None, value))
    else:
        holder[key] = random.choice((None, 0, 1.5, "x", [], True))


def _other_array(value: Any, random: Random) -> Any:
    """Change an entry of an array, its order or its length."""
    array = value.copy()
    if not array.size or random.random() < 0.2:
        return random.choice((array[:-1], array[1:], array[::-1], np.concatenate([array, array])))
    flat = array.reshape(-1)
    place = random.randrange(flat.size)
    if random.random() < 0.1:
        other = random.randrange(flat.size)
        flat[[place, other]] = flat[[other, place]]
    elif array.dtype.kind == "f":
        known = float(flat[place])
        new = random.choice((-known, known / 2, np.nan, np.inf, *REAL)) if known else 1.0
        with np.errstate(over="ignore"):  # 1e300 is infinite as a number of 32 bits
            flat[place] = new
    elif array.dtype.kind == "b":
        flat[place] = not flat[place]
    else:
        bounds = np.iinfo(array.dtype)
        known = int(flat[place])
        new = random.choice((known + 1, known - 1, bounds.min, bounds.max, *WHOLE))
        flat[place] = min(max(new, bounds.min), bounds.max)
    return array
