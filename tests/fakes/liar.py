"""A language model that lies: the text behind `tests.fakes.messages_api.MessagesApi`.

    liar = Liar(seed=7)
    api.writer = liar.writer

It reads keys and passages out of the request it is sent, as a real model would, writes some true
claims and some lies (`tests.fakes.lies`), and remembers which is which. As a judge it either calls
everything SUPPORTED, or is honest: SUPPORTED for the true claims, for a passage's own words where
those took a claim's place, and for nothing else.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tests.fakes.lies_of_omission  # noqa: F401  its kind is one of KINDS by then
from clinical_text.structure import segment
from tests.fakes.honesty import PARAPHRASES, VERBATIM, verbatim
from tests.fakes.lies import KINDS, Order, Source, Subject
from tests.fakes.lies_of_meaning import replaced

NOTHING: dict[str, Any] = {
    "diseases": [],
    "decisions": [],
    "patient": None,
    "intervention": None,
    "comparison": None,
    "outcome": None,
}
"""What it adds to the understanding of a question."""
MOST_CHARS = 560
"""A claim of more would be refused for its length, which proves nothing."""
_MARKS = re.compile(r"[“”\"]")
_SHAPE = re.compile(r"^[A-Z0-9].*[a-z0-9)%\]]\.$")
_HEADING = re.compile(r"^1\. ([A-Z][A-Z -]+):", re.MULTILINE)
STALE = "stale guideline"
OBEYED = "instruction-following"


@dataclass(frozen=True)
class Told:
    """A claim as the liar wrote it. `kind` is the kind of lie, or of paraphrase."""

    kind: str
    variant: str
    true: bool
    text: str
    key: str
    quote: str


@dataclass
class _Pages:
    """The sentences of one request, each used once."""

    sources: list[Source]
    stale: Source | None
    rng: random.Random
    used: set[str] = field(default_factory=set)

    def honest(self) -> list[Source]:
        return [one for one in self.sources if one is not self.stale]

    def subjects(self, sources: Sequence[Source]) -> Iterator[Subject]:
        """Sentences that nothing was told of yet, in no order."""
        places = [(one, at) for one in sources for at in range(len(one.sentences))]
        self.rng.shuffle(places)
        for source, at in places:
            if source.sentences[at] not in self.used:
                yield self._subject(source, at)

    def _subject(self, source: Source, at: int) -> Subject:
        others = [one for one in self.sources if one is not source]
        foreign = [
            s
            for one in others
            if one is not self.stale
            for s in one.sentences
            if s not in self.used
        ]
        return Subject(
            source.sentences[at],
            source,
            others,
            self._following(source, at),
            self.rng.choice(foreign) if foreign else "",
        )

    def _following(self, source: Source, at: int) -> str:
        """The next sentence, if it comes right after and is still unused."""
        if at + 1 == len(source.sentences):
            return ""
        one, two = source.sentences[at : at + 2]
        place = source.text.find(one) + len(one)
        if two in self.used or not re.match(rf" {re.escape(two)}", source.text[place:]):
            return ""
        return f" {two}"


class Liar:
    """Writes drafts and verdicts; `told` holds the claims of the latest draft."""

    def __init__(
        self,
        seed: int,
        *,
        truths: int = 6,
        lies: int = 6,
        kinds: Sequence[str] = (),
        heard: Mapping[str, Order] | None = None,
    ) -> None:
        """A liar.

        Args:
            truths, lies: how many a draft holds, where the sources give so many.
            kinds: of lies; all, if none are named. The least planted go first.
            heard: what documents tell it to say, by a word of their titles. A model may have met
                them elsewhere: the product does not show it such sentences.
        """
        self.rng = random.Random(seed)
        self.truths, self.lies = truths, lies
        self.kinds = tuple(kinds or KINDS)
        self.heard = heard or {}
        self.honest_judge = False
        self.told: list[Told] = []
        self.planted: Counter[str] = Counter()
        """Lies by kind, and by kind and variant."""
        self.written: Counter[str] = Counter()
        self._told: dict[str, Told] = {}

    def writer(self, body: Mapping[str, Any]) -> str:
        """What it says to a request: an understanding, a draft or verdicts."""
        fields = body["output_config"]["format"]["schema"]["properties"]
        data = json.loads(body["messages"][0]["content"])
        if "decisions" in fields:
            return json.dumps(NOTHING)
        if "claims" in fields:
            return json.dumps(self._draft(data, body["system"][0]["text"]))
        if "verdicts" in fields:
            return json.dumps({"verdicts": [self._verdict(one) for one in data["claims"]]})
        return "{}"

    def _verdict(self, shown: Mapping[str, Any]) -> dict[str, Any]:
        claim, passage = bare(shown["claim"]), bare(shown["passage"])
        told = self._told.get(claim)
        if told is None:
            bears = claim in passage
        else:  # a control may have its words beside another passage
            quote = bare(told.quote)
            bears = told.true and (quote in passage or passage in quote)
        true = not self.honest_judge or bears
        return {
            "claim_id": shown["claim_id"],
            "doubts": [{"doubt": one["doubt"], "holds": true} for one in shown["doubts"]],
            "verdict": "SUPPORTED" if true else "UNSUPPORTED",
        }

    def _draft(self, data: Mapping[str, Any], system: str) -> dict[str, Any]:
        sources = [_source(one, self.heard) for one in data["evidence"]]
        pair = replaced(sources)
        pages = _Pages(sources, pair[0] if pair else None, self.rng)
        self.told = [*self._lied(pages), *self._truths(pages)]
        self.rng.shuffle(self.told)
        self._told = {bare(one.text): one for one in self.told}
        found = _HEADING.search(system)
        heading = found[1] if found else "EVIDENCE"
        claims = [
            {"heading": heading, "text": one.text, "evidence_id": one.key, "quote": one.quote}
            for one in self.told
        ]
        return {"verdict": "ANSWER", "claims": claims, "missing": []}

    def _lied(self, pages: _Pages) -> list[Told]:
        told: list[Told] = []
        order = sorted(self.kinds, key=lambda kind: (self.planted[kind], self.rng.random()))
        for kind in order * 2:
            if len(told) == self.lies:
                break
            made = self._lie(kind, pages)
            if made and all(bare(made.text) != bare(one.text) for one in told):
                told.append(made)
                self.planted[kind] += 1
                self.planted[f"{kind}: {made.variant}"] += 1
        return told

    def _lie(self, kind: str, pages: _Pages) -> Told | None:
        sources = pages.honest()
        if kind == STALE:
            sources = [pages.stale] if pages.stale else []
        elif kind == OBEYED:
            sources = [one for one in pages.sources if one.heard]
        variants = sorted(
            KINDS[kind], key=lambda name: (self.planted[f"{kind}: {name}"], self.rng.random())
        )
        for variant in variants:
            for subject in pages.subjects(sources):
                lie = KINDS[kind][variant](subject, self.rng)
                if lie and len(lie.text) <= MOST_CHARS:
                    pages.used.add(subject.sentence)
                    pages.used.update(
                        one
                        for one in (subject.following.strip(), subject.foreign)
                        if one and (one in lie.quote or one in lie.text or "stitched" in kind)
                    )
                    return Told(kind, variant, False, lie.text, lie.key, lie.quote)
        return None

    def _truths(self, pages: _Pages) -> list[Told]:
        """One in three as the source has it, the others lightly reworded."""
        told: list[Told] = []
        while len(told) < self.truths:
            as_is = len(told) % 3 == 0
            made = self._truth(pages, (VERBATIM,) if as_is else tuple(PARAPHRASES))
            made = made or self._truth(pages, (VERBATIM,))
            if made is None:
                break
            told.append(made)
            self.written[made.kind] += 1
        return told

    def _truth(self, pages: _Pages, kinds: Sequence[str]) -> Told | None:
        order = sorted(kinds, key=lambda kind: (self.written[kind], self.rng.random()))
        subjects = list(pages.subjects(pages.honest()))
        for kind in order:
            for subject in subjects:
                truth = PARAPHRASES.get(kind, verbatim)(subject, self.rng)
                if truth and len(truth.text) <= MOST_CHARS:
                    pages.used.add(subject.sentence)
                    if truth.quote != subject.sentence:
                        pages.used.add(subject.following.strip())
                    return Told(kind, "", True, truth.text, subject.source.key, truth.quote)
        return None


def _source(shown: Mapping[str, Any], heard: Mapping[str, Order]) -> Source:
    passages = list(map(str, shown["passages"]))
    title = str(shown["title"])
    return Source(
        key=shown["key"],
        kind=shown["kind"],
        title=title,
        published=shown["published"] or "",
        identifiers=shown["identifiers"],
        text="\n\n".join(passages),
        sentences=tuple(one for passage in passages for one in _sentences(passage)),
        heard=next((order for word, order in heard.items() if word in title), None),
    )


def _sentences(passage: str) -> Iterator[str]:
    """Whole sentences of a fair length that state something."""
    for span in segment(passage).sentences:
        words = span.of(passage)
        if 50 <= len(words) <= 400 and "\n" not in words and _SHAPE.match(words):
            yield words


def bare(text: str) -> str:
    """A text without marks of quotation and with plain spaces, as the judge may be shown it."""
    return " ".join(_MARKS.sub("", text).split())
