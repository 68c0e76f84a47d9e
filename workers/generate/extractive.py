"""An answer made of stored sentences: chosen, ordered, never rewritten. Pure."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from knowledge.breadth import meets
from knowledge.loader import load
from knowledge.products import are_on_others, speak_to
from knowledge.tags import tags
from store.content import Content, coverage
from store.index.terms import terms
from store.spans import Span


@dataclass(frozen=True)
class Candidate:
    """A sentence that may become a claim, with what it is judged by."""

    evidence_id: str
    source_type: str
    text: str
    title: str
    passage_score: float
    anchor_score: int
    publication_type: str | None = None


@dataclass(frozen=True)
class Claim:
    """A proposed claim: its words, the evidence it names, the section it goes to."""

    claim_id: str
    text: str
    evidence_id: str
    quote: str
    heading: str

    def as_body(self) -> dict[str, Any]:
        """The claim as the draft stores it."""
        return {
            "claim_id": self.claim_id,
            "text": self.text,
            "evidence_id": self.evidence_id,
            "quote": self.quote,
            "heading": self.heading,
        }


@cache
def _leaning() -> re.Pattern[str]:
    return re.compile(load("answers")["leaning"], re.IGNORECASE)


_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")


def _readable(sentence: str) -> str:
    """A sentence on one line, without the mark of the list it stood in."""
    return " ".join(_LIST_MARK.sub("", sentence).split())


def stands_alone(sentence: str) -> bool:
    """Whether a sentence can be shown without the one before it, and says something."""
    body = _LIST_MARK.sub("", sentence)
    is_heading = body.lstrip().startswith("#") or body.rstrip().endswith(":")
    return len(terms(body)) >= 4 and not is_heading and not _leaning().match(body)


def sentences_of(
    text: str, sentences: Iterable[Span], passages: Sequence[tuple[int, int]]
) -> list[Span]:
    """The whole sentences inside the found passages that can be shown alone."""
    return [
        sentence
        for sentence in sentences
        if any(start <= sentence.start and sentence.end <= end for start, end in passages)
        and stands_alone(sentence.of(text))
    ]


def choose(
    candidates: Sequence[Candidate],
    query_type: str,
    asked: Sequence[Content],
    diseases: Collection[str] = (),
    products: Collection[str] = (),
) -> list[Claim]:
    """The claims of the answer, in the order of the query type's sections.

    Args:
        asked: what each sub-query asks for; a sentence answers one of them.
        diseases: tags of those asked about; a sentence on others alone is no answer (EB-5.1).
        products: likewise, the drugs and tests.
    """
    policy = load("answers")
    scored = []
    for candidate in candidates:
        covered = max(_covered(one, candidate) for one in asked)
        if covered < policy["least_coverage"] or _is_on_others(candidate, diseases, products):
            continue
        own = set(terms(candidate.text))
        score = (
            covered
            + policy["anchor_weight"] * candidate.anchor_score
            + policy["passage_weight"] * candidate.passage_score
        )
        scored.append((score, candidate, own))
    scored.sort(key=lambda one: -one[0])
    return _arrange(_spread(scored, sections_for(query_type)[0]), query_type)


def _covered(asked: Content, candidate: Candidate) -> float:
    """The share of what is asked that a sentence holds; its title's words count for less."""
    own = asked.held(candidate.text)
    title_weight = float(load("answers")["title_weight"])
    inherited = asked.held(candidate.title) - own
    return coverage(asked.weights, own) + title_weight * coverage(asked.weights, inherited)


def _is_on_others(
    candidate: Candidate, diseases: Collection[str], products: Collection[str]
) -> bool:
    """Whether a sentence is on other diseases, drugs or tests than those asked about.

    What a sentence does not name it has from its title.
    """
    if are_on_others(candidate.text, products):
        return True
    said = not are_on_others(candidate.title, products) or speak_to(candidate.text, products)
    return not said or _is_on_other_diseases(candidate, diseases)


def _is_on_other_diseases(candidate: Candidate, asked: Collection[str]) -> bool:
    """Whether a sentence names diseases and none of those asked about.

    In a work on one asked about, other diseases are outcomes or comorbidities, and belong to what
    it says; unless its title names them beside: then the sentence is on the other half of it.
    """
    named = set(tags("diseases", candidate.text))
    if not asked or not named or meets(named, asked):
        return False
    focus = set(tags("diseases", candidate.title))
    return named <= focus or not meets(focus, asked)


def _spread(
    scored: Sequence[tuple[float, Candidate, set[int]]], leading: Mapping[str, Any]
) -> list[Candidate]:
    """The best candidates: a few a document, no two that say the same, the leading section's first
    as far as places are kept for it."""
    policy = load("answers")
    kept: list[tuple[Candidate, set[int]]] = []

    def take(found: Iterable[tuple[Candidate, set[int]]], most: int) -> None:
        for candidate, own in found:
            if len(kept) >= most:
                return
            of_document = sum(one.evidence_id == candidate.evidence_id for one, _ in kept)
            alike = any(_overlap(own, other) >= policy["near_duplicate"] for _, other in kept)
            if of_document < policy["claims_per_document"] and not alike:
                kept.append((candidate, own))

    found = [(candidate, own) for _, candidate, own in scored]
    take((one for one in found if _belongs(one[0], leading)), policy["lead_claims"])
    chosen = {id(candidate) for candidate, _ in kept}
    take((one for one in found if id(one[0]) not in chosen), policy["claims"])
    place = {id(candidate): at for at, (candidate, _) in enumerate(found)}
    return sorted((candidate for candidate, _ in kept), key=lambda one: place[id(one)])


def _belongs(candidate: Candidate, section: Mapping[str, Any]) -> bool:
    on_trial = "trial" in (candidate.publication_type or "").lower()
    return candidate.source_type in section["sources"] or (
        on_trial and section.get("trial_publications", False)
    )


def _overlap(one: set[int], other: set[int]) -> float:
    return len(one & other) / max(1, len(one | other))


def sections_for(query_type: str) -> list[dict[str, Any]]:
    """The sections of an answer to this type of question, in order."""
    sections = load("answers")["sections"]
    chosen: list[dict[str, Any]] = sections.get(query_type, sections["general"])
    return chosen


def _arrange(candidates: Sequence[Candidate], query_type: str) -> list[Claim]:
    """Give the candidates their sections and numbers, in reading order."""
    claims: list[Claim] = []
    # Claims of one document follow each other: they are read together, under its title.
    rank = {one.evidence_id: place for place, one in reversed(list(enumerate(candidates)))}
    together = sorted(candidates, key=lambda one: rank[one.evidence_id])
    sections = sections_for(query_type)
    for section in sections:
        for candidate in together:
            home = next((one for one in sections if _belongs(candidate, one)), sections[-1])
            if home is section:
                number = len(claims) + 1
                claims.append(
                    Claim(
                        claim_id=f"c{number}",
                        text=_readable(candidate.text),
                        evidence_id=candidate.evidence_id,
                        quote=candidate.text,
                        heading=section["heading"],
                    )
                )
    return claims
