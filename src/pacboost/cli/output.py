"""The output of commands: tables and sentences for people, one JSON document for programs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from pacboost.errors import NotCertified
from pacboost.numerics.percent import visible

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.text import Text

    from pacboost.bounds.certificate import Certificate
    from pacboost.ledgers.ledger import Ledger

    class Fitted(Protocol):
        """The facts about a fitted classifier that are printed and saved."""

        @property
        def classes_(self) -> NDArray[Any]: ...  # noqa: D102
        @property
        def ledger_(self) -> Ledger: ...  # noqa: D102
        @property
        def certificate_(self) -> Certificate | None: ...  # noqa: D102
        @property
        def model_(self) -> Any: ...  # noqa: D102
        def save(self, path: Path) -> object: ...  # noqa: D102
        def forget_rows(self) -> object: ...  # noqa: D102


def print_json(content: object) -> None:
    """Write one JSON document; nothing else goes to the standard output."""
    click.echo(json.dumps(plain(content), ensure_ascii=False, allow_nan=False))


def plain(value: object) -> object:
    """Convert a value to JSON types; NaN and infinities become null.

    >>> import numpy as np
    >>> plain({"a": (np.int64(1), float("nan")), 2: Path("m.pacb")})
    {'a': [1, None], '2': 'm.pacb'}
    """
    if (tolist := getattr(value, "tolist", None)) is not None:  # an array or a number of NumPy
        value = tolist()
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    # JSON has no NaN: other programs refuse the whole document
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def bold(words: str) -> Text:
    """Make text bold."""
    from rich.text import Text

    return Text(words, style="bold")


def certificate_facts(certificate: Certificate, *, details: bool) -> list[tuple[str, str]]:
    """Return the rows that a certificate counted, and with details its theorem and assumptions."""
    from pacboost.bounds import wording
    from pacboost.bounds.rounding import confidence

    counts = certificate.inputs
    unit = "groups" if certificate.of_what == wording.NEW_GROUPS else "rows"
    kind = wording.quantity(certificate.of_what)
    counts_mistakes = {"k", "n"} <= set(counts) and not (kind and kind.higher_is_better)
    mistakes = f"{counts['k']:,} mistakes on " if counts_mistakes else ""
    counted = ("counted on", f"{mistakes}{certificate.size:,} {unit}: {certificate.rows_in_words}")
    if not details:
        return [counted, ("", "(--details prints the theorem, and what it assumes)")]
    return [
        counted,
        ("assumes", "; ".join(certificate.assumptions) or "nothing"),
        ("requires", f"rows that are independent of {certificate.independent_of}"),
        ("confidence", confidence(certificate.delta)),
        ("theorem", f"{certificate.theorem} ({certificate.reference})"),
    ]


def echo(text: str, *, err: bool = False) -> None:
    """Print a sentence with control characters escaped."""
    click.echo(visible(text), err=err)


def make_console(**options: Any) -> Console:
    """Return a console of rich that escapes control characters in texts."""
    from rich.console import Console
    from rich.segment import Segment

    class VisibleConsole(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterator[Segment]:
            for part in super().render(renderable, options):
                yield part if part.control else Segment(visible(part.text), part.style)

    return VisibleConsole(**options)


def print_parts(*parts: Any) -> None:
    """Print tables and sentences."""
    from rich.text import Text

    console = make_console(highlight=False)
    for part in parts:
        console.print(Text(part) if isinstance(part, str) else part)


def answer(as_json: bool, content: object, *parts: Any) -> None:
    """Print the content as JSON, or the tables and sentences."""
    if as_json:
        print_json(content)
    else:
        print_parts(*parts)


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show a status line on a terminal, and yield a function that changes its text."""
    # a status line in a log file would be a line of control characters for every change
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status(what) as status:
        yield status.update


def save_model(model: Fitted, output: Path | None, *, forget_rows: bool = False) -> None:
    """Write the model to the output; call it before printing, which fails on a closed pipe."""
    if forget_rows:
        model.forget_rows()
    if output is not None:
        model.save(output)


def report_model(
    model: Fitted, about: str, output: Path | None, *, as_json: bool, **details: Any
) -> None:
    """Print where the model was saved, or all facts about it as JSON."""
    if not as_json:
        report_saved(output)
        return
    certificate, ledger = certificate_of(model), model.ledger_
    content = {
        "data": about,
        "estimator": type(model).__name__,
        "booster": ledger.booster,
        "learner": ledger.learner,
        "classes": model.classes_,
        "rounds": len(ledger),
        "stopped": ledger.stopped,
        "training_error": ledger.rounds[-1].training_error if len(ledger) else None,
        "sentence": sentence_of(model),
        "certificate": None if certificate is None else certificate.to_dict(),
    }
    print_json({**content, **details, "model": output})


def report_saved(output: Path | None) -> None:
    """Print where the model was saved."""
    if output is None:
        echo("The model was not saved: use --output to save it.")
    else:
        echo(f"The model is in {output}. For a report on it: pacboost report {output}")


def sentence_of(model: Fitted) -> str | None:
    """Return the sentence of a fitted model, if any theorem applies to it."""
    from pacboost.bounds import estimates

    certificate = certificate_of(model)
    if certificate is None:
        return None
    return estimates.in_words(certificate, model.model_.held_out, model.classes_.tolist())


def certificate_of(model: Fitted) -> Certificate | None:
    """Return the certificate of a fitted model, if any theorem applies to it."""
    with suppress(NotCertified):
        certificate: Certificate | None = model.certificate_
        return certificate
    return None
