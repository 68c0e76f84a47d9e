"""What a heading of a clinical note names: one of the kinds of
knowledge/documents/note_sections.yaml."""

import re

from knowledge.documents.notes import section_policy

BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]?")
_SPLIT = re.compile(r"\s{0,3}(?:[/&,+]|\s[-–—]\s|\band\b)\s{0,3}")
_BRACKET = re.compile(r"[()\[\]]")
MARKS = " \t*_=~:#-–—."
NUMBERING = re.compile(r"(?:#?\d{1,2}(?:\.\d{1,2}){0,9}[.):]?|[IVX]{1,4}[.)])[ \t]++(?=\S)")


def kind_of(title: str) -> str | None:
    """The kind that a heading names, by its whole words, its first part, its last or first word."""
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
    candidates = [words, bare, unqualified(bare), unqualified(_SPLIT.split(bare)[0])]
    for candidate in candidates:
        if (kind := policy.by_name.get(candidate)) is not None:
            return kind
    if says(bare):
        return None
    return policy.by_tail.get(bare.rpartition(" ")[2]) or policy.by_head.get(bare.partition(" ")[0])


def names_only(title: str) -> bool:
    """Whether a heading is nothing but known names and what qualifies them, so that it may be
    hidden: "Meds (unchanged)", but not "Rectal Ca hx", and not "ECG", which says what was done."""
    policy = section_policy()
    words = NUMBERING.sub("", plain(title))
    if words in policy.by_name:
        return words not in policy.telling and words not in policy.whose_or_when
    parts = _SPLIT.split(_BRACKET.sub(" & ", words))
    return all(map(_is_a_name, (part.strip(MARKS + "[]()") for part in parts)))


def _is_a_name(part: str) -> bool:
    policy = section_policy()
    if not part or part in policy.dividers or all(w in policy.qualifiers for w in part.split()):
        return True
    bare = unqualified(part)
    return (
        bare in policy.by_name and bare not in policy.telling and bare not in policy.whose_or_when
    )


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
    """Whether a short line says something: "No reg meds", "Suicidal with plan"."""
    bare = BRACKETS.sub("", title)
    return "," in bare or says(bare.casefold())


def says(words: str) -> bool:
    """Whether a word of a statement is among the words of what may be a heading."""
    policy, parts = section_policy(), words.split()
    return bool(parts) and (
        parts[0].strip(MARKS) in policy.statement_openers
        or any(one in policy.statement_words for one in parts)
    )
