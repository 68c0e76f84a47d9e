"""What a claim leaves out of the sentence that it is drawn from. Pure.

The other guards compare what a claim says. But a claim also turns its sentence by what it does not
say: in whom, compared with what, until when, by chance or not. Leaving out is what paraphrases do,
and most of it is harmless; which of it is cannot be told by its words. So such a claim does not
fall: the sentence itself is shown in its place (`workers.verify.completing`).
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from clinical_text.assertion.lexicon import lexicon
from clinical_text.vocabulary import vocabulary
from knowledge.loader import load
from workers.verify.guards.content import spelled_otherwise
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.negation import directed_stems
from workers.verify.guards.statements import (
    Phrasebook,
    Statement,
    Token,
    drawn_from,
    is_month,
    read,
)

_BENDS = re.compile(r"(?:ly|ing|ed)$")
_FEW = 2
"""Words of grammar put in the place of others at most, where the two are compared (ours)."""


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    telling: frozenset[str]
    pointing: frozenset[str]
    people: frozenset[str]
    introducing: frozenset[str]
    contrasting: frozenset[str]
    chance: tuple[str, ...]
    chance_told: frozenset[str]
    opposing: frozenset[str]
    joining: frozenset[str]
    connectives: Annotated[tuple[frozenset[str], ...], Field(min_length=2)]
    modals: Annotated[tuple[tuple[str, ...], ...], Field(min_length=2)]
    reserving: frozenset[str]


def guard(claim: str, grounds: Grounds, *, repeated: float = 0.0) -> list[Finding]:
    """What each sentence of the claim leaves out, or puts in the place of a word of grammar.

    Empty where it is drawn from no one sentence of the passage: other guards look at that.

    Args:
        repeated: share of its words that a claim must have from that sentence, in its order, for
            anything to be missed. Who writes freely of a sentence need not tell all of it.
    """
    said, source = read(claim), read(grounds.passage)
    findings: list[Finding] = []
    for members in said.sentences:
        content = [i for i in members if said.tokens[i].content]
        per_sentence: list[list[Finding]] = [
            list(_differences(claim, said, members, grounds, source.sentences[one], repeated))
            for one in drawn_from(said, content, source)
        ]
        if per_sentence and all(per_sentence):
            fewest: list[Finding] = min(per_sentence, key=len)
            findings += fewest
    return list(dict.fromkeys(findings))


def introduces(words: str) -> bool:
    """Whether words at the head of a sentence, up to its comma, only join it to what was said:
    "However", "In conclusion". Each must be known to do so: a word that no list has tells
    something, a connective may make what follows a condition, and of words of reporting those of
    people tell in whom, and adverbs and participles when ("previously") and from where."""
    tokens = read(words).tokens
    joins = [
        one.word in _policy().introducing
        or (one.frame and one.word not in _policy().people and not _BENDS.search(one.word))
        for one in tokens
    ]
    return any(joins) and all(
        _only_joins(one) if known else _is_grammar(one)
        for one, known in zip(tokens, joins, strict=True)
    )


def is_grammar(words: str) -> bool:
    """Whether words are ones of grammar that deny, join and limit nothing."""
    return all(map(_is_grammar, read(words).tokens))


def _is_grammar(token: Token) -> bool:
    return not token.content and _only_joins(token)


def _only_joins(token: Token) -> bool:
    """Whether a word makes nothing of a sentence a condition, a denial or a part."""
    limits = token.word in _policy().telling or bool(_lines([token]))
    return not limits and not lexicon().denies(token.word)


def _aligned(ours: Sequence[Token], theirs: Sequence[Token]) -> "SequenceMatcher[str]":
    its, other = ([_in_digits(one.word) for one in text] for text in (ours, theirs))
    return SequenceMatcher(None, its, other, autojunk=False)


def _in_digits(word: str) -> str:
    words = vocabulary().number_words
    return str(words.index(word)) if word in words else word


def _differences(
    claim: str,
    said: Statement,
    members: Sequence[int],
    grounds: Grounds,
    places: Sequence[int],
    repeated: float,
) -> Iterator[Finding]:
    """How one sentence of the claim differs from the sentence of the passage at `places`."""
    source = read(grounds.passage)
    ours, theirs = [said.tokens[i] for i in members], [source.tokens[i] for i in places]
    blocks = _aligned(ours, theirs)
    if sum(block.size for block in blocks.get_matching_blocks()) < repeated * len(ours):
        return
    by_chance = _by_chance(grounds.passage, theirs)
    if by_chance and not (_tells_chance(ours) or _by_chance(claim, ours)):
        yield Finding("omission", "the claim leaves out that it may be chance")
    yield from _other_modal(ours, theirs)
    yield from _other_voice(ours, theirs)
    exchanged = [
        (ours[begin:end], theirs[its_begin:its_end])
        for code, begin, end, its_begin, its_end in blocks.get_opcodes()
        if code in ("insert", "replace")
    ]
    exchanged = [(new, old) for new, old in exchanged if new or not _is_bracket(old, grounds)]
    its_stems, stems = (Counter(one.stem for one in text) for text in (theirs, ours))
    fewer, more = its_stems - stems, stems - its_stems
    other = _under_another_name(source, fewer, _gained(ours, theirs), grounds)
    for new, old in exchanged:
        lost = [
            one
            for at, one in enumerate(old)
            if fewer[one.stem] and (_tells(one, other) or _in_whom(one, old[:at]))
        ]
        news = [one for one in new if one.content and more[one.stem]]
        if len(lost) > len(news) and not _may_go(old, theirs, grounds.passage):
            words = " ".join(grounds.passage[old[0].start : old[-1].end].split())
            yield Finding("omission", f"the claim leaves out “{words}”")
        if new and len(old) <= _FEW and len(new) <= _FEW:
            yield from _other_connective(new, old)


def _tells(token: Token, other: Collection[str]) -> bool:
    """Whether a word that the claim lacks tells something, and the claim has it under no other
    name."""
    if token.word in _policy().telling:
        return True
    return token.content and not token.frame and token.stem not in other


def _in_whom(token: Token, before: Sequence[Token]) -> bool:
    """Whether a word of people, which tells little by itself, says in which of them."""
    pointed = any(one.word in _policy().pointing for one in before[-2:])
    return pointed and token.word in _policy().people


def _is_bracket(old: Sequence[Token], grounds: Grounds) -> bool:
    """Whether the words are all that stands in a bracket, and take nothing back."""
    if any(one.word in _policy().reserving for one in old):
        return False
    before = grounds.passage[: old[0].start].rstrip()[-1:]
    after = grounds.passage[old[-1].end :].lstrip("%°.;, ")[:1]
    return all(one.depth for one in old) and before in "([" and after in ")]" and bool(after)


def _gained(ours: Sequence[Token], theirs: Sequence[Token]) -> str:
    """The words that the claim has and its sentence has not, or only in a bracket: those may be
    other names of what it lacks."""
    plain = [Counter(one.stem for one in text if not one.depth) for text in (ours, theirs)]
    more = plain[0] - plain[1]
    return " ".join(one.word for one in ours if more[one.stem] and not one.depth)


def _under_another_name(
    source: Statement, fewer: Counter[str], gained: str, grounds: Grounds
) -> set[str]:
    """Of the stems that the claim has fewer of, those that its own words name otherwise, or turn
    into another word of direction, which the direction guard compares."""
    missing = set(fewer)
    if not (missing and gained):
        return set()
    found = spelled_otherwise(source, set(missing), Grounds(gained, text=grounds.text))
    if not directed_stems().isdisjoint(read(gained).stems):
        found |= missing & directed_stems()
    if not _policy().opposing.isdisjoint(gained.split()):
        found |= {stem for stem in missing if stem in _opposing()}
    return found


def _may_go(old: Sequence[Token], sentence: Sequence[Token], passage: str) -> bool:
    """Words that join a sentence to the one before it; an introduction that ends in "that", of
    which the framing guard knows whether it states what follows; and a clause of its own behind a
    semicolon that contrasts nothing."""
    words = {one.word for one in old}
    if old[0] is sentence[0] and (old[-1].word == "that" or words <= _policy().introducing):
        return True
    apart = passage[: old[0].start].rstrip().endswith(";")
    return apart and old[-1] is sentence[-1] and _policy().contrasting.isdisjoint(words)


def _shown(tokens: Sequence[Token]) -> str:
    return " ".join(one.word for one in tokens)


def _other_connective(new: Sequence[Token], old: Sequence[Token]) -> Iterator[Finding]:
    ours, theirs = _lines(new), _lines(old)
    if ours - theirs and theirs - ours:
        yield Finding("connective", f"“{_shown(new)}” stands in the place of “{_shown(old)}”")


def _other_modal(ours: Sequence[Token], theirs: Sequence[Token]) -> Iterator[Finding]:
    """What must be done told as what may be, or will be: a rule in softer words is another one."""
    mine, its = (Counter(_modals(text)) for text in (ours, theirs))
    if (mine - its) and (its - mine):
        yield Finding("connective", "the claim puts another modal verb in the place of its own")


def _other_voice(ours: Sequence[Token], theirs: Sequence[Token]) -> Iterator[Finding]:
    """ "Replaced by Y" told as "replaced Y", or the other way round."""
    for one, other in ((ours, theirs), (theirs, ours)):
        plain = {(a.word, b.word) for a, b in pairwise(one)}
        for verb, word, object_ in zip(other, other[1:], other[2:], strict=False):
            is_passive = word.word == "by" and verb.word.endswith("ed")
            if is_passive and (verb.word, object_.word) in plain:
                yield Finding("connective", f"“{verb.word} by” is not “{verb.word}”")


def _modals(tokens: Sequence[Token]) -> list[int]:
    words = [one.word for one in tokens]
    found = _modal_book().find(words)
    return [line for at, _, line in found if not is_month(words, at)]


@cache
def _modal_book() -> Phrasebook[int]:
    return Phrasebook([(p, n) for n, line in enumerate(_policy().modals) for p in line])


def _lines(tokens: Sequence[Token]) -> set[int]:
    lines = enumerate(_policy().connectives)
    words = {one.word for one in tokens}
    return {number for number, line in lines if not line.isdisjoint(words)}


def _by_chance(text: str, tokens: Sequence[Token]) -> bool:
    sentence = text[tokens[0].start : tokens[-1].end + 1]
    return any(pattern.search(sentence) for pattern in _chance())


def _tells_chance(ours: Sequence[Token]) -> bool:
    told = _policy().chance_told
    return any(one.word in told or one.word.endswith("n't") for one in ours)


@cache
def _chance() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(one, re.IGNORECASE) for one in _policy().chance)


@cache
def _opposing() -> frozenset[str]:
    return frozenset(read(" ".join(_policy().opposing)).stems)


@cache
def _policy() -> _Policy:
    return _Policy.model_validate(load("guards/omissions"))
