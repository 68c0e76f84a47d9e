"""Reads the data files of this package.

What makes a model of one raises pydantic.ValidationError where the file is invalid.
"""

from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict


class Policy(BaseModel):
    """What a data file or a part of it holds: frozen, and no key that is not declared."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@cache
def load(name: str) -> Any:
    """The content of `knowledge/<name>.yaml`, read once per process; callers must not change it.

    Raises FileNotFoundError if there is no such file and yaml.YAMLError if it is malformed.
    """
    return parse(files("knowledge").joinpath(f"{name}.yaml").read_text(encoding="utf-8"))


def parse(text: str) -> Any:
    """Parse a YAML text without custom types; with libyaml, ten times as fast as in Python.

    Raises yaml.YAMLError if it is malformed.
    """
    return yaml.load(text, Loader=yaml.CSafeLoader)
