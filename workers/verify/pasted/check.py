"""Every statement, quotation and identifier of a pasted text gets its verdict. Pure.

The same place, facts, doubts and verdicts as for an answer's claims. A statement is compared with
the passages that come closest to it; the best verdict that one of them gives is its own.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from clinical_text.quotes import check
from knowledge.loader import load
from store.core.spans import Span
from workers.verify.checking import Verifier, read
from workers.verify.claims import Checked, Drafted, Located, Verdict
from workers.verify.doubts import Doubt, doubts
from workers.verify.entailment import reader
from workers.verify.guards import trials
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.hard_facts import hard_facts
from workers.verify.judges import deciding
from workers.verify.passages.locating import CitedText, locate
from workers.verify.passages.own_words import own_words
from workers.verify.pasted import against, attribution
from workers.verify.pasted.matching import Passage, Terms, nearest
from workers.verify.pasted.statements import Statement, plain, without_identifiers

_WORD = re.compile(r"\w++")
_TOO_SHORT = ("too_short", "too few words to be compared on their own")
_TOO_LONG = ("too_long", "too long to be compared as one statement")
_LONG_PASSAGE = ("too_long", "the passages that have its words are too long to be compared")
_TOO_MUCH = (
    "too_much",
    "the text before it and its passages are as much as is compared at once: check the rest as a "
    "text of its own",
)
_NO_PASSAGE = ("no_passage", "no passage of a source has enough of its words")


@dataclass(frozen=True)
class Judged:
    """A statement with its verdict and the passage that gave it; `details` say what is wrong, and
    `relation` what the passage is to it."""

    statement: Statement
    verdict: Verdict
    best: Checked | None = None
    details: tuple[tuple[str, str], ...] = ()
    relation: against.Relation = "not_stated"


@dataclass(frozen=True)
class QuotationCheck:
    """A quotation of the pasted text: what it is, and where in which source."""

    place: Span
    verdict: str
    key: str | None = None
    found: Span | None = None
    detail: str = ""


def judge_statements(
    statements: Sequence[Statement],
    texts: Mapping[str, Mapping[str, CitedText]],
    cited: Mapping[str, Collection[str]],
    verifier: Verifier | None = None,
) -> list[Judged]:
    """A verdict for each statement that claims something.

    Args:
        texts: for each statement's id the sources it is compared with, by key.
        cited: for each statement's id the keys of those it names itself.
        verifier: reads claim and passage; the one that ships with the product if None.
    """
    judged = []
    budget, terms = _Budget(), Terms()
    for one in statements:
        if not one.claims:
            continue
        if not one.is_comparable:  # a word may stand anywhere, and says nothing there
            judged.append(Judged(one, Verdict.UNCHECKED, details=(_TOO_SHORT,)))
            continue
        sources = texts.get(one.statement_id, {})
        if _is_too_long(one, sources):
            judged.append(Judged(one, Verdict.UNCHECKED, details=(_TOO_LONG,)))
            continue
        if not budget.reads(sum(len(source.sentences) for source in sources.values())):
            judged.append(Judged(one, Verdict.UNCHECKED, details=(_TOO_MUCH,)))
            continue
        near = nearest(plain(one.words), sources, cited.get(one.statement_id, ()), terms)
        short = [passage for passage in near if _length(passage.place) <= _longest_passage()]
        if near and not short:
            judged.append(Judged(one, Verdict.UNCHECKED, details=(_LONG_PASSAGE,)))
            continue
        near = [passage for passage in short if budget.reads_around(passage, sources[passage.key])]
        if short and not near:
            judged.append(Judged(one, Verdict.UNCHECKED, details=(_TOO_MUCH,)))
            continue
        if not budget.allows(len(one.words), [_length(passage.place) for passage in near]):
            judged.append(Judged(one, Verdict.UNCHECKED, details=(_TOO_MUCH,)))
            continue
        said = [passage for passage in near if _says(passage, one, sources)]
        located = [
            _located(one, sources, passage.key, passage.place.of(_raw(sources, passage.key)))
            for passage in said or _apart(near)[: budget.nearest]
        ]
        if not any(found.may_pass and found.repeats for found in located):
            located = _read(located, sources, budget, verifier)
        judged.append(_best(one, located, sources))
    return judged


class _Budget:
    """How much of a text is compared. Each rule looks at each pair of a statement and a passage,
    and some at each word of one with each of the other: this is what multiplies."""

    def __init__(self) -> None:
        policy = load("answering/verifying")
        self._characters = int(policy["compared_characters"])
        self._products = int(policy["compared_products"])
        self._sentences = int(policy["compared_sentences"])
        self._pairs = int(policy["read_pairs"])
        self._words = int(policy["read_words"])
        self._known: set[tuple[str, Span]] = set()
        self._nearest = int(policy["read_passages"])

    @property
    def nearest(self) -> int:
        """The passages that a statement is compared with; one where the verifier reads no more,
        since then no other can verify it."""
        return self._nearest if self._pairs > 0 else 1

    def reads(self, sentences: int) -> bool:
        """Whether a passage for another statement may be looked for in so many sentences."""
        self._sentences -= sentences
        return self._sentences >= 0

    def reads_around(self, passage: Passage, cited: CitedText) -> bool:
        """Whether what stands around a passage of a source is read already or may still be; once
        it may not, nothing that is not read already is."""
        part = cited.surroundings(passage.place)
        if (passage.key, part) not in self._known:
            self._words -= len(_WORD.findall(part.of(cited.source.text)))
            if self._words < 0:
                return False
            self._known.add((passage.key, part))
        return True

    def read(self, located: Sequence[Located]) -> tuple[Sequence[Located], Sequence[Located]]:
        """Those of a statement's passages that the verifier may still read, and the others."""
        many = max(0, min(len(located), self._pairs))
        self._pairs -= sum(one.may_pass for one in located[:many])
        return located[:many], located[many:]

    def allows(self, statement: int, passages: Sequence[int]) -> bool:
        """Whether a statement of so many characters may still be compared with its passages; once
        it is not, no later one is."""
        self._characters -= sum(statement + one for one in passages)
        self._products -= sum(statement * one for one in passages)
        return not passages or min(self._characters, self._products) >= 0


def _is_too_long(statement: Statement, sources: Mapping[str, CitedText]) -> bool:
    """Whether it is more than is judged, and no source has it word for word; or a table without
    stops, which the guards, that compare each part with each, would be long at."""
    words, policy = plain(statement.words), load("answering/verifying")
    if len(words) > int(policy["statement_characters"]):
        return True
    return len(words) > int(policy["judged_characters"]) and not any(
        words in one.source.text for one in sources.values()
    )


def _longest_passage() -> int:
    return int(load("answering/verifying")["passage_characters"])


def _length(place: Span) -> int:
    return place.end - place.start


def _read(
    located: Sequence[Located],
    sources: Mapping[str, CitedText],
    budget: _Budget,
    verifier: Verifier | None,
) -> list[Located]:
    """The statement at its passages, with what the verifier makes of it, as far as it may still
    read, and what is to be doubted where that can matter: where it is sure, and of the nearest
    passage that knows what the statement names; nothing where it may read no more."""
    near, far = budget.read(located)
    found, known = [], False
    for one in read(near, sources, verifier):
        if one.place and not one.repeats and (not known or deciding.is_sure(one)):
            grounds = sources[one.drafted.evidence_id].grounds(one.place)
            one = replace(one, doubts=doubts(one.text, grounds))
            known = known or not _names_strange(one)
        found.append(one)
    return [*found, *far]


def _apart(near: Sequence[Passage]) -> list[Passage]:
    """The passages, nearest first, without those that share a sentence with a nearer one."""
    found: list[Passage] = []
    for one in near:
        if not any(
            other.key == one.key
            and other.place.start < one.place.end
            and one.place.start < other.place.end
            for other in found
        ):
            found.append(one)
    return found


def _says(passage: Passage, statement: Statement, sources: Mapping[str, CitedText]) -> bool:
    """Whether a passage says a statement in its own words."""
    cited = sources[passage.key]
    return own_words(plain(statement.words), cited, passage.place, statement.under) is not None


def _no_doubts(_words: str, _grounds: Grounds) -> tuple[Doubt, ...]:
    """They are looked for later, and only at the nearest passages."""
    return ()


def _located(
    statement: Statement, sources: Mapping[str, CitedText], key: str, quote: str
) -> Located:
    """The statement at a passage. A verdict is given on its content, without what it cites; where
    that is its source's own words, these are its passage: what stands beside them counts not."""
    drafted = Drafted(statement.statement_id, statement.words, key, quote, "")
    found = locate(drafted, sources, facts=_facts, doubting=_no_doubts)
    text, cited = plain(found.text), sources[key]
    own = found.place and own_words(text, cited, found.place, statement.under)
    if not own:
        return replace(found, text=text, repeats=False)
    grounds = cited.grounds(own)
    codes = [one.code for one in _facts(found.text, grounds)] if found.findings else []
    return replace(
        found,
        text=text,
        repeats=True,
        place=own,
        passage=grounds.passage,
        findings=tuple(dict.fromkeys([*_steering(found), *codes])),
    )


def _steering(found: Located) -> tuple[str, ...]:
    """That its passage speaks to programs, which no rule of a narrower one may lift."""
    return tuple(one for one in found.findings if one == "instructions")


def _facts(words: str, grounds: Grounds) -> tuple[Finding, ...]:
    """The hard facts on the content, and those of what the statement cites."""
    credited = attribution.guard(without_identifiers(words), grounds)
    found = [*hard_facts(plain(words), grounds), *trials.guard(words, grounds), *credited]
    return tuple(dict.fromkeys(found))


def _raw(sources: Mapping[str, CitedText], key: str) -> str:
    return sources[key].source.text


def _best(
    statement: Statement, located: Sequence[Located], sources: Mapping[str, CitedText]
) -> Judged:
    """The best of the verdicts; where none is supported, that of the nearest passage that knows
    what the statement names."""
    if not located:
        return Judged(statement, Verdict.UNCHECKED, details=(_NO_PASSAGE,))
    digest = reader.digest() if any(one.reading for one in located) else None
    results = deciding.without_model(located, digest)
    passing = (at for at, one in enumerate(results) if one.passes)
    knowing = (at for at, one in enumerate(located) if not _names_strange(one))
    place = next(chain(passing, knowing), 0)
    best, grounds = results[place], _grounds(located[place], sources)
    if best.passes or grounds is None:
        return Judged(statement, best.verdict, best, relation="supported")
    told = against.told(located[place], _facts(located[place].drafted.text, grounds))
    return Judged(statement, best.verdict, best, told.details, told.relation)


def _names_strange(one: Located) -> bool:
    return "name" in one.findings or any(doubt.kind == "name" for doubt in one.doubts)


def _grounds(one: Located, sources: Mapping[str, CitedText]) -> Grounds | None:
    return None if one.place is None else sources[one.drafted.evidence_id].grounds(one.place)


def check_quotations(
    text: str,
    statements: Sequence[Statement],
    texts: Mapping[str, Mapping[str, CitedText]],
    cited: Mapping[str, Collection[str]],
) -> dict[str, list[QuotationCheck]]:
    """For each statement's id what its quotations are.

    One that names its source is checked against that; another against all it could be from, and is
    what the kindest of them makes of it.
    """
    found: dict[str, list[QuotationCheck]] = {}
    for one in statements:
        sources = texts.get(one.statement_id, {})
        named = [key for key in cited.get(one.statement_id, ()) if key in sources]
        found[one.statement_id] = [
            _quotation(place, place.of(text), sources, named) for place in one.quotations
        ]
    return found


_KINDEST = (
    "verbatim",
    "normalized",
    "altered",
    "stitched",
    "misattributed",
    "fabricated",
    "unchecked",
)


def _quotation(
    place: Span, words: str, sources: Mapping[str, CitedText], named: Sequence[str]
) -> QuotationCheck:
    words = words.strip().rstrip(",.;")
    results = []
    for key in named or sources:
        others = {other: one.source for other, one in sources.items() if other != key}
        seen = check(words, sources[key].source, others if named else None)
        span = None if seen.start is None or seen.end is None else Span(seen.start, seen.end)
        detail = seen.detail
        if span is not None and not seen.accepted and _length(span) > _longest_passage():
            span, detail = None, f"{detail}; what it comes from is too long to be shown"
        where = (seen.source or key) if span is not None else None
        results.append(QuotationCheck(place, seen.verdict.value, where, span, detail))
    if not results:
        return QuotationCheck(place, "unchecked", detail="there is no source to compare it with")
    return min(results, key=lambda one: _KINDEST.index(one.verdict))
