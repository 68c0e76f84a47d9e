"""Commands that are imported only when they are called, so that `attest --help` is quick."""

from functools import cached_property
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group


def late(where: str) -> type[TyperCommand]:
    """Return a class for a command that is defined in another module, `package.module:name`.

    The function or `typer.Typer` found there replaces it when it is called, also for its own
    --help. Until then the command is a name and a line of help.
    """

    class Late(TyperCommand):
        @cached_property
        def real(self) -> TyperCommand | TyperGroup:
            module, _, name = where.partition(":")
            target = getattr(import_module(module), name)
            if isinstance(target, typer.Typer):
                return get_group(target)
            wrapper = typer.Typer(add_completion=False)
            wrapper.command(self.name)(target)
            command = get_command(wrapper)
            assert isinstance(command, TyperCommand)
            return command

        @property
        def commands(self) -> Any:
            """Its subcommands. Raises AttributeError if it is no group, as commands do."""
            group: Any = self.real
            return group.commands

        def make_context(self, *args: Any, **more: Any) -> Any:
            return self.real.make_context(*args, **more)

    return Late


def elsewhere() -> None:
    """A placeholder for a command that is not imported yet."""
    raise AssertionError("a late command calls the real one")
