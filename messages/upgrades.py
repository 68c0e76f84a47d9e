"""Upgrades old versions of messages to the newest: for messages that died or wait under old code.

A step turns the fields of one version into those of the next. With a step, the model of an old
version may be removed before its last dead letter is gone. No version has been replaced so far, so
there is no step yet.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from messages.models import Message
from messages.parsing import InvalidMessage, parse
from messages.stages import Stage

_SCHEMA = re.compile(r"([a-z]{1,20})\.v([0-9]{1,9})")


@dataclass(frozen=True)
class Step:
    """Turns the fields of `schema` into those of the next version; `apply` sets `schema` itself."""

    schema: str
    change: Callable[[Mapping[str, object]], Mapping[str, object]]

    @property
    def target(self) -> str:
        """The schema of the next version."""
        named = _SCHEMA.fullmatch(self.schema)
        if named is None:
            raise ValueError(f"{self.schema!r} is no schema of a version")
        return f"{named[1]}.v{int(named[2]) + 1}"


class Upgrades:
    """A set of steps, at most one from each version."""

    def __init__(self, *steps: Step) -> None:
        self._steps = {step.schema: step for step in steps}
        if len(self._steps) < len(steps):
            raise ValueError("two steps begin at the same version")
        for step in steps:
            step.target  # noqa: B018  raises where the name is none

    def apply(self, payload: Mapping[str, object]) -> Mapping[str, object]:
        """`payload` at the newest version that the steps lead to; unchanged if there is no step.

        Raises:
            InvalidMessage: the fields do not fit a step.
        """
        while isinstance(schema := payload.get("schema"), str) and schema in self._steps:
            step = self._steps[schema]
            fields = {key: value for key, value in payload.items() if key != "schema"}
            try:
                changed = step.change(fields)
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                raise InvalidMessage(
                    f"{schema}: its fields do not upgrade to {step.target} ({type(error).__name__})"
                ) from None
            payload = {**changed, "schema": step.target}
        return payload


UPGRADES = Upgrades()
"""The upgrades of this code."""


def parse_upgraded(stage: Stage, payload: object, upgrades: Upgrades = UPGRADES) -> Message:
    """Upgrade `payload`, received on the queue of `stage`, and parse it into a typed message.

    Raises:
        MessageError: as `parse`, and if the fields do not fit a step.
    """
    return parse(stage, upgrades.apply(payload) if isinstance(payload, Mapping) else payload)
