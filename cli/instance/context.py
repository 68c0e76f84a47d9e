"""What every command can use: the settings, and the running instance when it needs one."""

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
    """The settings of this command and the instance they name, opened on first use."""

    settings: Settings
    directory_named: bool = False
    """--data-dir was given: then no other instance is used."""

    @classmethod
    def of(cls, ctx: typer.Context) -> "Instance":
        """The instance of this command."""
        instance = ctx.obj
        assert isinstance(instance, cls)
        return instance

    @cached_property
    def store(self) -> "Store":
        """The store of the running instance."""
        return open_store(self.settings)

    def close(self) -> None:
        """Close the connections that were opened; the instance may be used again."""
        if "store" in vars(self):
            self.store.engine.dispose()

    @property
    def url(self) -> str:
        """The URL of the running instance's gateway.

        Raises:
            NotRunning: no instance runs.
        """
        return require_gateway(self.settings, directory_named=self.directory_named)

    @property
    def url_if_any(self) -> str | None:
        """The URL of the gateway, for commands that can work alone; None if no instance runs."""
        return find_gateway(self.settings, directory_named=self.directory_named)


def zoned(moment: datetime | None, option: str) -> datetime | None:
    """Return the moment from an option, in the time zone of this machine.

    Raises:
        typer.BadParameter: it is out of the range of dates.
    """
    try:
        return moment.astimezone() if moment is not None else None
    except (ValueError, OverflowError):
        raise typer.BadParameter("no clock reaches that day", param_hint=option) from None


print_json = say_json
