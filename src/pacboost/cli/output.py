"""What commands say: tables and sentences for people, one JSON document for programs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from pacboost.bounds.certificate import Certificate


def print_json(content: Any) -> None:
    """Write one JSON document; it is all that goes to the standard output."""
    click.echo(json.dumps(plain(content), ensure_ascii=False, allow_nan=False))


def plain(value: Any) -> Any:
    """Turn what we hold into what JSON knows; numbers that are none become null.

    >>> import numpy as np
    >>> plain({"a": (np.int64(1), float("nan")), 2: Path("m.pacb")})
    {'a': [1, None], '2': 'm.pacb'}
    """
    if hasattr(value, "tolist"):  # of NumPy
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): plain(own) for name, own in value.items()}
    if isinstance(value, list | tuple):
        return [plain(own) for own in value]
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def certificate_sentence(certificate: Certificate) -> str:
    """Say what is certified of new examples; of training rows the certificate says it itself."""
    from pacboost.bounds import wording

    return certificate.claim if certificate.delta == 0 else str(wording.sentence(certificate))


def bold(words: str) -> Text:
    """Print the most important words."""
    from rich.text import Text

    return Text(words, style="bold")


def certificate_facts(certificate: Certificate) -> list[tuple[str, str]]:
    """Say in a few lines what a certificate rests on."""
    from pacboost.bounds import wording

    chance = "never" if certificate.delta == 0 else f"with probability {certificate.delta:g}"
    counts = certificate.inputs
    unit = "groups" if certificate.of_what == wording.NEW_GROUPS else "rows"
    seen = f"{counts['k']:,} mistakes on " if {"k", "n"} <= set(counts) else ""
    return [
        ("counted on", f"{seen}{certificate.size:,} {unit}: {certificate.sample}"),
        ("assumes", "; ".join(certificate.assumptions) or "nothing"),
        ("needs", f"rows that are independent of {certificate.independent_of}"),
        ("may fail", chance),
        ("theorem", f"{certificate.theorem} ({certificate.reference})"),
    ]


def grid(facts: Sequence[tuple[str, str]]) -> Table:
    """Lay out names and what they say, without lines."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for name, text in facts:
        table.add_row(name, Text(text))
    return table


def print_parts(*parts: Any) -> None:
    """Print tables and sentences."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for part in parts:
        console.print(Text(part) if isinstance(part, str) else part)


def counted(number: int, thing: str) -> str:
    """Count things in words.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class")
    ('1 row', '1,200 rows', '2 classes')
    """
    plural = thing + ("es" if thing.endswith("s") else "s")
    return f"{number:,} {thing if number == 1 else plural}"


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal that something is being done; call what it gives to say how far."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status(what) as status:
        yield status.update
