"""The tags of a document: its subjects, and everything it names (EB-5.1, 5.3). Pure."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from knowledge.tags import tags


@dataclass(frozen=True)
class Tags:
    """Tags in order of their first mention."""

    focus: tuple[str, ...]
    """Diseases in the title and the subject headings."""
    diseases: tuple[str, ...]
    """Diseases anywhere, the focus included."""
    decisions: tuple[str, ...]


def tags_of(title: str, subjects: Iterable[str], text: str) -> Tags:
    """The tags in a document's title, subject headings and text."""
    head = "\n".join((title, *subjects))
    focus = tags("diseases", head)
    whole = f"{head}\n{text}"
    return Tags(focus, tags("diseases", whole), tags("decisions", whole))


@cache
def vocabulary_version() -> str:
    """The version of the vocabulary: the first 12 hex digits of its SHA-256."""
    content = files("knowledge").joinpath("vocabulary.yaml").read_bytes()
    return hashlib.sha256(content).hexdigest()[:12]
