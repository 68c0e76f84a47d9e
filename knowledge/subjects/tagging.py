"""The tags of a document: its subjects, and everything it names (EB-5.1, 5.3). Pure."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from knowledge.subjects.tags import tags

_FILES = ("subjects/vocabulary.yaml", "works/kinds.yaml", "works/kinds.npz")


@dataclass(frozen=True)
class Tags:
    """Tags in order of their first mention."""

    focus: tuple[str, ...]
    """Diseases in the title and the subject headings."""
    diseases: tuple[str, ...]
    """Diseases anywhere, the focus included."""
    decisions: tuple[str, ...]
    kind: str | None = None
    """What kind of work it is (`knowledge.works.kinds`)."""


def tags_of(title: str, subjects: Iterable[str], text: str) -> Tags:
    """The tags in a document's title, subject headings and text."""
    head = "\n".join((title, *subjects))
    focus = tags("diseases", head)
    whole = f"{head}\n{text}"
    return Tags(focus, tags("diseases", whole), tags("decisions", whole))


@cache
def vocabulary_version() -> str:
    """The version of the vocabulary and the kinds: the first 12 hex digits of their SHA-256."""
    content = [files("knowledge").joinpath(name).read_bytes() for name in _FILES]
    return hashlib.sha256(b"".join(content)).hexdigest()[:12]
