"""A claim is made of what its passage is about, names only what its source names, and says of
nothing that it cures, causes, kills or prevents where its passage says nothing like it. Pure."""

import re
from calendar import month_name
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache

from clinical_text.identifiers import spans_of_identifiers
from knowledge.guard_terms import named_terms
from knowledge.meaning import content_policy, direction_policy
from knowledge.tags import KINDS, mentions
from workers.verify.guards.dates import months_of, spans_of_dates
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.lexing import spells, tokens
from workers.verify.guards.negation import directed_stems, negations
from workers.verify.guards.pointing import Pointing, points
from workers.verify.guards.statements import Statement, read, stem_of

_NAME = re.compile(r"[^\W_]+(?:[-'\u2019][^\W_]+)*")
_SHORT = re.compile(
    r"\(\s*(?P<short>[A-Z][A-Za-z0-9-]{1,9}|[a-z]{1,3}[A-Z][A-Za-z0-9-]{1,8})[);,\s]"
)
_ACRONYM = re.compile(r"[a-z]{0,2}[A-Z]{3,6}|[a-z]{1,2}[A-Z]{2,6}")
_STOPPED = re.compile(r"[.!?:]\s|\n")
_LONG_WORDS = 10
"""Words before a bracket in which the long form of an abbreviation is looked for (ours)."""


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """Names that the version has nowhere, and a claim mostly of other words. Empty: no veto."""
    findings = [
        Finding("name", f"“{name}” is nowhere in the source", unsaid=True)
        for name in _names(claim)
        if not _has_name(name, claim, grounds)
    ]
    findings += [
        Finding("content", f"the passage says nothing that bears “{word}” out", unsaid=True)
        for word in _effects_of_its_own(claim, grounds)
    ]
    share = _share(claim, read(claim), grounds)
    if share < content_policy().least_share:
        detail = f"the passage holds {share:.0%} of the claim's words"
        findings.append(Finding("content", detail, unsaid=True))
    return findings


def _effects_of_its_own(claim: str, grounds: Grounds) -> Iterator[str]:
    """Words of the claim for what is done to somebody, or how well a test does, which the passage
    does not bear out, nor the sentence before where it points at that."""
    source = read(grounds.passage)
    held = {*source.words, *source.stems}
    if source.sentences and points(source, source.sentences[0])[0] is Pointing.ALONE:
        before = read(grounds.neighbours)
        held |= {*before.words, *before.stems}
    for says, bears_out in _effects():
        if held.isdisjoint(bears_out):
            yield from (word for word in read(claim).words if word in says)


@cache
def _effects() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """The words for each effect, and the words and stems that bear them out."""
    return tuple(
        (
            frozenset(one.says),
            frozenset(
                form for word in (*one.says, *one.needs) for form in (word, stem_of(word)[0])
            ),
        )
        for one in content_policy().effects
    )


def _share(claim: str, said: Statement, grounds: Grounds) -> float:
    """The share of the weight of the claim's words of content that the grounds hold, 0..1."""
    policy = content_policy()
    bases = negations(said).stems
    numbered = spans_of_identifiers(claim)
    wanted = {
        bases[i]
        for i, token in enumerate(said.tokens)
        if token.content
        and not token.frame
        and not token.word[0].isdigit()
        and not _inside(token.start, numbered)
        and token.stem not in directed_stems()
    }
    if not wanted:
        return 1.0
    source = read(grounds.passage)
    missing = wanted - source.by_stem.keys() - set(negations(source).stems)
    if not missing:
        return 1.0
    missing -= spelled_otherwise(said, missing, grounds)
    held = dict.fromkeys(wanted - missing, 1.0)
    total = float(len(held))
    text = read_stems(grounds.text) if missing else frozenset[str]()
    title, neighbours = read(grounds.title).by_stem, read(grounds.neighbours).by_stem
    for stem in missing:
        held[stem] = max(
            policy.title_weight * (stem in title), policy.neighbour_weight * (stem in neighbours)
        )
        known = held[stem] > 0 or stem in text or not grounds.text
        total += 1.0 if known else policy.unknown_weight
    return sum(held.values()) / total


@lru_cache(maxsize=16)
def read_stems(text: str) -> frozenset[str]:
    """The stems of a whole version."""
    return frozenset(stem_of(word.lower())[0] for word in set(re.findall(r"[^\W_]+", text)))


def spelled_otherwise(said: Statement, missing: set[str], grounds: Grounds) -> set[str]:
    """Of `missing`, what the passage holds under an abbreviation, a long form or another name."""
    found = set[str]()
    source = read(grounds.passage).by_stem
    for short, long in abbreviations(f"{grounds.text}\n{grounds.passage}").items():
        if short in missing and all(stem in source for stem in long):
            found.add(short)
        elif short in source:
            found.update(missing.intersection(long))
    for form, words in _short_forms():
        if form in missing and source.keys() >= words:
            found.add(form)
        elif form in source and said.by_stem.keys() >= words:
            found.update(missing & words)
    for outcome in _outcomes():
        # "improved survival" for "reduced mortality": the direction guard compares the two
        found.update(missing & outcome if outcome & source.keys() else ())
    left = missing - found
    if not left.isdisjoint(_months()):
        found.update(left & {_months_in_order()[month - 1] for month in months_of(grounds.passage)})
        left -= found
    if left:
        found.update(_by_tag(said, left, grounds.passage))
    return found


@cache
def _months_in_order() -> tuple[str, ...]:
    return tuple(stem_of(month.lower())[0] for month in month_name[1:])


@cache
def _months() -> frozenset[str]:
    return frozenset(_months_in_order())


def _by_tag(said: Statement, left: set[str], passage: str) -> Iterator[str]:
    """Of `left`, the words that name a disease or decision which the passage names in words that
    the claim does not repeat: "stroke" for "cerebral infarction"."""
    tokens = [token for token in said.tokens if token.stem in left]
    ours = " ".join(token.word for token in tokens)
    for kind in KINDS:
        for mention in mentions(kind, ours):
            theirs = (one for one in mentions(kind, passage) if one.name == mention.name)
            named = (read_stems(passage[one.start : one.end]) for one in theirs)
            if any(stems - said.by_stem.keys() for stems in named):
                yield from read_stems(ours[mention.start : mention.end]) & left


@cache
def _outcomes() -> tuple[frozenset[str], ...]:
    """The stems of each outcome that is told by its good side or by its bad one."""
    sides = [direction_policy().outcomes[subject] for subject in ("life", "disease")]
    return tuple(
        frozenset(stem_of(word)[0] for word in (*side.good, *side.bad) if " " not in word)
        for side in sides
    )


@cache
def _short_forms() -> tuple[tuple[str, frozenset[str]], ...]:
    """The stems of short forms that need no explanation, with those of each long form of several
    words. Without those that are words as well ("OR")."""
    found = []
    for short, longs in named_terms().same.items():
        stem, stop = stem_of(short.lower())
        for long in longs:
            stems = read_stems(long) - {one for one, small in map(stem_of, long.split()) if small}
            if len(stems) > 1 and not stop:
                found.append((stem, stems))
    return tuple(found)


@lru_cache(maxsize=16)
def abbreviations(text: str) -> Mapping[str, tuple[str, ...]]:
    """The stems of abbreviations that `text` explains in brackets, with those of the long form.

    Found by first letters, a plain form of Schwartz and Hearst 2003 ("A simple algorithm for
    identifying abbreviation definitions in biomedical text").
    """
    known: dict[str, tuple[str, ...]] = {}
    for match in _SHORT.finditer(text):
        letters = [c for c in match["short"].lower() if c.isalnum()]
        if letters[-1] == "s" and len(letters) > 2:
            letters.pop()
        before = _NAME.findall(text[max(0, match.start() - 120) : match.start()])
        words = [part for word in before[-_LONG_WORDS:] for part in word.lower().split("-")]
        for count in range(1, min(len(words), len(letters) + 3) + 1):
            if _stands_for(letters, words[-count:]):
                long = tuple(stem for stem, stop in map(stem_of, words[-count:]) if not stop)
                known.setdefault(stem_of(match["short"].lower())[0], long)
                break
    return known


def _stands_for(letters: list[str], words: list[str]) -> bool:
    """Whether the letters stand in the words in order, the first at the head of the first word."""
    if words[0][0] != letters[0]:
        return False
    joined = iter(" ".join(words))
    initials = sum(word[0] in letters for word in words)
    return all(letter in joined for letter in letters) and initials >= len(words) - 2


def _names(claim: str) -> list[str]:
    """Words of the claim that name something: capitals, letters with digits, names of drugs."""
    found = []
    # guards of their own look at these
    numbered = [*spans_of_identifiers(claim), *spans_of_dates(claim)]
    for match in _NAME.finditer(claim):
        word = match[0]
        if len(word) < 2 or word.isdigit() or _inside(match.start(), numbered):
            continue
        capitals = sum(c.isupper() for c in word)
        starts = _begins_sentence(claim, match.start())
        plain = capitals == 1 and word[0].isupper() and word[1:].islower()
        mixed = any(c.isdigit() for c in word) and any(c.isalpha() for c in word)
        if (
            (capitals and not (starts and plain))
            or (mixed and not word[0].isdigit())
            or _like_a_drug(word.lower())
        ):
            found.append(word)
    return list(dict.fromkeys(found))


def _begins_sentence(text: str, at: int) -> bool:
    """Whether nothing but marks stands between a word and a stop, a line's end or the beginning."""
    begin = at
    while begin and not (text[begin - 1].isalnum() or text[begin - 1] == "_"):
        begin -= 1
    return begin == 0 or _STOPPED.search(text, begin, at) is not None


def _inside(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in spans)


def _like_a_drug(word: str) -> bool:
    policy = content_policy()
    return len(word) > 6 and word.endswith(policy.drug_endings) and word not in policy.not_drugs


def _has_name(name: str, claim: str, grounds: Grounds) -> bool:
    """Whether the version has the name, however hyphens and capitals are written, or the claim's
    own long form of it."""
    texts = (grounds.passage, grounds.title, grounds.neighbours, grounds.text)
    if any(_plain(name) in _plain_words(text) or _in_parts(name, text) for text in texts):
        return True
    near = " ".join(texts[:3]).lower()
    if _ACRONYM.fullmatch(name) and spells(name, tokens(near)):
        return True
    if any(long.lower() in near for long in named_terms().same.get(name.upper(), ())):
        return True
    long = abbreviations(claim).get(stem_of(name.lower())[0])
    return long is not None and any(read_stems(text).issuperset(long) for text in texts)


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower()).removesuffix("s")


@lru_cache(maxsize=64)
def _plain_words(text: str) -> frozenset[str]:
    words = _NAME.findall(text)
    return frozenset(
        _plain(part) for word in words for part in (word, *re.split(r"[-'\u2019]", word))
    )


def _in_parts(name: str, text: str) -> bool:
    """Whether the parts of a compound that name something stand in the text; the first, if none
    does. "HIV-positive" needs "HIV"."""
    parts = [part for part in re.split(r"[-'\u2019]", name) if part]
    names = [part for part in parts if part != part.lower() or not part.isalpha()] or parts[:1]
    return len(parts) > 1 and all(_plain(part) in _plain_words(text) for part in names)
