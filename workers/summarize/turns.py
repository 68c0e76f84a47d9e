"""A visit that was written down as it was spoken: who speaks, and what belongs together. Pure.

A sentence out of its turn loses who says it ("I take warfarin", a son), and an answer without its
question says nothing ("Yes, in the morning"); so both stay in one statement. Who speaks for the
practice gives orders and tells findings one by one: their sentences stand alone.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from knowledge.documents.notes import section_policy
from knowledge.subjects.drugs import drugs_at
from store.core.spans import Span
from workers.summarize.lines import Line, label_of
from workers.summarize.names import kind_of, plain

_LEAST_TURNS = 4  # ours; fewer labels are those of a form
_LABEL_WORDS = 3
_LONGEST = 1200
"""Characters of turns that are kept as one statement: below a chunk (ours)."""
_POINTS = re.compile(r"(?i)\b(?:it|them|that one|this one|those)\b")
_BRACKETED = re.compile(r"\s{0,40}+\([^()]*\)")


class Turn(NamedTuple):
    """What somebody says at once; `clinician`: on behalf of the practice."""

    start: int
    end: int
    clinician: bool


@dataclass(frozen=True, slots=True)
class Stretch:
    """Sentences `[start, end)` that are one statement; `clinician` as in `Turn`, no question."""

    start: int
    end: int
    clinician: bool = False


def turns_of(text: str, lines: Sequence[Line]) -> list[Turn]:
    """The turns of a dialogue, in order; none where the text is no dialogue."""
    labels = [_speaker(text[line.start : line.end]) for line in lines]
    known = [one for one in labels if one is not None and _is_known(one)]
    clinicians = {one for one in known if _is_clinician(one)}
    if len(known) < _LEAST_TURNS or not clinicians or clinicians >= set(known):
        return []
    asks = any(name and text[line.end - 1] == "?" for line, name in zip(lines, labels, strict=True))
    if not asks:
        return []
    turns: list[Turn] = []
    open_turn = False
    for line, name in zip(lines, labels, strict=True):
        if name is not None and not _is_known(name) and kind_of(name) is not None:
            open_turn = False  # "Plan:", what was written down behind the dialogue
        elif name is not None:
            open_turn = True
            turns.append(Turn(line.start, line.end, _is_clinician(name)))
        elif open_turn and not line.gap and turns[-1].end <= line.start:
            turns[-1] = turns[-1]._replace(end=line.end)
    return turns


def stretches(text: str, turns: Sequence[Turn], sentences: Sequence[Span]) -> Iterator[Stretch]:
    """What of the sentences of `turns` is one statement: a turn of who does not speak for the
    practice, and a question with what is answered. In order, without those that stay alone and say
    nothing of who speaks."""
    asked: Stretch | None = None
    starts = [one.start for one in sentences]
    for turn in turns:
        first, last = bisect_left(starts, turn.start), bisect_left(starts, turn.end)
        own = [one for one in sentences[first:last] if one.end <= turn.end]
        if not own:
            continue
        said = len(own)
        while said and text[own[said - 1].end - 1] == "?":
            said -= 1
        told, questions = own[:said], own[said:]
        if told:
            parts = _parts(text, told) if turn.clinician else [Span(told[0].start, told[-1].end)]
            answer = Stretch(parts[0].start, parts[0].end, turn.clinician and asked is None)
            yield from _with(asked, answer)
            asked = None
            yield from (Stretch(one.start, one.end, True) for one in parts[1:])
        if questions:
            start = questions[0].start if asked is None else asked.start
            asked = Stretch(start, questions[-1].end)
    if asked is not None:
        yield asked


def _parts(text: str, told: Sequence[Span]) -> list[Span]:
    """The sentences, those that only point at what the one before names together with it."""
    parts: list[Span] = []
    for one in told:
        points = _POINTS.search(one.of(text)) and not drugs_at(one.of(text))
        if parts and points and one.end - parts[-1].start <= _LONGEST:
            parts[-1] = Span(parts[-1].start, one.end)
        else:
            parts.append(one)
    return parts


def _with(asked: Stretch | None, answer: Stretch) -> Iterator[Stretch]:
    """An answer behind its question, or both by themselves where they are too long together."""
    if asked is None:
        yield answer
    elif answer.end - asked.start <= _LONGEST:
        yield Stretch(asked.start, answer.end)
    else:
        yield asked
        yield answer


def _speaker(written: str) -> str | None:
    """The folded name before the colon that a line begins with, if it may be that of a speaker."""
    name = label_of(written)
    if not name or not name[0].isalpha() or not name[0].isupper():
        return None
    bare = plain(_BRACKETED.sub("", name))
    return bare if bare and len(bare.split()) <= _LABEL_WORDS else None


def _is_known(name: str) -> bool:
    policy = section_policy()
    return _is_clinician(name) or name in policy.lay_speakers or name in policy.relatives


def _is_clinician(name: str) -> bool:
    first = name.split()[0].strip(".")
    return first in section_policy().clinicians
