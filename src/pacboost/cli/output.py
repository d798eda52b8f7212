"""The output of commands: tables and sentences for people, one JSON document for programs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pacboost.numerics.visible import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from pacboost.bounds.certificate import Certificate
    from pacboost.bounds.held_out import HeldOut


def print_json(content: Any) -> None:
    """Write one JSON document; nothing else goes to the standard output."""
    click.echo(json.dumps(plain(content), ensure_ascii=False, allow_nan=False))


def plain(value: Any) -> Any:
    """Turn a value into what JSON knows; NaN and infinities become null.

    >>> import numpy as np
    >>> plain({"a": (np.int64(1), float("nan")), 2: Path("m.pacb")})
    {'a': [1, None], '2': 'm.pacb'}
    """
    if hasattr(value, "tolist"):  # of NumPy
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def certificate_sentence(
    certificate: Certificate, held_out: HeldOut | None = None, names: Sequence[object] = ()
) -> str:
    """Give the sentence of a certificate, with its confidence if it may fail.

    ``held_out`` holds what else was counted on its rows, ``names`` the classes.
    """
    from pacboost.bounds import estimates

    return estimates.in_words(certificate, held_out, names)


def bold(words: str) -> Text:
    """Make text bold."""
    from rich.text import Text

    return Text(words, style="bold")


def certificate_facts(certificate: Certificate) -> list[tuple[str, str]]:
    """List what a certificate rests on."""
    from pacboost.bounds import wording

    chance = "never" if certificate.delta == 0 else f"with probability {certificate.delta:g}"
    counts = certificate.inputs
    unit = "groups" if certificate.of_what == wording.NEW_GROUPS else "rows"
    seen = f"{counts['k']:,} mistakes on " if {"k", "n"} <= set(counts) else ""
    return [
        ("counted on", f"{seen}{certificate.size:,} {unit}: {certificate.sample}"),
        ("assumes", "; ".join(certificate.assumptions) or "nothing"),
        ("requires", f"rows that are independent of {certificate.independent_of}"),
        ("may fail", chance),
        ("theorem", f"{certificate.theorem} ({certificate.reference})"),
    ]


def echo(text: str, *, err: bool = False) -> None:
    """Print a sentence; control characters in it are shown, not obeyed."""
    click.echo(visible(text), err=err)


def make_console(**options: Any) -> Console:
    """Make a console of rich that shows control characters in texts, and does not obey them."""
    from rich.console import Console
    from rich.segment import Segment

    class VisibleConsole(Console):
        def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
            for part in super().render(renderable, options):
                yield part if part.control else Segment(visible(part.text), part.style)

    return VisibleConsole(**options)


def print_parts(*parts: Any) -> None:
    """Print tables and sentences."""
    from rich.text import Text

    console = make_console(highlight=False)
    for part in parts:
        console.print(Text(part) if isinstance(part, str) else part)


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show a status line on a terminal; call what is given to change its text."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status(what) as status:
        yield status.update
