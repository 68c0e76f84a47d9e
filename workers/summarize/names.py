"""What a heading of a clinical note names: one of the kinds of knowledge/note_sections.yaml."""

import re

from knowledge.notes import section_policy

BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]?")
_SPLIT = re.compile(r"\s*(?:[/&,+]|\s[-–—]\s|\band\b)\s*")
MARKS = " \t*_=~:#-–—."
NUMBERING = re.compile(r"(?:#?\d{1,2}(?:\.\d{1,2})*[.):]?|[IVX]{1,4}[.)])[ \t]+(?=\S)")


def kind_of(title: str) -> str | None:
    """The kind that a heading names, by its whole words, a part of them, or its last one."""
    policy = section_policy()
    words = plain(title)
    if not words:
        return None
    if "ordered" in words.split():
        return "plan"
    if (kind := policy.by_name.get(words)) is not None:
        return kind
    words = NUMBERING.sub("", words)
    bare = " ".join(BRACKETS.sub(" ", words).split()).strip(MARKS)
    candidates = [words, bare, unqualified(bare)]
    candidates += [unqualified(part) for part in _SPLIT.split(bare)]
    for candidate in candidates:
        if (kind := policy.by_name.get(candidate)) is not None:
            return kind
    return policy.by_tail.get(bare.rpartition(" ")[2])


def plain(title: str) -> str:
    """A heading in lower case on one line, without marks, with plain hyphens and spaces."""
    folded = title.casefold().replace("\u2010", "-").replace("\u2011", "-").replace("’", "'")
    return " ".join(folded.split()).strip(MARKS)


def unqualified(words: str) -> str:
    """A name without what only qualifies it: "meds unchanged", "recent results"."""
    policy = section_policy()
    parts = words.split()
    while len(parts) > 1 and " ".join(parts) not in policy.by_name:
        if parts[-1] in policy.qualifiers:
            parts.pop()
        elif parts[0] in policy.qualifiers:
            parts.pop(0)
        else:
            break
    return " ".join(parts)


def is_statement(title: str) -> bool:
    """Whether a short line says something: "No reg meds", "Nil on exam"."""
    first = title.split(None, 1)[0].casefold()
    return first in ("no", "nil", "not", "denies", "none", "never") or "," in BRACKETS.sub(
        "", title
    )
