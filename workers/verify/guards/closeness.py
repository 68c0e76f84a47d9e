"""A claim that a language model wrote stays close to one sentence of its passage. Pure.

The other guards ask whether numbers, names, directions and negations are the source's. A model that
lies can avoid all of them: it adds a remark in other words, or says of the subject of one sentence
what the next one says of something else. So a model's claim, which was told to paraphrase closely
(workers/generate/prompts/base.md), must be drawn from one sentence: most of its words are there, no
long run of them is news, and what it says is said of what the sentence says it of. A claim that
strays is not called false; it is only not shown in the model's words.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from clinical_text.identifiers import spans_of_identifiers
from clinical_text.vocabulary import vocabulary
from knowledge.meaning import content_policy
from workers.verify.guards.content import spelled_otherwise
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.negation import directed_stems, negations
from workers.verify.guards.replaced import outside_brackets, replaced
from workers.verify.guards.statements import Statement, Token, read, stem_of
from workers.verify.guards.stitches import Pointing, opening, pointer, points, stitched

_FIRST = 3
"""So many words at the head of a sentence that points back say what it says of that (ours)."""


@dataclass(frozen=True)
class _Word:
    """A word of the claim that tells what it is about; `stem` without its negation."""

    stem: str
    word: str


@dataclass(frozen=True)
class _Drawn:
    """A sentence of the claim beside the sentence of the passage that holds most of it."""

    words: Sequence[_Word]
    held: frozenset[str]
    """Stems of the claim that the sentence holds, in whatever form."""
    literal: frozenset[str]
    """Those of them that stand there as such, not under another name or as another direction."""
    members: Sequence[int]
    """The places of that sentence's words in the passage."""
    repeats: bool
    """Whether the claim says a word of it more often than it does."""
    subject: str
    """What the sentence speaks of and the claim has dropped."""
    first: frozenset[str]
    """The first words of content that it says of that."""
    pointing: Pointing
    """Whether the sentence's own subject is told by the one before it."""


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """Where a claim strays from the sentence that it is drawn from. Empty: no veto."""
    said, source = read(claim), read(grounds.passage)
    numbered = spans_of_identifiers(claim)
    findings: list[Finding] = []
    for members in said.sentences:
        words = _words(said, members, numbered)
        if words:
            drawn = max(
                (_drawn(said, words, source, one, grounds) for one in source.sentences),
                key=lambda one: (len(one.held), -len(_foreign(said, members, source, one))),
                default=_Drawn(
                    words, frozenset(), frozenset(), (), False, "", frozenset(), Pointing.NOT
                ),
            )
            findings += _strays(drawn, grounds)
            findings += _rearranged(said, members, source)
            findings += _exchanged(said, members, source, drawn)
            findings += _mixed(drawn, source, grounds)
            findings += _unnamed(said, members, source, drawn)
            findings += _pointed(said, members, source, drawn)
            lead = _lead_words(drawn)
            findings += stitched(said, members, source, drawn.members, grounds, lead)
            for number in _foreign(said, members, source, drawn):
                findings.append(Finding("closeness", f"{number} is said in another sentence"))
    return list(dict.fromkeys(findings))


def _words(
    text: Statement, members: Sequence[int], taken: Sequence[tuple[int, int]]
) -> list[_Word]:
    bases = negations(text).stems
    return [
        _Word(bases[i], text.tokens[i].word)
        for i in members
        if _counts(text.tokens[i])
        and not any(start <= text.tokens[i].start < end for start, end in taken)
    ]


def _counts(token: Token) -> bool:
    left_out = token.frame or token.stem in _leads()
    return token.content and not left_out and not token.word[0].isdigit()


@cache
def _leads() -> frozenset[str]:
    return frozenset(stem_of(word)[0] for word in content_policy().close.leads)


def _drawn(
    said: Statement,
    words: Sequence[_Word],
    passage: Statement,
    members: Sequence[int],
    grounds: Grounds,
) -> _Drawn:
    source = _words(passage, members, ())
    stems = {one.stem for one in source}
    held = {one.stem for one in words if one.stem in stems}
    missing = {one.stem for one in words} - held
    if missing & directed_stems() and stems & directed_stems():
        held |= missing & directed_stems()  # the direction guard compares the two
        missing -= held
    if missing:
        text = " ".join(passage.words[i] for i in members)
        held |= spelled_otherwise(said, missing, replace(grounds, passage=text))
    pointing, at = points(passage, members)
    ours, theirs = Counter(one.stem for one in words), Counter(one.stem for one in source)
    repeats = any(
        count > theirs[stem] > 0 and stem not in directed_stems() for stem, count in ours.items()
    )
    subject = "" if pointing is Pointing.ALONE else _dropped(words, _words(passage, at, ()))
    literal = frozenset(stem for stem in stems if stem in ours)
    first = frozenset(one.stem for one in _words(passage, at, ())[:_FIRST])
    return _Drawn(words, frozenset(held), literal, members, repeats, subject, first, pointing)


def _strays(drawn: _Drawn, grounds: Grounds) -> Iterator[Finding]:
    policy = content_policy().close
    title, neighbours = read(grounds.title).by_stem, read(grounds.neighbours).by_stem
    lead = _lead(drawn)
    pointed = lead if drawn.pointing else 0  # the sentence before names what this one points at
    weights = [
        1.0
        if one.stem in drawn.held
        else policy.title_weight * (one.stem in title or (at < pointed and one.stem in neighbours))
        for at, one in enumerate(drawn.words)
    ]
    share = sum(weights) / len(weights)
    if share < policy.least_share:
        yield Finding("closeness", f"its sentence holds {share:.0%} of the claim's words")
    run = longest = 0
    news = ""
    for at, weight in enumerate(weights):
        # behind the subject words of the title are news too: they say something else of it
        run = run + 1 if weight == 0 or (at >= lead and weight < 1) else 0
        news = drawn.words[at].word if run > longest else news
        longest = max(longest, run)
    if longest >= policy.news:
        yield Finding("closeness", f"{longest} words on end that its sentence has not")
    elif longest:
        # one word alone may be another name of what is there, or news: nobody can tell
        yield Finding("addition", f"“{news}” is a word that its sentence has not")
    literal = sum(one.stem in drawn.literal for one in drawn.words) / len(drawn.words)
    if literal < policy.least_literal:
        yield Finding("closeness", f"its sentence has {literal:.0%} of the claim's words as such")
    if drawn.repeats:
        yield Finding("closeness", "says a word more often than its sentence")
    if drawn.subject and any(
        one.stem not in drawn.held and not (drawn.pointing and one.stem in title)
        for one in drawn.words
    ):
        yield Finding("closeness", f"says of something else what is said of “{drawn.subject}”")
    if drawn.pointing is Pointing.ALONE:
        named = opening(grounds, drawn.members)
        for one in drawn.words[:lead]:
            if one.stem not in title and one.stem not in named:
                yield Finding("closeness", f"“{one.word}” is not what its sentence points at")
        said_first = drawn.words[lead : lead + 1]
        if lead and said_first and said_first[0].stem not in drawn.first | directed_stems():
            detail = f"leaves out what is said first of “{drawn.words[0].word}”"
            yield Finding("closeness", detail)


def _lead(drawn: _Drawn) -> int:
    """How many words the claim begins with that are news."""
    held = (at for at, one in enumerate(drawn.words) if one.stem in drawn.held)
    return next(held, len(drawn.words))


def _lead_words(drawn: _Drawn) -> int:
    """How many words at the head of a claim may be another sentence's: those that name what its
    own sentence only points at."""
    return _lead(drawn) if drawn.pointing is Pointing.ALONE else 0


def _dropped(words: Sequence[_Word], source: Sequence[_Word]) -> str:
    """The first word of `source`, what a sentence speaks of, where the claim has dropped it."""
    if not source:
        return ""
    first = source[0].stem
    times = [sum(one.stem == first for one in text) for text in (words, source)]
    return source[0].word if times[0] < times[1] else ""


def _unnamed(
    said: Statement, members: Sequence[int], source: Statement, drawn: _Drawn
) -> Iterator[Finding]:
    """A word of reporting ("the present study") in the place of what the sentence speaks of; a
    lead-in ("the study found that") is none."""
    counted = next((at for at, i in enumerate(members) if _counts(said.tokens[i])), len(members))
    head = [said.tokens[i] for i in members[:counted]]
    if not drawn.subject or any(one.word == "that" for one in head):
        return
    held = {source.stems[i] for i in drawn.members}
    for one in head:
        if one.content and one.frame and one.stem not in held:
            yield Finding("closeness", f"“{one.word}” in the place of “{drawn.subject}”")


def _pointed(
    said: Statement, members: Sequence[int], source: Statement, drawn: _Drawn
) -> Iterator[Finding]:
    """A word that points back ("this") in the place of what the sentence speaks of."""
    alone = points(said, members)[0] is Pointing.ALONE
    word = pointer(said, members) if alone else ""
    if word and drawn.members and all(source.words[i] != word for i in drawn.members):
        yield Finding("closeness", f"“{word}” in the place of what its sentence names")


def _mixed(drawn: _Drawn, source: Statement, grounds: Grounds) -> Iterator[Finding]:
    """Words that only another sentence of the passage has, the title neither."""
    title = read(grounds.title).by_stem
    lead = 0 if drawn.subject else _lead(drawn)  # a claim may name what its sentence points at
    for one in drawn.words[lead:]:
        if one.stem not in drawn.held and one.stem in source.by_stem and one.stem not in title:
            yield Finding("closeness", f"“{one.word}” is said in another sentence")


def _foreign(
    said: Statement, members: Sequence[int], source: Statement, drawn: _Drawn
) -> list[str]:
    """Numbers of the claim that only another sentence of the passage has."""
    here = {source.words[i] for i in drawn.members}
    numbers = [said.words[i] for i in members if said.words[i][0].isdigit()]
    return [one for one in numbers if one not in here and one in source.words]


def _rearranged(said: Statement, members: Sequence[int], source: Statement) -> Iterator[Finding]:
    """A sentence with its own words in another order says something else, unless one phrase was
    moved from its head to its end or back; so does one that only lost or gained a negation."""
    ours = [said.words[i] for i in members]
    for places in source.sentences:
        theirs = [source.words[i] for i in places]
        if ours == theirs:
            continue
        if Counter(ours) == Counter(theirs):
            turns = (theirs[at:] + theirs[:at] for at in range(1, len(theirs)))
            if not any(ours == one for one in turns):
                yield Finding("closeness", "its sentence's words in another order")
        elif _affirmed(ours) == _affirmed(theirs):
            yield Finding("closeness", "its sentence with a negation more or less")


def _exchanged(
    said: Statement, members: Sequence[int], source: Statement, drawn: _Drawn
) -> Iterator[Finding]:
    """Words in the place of others, and clauses joined over what was left out."""
    bases = negations(said).stems

    def known(token: Token) -> bool:
        base = next(bases[i] for i in members if said.tokens[i] is token)
        return not _counts(token) or base in drawn.held

    ours, theirs = outside_brackets(said, members), outside_brackets(source, drawn.members)
    yield from replaced(ours, theirs, known)


def _affirmed(words: Sequence[str]) -> list[str]:
    return [word for word in words if not vocabulary().negates(word)]
