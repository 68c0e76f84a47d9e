"""An answer made of stored sentences: chosen, ordered, never rewritten. Pure.

Every claim is the text of its quotation, so that it can be checked by its words alone. What may
be shown: `wording`; what a sentence states: `facets`; which are candidates: `candidates`; how well
they answer: `scoring`; in which order they are read: `arranging`; what stands beside the answer:
`details`.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from knowledge.feeds.sources import source_policy
from knowledge.loader import load
from knowledge.works.conflicts import conflict_policy
from store.documents.content import Content, share
from workers.generate.arranging import Claim, Kept, arrange
from workers.generate.candidates import Candidate, candidates_of
from workers.generate.details import complete
from workers.generate.facets import (
    asks_for_use,
    is_unasked,
    states,
    tells_of_use,
)
from workers.generate.findings import Told, same
from workers.generate.leading import Leading
from workers.generate.scoring import Asked, Lacks, Scorer
from workers.generate.sections import belongs, sections_for
from workers.generate.wording import stands_alone

__all__ = [
    "Asked",
    "Candidate",
    "Claim",
    "candidates_of",
    "choose",
    "lacking",
    "sections_for",
    "stands_alone",
]

_REGISTRY, _PAYER = "clinicaltrials", "payer"
_RESULT = "primary_result"
_GENERAL = "general"


def choose(candidates: Sequence[Candidate], asked: Asked) -> list[Claim]:
    """The claims of the answer, in the order of the query type's sections.

    Args:
        candidates: those of each document in the order of its text.
    """
    query_type, contents, questions = asked.query_type, asked.contents, asked.questions
    scorer = Scorer(asked)
    on_use = any(map(asks_for_use, questions))
    scored = []
    documents: dict[str, list[Candidate]] = defaultdict(list)
    for one in candidates:
        if one.is_value and not scorer.is_of_field(one):
            continue
        if one.source_type != _REGISTRY or not is_unasked(one.text, one.section, questions):
            documents[one.evidence_id].append(one)
    of_itself = [
        one
        for one in chain.from_iterable(documents.values())
        if one.found or scorer.is_sure(one) or _is_result(one, scorer, documents)
    ]
    scorer.read(of_itself)
    for one in of_itself:
        score = scorer.score(one)
        if score is not None:
            scored.append(Kept(one, score + (_of_use(one, contents) if on_use else 0.0)))
    if asked.names and any(one.candidate.asked_for for one in scored):
        scored = [one for one in scored if scorer.names_work(one.candidate)]
    scored.sort(key=lambda one: -one.score)
    kept = _spread(scored, sections_for(query_type)[0], scorer)
    kept = _near_best(kept, scorer, query_type)
    shown = [one.candidate for one in kept]
    if not (_speak_to_it(shown, contents, scorer) and scorer.are_told(shown)):
        return []
    leading = Leading(questions, asked.type, asked.names, scorer)
    return arrange(kept, documents, query_type, scorer.may_speak, contents, leading.worth)


def lacking(candidates: Sequence[Candidate], asked: Asked) -> Lacks | None:
    """Of whom the sources do not speak, where `choose` chose nothing for that."""
    return Scorer(asked).lacks(candidates)


def _is_result(
    candidate: Candidate, scorer: Scorer, documents: Mapping[str, Sequence[Candidate]]
) -> bool:
    """Whether a line that was not retrieved reports what is asked for: a trial's main result, which
    its registry tells in words that no question has."""
    return (
        _RESULT in scorer.wanted
        and candidate.source_type == _REGISTRY
        and states(_RESULT, candidate.text, candidate.section)
        and candidate in complete(candidate, documents[candidate.evidence_id])
    )


def _of_use(candidate: Candidate, asked: Sequence[Content]) -> float:
    """What a sentence of a label gains where it is asked whether a drug may be used."""
    if candidate.source_type not in conflict_policy().label_sources:
        return 0.0
    sure = tells_of_use(candidate.text, candidate.section)
    return float(load("questions/answers")["side_weight"] * sure * share(asked, candidate.text))


def _spread(scored: Sequence[Kept], leading: Mapping[str, Any], scorer: Scorer) -> list[Kept]:
    """The best candidates: a few a document, no two that say the same, the leading section's first
    as far as places are kept for it. Only those that there is a place for are asked `may_speak`:
    it takes the longest.
    """
    policy = load("questions/answers")
    kept: list[Kept] = []
    told, documents = Told(), set[str]()

    def has_room(candidate: Candidate, most: int) -> bool:
        if len(kept) >= most:
            return False
        found = [one.candidate.evidence_id for one in kept]
        answers = scorer.fits(candidate) >= policy["answers_fit"]
        room = policy["answers_per_document" if answers else "claims_per_document"]
        if scorer.on_coverage and candidate.source_type == _PAYER:
            room = policy["lines_per_policy"]
        return found.count(candidate.evidence_id) < int(room)

    def tell(candidate: Candidate) -> None:
        told.add(candidate.finding)
        documents.add(candidate.evidence_id)

    def take(found: Iterable[Kept], most: int) -> None:
        for one in found:
            mine = one.candidate
            alike = told.may_hold(mine.finding)
            may_be = alike or mine.evidence_id in documents
            twin = _twin(mine, kept, alike=alike) if may_be else None
            if (twin is None and not has_room(mine, most)) or not scorer.may_speak(mine):
                continue
            if twin is not None:
                _merge(twin, one)
                tell(mine)
            else:
                kept.append(one)
                tell(mine)

    take((one for one in scored if belongs(one.candidate, leading)), policy["lead_claims"])
    first = {id(one) for one in kept}
    take((one for one in scored if id(one) not in first), policy["claims"])
    return sorted(kept, key=lambda one: -one.score)


def _speak_to_it(shown: Sequence[Candidate], asked: Sequence[Content], scorer: Scorer) -> bool:
    """Whether one of the claims holds so much of the question that it is told by them, or states
    the kind of thing that is asked for, which has other words (how accurate: a sensitivity), or
    stands in the work that the question names."""
    policy = load("questions/answers")
    sure = any(scorer.fits(one) >= policy["sure_fit"] for one in shown)
    return (sure or scorer.tells_beside_drug(shown)) and any(
        one.asked_for
        or scorer.fits(one) >= policy["answers_fit"]
        or scorer.states_wanted(one)
        or share(asked, f"{one.text}\n{one.title}") >= policy["answers_least"]
        for one in shown
    )


def _near_best(kept: Sequence[Kept], scorer: Scorer, query_type: str) -> list[Kept]:
    """Those that answer nearly as much of the question as the best, or state what is asked for: of
    a drug much is said that is no answer on its dose. Of the kind of source that is asked for half
    as much will do. What holds nothing but what its title does must hold nearly all of it."""
    policy = load("questions/answers")
    kept = [one for one in kept if scorer.is_on_item(one.candidate)]
    if scorer.is_needed(one.candidate for one in kept):
        kept = [one for one in kept if scorer.states_wanted(one.candidate)]
    more = [scorer.tells_more(one.candidate) for one in kept]
    most = max((held for held, _ in more), default=0.0)
    kept = [
        one
        for one, (held, adds) in zip(kept, more, strict=True)
        if adds
        or scorer.fits(one.candidate) >= policy["answers_fit"]
        or one.candidate.asked_for
        or held >= policy["title_alone"] * most
        or scorer.states_wanted(one.candidate)
    ]
    covers = [scorer.covers(one.candidate) for one in kept]
    stated = [scorer.states_wanted(one.candidate) for one in kept]
    least = policy["kept_from"] * max(covers, default=0.0)
    fit = policy["fit_beside"] * max((scorer.fits(one.candidate) for one in kept), default=2.0)
    fit = max(fit, policy["fit_from"])
    asked_for = policy["sections"] if query_type != _GENERAL else {}
    leading = asked_for.get(query_type, [{"sources": ()}])[0]
    return [
        one
        for one, covered, states_it in zip(kept, covers, stated, strict=True)
        if covered >= least
        or scorer.fits(one.candidate) >= fit
        or states_it
        or (covered >= least / 2 and belongs(one.candidate, leading))
    ]


def _twin(mine: Candidate, kept: Sequence[Kept], *, alike: bool) -> Kept | None:
    """The first that says the same: in other words, or because one is a part of the other.

    Args:
        alike: whether the numbers of one may be the same (`Told.may_hold`).
    """
    text, evidence_id, finding = mine.text, mine.evidence_id, mine.finding
    for one in kept:
        other = one.candidate
        if other.evidence_id == evidence_id and (text in other.text or other.text in text):
            return one
        if alike and same(finding, other.finding):
            return one
    return None


def _merge(kept: Kept, found: Kept) -> None:
    """Note another source of the same finding; the one that is worth more is cited (SP-6.2).

    Of two quotations of one text, the longer one is taken if it answers as well.
    """
    mine, other = kept.candidate, found.candidate
    if other.evidence_id == mine.evidence_id:
        if (
            mine.text in other.text
            and found.score > kept.score - load("questions/answers")["near_tie"]
        ):
            kept.candidate = other
        return
    if any(one.evidence_id == other.evidence_id for one in kept.also):
        return
    if _worth(other) > _worth(mine) and _belong_alike(mine, other):
        kept.candidate, other = other, mine
    kept.also.append(other)


def _worth(candidate: Candidate) -> float:
    tier = source_policy(candidate.source_type).tier
    return float(load("works/trust")["confidence"][tier])


def _belong_alike(one: Candidate, other: Candidate) -> bool:
    """Whether both go to the same sections, so that a better source moves nothing in the answer."""
    sections = [
        section for found in load("questions/answers")["sections"].values() for section in found
    ]
    return all(belongs(one, section) == belongs(other, section) for section in sections)
