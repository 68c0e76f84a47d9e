"""The order of an answer: which section a claim goes to, and what belongs beside it. Pure.

Sections: `workers.generate.sections`; particulars, names and limits: `workers.generate.details`.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from knowledge.loader import load
from store.documents.content import Content
from workers.generate.candidates import Candidate
from workers.generate.details import (
    MaySpeak,
    complete,
    limits,
    names_document,
    naming,
    particulars,
)
from workers.generate.sections import belongs, sections_for
from workers.generate.wording import on_one_line


@dataclass(frozen=True)
class Claim:
    """A proposed claim: its words, the evidence it names, the section it goes to."""

    claim_id: str
    text: str
    evidence_id: str
    quote: str
    heading: str
    also: tuple[tuple[str, str], ...] = ()
    """Other evidence that reports the same finding: its key and its words."""
    begins: float = 0.0
    """How well it begins the answer (`leading`)."""

    def as_body(self) -> dict[str, Any]:
        """The claim as the draft stores it."""
        body: dict[str, Any] = {
            "claim_id": self.claim_id,
            "text": self.text,
            "evidence_id": self.evidence_id,
            "quote": self.quote,
            "heading": self.heading,
            "begins": round(self.begins, 3),
        }
        if self.also:
            body["also"] = [{"evidence_id": key, "quote": quote} for key, quote in self.also]
        return body


@dataclass
class Kept:
    """A candidate that is in the answer, with those that report the same."""

    candidate: Candidate
    score: float
    also: list[Candidate] = field(default_factory=list)


def arrange(
    kept: Sequence[Kept],
    documents: Mapping[str, Sequence[Candidate]],
    query_type: str,
    may_speak: MaySpeak,
    asked: Sequence[Content],
    worth: Callable[[Candidate], float],
) -> list[Claim]:
    """Give the candidates their sections, what belongs beside them, and their numbers; `worth`: how
    well a claim begins the answer."""
    sections, policy = sections_for(query_type), load("questions/answers")
    details = policy["details"].get(query_type, {"documents": 0, "facets": []})
    homes, ordered = _homes(kept, sections), list[tuple[str, Kept]]()
    for number, section in enumerate(sections):
        heading, room = section["heading"], details["documents"] if number == 0 else 0
        for group in _by_document(homes[heading]):
            said = [one for _, one in ordered if one.candidate.evidence_id == _key(group)]
            of_document = documents.get(_key(group), ())
            facets = details["facets"] if room > 0 else []
            room -= 1
            whole = _completed(group, said, of_document, facets, may_speak)
            in_order = _reading_order(whole, of_document, leads=not ordered, strictly=bool(facets))
            ordered += [(heading, one) for one in in_order]
        if section.get("limitations"):
            shown = [one.candidate for _, one in ordered]
            keys = dict.fromkeys(one.evidence_id for one in shown)
            found = limits(shown, [documents.get(key, ()) for key in keys], may_speak, asked)
            ordered += [(heading, Kept(one, 0.0)) for one in found]
    return [
        Claim(
            claim_id=f"c{number}",
            text=on_one_line(one.candidate.text),
            evidence_id=one.candidate.evidence_id,
            quote=one.candidate.text,
            heading=heading,
            also=tuple((other.evidence_id, other.text) for other in one.also),
            begins=worth(one.candidate),
        )
        for number, (heading, one) in enumerate(ordered, start=1)
    ]


def _homes(kept: Sequence[Kept], sections: Sequence[Mapping[str, Any]]) -> dict[str, list[Kept]]:
    """Which candidates go to which section, by its heading. The leading one keeps its best."""
    plain = [one for one in sections if not one.get("limitations")]
    special = [one for one in plain if one.get("names_bodies")]
    homes: dict[str, list[Kept]] = {one["heading"]: [] for one in sections}
    for one in kept:
        fitting = [section for section in plain if belongs(one.candidate, section)] or plain[-1:]
        compares = [section for section in fitting if section in special]
        leads = fitting[0] is plain[0] and not homes[plain[0]["heading"]]
        home = compares[0] if compares and not leads else fitting[0]
        homes[home["heading"]].append(one)
    return homes


def _by_document(kept: Sequence[Kept]) -> list[list[Kept]]:
    """Claims of one document follow each other: they are read together, under its title."""
    groups: dict[str, list[Kept]] = defaultdict(list)
    for one in kept:
        groups[one.candidate.evidence_id].append(one)
    return list(groups.values())


def _key(group: Sequence[Kept]) -> str:
    return group[0].candidate.evidence_id


def _completed(
    group: Sequence[Kept],
    said: Sequence[Kept],
    of_document: Sequence[Candidate],
    facets: Sequence[str],
    may_speak: MaySpeak,
) -> list[Kept]:
    """A document's claims with the particulars of its trial and the sentence that names it."""
    chosen = [one.candidate for one in (*said, *group)]
    added = list(particulars(facets, chosen, of_document, may_speak))
    for one in chain.from_iterable(complete(one, of_document) for one in chosen):
        if one not in chosen and one not in added and may_speak(one):
            added.append(one)
    first = naming([*chosen, *added], of_document, may_speak, strictly=bool(facets))
    if first is not None:
        added.append(first)
    return [*group, *(Kept(one, 0.0) for one in added)]


def _reading_order(
    group: Sequence[Kept], of_document: Sequence[Candidate], *, leads: bool, strictly: bool
) -> list[Kept]:
    """A document's claims in the order of its text. In the answer's first document the best one
    leads, behind the sentence that names the document where it does not itself."""
    place = {id(one): number for number, one in enumerate(of_document)}
    ordered = sorted(group, key=lambda one: place.get(id(one.candidate), len(place)))
    if not leads:
        return ordered
    best = max(group, key=lambda one: one.score)
    names = [one for one in ordered if names_document(one.candidate, strictly=strictly)]
    head = [best] if best in names or not names else [names[0], best]
    return [*head, *(one for one in ordered if all(one is not other for other in head))]
