"""What all bodies have in common: frozen values, a version of their form, the JSON they came from.

Hashes of bodies are attested, so a body that is read and written again must be the same JSON. Hence
moments stay as they were written, and a field that was not given is not written: a form grows by
fields with defaults, which older bodies then lack. Any other change is a new version, with a
function in `UPGRADES` that turns a body of the version before into it.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

Json: TypeAlias = Mapping[str, Any]
"""A JSON object as the database returns it."""
Upgrade = Callable[[Json], Json]


class UnknownForm(ValueError):
    """The body has a form that this release does not read; no value of it is repeated."""


class Part(BaseModel):
    """A part of a body: JSON values only, and no field that is not declared."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def as_json(self) -> dict[str, Any]:
        """The part as JSON: what was not given is not in it."""
        return self.model_dump(mode="json", exclude_unset=True)


class Body(Part):
    """A body. `schema_version` is that of its form; 0: written before forms had one."""

    VERSION: ClassVar[int] = 1
    UPGRADES: ClassVar[Mapping[int, Upgrade]] = {}
    """By version, what makes the next one of it. Forms of version 0 only ever grew."""

    schema_version: int = VERSION

    @classmethod
    def read(cls, stored: Json) -> Self:
        """The body that was stored, whichever release wrote it.

        Raises:
            UnknownForm: no release up to this one wrote that.
        """
        version = stored.get("schema_version", 0)
        if type(version) is not int or not 0 <= version <= cls.VERSION:
            raise UnknownForm(f"{cls.__name__}: this release reads forms up to {cls.VERSION}")
        body = stored
        for number in range(version, cls.VERSION):
            body = cls.UPGRADES.get(number, _as_it_is)(body)
        try:
            return cls.model_validate({**body, "schema_version": version})
        except ValidationError as error:
            places = sorted({".".join(map(str, one["loc"])) for one in error.errors()})[:5]
            raise UnknownForm(f"{cls.__name__}: no release wrote that: {places}") from None

    def as_body(self) -> dict[str, Any]:
        """The body as JSON, as it is stored and hashed: what was not given is not in it."""
        body = self.as_json()
        if self.schema_version:
            return {**body, "schema_version": self.schema_version}
        body.pop("schema_version", None)
        return body

    def in_form(self, version: int) -> Self:
        """The same, written in the form of this version, as a replay of an older body needs it."""
        return self.model_copy(update={"schema_version": version})


def _as_it_is(body: Json) -> Json:
    return body
