"""Every identifier of a text: what form and context tell, and its further mentions. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from clinical_text.identities.codes import addresses, born_beside, codes
from clinical_text.identities.forms import LETTER, TOKEN, UPPER, WINDOW, Identifier, Kind
from clinical_text.identities.names import is_eponym, is_given, is_word, named
from knowledge.documents.persons import person_policy
from knowledge.names.reading import names

_INITIALS = re.compile(rf"(?<![\w.])(?:[{UPPER}]\.[ ]?){{2,4}}(?!\w)")
_PIECE = re.compile(r"(?<![\w.-])[\w(+][^\s\"]{0,80}")
_DOES = re.compile(rf"(?:['’]s\b|[ ]({LETTER}+))")
_SHORTEST = 5
"""Characters of a number, a date or an address of which further mentions are looked for (ours)."""


def identities(text: str) -> list[Identifier]:
    """Every identifier in order, none over another."""
    by_context = dict(named(text))
    found = [Identifier(start, end, "NAME") for start, end in by_context]
    known = _apart([*found, *codes(text), *addresses(text), *born_beside(text, by_context)])
    return _apart([*known, *_said_again(text, known, by_context)])


def hidden(text: str) -> str:
    """The text with the kind of each identifier in its place: `[NAME]`."""
    parts, at = [], 0
    for one in identities(text):
        parts += [text[at : one.start], f"[{one.kind}]"]
        at = one.end
    return "".join([*parts, text[at:]])


def _apart(found: Iterable[Identifier]) -> list[Identifier]:
    """Those that overlap become one, of the kind of the first."""
    kept: list[Identifier] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if kept and one.start < kept[-1].end:
            kept[-1] = kept[-1]._replace(end=max(one.end, kept[-1].end))
        else:
            kept.append(one)
    return kept


def _said_again(
    text: str, found: Sequence[Identifier], by_context: Mapping[tuple[int, int], bool]
) -> Iterator[Identifier]:
    """Every other place of what was found: of a name each of its words, in lower case only where
    its context leads to nothing but names."""
    words, initials, whole = dict[str, bool](), set[str](), dict[str, dict[str, Kind]]()
    for (start, end), sure in by_context.items():
        parts = [part for part in TOKEN.findall(text[start:end])
                 if part.casefold() not in person_policy().particles]  # fmt: skip
        initials.add("".join(part[0].upper() for part in parts))
        for part in (part.casefold() for part in parts if len(part) > 1):
            words[part] = sure or words.get(part, False)
    for one in found:
        said = text[one.start : one.end]
        if one.kind != "NAME" and len(said) >= _SHORTEST:
            whole.setdefault(said.split(None, 1)[0].rstrip(",;"), {})[said] = one.kind
    yield from _words_again(text, found, words)
    for match in _INITIALS.finditer(text):
        if "".join(filter(str.isalpha, match[0])) in initials:
            yield Identifier(match.start(), match.end(), "NAME")
    for match in _PIECE.finditer(text) if whole else ():
        for said, kind in whole.get(match[0].rstrip(",;.)|"), {}).items():
            if text.startswith(said, match.start()):
                yield Identifier(match.start(), match.start() + len(said), kind)


def _words_again(
    text: str, found: Sequence[Identifier], words: Mapping[str, bool]
) -> Iterator[Identifier]:
    at, before = 0, -1
    for token in TOKEN.finditer(text):
        start, end = token.span()
        while at < len(found) and found[at].end <= start:
            before, at = found[at].end, at + 1
        if at < len(found) and found[at].start <= start:
            continue
        sure = words.get(token[0].casefold())
        if sure is None or (token[0].islower() and not sure):
            continue
        beside = 0 <= start - before <= 2 and not text[before:start].strip(" ,")
        if (beside and not token[0].islower()) or _names_again(text, start, end):
            before = end
            yield Identifier(start, end, "NAME")


def _names_again(text: str, start: int, end: int) -> bool:
    """Whether a word of a name is that name once more, and not a word of the language."""
    said = text[start:end]
    if is_eponym(text, start, end):
        return False
    if said.islower() or not (is_word(said) or is_given([said])):
        return not is_word(said) and not any(one.known for one in names(said))
    if is_given([said]):
        return True
    if said.isupper():
        return not text[max(0, start - WINDOW) : end + WINDOW].isupper()
    does = _DOES.match(text, end)
    if does and (does[1] is None or does[1].casefold() in person_policy().verbs):
        return True
    lead = text[max(0, start - 3) : start].rstrip(" ")
    return bool(lead) and (lead[-1].isalnum() or lead[-1] == ",")
