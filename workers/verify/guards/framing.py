"""What a sentence tells only as a belief, a doubt, a question or a condition is not stated. Pure.

"Critics doubt that A lowers B" does not say that A lowers B. A claim that repeats what is told so
must keep the word that tells it so, or be careful itself. Frames that state what they frame ("we
found that") are listed in knowledge/guards/framing.yaml; any other one, or a denied one, is none.
"""

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from clinical_text.vocabulary import vocabulary
from knowledge.loader import load
from knowledge.meaning import modality_policy
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.statements import Phrasebook, Statement, drawn_from, read, stem_of

_CAREFUL = ("hedge", "report_hedge", "disowned", "aim")


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    asserting: tuple[str, ...]
    subordinators: frozenset[str]
    no_clause: frozenset[str]
    relative: frozenset[str]
    denying: frozenset[str]
    share: Annotated[float, Field(ge=0, le=1)]


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """Frames that the claim leaves out. Empty: no veto, which is no support."""
    said, source = read(claim), read(grounds.passage)
    findings = []
    for sentence in said.sentences:
        content = [i for i in sentence if said.tokens[i].content]
        drawn = drawn_from(said, content, source)
        lost = [_lost_frame(said, sentence, source, source.sentences[one]) for one in drawn]
        if lost and all(lost):
            detail = f"the passage tells it with “{lost[0]}”"
            findings.append(Finding("modality", detail, unsaid=True))
    return list(dict.fromkeys(findings))


def _lost_frame(
    said: Statement, sentence: Sequence[int], source: Statement, members: Sequence[int]
) -> str:
    """The first frame of a sentence of the passage that the claim repeats the content of, and not
    the frame; "" if there is none."""
    ours = {said.stems[i] for i in sentence if said.tokens[i].content}
    for at, i in enumerate(members):
        word = source.words[i]
        if word == "that":
            frame = _frame_of(source, members, at)
            inside = members[at + 1 :]
        elif word in _policy().subordinators:
            frame, inside = word, _clause(source, members, at)
        else:
            continue
        if not frame or not inside:
            continue
        held = {source.stems[j] for j in inside if source.tokens[j].content}
        repeats = bool(ours) and len(ours & held) >= _policy().share * len(ours)
        stem = stem_of(frame)[0]
        kept = _times(stem, said, sentence) > _times(stem, source, inside)
        if repeats and not kept and not _is_careful(said, sentence, source, inside):
            return frame
    return ""


def _times(stem: str, text: Statement, places: Sequence[int]) -> int:
    return sum(text.stems[i] == stem for i in places)


def _frame_of(source: Statement, members: Sequence[int], at: int) -> str:
    """The word that tells what follows the "that" at `members[at]`; "" where it is stated, or
    where the "that" begins no clause."""
    policy, depth = _policy(), source.tokens[members[at]].depth
    ahead = [i for i in members[:at] if source.tokens[i].depth == depth]
    before = [source.words[i] for i in ahead]
    after = [source.words[i] for i in members[at + 1 : at + 2]]
    if not before or before[-1] in policy.no_clause or not after or after[0] in policy.relative:
        return ""
    places = [i for i in ahead[-3:] if source.tokens[i].content]
    denied = any(vocabulary().negates(one) or one in policy.denying for one in before)
    if not places:
        return before[-1] if denied else ""
    word = source.words[places[-1]]
    asserted = source.stems[places[-1]] in _asserting() or word in policy.asserting
    return "" if asserted and not denied else word


def _clause(source: Statement, members: Sequence[int], at: int) -> Sequence[int]:
    """What "if" or "whether" reaches: all that comes, but for the last clause of a sentence that
    begins with "if", which is what holds then."""
    rest = members[at + 1 :]
    outside = [i for i in rest if not source.tokens[i].depth]
    if at or source.words[members[0]] == "whether" or not outside:
        return rest
    last = source.tokens[outside[-1]].clause
    return [i for i in rest if source.tokens[i].clause != last]


def _is_careful(
    said: Statement, sentence: Sequence[int], source: Statement, inside: Sequence[int]
) -> bool:
    """Whether the claim is more careful than the words that it repeats."""
    book = _careful_book()
    ours, theirs = [said.words[i] for i in sentence], [source.words[i] for i in inside]
    return len(book.find(ours)) > len(book.find(theirs))


@cache
def _policy() -> _Policy:
    return _Policy.model_validate(load("guards/framing"))


@cache
def _asserting() -> frozenset[str]:
    return frozenset(stem_of(word)[0] for word in _policy().asserting)


@cache
def _careful_book() -> Phrasebook[None]:
    policy = modality_policy()
    words = {
        one for name in _CAREFUL for cues in [policy.cues[name]] for one in cues.words + cues.also
    }
    return Phrasebook([(one, None) for one in sorted(words | _policy().subordinators)])
