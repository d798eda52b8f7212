"""The command ``pacboost`` and the list of its subcommands."""

from __future__ import annotations

from pkgutil import iter_modules

import click

from pacboost import __version__
from pacboost.cli import commands
from pacboost.cli.group import Commands
from pacboost.cli.options import example

# In the order of use, from a file to a model in service; commands of other files follow by name.
LISTED_FIRST = (
    "fit", "predict", "certify", "threshold", "sets", "intervals", "watch", "verify", "plan",
    "diagnose", "compare", "draw", "jury", "cascade", "audit", "inspect", "report", "export", "ask",
    "demo", "lab", "doctor", "guide",
)  # fmt: skip
LISTED_AFTER = sorted(name for _, name, _ in iter_modules(commands.__path__) if "_" not in name)
COMMANDS = tuple(dict.fromkeys((*LISTED_FIRST, *LISTED_AFTER)))
"""The commands in the order of the help page; each is the ``command`` of a file in commands/ whose
name has no underscore."""


@click.group(
    cls=Commands,
    homes={name: f"pacboost.cli.commands.{name}" for name in COMMANDS},
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "show_default": True,
    },
    epilog=example(
        "pacboost fit parcels.csv --target late --output late.pacb",
        "pacboost report late.pacb",
        "",
        "# Tab completion (bash; zsh and fish work the same way):",
        'eval "$(_PACBOOST_COMPLETE=bash_source pacboost)"',
    ),
)
@click.version_option(__version__, prog_name="pacboost")
def main() -> None:
    """Boost weak rules into a strong classifier, and say how wrong it can be.

    Every command has --help with an example, and --json for programs. The exit code is 0 for
    success, 1 if the answer is no (such as an error above --epsilon, or a certificate that does not
    hold), 2 if the input cannot be used, and 3 for an alarm of watch.
    """
