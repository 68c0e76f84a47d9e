"""Reads files of one JSON object a line, as evaluations have them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

Line = TypeVar("Line", bound=BaseModel)


def read_text(path: Path) -> str:
    """The text of a file with its line ends unchanged: spans count every character.

    Raises ValueError, in one line, where it cannot be read.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise ValueError(f"{path} is missing") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None


def read_lines(path: Path, kind: type[Line]) -> Iterator[tuple[int, Line]]:
    """The lines of a file with their numbers; blank ones are left out.

    Raises ValueError, in one line, for a missing file or an unreadable line.
    """
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield number, kind.model_validate(json.loads(line))
        except json.JSONDecodeError as error:
            raise ValueError(f"{path}, line {number}: not JSON ({error.msg})") from None
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the line"
            raise ValueError(f"{path}, line {number}: {where}: {first['msg']}") from None
