"""The group of all commands, which are imported when used, and whose errors become one sentence.

Exit codes are 0 for success; 1 if the answer is no: a certificate that does not hold or is refused,
an error above --epsilon, a learner without an edge; 2 for a command, option, file or row that
cannot be used; 3 for an alarm of watch; 4 for a bug in pacboost; 130 after Ctrl-C; 141 if the
reader of the output has ended, as `head` does.
"""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from pacboost import errors
from pacboost.estimators.parameters.table import PARAMS
from pacboost.numerics.percent import visible

THE_ANSWER_IS_NO = 1
BAD_INPUT = 2
ALARM = 3
BUG = 4
NO_READER = 141
"""The exit code that shells give a program whose output nobody reads any more."""
INTERRUPTED = 130
"""The exit code that shells give a program ended by Ctrl-C."""
NAMES_ELSEWHERE = {
    "train": "fit", "learn": "fit", "score": "certify", "evaluate": "certify", "test": "certify",
    "info": "inspect", "show": "inspect", "explain": "report", "check": "verify",
    "monitor": "watch",
}  # fmt: skip
"""What other programs call the same commands."""
MAX_SENTENCE_LETTERS = 1_000
"""Maximum length of a sentence in a list of commands; click's default cuts it to one line."""
DEBUG = "PACBOOST_DEBUG"
"""The environment variable that makes errors show their tracebacks."""
OPTIONS = {
    "time": "--time-column",
    **{param.name: param.option for param in PARAMS if param.option},
}
"""Options by the names of parameters; other options are called as their parameters are."""


def option_name(parameter: str) -> str:
    """Return the name of an option as it is typed."""
    return f"--{parameter.replace('_', '-')}"


def option_of(command: click.Command | None, parameter: str) -> str:
    """Return the option that sets a parameter; empty if there is none."""
    if isinstance(command, click.Group):  # a question of plan has an option for each parameter
        return option_name(parameter)
    name = OPTIONS.get(parameter, option_name(parameter)).partition("/")[0]
    options = (option for option in command.params if name in option.opts) if command else ()
    return next((max(option.opts, key=len) for option in options if "-" in option.opts[0]), "")


class WholeSentences(click.Group):
    """A group whose help shows the first sentence of every command in full."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [
            (name, command.get_short_help_str(MAX_SENTENCE_LETTERS))
            for name, command in commands
            if command is not None
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class Commands(WholeSentences):
    """A group of commands, each the function ``command`` of a module in ``homes``."""

    def __init__(self, *arguments: Any, homes: Mapping[str, str], **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._homes = homes

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands."""
        return list(self._homes)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load the module of a command."""
        if cmd_name not in self._homes:
            return None
        command: click.Command = import_module(self._homes[cmd_name]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for an unknown name, suggest a similar one."""
        name = args[0]
        if name in self._homes or name.startswith("-"):
            return super().resolve_command(ctx, args)
        close = NAMES_ELSEWHERE.get(name) or next(
            iter(get_close_matches(name, self._homes, n=1)), None
        )
        hint = f"Did you mean '{close}'?" if close else f"There are {', '.join(self._homes)}."
        raise click.UsageError(f"No such command '{name}'. {hint}", ctx)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; an error becomes one sentence and an exit code."""
        try:
            with _notes():
                answer = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()  # the reader of the output may be gone
            return answer
        except click.ClickException as problem:
            # a name from a file may hold control characters, which would act on the terminal
            problem.message = visible(problem.message)  # type: ignore[misc]
            raise
        except (click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            click.echo("Interrupted; nothing else was written.", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None
        # nothing was wrong with the input: scripts tell "no" (1) from a mistake in the command (2)
        except (errors.NotCertified, errors.OutOfTime) as refusal:
            raise CommandError(str(refusal), THE_ANSWER_IS_NO) from refusal
        except errors.ParameterError as problem:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            option = option_of(command, problem.parameter) if problem.parameter else ""
            note = f" (option {option})" if option else ""
            raise CommandError(f"{problem}{note}", BAD_INPUT) from problem
        except errors.PacboostError as problem:
            raise CommandError(str(problem), BAD_INPUT) from problem
        except MemoryError as problem:
            raise CommandError("there is not enough memory for this", BAD_INPUT) from problem
        except OSError as problem:
            if problem.errno == errno.EPIPE:
                _write_to_nobody()
                raise click.exceptions.Exit(NO_READER) from None
            raise CommandError(str(problem), BAD_INPUT) from problem
        except Exception as problem:
            if os.environ.get(DEBUG):
                raise
            raise CommandError(
                f"unexpected {type(problem).__name__}: {problem}. This is a bug in pacboost. Set "
                f"{DEBUG}=1 in the environment to see the traceback",
                BUG,
            ) from problem


class CommandError(click.ClickException):
    """An error in one sentence."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(visible(message))
        self.exit_code = exit_code  # type: ignore[misc]


def _write_to_nobody() -> None:
    """Drop what is still buffered, which Python would write at its end, and fail."""
    # else Python prints a traceback of its own when it flushes at exit, after ours
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a stream of tests has no file
            if stream is not None:
                os.dup2(null, stream.fileno())
    os.close(null)


@contextmanager
def _notes() -> Iterator[None]:
    """Print warnings as notes, without source lines."""
    with warnings.catch_warnings():
        for kind in vars(errors).values():
            if isinstance(kind, type) and issubclass(kind, Warning):
                # Python shows a warning once for each line of code, and two columns may be warned
                # of by one line
                warnings.simplefilter("always", kind)

        shown: set[str] = set()

        def show(message: Warning | str, *_: object) -> None:
            note = f"Note: {str(message).rstrip('.')}."
            if note not in shown:
                click.echo(visible(note), err=True)
            shown.add(note)

        warnings.showwarning = show  # type: ignore[assignment]
        yield
