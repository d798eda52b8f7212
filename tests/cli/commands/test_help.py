"""The help of every command explains all of its options."""

from __future__ import annotations

import click
import pytest

from pacboost.cli.main import main


def commands(group: click.Group, path: str = "") -> list[tuple[str, click.Command]]:
    found: list[tuple[str, click.Command]] = []
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        whole = f"{path} {name}".strip()
        if isinstance(command, click.Group):
            found += commands(command, whole)
        found.append((whole, command))
    return found


ALL = dict(commands(main))


@pytest.mark.parametrize("name", ALL)
def test_every_option_is_explained(name: str) -> None:
    command = ALL[name]
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts[0]}"
            assert parameter.help.rstrip().endswith((".", "]")), f"{name} {parameter.opts[0]}"


@pytest.mark.parametrize("group", [main, ALL["plan"]], ids=["pacboost", "plan"])
def test_the_list_of_commands_has_whole_sentences(group: click.Command) -> None:
    said = group.get_help(click.Context(group))
    listed = said.partition("Commands:")[2].partition("Examples:")[0]
    assert listed.strip()
    assert "..." not in listed
    assert "`" not in listed
