"""How a candidate's tags meet those of a question, and which of its passages may be evidence. Pure.

The diseases of a question (EB-1.5): its first one and all of a recognized scenario are primary. A
work on a secondary one alone counts only where it meets a decision asked about too; so "MRD in
colorectal and lung cancer" accepts works on MRD in lung cancer, and "anticoagulation in AF with
diabetes" no diet for diabetes. A general disease accepts the ones it takes in
(`broader_diseases` of the policy); a work on it in general is a broader one for a question on one
of them. A question without diseases accepts all.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Literal, NamedTuple

from clinical_text.names import forms
from knowledge.answering.policy import retrieval_policy
from knowledge.loader import load
from knowledge.names.spelling import fold
from knowledge.names.tables import tables
from knowledge.scenarios import Scenario
from knowledge.subjects.breadth import accepted, is_broader, meets
from knowledge.subjects.naming import mentions
from knowledge.subjects.products import are_on_others, speak_to
from knowledge.subjects.products import named as names_product
from knowledge.subjects.tags import tags
from knowledge.works.anchors import ARTICLE, trial_of
from store.documents.content import content_terms
from store.index.terms import term_set
from workers.retrieve.ranking.candidates import Candidate, Place
from workers.retrieve.ranking.relevance import is_relevant
from workers.retrieve.understanding.model import Understanding

_NCT = re.compile(r"NCT\d{8}", re.ASCII | re.IGNORECASE)
_ACRONYM = re.compile(r"(?m)^\W{0,3}Acronym: (.{1,80})\.$")

DiseaseFit = Literal["any", "primary", "secondary", "broader", "other"]
DecisionFit = Literal["any", "primary", "secondary", "other"]


class Topic(NamedTuple):
    """How a candidate's tags meet the question's; `any`: the question names none."""

    disease: DiseaseFit
    decision: DecisionFit
    off_focus: bool
    """Its title and headings name diseases, and none of those asked about (EB-5.3)."""

    @property
    def on_topic(self) -> bool:
        """Whether it addresses the question directly (EB-5.4): disease and decision tags overlap,
        and its focus is not another disease."""
        direct = self.disease in {"any", "primary", "secondary"}
        return direct and self.decision != "other" and not self.off_focus

    @property
    def fit(self) -> float:
        """What relevance is multiplied by, 0..1."""
        fit = retrieval_policy().ranking.fit
        share = fit.disease[self.disease] * fit.decision[self.decision]
        return share * (fit.off_focus if self.off_focus else 1.0)


def with_tags_of(scenario: Scenario, candidate: Candidate) -> Candidate:
    """A work of a scenario's pack, which is on that scenario's diseases and decisions whatever the
    words of its record name."""
    return candidate._replace(
        focus=candidate.focus.union(scenario.diseases),
        diseases=candidate.diseases.union(scenario.diseases),
        decisions=candidate.decisions.union(scenario.decisions),
    )


def topic_of(
    candidate: Candidate, understanding: Understanding, scenario: Scenario | None
) -> Topic:
    """How the tags of `candidate` meet those of the question."""
    decision = _decision(candidate, understanding)
    disease = _disease(candidate, understanding, scenario, decision)
    return Topic(disease, decision, _off_focus(candidate, understanding.diseases))


def _decision(candidate: Candidate, understanding: Understanding) -> DecisionFit:
    if not understanding.decisions:
        return "any"
    if understanding.primary_decision in candidate.decisions:
        return "primary"
    return "secondary" if candidate.decisions & set(understanding.decisions) else "other"


def _disease(
    candidate: Candidate,
    understanding: Understanding,
    scenario: Scenario | None,
    decision: DecisionFit,
) -> DiseaseFit:
    asked = understanding.diseases
    if not asked:
        return "any"
    primary = {asked[0], *(set(scenario.diseases if scenario else ()) & set(asked))}
    if candidate.diseases & accepted(primary):
        return "primary"
    if candidate.diseases & accepted(asked) and decision != "other":
        return "secondary"
    return "broader" if is_broader(candidate.focus or candidate.diseases, asked) else "other"


def _off_focus(candidate: Candidate, asked: Collection[str]) -> bool:
    return bool(asked and candidate.focus) and not meets(candidate.focus, asked)


def is_named(candidate: Candidate, names: Collection[str]) -> bool:
    """Whether a name asked about is in its title, is its source (NCCN, ASCO, ESMO), one of its
    identifiers, its acronym by its registry, that of the trial that a pack knows it to report, or
    of the one that it says it reports.
    """
    if not names:
        return False
    known = {candidate.source_type, *(one.lower() for one in candidate.identifiers.values())}
    called = _called(candidate)
    return any(
        name.lower() in known or _is_called(called, name) or _reports(candidate, name)
        for name in names
    )


def _is_called(called: str, name: str) -> bool:
    """Whether a work is called so: as written, or however a name is written that is no word and no
    initials (AZD1234, AZD-1234; CardioScore in capitals)."""
    if mentions(called, name):
        return True
    is_one = any(map(str.isdecimal, name)) or (name.isalpha() and not name.isupper())
    return is_one and not tables().is_word(fold(name)) and forms(name).stand_in(called)


def own_names(candidate: Candidate, names: Collection[str]) -> frozenset[str]:
    """Those of the names asked about that it bears, and not as the beginning of another name:
    DYNAMIC-Rectal is not DYNAMIC."""
    return frozenset(
        name
        for name in names
        if is_named(candidate._replace(title=_without_longer(candidate.title, name)), (name,))
    )


def _without_longer(title: str, name: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(name)}-[A-Za-z]\w*", " ", title)


def _called(candidate: Candidate) -> str:
    trial = trial_of(candidate.identifiers)
    return "\n".join((candidate.title, trial, *_acronyms(candidate)))


def _reports(candidate: Candidate, name: str) -> bool:
    """Whether a passage says that it reports what was found in the trial of this name."""
    return any(
        mentions(said.group(), name)
        for one in candidate.places
        if name in one.text
        for said in _reporting().finditer(one.text)
    )


def _acronyms(candidate: Candidate) -> Iterator[str]:
    """What a registry's record says that its trial is called, in the words of its parser."""
    if candidate.source_type == "clinicaltrials":
        for place in candidate.places:
            yield from _ACRONYM.findall(place.text)


@cache
def _reporting() -> re.Pattern[str]:
    return re.compile(load("questions/questions")["reporting"])


def usable_places(
    candidate: Candidate,
    understanding: Understanding,
    *,
    named: bool,
    anchor: bool = False,
    spared: bool = False,
) -> tuple[tuple[Place, ...], str | None]:
    """The passages that may be evidence, in the order given; without any, why there is none.

    A passage speaks to the question (`is_relevant`); it stands under a title or in words that name
    a trial or body asked about, where one is (a question on one trial is not answered with the
    figures of another), and likewise a drug or test (`_on_products`); and it is on a disease asked
    about (EB-5.1). What a work on the disease says is; of other works, what names one asked about,
    and where the work names no other disease, what names none.

    Args:
        named: the whole work is one that the question names (`is_named`).
        anchor: it is a work of the scenario's pack: what it says on a disease and a decision asked
            about speaks to the question, whatever its words are (EB-5.2).
        spared: it is of a trial asked about: who asks why ZEST was stopped is told by its works,
            whatever word they have for it, sooner than by one that mentions it.
    """
    of_itself = named and asks_for_works(understanding)
    # A work on one of several trials can hold but its part of what is asked.
    parts = len(understanding.names) if spared else 1
    found = [
        one
        for one in candidate.places
        if of_itself
        or is_relevant(parts * one.covered, one.dense, spared=spared)
        or (anchor and _names_both(one, understanding))
    ]
    if not found and has_required(candidate, understanding):
        found = list(candidate.places)
    if not found:
        return (), "does not speak to the question"
    names = understanding.names
    if names and not named:
        if _is_another_registration(candidate, names):
            return (), "is the registration of another trial than the one asked about"
        if asks_for_works(understanding) and any(map(_NUMBER.fullmatch, names)):
            return (), "mentions the number of the work asked about, and does not bear it"
        found = [
            one for one in found if any(_has(name, f"{one.section}\n{one.text}") for name in names)
        ]
        if not found:
            return (), "names none of the trials or bodies asked about"
    found = [*_on_products(found, candidate, understanding.products)]
    if not found:
        return (), "is on none of the drugs or tests asked about"
    kept = tuple(one for one in found if _on_disease(one, candidate, understanding.diseases))
    return kept, None if kept else "its passages are on other diseases than those asked about"


_NUMBER = re.compile(
    r"[1-9][0-9]{0,8}|PMC[0-9]+|10\.[0-9]{4,9}/\S+|[LA][0-9]{5}|[0-9a-f]{8}-[0-9a-f-]{27}",
    re.IGNORECASE,
)
"""A number that one work bears: PMID, PMCID, DOI, LCD, set id. A text that mentions one, its first
page included, is not for that the work; a paper that mentions a trial's number may report it."""


def _on_products(
    found: Sequence[Place], candidate: Candidate, asked: Collection[str]
) -> Sequence[Place]:
    """Those of the passages that are on the drugs or tests asked about, known or not. All are where
    the title names one. Else it is they that do, or tell of it in general; and, of a work of which
    a passage names one, those that are on no other."""
    if not asked or names_product(_called(candidate), asked):
        return found
    told = {one.chunk_id for one in candidate.places if names_product(_text_of(one), asked)}
    return [
        one
        for one in found
        if one.chunk_id in told
        or (
            not are_on_others(_words_of(one, candidate), asked)
            if told
            else speak_to(_words_of(one, candidate), asked)
        )
    ]


def _is_another_registration(candidate: Candidate, names: Collection[str]) -> bool:
    """Whether a question asks by number for registrations, and this is one under another number:
    it may bear the same title and mention the other, and its figures are its own."""
    own = candidate.identifiers.get("nct_id")
    return (
        own is not None
        and ARTICLE.isdisjoint(candidate.identifiers)
        and all(map(_NCT.fullmatch, names))
    )


def _has(name: str, words: str) -> bool:
    return mentions(words, name) or forms(name).stand_in(words)


def has_required(candidate: Candidate, understanding: Understanding) -> bool:
    """Whether what was found of a work has all that the question names: it speaks to the question,
    whatever its other words are. The name of its trial by a pack stands in it."""
    required = understanding.asked.required
    if not required or not any(one.covered for one in candidate.places):
        return False
    text = "\n".join((_called(candidate), *(one.text for one in candidate.places)))
    return all(forms(one).stand_in(text) for one in required)


def asks_for_works(understanding: Understanding) -> bool:
    """Whether a question holds nothing but numbers of works: all that such a work says speaks to it
    ("Summarize PMID 35657320")."""
    names, asked = understanding.names, understanding.sub_queries
    if not (names and asked and all(any(map(str.isdigit, name)) for name in names)):
        return False
    taken = term_set(" ".join((*names, *load("questions/questions")["work_words"])))
    return all(content_terms(one.text) <= taken for one in asked)


def _names_both(place: Place, understanding: Understanding) -> bool:
    words = f"{place.section}\n{place.text}"
    return not accepted(understanding.diseases).isdisjoint(tags("diseases", words)) and not set(
        understanding.decisions
    ).isdisjoint(tags("decisions", words))


def _text_of(place: Place) -> str:
    return f"{place.section}\n{place.text}"


def _words_of(place: Place, candidate: Candidate) -> str:
    return f"{candidate.title}\n{place.section}\n{place.text}"


def _on_disease(place: Place, candidate: Candidate, asked: Collection[str]) -> bool:
    if not asked or candidate.focus & accepted(asked):
        return True
    named = set(tags("diseases", f"{place.section}\n{place.text}"))
    if named:
        return meets(named, asked)
    return candidate.diseases <= accepted(asked) or is_broader(candidate.diseases, asked)
