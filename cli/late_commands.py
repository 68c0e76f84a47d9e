"""Commands that are imported when they are called: `attest --help` loads no other part for them."""

from functools import cached_property
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group


def late(where: str) -> type[TyperCommand]:
    """A class for a command that is written in another module, `package.module:name`.

    What is found there, a function or a `typer.Typer`, takes its place when it is called, for its
    own --help too. Until then the command is a name and a line of help.
    """

    class Late(TyperCommand):
        @cached_property
        def real(self) -> TyperCommand | TyperGroup:
            module, _, name = where.partition(":")
            found = getattr(import_module(module), name)
            if isinstance(found, typer.Typer):
                return get_group(found)
            alone = typer.Typer(add_completion=False)
            alone.command(self.name)(found)
            command = get_command(alone)
            assert isinstance(command, TyperCommand)
            return command

        @property
        def commands(self) -> Any:
            """Those below it. Raises AttributeError if it is no group, as commands do."""
            group: Any = self.real
            return group.commands

        def make_context(self, *args: Any, **more: Any) -> Any:
            return self.real.make_context(*args, **more)

    return Late


def elsewhere() -> None:
    """Stands for what is not imported yet."""
    raise AssertionError("a late command calls the real one")
