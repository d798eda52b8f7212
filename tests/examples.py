"""How many random examples a test tries: in quick runs a tenth, and the same ones every time."""

from typing import Any

from hypothesis import settings

MIN_EXAMPLES, SHARE = 6, 0.1
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=10)
settings.register_profile("fresh", deadline=None, print_blob=True, max_examples=100)


def choose(*, slow: bool) -> None:
    """Choose between new examples and those of every quick run."""
    settings.load_profile("fresh" if slow else "repeatable")


def examples(count: int = 100, **options: Any) -> settings:
    """Try this number of examples in ``make slow``, and a tenth of them in quick runs."""
    if settings().max_examples >= 100:  # of the profile
        return settings(max_examples=count, **options)
    fewer = max(MIN_EXAMPLES, round(SHARE * count)) if count > MIN_EXAMPLES else count
    return settings(max_examples=fewer, **options)
