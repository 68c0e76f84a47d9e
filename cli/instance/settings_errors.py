"""Reports settings that cannot be read by the names of their variables, without their values."""

import os
from collections.abc import Iterator
from typing import Any, get_args

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource

from knowledge.operation.retention import TextKind
from store.core.settings import Settings, secrets_of_files

_JSON = {
    "keep_days": '{"note": 90}',
    "source_mirrors": '{"https://api.fda.gov": "http://127.0.0.1:8080/fda"}',
}
"""Settings that are written as JSON, each with an example."""


def wrong_settings() -> str:
    """Return every environment variable that cannot be read and its fault, on one line; empty if
    all can be read."""
    broken: list[str] = []
    wrong = [*_complaints(broken), *secrets_of_files(os.environ)[1]]
    return "; ".join([*map(_write_json, dict.fromkeys(broken)), *wrong])


def _complaints(broken: list[str]) -> Iterator[str]:
    """Yield pydantic's complaints; the names of settings with broken JSON go to `broken`."""

    class Environment(EnvSettingsSource):
        def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
            try:
                return super().decode_complex_value(field_name, field, value)
            except ValueError:
                broken.append(field_name)
                return {}

    class Read(Settings):
        @classmethod
        def settings_customise_sources(
            cls, settings_cls: type[BaseSettings], *_: Any, **__: Any
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return (Environment(settings_cls),)

    try:
        Read()
    except ValidationError as error:
        for problem in error.errors(include_input=False, include_url=False):
            name, *within = map(str, problem["loc"])
            yield _said(name, within, problem["msg"].removeprefix("Value error, "))


def _said(name: str, within: list[str], message: str) -> str:
    if name in _JSON and not within:
        return _write_json(name)
    known = [part for part in within if part in get_args(TextKind)]  # others may be any text
    return f"{': '.join([f'ATTEST_{name.upper()}', *known])}: {message}"


def _write_json(name: str) -> str:
    return f"ATTEST_{name.upper()}: write JSON, for example {_JSON[name]}"
