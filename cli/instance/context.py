"""What every command has at hand: the settings, and the running instance when it needs one."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import typer

from cli.instance.instance import find_gateway, open_store, require_gateway
from cli.output.printing import say_json
from store.core.settings import Settings

if TYPE_CHECKING:
    from store.core.unit_of_work import Store

JsonOption = Annotated[bool, typer.Option("--json", help="print JSON for programs")]


@dataclass
class Instance:
    """The settings of this command and, opened on first use, the instance they name."""

    settings: Settings
    directory_named: bool = False
    """By --data-dir: then no other instance is meant."""

    @classmethod
    def of(cls, ctx: typer.Context) -> "Instance":
        """The instance of this command."""
        found = ctx.obj
        assert isinstance(found, cls)
        return found

    @cached_property
    def store(self) -> "Store":
        """The store of the running instance."""
        return open_store(self.settings)

    def close(self) -> None:
        """Close the connections that were opened; it may be used again."""
        if "store" in vars(self):
            self.store.engine.dispose()

    @property
    def url(self) -> str:
        """The gateway of the running instance.

        Raises:
            NotRunning: none runs.
        """
        return require_gateway(self.settings, directory_named=self.directory_named)

    @property
    def url_if_any(self) -> str | None:
        """The same for commands that can work alone; None: none runs."""
        return find_gateway(self.settings, directory_named=self.directory_named)


def zoned(moment: datetime | None, option: str) -> datetime | None:
    """A moment that an option gave, in the zone of this machine.

    Raises:
        typer.BadParameter: it lies where no clock reaches.
    """
    try:
        return moment.astimezone() if moment is not None else None
    except (ValueError, OverflowError):
        raise typer.BadParameter("no clock reaches that day", param_hint=option) from None


print_json = say_json
