"""A name in a claim is in its source: identifiers, trials, bodies, journals, versions, acronyms.

Where the passage names one body or trial, the claim may not put another in its place, also not one
of which the source speaks elsewhere (DESIGN section 2, invariant 6). Pure.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache

from clinical_text.identifiers import spans_of_identifiers
from knowledge.drugs import drugs_at
from knowledge.guard_terms import named_terms
from workers.verify.guards.binding import crossed, telling_words
from workers.verify.guards.dates import spans_of_dates
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.lexing import Lexicon, Token, fold, sentences, spells, stem, tokens
from workers.verify.guards.trials import (
    mismatched,
    strange_identifiers,
    strange_trials,
    trial_names,
)

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_VERSION = re.compile(
    rf"(?i)(?<![\w.])(?:(?:version|ver\.|v)[\s.]?\s?(?P<number>\d+(?:\.\d+)*)"
    rf"|(?P<nth>\d+)(?:st|nd|rd|th)\s+edition|(?P<word>{'|'.join(_ORDINALS)})\s+edition"
    r"|edition\s+(?P<edition>\d+))(?!\w)"
)
_OPENING = "\"'(["
_MOST_OPENING = 40
"""Marks and spaces before the first word of a sentence, at most (ours)."""
_CLAUSE = re.compile(r"(?i)[;:]|,?\s{0,9}\b(?:whereas|while|but|although|though)\b|,\s{0,9}and\b")
_DENIALS = frozenset({"not", "no", "never", "neither", "nor", "cannot"})
_DEFINED = 90


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """What `claim` names that its source does not, or names of another thing than its source."""
    findings = numbers(claim, grounds)
    claim = fold(claim)
    findings += _strange_bodies(claim, grounds)
    findings += strange_journals(claim, grounds)
    findings += _strange_versions(claim, grounds)
    findings += _swapped(claim, fold(grounds.passage))
    return findings or _strange_words(claim, grounds)


def numbers(claim: str, grounds: Grounds) -> list[Finding]:
    """Identifiers that its source does not have, and trials under the number of another one."""
    claim = fold(claim)
    return [
        *strange_identifiers(claim, grounds),
        *mismatched(claim, grounds),
        *strange_trials(claim, grounds),
    ]


def _strange_bodies(claim: str, grounds: Grounds) -> list[Finding]:
    said = _named(_organizations(), claim)
    if not said:
        return []
    stated = set(_named(_organizations(), fold(grounds.passage)))
    own = set(_named(_organizations(), _heading(grounds)))
    findings = []
    for name, raw in said.items():
        if name in stated:
            continue
        # The source may speak of a body in passing: it speaks for one only where no other is named.
        in_text = not own and name in _named(_organizations(), fold(grounds.text))
        if stated or not (name in own or in_text):
            findings.append(Finding("organization", f"“{raw}” is not in the passage", unsaid=True))
    return findings


def strange_journals(claim: str, grounds: Grounds) -> list[Finding]:
    """Journals that the folded words name and that are not the source's."""
    said = _named(_journals(), claim)
    if not said:
        return []
    stated = _named(_journals(), fold(grounds.passage))
    own = _named(_journals(), _heading(grounds)) or _named(_journals(), fold(grounds.text))
    return [
        Finding("journal", f"“{raw}” is not the source's journal")
        for name, raw in said.items()
        if name not in stated and name not in own
    ]


def _strange_versions(claim: str, grounds: Grounds) -> list[Finding]:
    said = _versions(claim)
    if not said:
        return []
    labels = " ".join(
        f"version {value}"
        for name, value in grounds.known.items()
        if "version" in name.casefold() or "edition" in name.casefold()
    )
    stated = (
        _versions(fold(grounds.passage))
        or _versions(fold(f"{_heading(grounds)} {labels}"))
        or _versions(fold(grounds.text))
    )
    return [
        Finding("version", f"“{raw}” is not the version of the source")
        for label, raw in said.items()
        if label not in stated
    ]


def _versions(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for match in _VERSION.finditer(text):
        word = match["word"]
        nth = str(_ORDINALS.index(word.lower()) + 1) if word else match["nth"]
        found[match["number"] or nth or match["edition"]] = match.group()
    return found


def _swapped(claim: str, passage: str) -> list[Finding]:
    """Bodies and trials of the passage that the claim puts in one another's place."""
    findings = []
    for kind, names_in in (("organization", _bodies_in), ("trial", trial_names)):
        said = _by_name(claim, names_in)
        stated = _by_name(passage, names_in) if said else {}
        for name, clauses in said.items():
            own = stated.get(name, [])
            rivals = [words for other, some in stated.items() if other != name for words in some]
            if any(crossed(words, own, rivals) for words in clauses):
                findings.append(Finding(kind, f"said of “{name}”, stated of another"))
    return findings


def _by_name(
    text: str, names_in: Callable[[str], Iterable[str]]
) -> dict[str, list[frozenset[str]]]:
    """For each name, the words of each clause that has it and no other name.

    "ESMO does not" takes its words from the clause before; that a clause denies or states counts
    as a word.
    """
    found: dict[str, list[frozenset[str]]] = {}
    if len(list(names_in(text))) == 0:
        return found
    for sentence in sentences(text):
        before: frozenset[str] = frozenset()
        for clause in _CLAUSE.split(sentence):
            named = list(names_in(clause))
            words = telling_words(clause) - _DENIALS
            words -= frozenset[str]().union(*map(telling_words, named))
            before = words or before
            if len(named) == 1:
                mark = {"<no>" if telling_words(clause) & _DENIALS else "<yes>"}
                found.setdefault(named[0], []).append(before | mark)
    return found


def _strange_words(claim: str, grounds: Grounds) -> list[Finding]:
    """Acronyms and capitalized words of the claim that its source does not have."""
    taken = [*spans_of_identifiers(claim), *spans_of_dates(claim)]
    # Each of these has a rule of its own.
    for found in (drugs_at(claim), _organizations().find(claim), _journals().find(claim)):
        taken += [(one.start, one.end) for one in found]
    known: set[str] | None = None
    findings = []
    for word in tokens(claim):
        identified = any(start <= word.start < end for start, end in taken)
        if identified or not _names_something(claim, word):
            continue
        if known is None:
            near = f"{grounds.passage}\n\n{grounds.neighbours}\n\n{_heading(grounds)}"
            known = {token.stem for token in tokens(fold(near))}
        if word.stem in known or _is_elsewhere(word, grounds):
            continue
        findings.append(Finding("name", f"“{word.text}” is not in the source", unsaid=True))
    return findings


def _names_something(claim: str, word: Token) -> bool:
    """Whether it is an acronym, or begins with a capital inside a sentence."""
    text = word.text
    if sum(map(str.isupper, text)) > 1:
        return not _is_roman(text)
    if not text[0].isupper() or len(text) == 1 or text in named_terms().plain_capitals:
        return False
    return not _begins_sentence(claim, word.start)


def _begins_sentence(text: str, at: int) -> bool:
    """Whether nothing but opening marks stands between a word and a stop or the beginning."""
    before = text[max(0, at - _MOST_OPENING) : at].rstrip(_OPENING)
    said = before.rstrip()
    if not before:
        return at <= _MOST_OPENING
    return said != before and said[-1:] in (".", "!", "?", ":", ";")


def _is_roman(text: str) -> bool:
    return re.fullmatch(r"[IVX]+[ABCabc]?", text) is not None


def _is_elsewhere(word: Token, grounds: Grounds) -> bool:
    """Whether the passage spells an acronym out, or the text has the word."""
    near = fold(f"{grounds.passage}\n\n{grounds.neighbours}\n\n{grounds.title}").lower()
    if any(other.lower() in near for other in named_terms().same.get(word.text.upper(), ())):
        return True
    acronym = word.text.removesuffix("s") if word.text[-2:-1].isupper() else word.text
    is_acronym = sum(map(str.isupper, acronym)) > 1
    if is_acronym and spells(acronym, tokens(near)):
        return True
    text = fold(grounds.text)
    pattern = re.compile(rf"(?i)(?<![^\W_]){re.escape(acronym)}s?(?![^\W_])")
    found = pattern.search(text)
    if found is None or not is_acronym:
        return found is not None
    # An acronym stands for words of the passage only if the text says so where it defines it.
    defined = re.search(rf"\(\s*{re.escape(acronym)}s?\b", text)
    if defined is None:
        return True
    before = tokens(text[max(0, defined.start() - _DEFINED) : defined.start()])
    spelled = [one.stem for one in before[-len(acronym) :]]
    stems = {stem(one.text) for one in tokens(near)}
    return sum(one in stems for one in spelled) * 2 >= len(spelled)


def _heading(grounds: Grounds) -> str:
    """What a record says of itself: its title, publisher, journal, version."""
    return fold(". ".join([grounds.title, *grounds.known.values()]))


def _named(lexicon: Lexicon, text: str) -> dict[str, str]:
    return {one.name: text[one.start : one.end] for one in lexicon.find(text)}


def _bodies_in(text: str) -> list[str]:
    return list(_named(_organizations(), text))


@cache
def _organizations() -> Lexicon:
    return Lexicon(named_terms().organizations)


@cache
def _journals() -> Lexicon:
    return Lexicon(named_terms().journals)
