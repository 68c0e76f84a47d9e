"""Every statement, quotation and identifier of a pasted text gets its verdict. Pure.

The same place, guards and verdicts as for an answer's claims. A statement is compared with the
passages that come closest to it; the best verdict that one of them gives is its own.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from clinical_text.quotes import check
from knowledge.loader import load
from store.core.spans import Span
from workers.verify.claims import Checked, Drafted, Located, Verdict
from workers.verify.entailment.lexicon import lexicon
from workers.verify.guards import closeness, numbers, omissions
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.lexing import fold
from workers.verify.guards.trials import mismatched
from workers.verify.guards.vetoes import is_quoted_whole, too_much, vetoes
from workers.verify.locating import CitedText, locate
from workers.verify.own_words import own_words
from workers.verify.pasted import against, attribution
from workers.verify.pasted.matching import Terms, nearest
from workers.verify.pasted.statements import Statement, plain, without_identifiers
from workers.verify.verdicts import by_words

_BEST_FIRST = (
    Verdict.SUPPORTED,
    Verdict.PARTIAL,
    Verdict.UNSUPPORTED,
    Verdict.UNCHECKED,
)
_REPEATED = 0.6
"""Share of its words by which a statement repeats a sentence, so that it owes the rest (ours)."""
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
    """A statement with its verdict and the passage that gave it; `details` say what is wrong."""

    statement: Statement
    verdict: Verdict
    best: Checked | None = None
    details: tuple[tuple[str, str], ...] = ()


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
) -> list[Judged]:
    """A verdict for each statement that claims something.

    Args:
        texts: for each statement's id the sources it is compared with, by key.
        cited: for each statement's id the keys of those it names itself.
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
        near = short
        if not budget.allows(len(one.words), [_length(passage.place) for passage in near]):
            judged.append(Judged(one, Verdict.UNCHECKED, details=(_TOO_MUCH,)))
            continue
        told = _Told()
        located = [
            locate(
                Drafted(
                    one.statement_id,
                    one.words,
                    passage.key,
                    passage.place.of(_raw(sources, passage.key)),
                    "",
                ),
                sources,
                told,
            )
            for passage in near
        ]
        # What a verdict is given on is the sentence's content, without what it cites.
        content = [_without_citations(found, one, sources) for found in located]
        judged.append(_best(one, located, by_words(content), sources, told))
    return judged


class _Budget:
    """How much of a text is compared. Each rule looks at each pair of a statement and a passage,
    and some at each word of one with each of the other: this is what multiplies."""

    def __init__(self) -> None:
        policy = load("verifying")
        self._characters = int(policy["compared_characters"])
        self._products = int(policy["compared_products"])
        self._sentences = int(policy["compared_sentences"])

    def reads(self, sentences: int) -> bool:
        """Whether a passage for another statement may be looked for in so many sentences."""
        self._sentences -= sentences
        return self._sentences >= 0

    def allows(self, statement: int, passages: Sequence[int]) -> bool:
        """Whether a statement of so many characters may still be compared with its passages; once
        it is not, no later one is."""
        self._characters -= sum(statement + one for one in passages)
        self._products -= sum(statement * one for one in passages)
        return not passages or min(self._characters, self._products) >= 0


def _is_too_long(statement: Statement, sources: Mapping[str, CitedText]) -> bool:
    """Whether it is more than the verifier ever supports, and no source has it word for word; or a
    table without stops, which the guards, that compare each part with each, would be long at."""
    words = plain(statement.words)
    if len(words) > int(load("verifying")["statement_characters"]):
        return True
    return len(words) > lexicon().limits.claim_characters and not any(
        words in one.source.text for one in sources.values()
    )


def _longest_passage() -> int:
    return int(load("verifying")["passage_characters"])


def _length(place: Span) -> int:
    return place.end - place.start


def _without_citations(
    found: Located, statement: Statement, sources: Mapping[str, CitedText]
) -> Located:
    """The claim without what it cites; where it is its source's own words, with these as its
    passage: what speaks against it must not be what stands beside them."""
    text = plain(found.text)
    cited = sources[found.drafted.evidence_id]
    own = found.place and own_words(text, cited, found.place, statement.under)
    if not own:
        return replace(found, text=text, repeats=False)
    grounds = cited.grounds(own)
    codes = [one.code for one in _vetoes(found.text, grounds)] if found.findings else []
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


class _Told:
    """What speaks against a statement, asked of each passage once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], tuple[Finding, ...]] = {}

    def __call__(self, words: str, grounds: Grounds) -> tuple[Finding, ...]:
        key = (words, grounds.passage, grounds.neighbours, grounds.title, grounds.text)
        if key not in self._known:
            self._known[key] = _vetoes(words, grounds)
        return self._known[key]


def _vetoes(words: str, grounds: Grounds) -> tuple[Finding, ...]:
    """All guards on the content, and what is left out of a sentence that it repeats; those that
    know identifiers see them too. They say what speaks against a statement: nothing that strays
    from its sentence is verified, whatever they find."""
    content = plain(words)
    if not is_quoted_whole(content, grounds.passage) and (far := too_much(content, grounds)):
        return (far,)
    strays = () if is_quoted_whole(content, grounds.passage) else closeness.guard(content, grounds)
    strays = [
        one for one in strays if one.code != "addition"
    ]  # a word more says nothing against it
    left_out = omissions.guard(content, grounds, repeated=_REPEATED)
    cited = numbers.strange_identifiers(
        words, grounds.passage, frozenset(grounds.identifiers.values())
    )
    names = [*cited, *mismatched(fold(words), grounds)]
    credited = attribution.guard(without_identifiers(words), grounds)
    return (*vetoes(content, grounds), *strays, *left_out, *names, *credited)


def _raw(sources: Mapping[str, CitedText], key: str) -> str:
    return sources[key].source.text


def _best(
    statement: Statement,
    located: Sequence[Located],
    results: Sequence[Checked],
    sources: Mapping[str, CitedText],
    told: _Told,
) -> Judged:
    """The best of the verdicts; where all are alike, the one of the nearest passage that knows what
    the statement speaks of."""
    if not results:
        return Judged(statement, Verdict.UNCHECKED, details=(_NO_PASSAGE,))
    words = plain(statement.words)

    worths = [_BEST_FIRST.index(one.verdict) for one in results]
    best_ones = [at for at, worth in enumerate(worths) if worth == min(worths)]

    def knows_it(at: int) -> bool:
        grounds = _grounds(located[at], sources)
        return grounds is not None and not against.is_of_other_matter(words, grounds)

    place = next(filter(knows_it, best_ones), best_ones[0]) if best_ones[1:] else best_ones[0]
    best, grounds = results[place], _grounds(located[place], sources)
    found: Sequence[Finding] = ()
    if grounds is not None and best.findings:
        found = told(located[place].text, grounds)
    details: Sequence[against.Detail] = [(one.code, one.detail) for one in found]
    if grounds is not None and best.verdict is Verdict.UNSUPPORTED:
        details = against.details(statement.words, found, grounds)
    return Judged(statement, best.verdict, best, tuple(details))


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
