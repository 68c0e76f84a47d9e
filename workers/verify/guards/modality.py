"""A claim may be no surer, no wider and no less conditional than its passage. Pure.

A hedge, an aim, a plan, a condition or a limit of the passage must not get lost; a claim that is
more careful than the passage is fine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache
from typing import Literal

from clinical_text.clauses import OPENERS
from knowledge.meaning import Cues, modality_policy
from workers.verify.guards import extent
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.statements import (
    SAME_WORD,
    Phrasebook,
    Statement,
    drawn_from,
    is_month,
    nearest,
    read,
)

_SPOKEN_OF = 0.5
"""Share of a claim's words that must be nearest to a hedged place of the passage (ours)."""
_HOST = 0.5
"""Share of a clause's words by which a claim draws on that clause (ours)."""
_CUE_BEHIND = 5.0
"""A cue covers what stands so near before it: "X is possible" (ours, in words of content)."""
_MODALS = frozenset(["may", "might", "could", "can", "would", "will"])
_ADJECTIVES = frozenset(["potential", "possible", "plausible", "putative", "likely"])
_BE = frozenset(["is", "are", "was", "were", "be", "been"])
_NOT_HEDGES = frozenset(["more", "less", "most", "least", "as", "equally", "twice", "times"])


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """What the claim leaves out or adds. Empty: no veto, which is no support."""
    said, source = read(claim), read(grounds.passage)
    findings: list[Finding] = []
    for sentence in said.sentences:
        content = [i for i in sentence if said.tokens[i].content]
        findings += _hedges(said, content, source)
        drawn = drawn_from(said, content, source)
        findings += _settings(said, sentence, source, drawn)
        findings += _refrained(said, sentence, source, drawn)
        findings += _conditions(said, sentence, source, drawn)
        findings += _excepted(said, sentence, source, drawn)
        findings += extent.sentence_findings(said, sentence, source, drawn)
    findings += extent.quantifier_findings(said, source)
    return list(dict.fromkeys(findings))


# Hedges, aims, plans


class _Cover(IntEnum):
    """How a cue of the claim covers a word: not, as what is spoken of, or as what is said of it."""

    NONE = 0
    SUBJECT = 1
    FULL = 2


@dataclass(frozen=True)
class _Governed:
    """The tokens of a text that cues of one class govern; `heads` are the first of each cue."""

    reached: frozenset[int]
    heads: frozenset[int]
    cue: str


def _hedges(said: Statement, content: Sequence[int], source: Statement) -> list[Finding]:
    findings = []
    for name, governed in _governed(source).items():
        if governed.reached and _speaks_of(said, content, source, governed, _covered(said)[name]):
            detail = f"the passage says it with “{governed.cue}”, the claim as a fact"
            findings.append(Finding("modality", detail))
    return findings


def _speaks_of(
    said: Statement,
    content: Sequence[int],
    source: Statement,
    governed: _Governed,
    covered: Sequence[_Cover],
) -> bool:
    """Whether words of the claim without a cue say what the cues of the passage govern."""
    inside = 0
    for i in content:
        if covered[i] is _Cover.FULL:
            continue
        places = source.by_stem.get(said.stems[i], ())
        hedged = nearest(said, i, source, [j for j in places if j in governed.reached])
        plain = nearest(said, i, source, [j for j in places if j not in governed.reached])
        if hedged <= max(plain, SAME_WORD):
            continue
        if nearest(said, i, source, [j for j in places if j in governed.heads]) >= hedged:
            return True
        inside += covered[i] is _Cover.NONE and not said.tokens[i].frame
    held = sum(not said.tokens[i].frame and said.stems[i] in source.by_stem for i in content)
    return inside > 0 and inside >= _SPOKEN_OF * held


@lru_cache(maxsize=64)
def _governed(text: Statement) -> Mapping[str, _Governed]:
    """For each class of cues, what of a passage they govern."""
    found: dict[str, _Governed] = {}
    for name, cues in modality_policy().cues.items():
        reached, heads, first_cue = set[int](), set[int](), ""
        for first, length, is_cue in _cue_book(name).find(text.words):
            if not is_cue or is_month(text.words, first):
                continue
            governed = _reach(text, first + length, cues)
            reached.update(governed)
            heads.update(governed[:1])
            first_cue = first_cue or " ".join(text.words[first : first + length])
        if name == "aim":
            reached.update(_asked(text))
            first_cue = first_cue or "?"
        found[name] = _Governed(frozenset(reached), frozenset(heads), first_cue)
    return found


@lru_cache(maxsize=64)
def _covered(text: Statement) -> Mapping[str, Sequence[_Cover]]:
    """For each class of cues, whether a token of a claim has a cue that keeps it."""
    policy = modality_policy()
    covered = {name: [_Cover.NONE] * len(text.tokens) for name in policy.cues}
    for name, cues in policy.cues.items():
        keeps = [kept for kept, other in policy.cues.items() if name in (kept, *other.kept_by)]
        for first, length, _ in _keeping_book(name).find(text.words):
            last = first + length - 1
            if is_month(text.words, first):
                continue
            if text.words[last] == "likely" and text.words[max(0, last - 1)] in _NOT_HEDGES:
                continue  # "more likely" says how often, not how sure
            behind, before = _behind_cover(text, first, last), _behind(text, first)
            after = _reach(text, first + length, cues)
            for kept in keeps:
                for i in before:
                    covered[kept][i] = max(covered[kept][i], behind)
                for i in after:
                    covered[kept][i] = _Cover.FULL
    for i in _asked(text):
        covered["aim"][i] = _Cover.FULL
    return covered


def _behind_cover(text: Statement, first: int, last: int) -> _Cover:
    """How a cue covers what stands before it: a modal its subject, "is possible" all of it, the
    cue in "potential targets" nothing."""
    if text.words[last] in _MODALS:
        return _Cover.SUBJECT
    attributive = text.words[last] in _ADJECTIVES and text.words[max(0, first - 1)] not in _BE
    return _Cover.NONE if attributive else _Cover.FULL


def _asked(text: Statement) -> list[int]:
    return [i for i, token in enumerate(text.tokens) if token.sentence in text.questions]


def _behind(text: Statement, cue: int) -> list[int]:
    """The words shortly before a cue, in its sentence."""
    here, found = text.tokens[cue], []
    for i in range(cue, -1, -1):
        token = text.tokens[i]
        if token.sentence != here.sentence or here.place - token.place > _CUE_BEHIND:
            break
        found.append(i)
    return found


def _reach(text: Statement, start: int, cues: Cues) -> list[int]:
    """The words of content that a cue just before `start` governs."""
    cue, reached = text.tokens[start - 1], list[int]()
    opens = start < len(text.tokens) and text.words[start] in OPENERS
    clause = text.tokens[start].clause if opens else cue.clause
    for i in range(start, len(text.tokens)):
        token = text.tokens[i]
        if token.sentence != cue.sentence or len(reached) == cues.reach:
            break
        if token.depth > cue.depth:
            continue
        if not cues.sentence and token.clause != clause:
            break
        if token.content:
            reached.append(i)
    return reached


@cache
def _cue_book(name: str) -> Phrasebook[bool]:
    cues = modality_policy().cues[name]
    nothing = [(phrase, False) for phrase in cues.nothing]
    return Phrasebook([*nothing, *((phrase, True) for phrase in cues.words)])


@cache
def _keeping_book(name: str) -> Phrasebook[None]:
    cues = modality_policy().cues[name]
    return Phrasebook([(phrase, None) for phrase in (*cues.words, *cues.also)])


# Settings and conditions


def _settings(
    said: Statement, sentence: Sequence[int], source: Statement, drawn: Sequence[int]
) -> list[Finding]:
    """Animals, dishes and subgroups must not become patients."""
    findings = []
    words = [said.words[i] for i in sentence]
    for name in modality_policy().settings:
        book = _setting_book(name)
        if not drawn or book.find(words):
            continue
        lost = [_lost_setting(said, sentence, source, source.sentences[one], book) for one in drawn]
        if all(lost):
            detail = f"the claim leaves out “{lost[0]}”"
            findings.append(Finding("modality", detail, unsaid=True))
    return findings


def _refrained(
    said: Statement, sentence: Sequence[int], source: Statement, drawn: Sequence[int]
) -> list[Finding]:
    """What is to be avoided must not become what is to be done."""
    if not drawn or _book("refraining", kept=True).find([said.words[i] for i in sentence]):
        return []
    book = _book("refraining")
    lost = [_lost_setting(said, sentence, source, source.sentences[one], book) for one in drawn]
    detail = f"the claim leaves out “{lost[0]}”"
    return [Finding("modality", detail, unsaid=True)] if all(lost) else []


@cache
def _book(
    rule: Literal["refraining", "conditions", "exceptions"], *, kept: bool = False
) -> Phrasebook[None]:
    """What a source says of the rule; with `kept`, what in a claim keeps it."""
    policy = getattr(modality_policy(), rule)
    phrases = (*policy.words, *policy.also) if kept else policy.words
    return Phrasebook([(phrase, None) for phrase in phrases])


def _lost_setting(
    said: Statement,
    sentence: Sequence[int],
    source: Statement,
    members: Sequence[int],
    book: Phrasebook[None],
) -> str:
    """The first setting of a sentence of the passage in a clause that the claim draws on."""
    for first, length, _ in book.find([source.words[i] for i in members]):
        at = members[first]
        if _draws_on(said, sentence, source, range(at, at + length)):
            return " ".join(source.words[at : at + length])
    return ""


def _draws_on(
    said: Statement, sentence: Sequence[int], source: Statement, without: Sequence[int]
) -> bool:
    """Whether the claim's sentence repeats the clause around the words `without`. A clause of
    hardly any other words belongs to the sentence."""
    clause = source.tokens[without[0]].clause
    host = {
        token.stem
        for i, token in enumerate(source.tokens)
        if token.clause == clause and token.content and not token.frame and i not in without
    }
    ours = {said.stems[i] for i in sentence}
    return len(host) <= 1 or len(host & ours) >= _HOST * len(host)


@cache
def _setting_book(name: str) -> Phrasebook[None]:
    return Phrasebook([(phrase, None) for phrase in modality_policy().settings[name]])


def _conditions(
    said: Statement, sentence: Sequence[int], source: Statement, drawn: Sequence[int]
) -> list[Finding]:
    """A condition of the sentence that the claim is drawn from stays: its word, or its words."""
    if len(drawn) != 1:
        return []
    policy, members = modality_policy().conditions, source.sentences[drawn[0]]
    words = [source.words[i] for i in members]
    ours = {said.stems[i] for i in sentence}
    lost = []
    for first, length, _ in _book("conditions").find(words):
        at = members[first]
        clause = source.tokens[at].clause
        after = [i for i in members if i >= at + length and source.tokens[i].clause == clause]
        held = [source.stems[i] for i in after if source.tokens[i].content][: policy.reach]
        if not held or sum(stem in ours for stem in held) >= policy.share * len(held):
            continue
        if _draws_on(said, sentence, source, [*range(at, at + length), *after]):
            lost.append(" ".join(source.words[at : at + length]))
    kept = _book("conditions", kept=True)
    ours_kept = len(kept.find([said.words[i] for i in sentence]))
    if not lost or ours_kept >= len(kept.find(words)):
        return []
    detail = f"the claim leaves out the condition after “{lost[0]}”"
    return [Finding("modality", detail, unsaid=True)]


def _excepted(
    said: Statement, sentence: Sequence[int], source: Statement, drawn: Sequence[int]
) -> list[Finding]:
    """What the sentence that the claim is drawn from excepts is not told as a part of its rule."""
    if len(drawn) != 1:
        return []
    policy, members = modality_policy().exceptions, source.sentences[drawn[0]]
    words, ours = [source.words[i] for i in members], {said.stems[i] for i in sentence}
    excepted, kept = _book("exceptions").find(words), _book("exceptions", kept=True)
    denied = len(kept.find(words)) - len(excepted)
    if not excepted or len(kept.find([said.words[i] for i in sentence])) > denied:
        return []
    for first, length, _ in excepted:
        begin, end = members[first], members[first] + length
        after = [i for i in members if i >= end and source.tokens[i].content][: policy.reach]
        elsewhere = {source.stems[i] for i in members if i < begin or i > max(after, default=end)}
        only = [source.stems[i] for i in after if source.stems[i] not in elsewhere]
        if only and sum(stem in ours for stem in only) >= policy.share * len(only):
            detail = f"the passage has “{' '.join(source.words[begin:end])}” before it"
            return [Finding("modality", detail)]
    return []
