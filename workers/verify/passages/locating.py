"""A drafted claim finds its passage, and what speaks against it is noted. Pure.

The service looks for the words in the stored version and writes the span; whoever drafted the claim
only named an evidence key and proposed words (invariant 4).
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from clinical_text.instructions import addresses_reader, without_instructions
from clinical_text.labels import body_of
from clinical_text.quotes import QuoteCheck, Source, Verdict, check, exact
from clinical_text.sentences.boundaries import widen
from store.core.spans import Span
from workers.verify.claims import Drafted, Echo, Located
from workers.verify.doubts import Doubt, doubts
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.hard_facts import hard_facts
from workers.verify.passages.marks import Marks, without_unanchored
from workers.verify.passages.placing import Placed, placed

NEIGHBOURS = 1
"""Sentences on each side of a passage that may say what it leaves implicit."""
WHOLE = 250_000
"""Characters of a version that is read whole for that, as nearly all are; of a longer one the part
of this length in which the passage begins. A million of them take 9 s of CPU (ours)."""

_WORD = re.compile(r"\w")
_NOTHING_MORE = re.compile(r"(?:\[[\d,;\s–-]+\]|[^\w?])*+")
"""What may follow a sentence's words in it: marks, and references in brackets."""

Facts = Callable[[str, Grounds], Iterable[Finding]]
Doubting = Callable[[str, Grounds], Sequence[Doubt]]


@dataclass(frozen=True)
class CitedText:
    """A version as claims are checked against it."""

    source: Source
    sentences: Sequence[Span]
    title: str = ""
    identifiers: Mapping[str, str] = field(default_factory=dict)
    origin: Mapping[str, str] = field(default_factory=dict)

    def around(self, place: Span) -> range:
        """Which of the sentences `place` lies in, wholly or in part: they stand in order, and none
        over another."""
        first = bisect_right(self.sentences, place.start, key=lambda one: one.end)
        return range(
            first, bisect_left(self.sentences, place.end, first, key=lambda one: one.start)
        )

    def speaks_to_programs(self, place: Span) -> bool:
        """Whether `place`, or what it is a part of, is meant for the program that reads it: half an
        order is still one."""
        text, over = self.source.text, self.around(place)
        if addresses_reader(place.of(text)) or not over:
            return addresses_reader(place.of(text))
        first, last = max(0, over[0] - 1), over[-1] + 1  # the one before may announce an order
        kept = without_instructions(text, self.sentences[first:last])
        return any(
            not any(
                piece.start <= max(place.start, sentence.start)
                and min(place.end, sentence.end) <= piece.end
                for piece in kept
            )
            for sentence in self.sentences[over[0] : last]
        )

    def for_model(self) -> str:
        """The text as a language model is shown it: without what speaks to programs."""
        text = self.source.text
        if not addresses_reader(text):
            return text
        return " ".join(piece.of(text) for piece in without_instructions(text, self.sentences))

    def surroundings(self, place: Span) -> Span:
        """The part of the text that is read for what the passage at `place` leaves implicit."""
        length = len(self.source.text)
        if length <= WHOLE:
            return Span(0, length)
        start = place.start - place.start % WHOLE
        return Span(start, max(place.end, min(start + WHOLE, length)))

    def grounds(self, place: Span) -> Grounds:
        """What a claim on the passage at `place` leans on."""
        text, around = self.source.text, self.around(place)
        near: list[str] = []
        if around:
            first, last = around[0], around[-1]
            near = [
                one.of(text)
                for one in (
                    *self.sentences[max(0, first - NEIGHBOURS) : first],
                    *self.sentences[last + 1 : last + 1 + NEIGHBOURS],
                )
            ]
        return Grounds(
            place.of(text),
            self.title,
            self.surroundings(place).of(text),
            " ".join(near),
            self.identifiers,
            self.origin,
        )


def locate(
    drafted: Drafted,
    held: Mapping[str, CitedText],
    *,
    facts: Facts = hard_facts,
    doubting: Doubting = doubts,
    citable: bool = True,
) -> Located:
    """Find the claim's quotation in the version it names, the hard facts and the doubts.

    Args:
        held: the versions by evidence key.
        citable: whether the version may still be cited: it may have been retracted or replaced.
    """
    if drafted.evidence_id not in held:
        return _lost(drafted, "unchecked", "unknown_evidence")
    named = [drafted.evidence_id, *drafted.further]
    if not citable or any(key not in held for key in named):
        return _lost(drafted, "unchecked", "not_current")
    found = placed(
        drafted.quote,
        {key: held[key].source for key in named},
        {key: held[key].sentences for key in named},
    )
    if not found:
        return _lost(drafted, _why_lost(drafted, held), "quotation")
    drafted = _led_by(drafted, found[0].key)
    parts, steers = _parts(found, held)
    key, place = parts[0]
    cited = held[key]
    text, marks = without_unanchored(
        drafted.text,
        lambda words: any(exact(words, held[key].source) is not None for key, _ in parts),
    )
    grounds = _grounds([(held[key], place) for key, place in parts])
    spoken = list(facts(text, grounds))
    findings = tuple(dict.fromkeys(one.code for one in spoken))
    if steers:  # whoever wrote such words, they are no evidence
        findings = ("instructions", *findings)
    is_own = len(parts) == 1 and repeats(text, cited, place)
    verdict = found[0].check.verdict.value
    needed = [Echo(key, place, verdict, needed=True) for key, place in parts[1:]]
    return Located(
        drafted,
        text,
        verdict,
        place,
        grounds.passage,
        is_own,
        findings,
        marks,
        (*needed, *_echoes(drafted, text, held, facts, doubting)),
        () if findings or is_own else (*doubting(text, grounds), *_misquoted(marks)),
        details=tuple(one.detail for one in spoken),
    )


def _misquoted(marks: Marks) -> Iterator[Doubt]:
    """Whoever quotes says that the source has these words."""
    if marks.unanchored:
        yield Doubt("quotation", "words in quotation marks are not the source's")


def _why_lost(drafted: Drafted, held: Mapping[str, CitedText]) -> str:
    """The verdict on a quotation that stands in none of the sources that the claim names."""
    others = {key: one.source for key, one in held.items() if key != drafted.evidence_id}
    found = check(drafted.quote, held[drafted.evidence_id].source, others)
    return Verdict.ALTERED.value if found.accepted else found.verdict.value


def _led_by(drafted: Drafted, key: str) -> Drafted:
    """The claim on the source in which its words begin; where others that it names say the same,
    they are looked at as others are."""
    others = [one for one in (drafted.evidence_id, *drafted.further) if one != key]
    also = (*drafted.also, *((other, drafted.quote) for other in others))
    return replace(drafted, evidence_id=key, further=(), also=also) if others else drafted


def _parts(
    found: Sequence[Placed], held: Mapping[str, CitedText]
) -> tuple[list[tuple[str, Span]], bool]:
    """The whole sentences of each piece, each once, and whether any speaks to programs."""
    parts: list[tuple[str, Span]] = []
    steers = False
    for one in found:
        place, speaks = _whole(held[one.key], one.check)
        steers = steers or speaks
        if (one.key, place) not in parts:
            parts.append((one.key, place))
    return parts, steers


def _grounds(parts: Sequence[tuple[CitedText, Span]]) -> Grounds:
    """What a claim leans on that leans on several passages, of one source or of more."""
    each = [cited.grounds(place) for cited, place in parts]
    if len(each) == 1:
        return each[0]

    def all_of(what: Callable[[Grounds], str]) -> str:
        return "\n".join(dict.fromkeys(filter(None, map(what, each))))

    return Grounds(
        all_of(lambda one: one.passage),
        all_of(lambda one: one.title),
        all_of(lambda one: one.text),
        all_of(lambda one: one.neighbours),
        {name: value for one in reversed(each) for name, value in one.identifiers.items()},
        {name: value for one in reversed(each) for name, value in one.origin.items()},
    )


def _echoes(
    drafted: Drafted,
    text: str,
    held: Mapping[str, CitedText],
    facts: Facts,
    doubting: Doubting,
) -> Iterator[Echo]:
    """The other sources of a claim whose quotations stand, and with which nothing is at odds."""
    for key, quote in drafted.also:
        cited = held.get(key)
        found = exact(quote, cited.source) if cited else None
        if cited is None or found is None:
            continue
        place, steers = _whole(cited, found)
        grounds = cited.grounds(place)
        spoken = steers or any(True for _ in facts(text, grounds)) or doubting(text, grounds)
        if not spoken:
            yield Echo(key, place, found.verdict.value)


def _lost(drafted: Drafted, quote_verdict: str, finding: str) -> Located:
    """A claim without a passage: no mark of a quotation in it stands anywhere either."""
    text, marks = without_unanchored(drafted.text, lambda _: False)
    return Located(drafted, text, quote_verdict, findings=(finding,), marks=marks)


def repeats(text: str, cited: CitedText, place: Span) -> bool:
    """Whether `text` is whole sentences of the passage at `place`, in its words: a part of one may
    leave out that it is a question, a belief or a myth, or for whom it holds."""
    return repeated(text, cited, place) is not None


def repeated(text: str, cited: CitedText, place: Span) -> Span | None:
    """Where the whole sentences of the passage at `place` stand that `text` is, None if nowhere."""
    found = exact(text, Source(place.of(cited.source.text)))
    if found is None or found.cuts or found.start is None or found.end is None:
        return None
    start, end, raw = place.start + found.start, place.start + found.end, cited.source.text
    over = [cited.sentences[at] for at in cited.around(Span(start, end))]
    if not over:  # a line that is no sentence, all of it
        return Span(start, end) if (start, end) == (place.start, place.end) else None
    first = Span(max(over[0].start, place.start), over[0].end)
    begins = first.start + len(first.of(raw).rstrip()) - len(body_of(first.of(raw)))
    more = raw[end : min(over[-1].end, place.end)]
    whole = not _WORD.search(raw[begins:start]) and bool(_NOTHING_MORE.fullmatch(more))
    return Span(start, end) if whole else None


def _whole(cited: CitedText, found: QuoteCheck) -> tuple[Span, bool]:
    """The whole sentences of the quotation: what is left out of one may turn it. Words to a program
    that stand in one are no part of it. And whether even so they speak to programs."""
    assert found.start is not None
    assert found.end is not None
    text = cited.source.text
    whole = widen(text, found.start, found.end, cited.sentences)
    if not cited.speaks_to_programs(whole):
        return whole, False
    around = [cited.sentences[at] for at in cited.around(whole)]
    kept = widen(text, found.start, found.end, without_instructions(text, around))
    return kept, cited.speaks_to_programs(kept)
