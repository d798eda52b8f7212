"""Which columns of a source are features, and whether several files agree on them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pacboost.errors import DataError

INDEX = "__index_level_"
"""How pandas names the columns in which it stores the index of a frame: they are no features."""


def features(
    names: Sequence[str], target: str, drop: Collection[str] = (), where: str = "the source"
) -> tuple[str, ...]:
    """Give the columns that are neither the target nor dropped.

    >>> features(["id", "a", "y", "b"], "y", drop=["id"])
    ('a', 'b')
    """
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"{where}: names these columns twice: {', '.join(twice)}")
    for name in (target, *drop):
        if name not in names:
            raise DataError(
                f"{where}: has no column {name!r}; its columns are {', '.join(map(repr, names))}"
            )
    left = {target, *drop}
    kept = tuple(name for name in names if name not in left and not name.startswith(INDEX))
    if not kept:
        raise DataError(f"{where}: has no column but {', '.join(map(repr, names))}: no feature")
    return kept


def refuse_other(
    names: Collection[str], where: str, expected: Collection[str], elsewhere: str
) -> None:
    """Raise if a file has other features than another; their order has no part in it."""
    lacking = [name for name in expected if name not in set(names)]
    besides = [name for name in names if name not in set(expected)]
    if lacking or besides:
        differences = [
            f"{word} {', '.join(map(repr, some[:5]))}{', …' if len(some) > 5 else ''}"
            for word, some in (("lacks", lacking), ("has besides", besides))
            if some
        ]
        raise DataError(
            f"{where}: has other columns than {elsewhere}: it {' and '.join(differences)}. All "
            "files of a source have the same columns; drop those that some lack."
        )
