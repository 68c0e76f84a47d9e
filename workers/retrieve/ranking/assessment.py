"""What a candidate is worth for a question: excluded or not, its relevance, its score. Pure."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, get_args

from knowledge.answering.policy import retrieval_policy
from knowledge.scenarios import Kind, Scenario
from knowledge.subjects.drugs import asked_about, names_one
from knowledge.subjects.naming import trials
from knowledge.works.anchors import ARTICLE, entry_of
from knowledge.works.conflicts import conflict_policy
from workers.retrieve.ranking.candidates import Candidate, Place
from workers.retrieve.ranking.designs import design, is_primary_study, kind
from workers.retrieve.ranking.label_parts import part_weight
from workers.retrieve.ranking.restrictions import demotion
from workers.retrieve.ranking.topicality import (
    Topic,
    is_named,
    own_names,
    topic_of,
    usable_places,
    with_tags_of,
)
from workers.retrieve.understanding.model import Understanding

_LIFT = 0.01
"""How far an anchor that does not lead is lifted above the others of its kind; small, so that it
passes no other kind."""


class Amount(NamedTuple):
    """A boost or a penalty and what it is for."""

    by: float
    why: str

    def __str__(self) -> str:
        return f"{self.by:+.2f} {self.why}"


class Assessed(NamedTuple):
    """A candidate with what it is worth."""

    candidate: Candidate
    places: tuple[Place, ...]
    """Those that may be evidence, best first; all of them where it is excluded."""
    topic: Topic
    relevance: int
    score: float
    merit: float
    """The score that it came with: no pack has lifted this one."""
    reasons: tuple[str, ...]
    excluded: str | None
    """Why it can be no evidence at all; no rule of composition brings it back."""
    kind: Kind | None
    anchor: Kind | None
    """Which kind of work of the scenario's pack it is; None: it is none."""
    leads: bool
    """As an anchor it may go before all else."""
    yields: bool
    """As an anchor it goes before none: the question names other trials or bodies, or what it says
    is demoted."""
    primary_study: bool
    named: bool = False
    """The question names it: a trial, a body, an identifier."""
    own_names: frozenset[str] = frozenset()
    """Those of the names asked about that it bears as they are."""
    outdoes_pack: bool = False
    """Of the works of its kind outside the pack that are more relevant than all of the pack's it is
    the best one: it has a place beside these."""


def assess(
    candidate: Candidate,
    understanding: Understanding,
    scenario: Scenario | None,
) -> Assessed:
    """Judge one candidate.

    Its relevance, 0-100, is the mean of its best passage's fused score and of how much of the
    question its passages cover at most, times how well its tags fit (`Topic.fit`). Below 10 a
    candidate is excluded (EB-5.1): so are those on another disease, those whose passages say
    nothing on the question or on the trial asked about, and notices on other records, all of which
    get at most 9; the others at least 10.

    Its score is the fused score of its best passage, restriction language demoted, with the boosts
    and penalties of the policy; works of the pack are lifted later (`lift_anchors`).
    """
    entry = entry_of(scenario, candidate.identifiers) if scenario else None
    tagged = with_tags_of(scenario, candidate) if scenario and entry else candidate
    topic = topic_of(tagged, understanding, scenario)
    named = is_named(candidate, understanding.names)
    usable, silent = usable_places(
        tagged,
        understanding,
        named=named,
        anchor=entry is not None,
        spared=named and bool(own_names(candidate, trials(understanding.names))),
    )
    excluded = _excluded(candidate, topic) or silent
    places = _ordered(usable or candidate.places, candidate, understanding)
    anchor = entry.kind if entry else None
    others_named = bool(understanding.names) and not named
    lost = demotion(places[0].text, understanding.query_type)
    amounts = _amounts(candidate, lost, understanding.query_type, topic)
    if named:
        amounts.append(Amount(retrieval_policy().ranking.named, "named in the question"))
    score = places[0].score + sum(one.by for one in amounts)
    return Assessed(
        candidate=candidate,
        places=places,
        topic=topic,
        relevance=_relevance(places, topic, excluded=excluded is not None),
        score=score,
        merit=score,
        reasons=(_basis(places, topic), *map(str, amounts)),
        excluded=excluded,
        kind=anchor or kind(candidate),
        anchor=anchor,
        leads=not (excluded or others_named) and anchor in _leading(understanding.query_type),
        yields=others_named or lost > 0,
        primary_study=is_primary_study(candidate),
        named=named,
        own_names=own_names(candidate, understanding.names) if named else frozenset(),
    )


def _names_drug(candidate: Candidate, asked: frozenset[str]) -> bool:
    places = (f"{one.section}\n{one.text}" for one in candidate.places)
    return names_one("\n".join([candidate.title, *places]), asked)


def _excluded(candidate: Candidate, topic: Topic) -> str | None:
    if design(candidate) == "notice":
        return "is a notice about another record, or retracted"
    if not candidate.is_english:
        return "is not in English"
    if topic.disease == "other":
        return "is on none of the diseases asked about"
    return None


def _leading(query_type: str) -> frozenset[Kind]:
    every: frozenset[Kind] = frozenset(get_args(Kind))
    return retrieval_policy().ranking.leading_anchors.get(query_type, every)


def _ordered(
    places: Sequence[Place], candidate: Candidate, understanding: Understanding
) -> tuple[Place, ...]:
    """Best first after the demotion of restriction language (MC-1.4); of a label those in the parts
    that tell what is asked."""
    if len(places) == 1:
        return tuple(places)
    is_label = candidate.source_type in conflict_policy().label_sources
    asked = "\n".join(one.text for one in understanding.sub_queries) if is_label else ""

    def behind(one: Place) -> tuple[float, int, str]:
        lost = demotion(one.text, understanding.query_type)
        gained = part_weight(one.section.strip(), asked) if is_label else 0.0
        return lost - gained - one.score, one.start, one.chunk_id

    return tuple(sorted(places, key=behind))


def _relevance(places: Sequence[Place], topic: Topic, *, excluded: bool) -> int:
    least = retrieval_policy().ranking.relevance_at_least
    spoken = (max(one.score for one in places) + max(one.covered for one in places)) / 2
    relevance = round(100 * min(1.0, max(0.0, spoken)) * topic.fit)
    return min(relevance, least - 1) if excluded else max(relevance, least)


def _basis(places: Sequence[Place], topic: Topic) -> str:
    covered = max(one.covered for one in places)
    focus = ", off focus" if topic.off_focus else ""
    return (
        f"relevance: covers {covered:.0%}, best passage {places[0].score:.2f}, "
        f"disease {topic.disease}, decision {topic.decision}{focus}"
    )


def _amounts(candidate: Candidate, lost: float, query_type: str, topic: Topic) -> list[Amount]:
    """Every boost and penalty that the tags, the source and the words give.

    Args:
        lost: what its best passage loses for restriction language.
    """
    policy = retrieval_policy()
    ranking = policy.ranking
    decided = {"primary": ranking.decision.primary, "secondary": ranking.decision.secondary}
    found = design(candidate)
    amounts = [
        Amount(-ranking.off_focus if topic.off_focus else 0.0, "focus elsewhere (EB-5.3)"),
        Amount(
            policy.wanted_sources.get(query_type, {}).get(candidate.source_type, 0.0),
            f"kind of source that the question asks for (MC-1.3): {candidate.source_type}",
        ),
        Amount(-lost, "restriction language (MC-1.4)"),
        Amount(decided.get(topic.decision, 0.0), f"{topic.decision} decision (EB-1.3)"),
        Amount(ranking.designs.get(found or "", 0.0), f"level of evidence (EB-5.7): {found}"),
    ]
    return [one for one in amounts if one.by]


_REGISTRY = "clinicaltrials"
_OF_ONE_WORK = ARTICLE | {"set_id", "lcd_id"}
"""Whose number another work gives cites it; what gives that of a trial may well report it."""


def only_works_named(assessed: Sequence[Assessed], names: Collection[str]) -> list[Assessed]:
    """Where a question names nothing but works by their numbers and these are held, no other work
    is evidence: one that refers to a policy does not say what stands in it."""
    held = {
        value.lower()
        for one in assessed
        for kind, value in one.candidate.identifiers.items()
        if kind in _OF_ONE_WORK and one.named
    }
    registered = {
        value.lower()
        for one in assessed
        for kind, value in one.candidate.identifiers.items()
        if kind == "nct_id" and one.candidate.source_type == _REGISTRY and one.named
    }
    asked = {name.lower() for name in names}
    if names and asked <= registered:  # a record of another trial only refers to it
        others = [one.candidate.source_type == _REGISTRY and not one.named for one in assessed]
    elif names and asked <= held:
        others = [not one.named for one in assessed]
    else:
        return list(assessed)
    below = retrieval_policy().ranking.relevance_at_least - 1
    why = "is another work than the one asked about by its number"
    return [
        one._replace(excluded=one.excluded or why, relevance=min(one.relevance, below))
        if other
        else one
        for one, other in zip(assessed, others, strict=True)
    ]


def lift_anchors(assessed: Sequence[Assessed], understanding: Understanding) -> Sequence[Assessed]:
    """Put the works of the pack first (EB-5.2).

    The best of those that lead go before all else: as many of each kind as count for sufficiency
    (EB-4.1), so that a large pack leaves room for its other kinds. Every other one goes before all
    works of its kind that are no anchors, to the place of the best of them: a guideline in a
    question on trials leads the guidelines and not the trials. What is more relevant than all of
    the pack's goes behind the pack's of its kind, as one of those that lead.

    A question that names trials or bodies asks for those: an anchor that it does not name is not
    lifted; nor is one whose best passage is demoted as restriction language (MC-1.4), nor one
    without the drug that the question names, where another work has it.
    """
    if all(one.anchor is None for one in assessed):
        return assessed
    assessed = _yielding(assessed, understanding)
    outside = _outside(assessed)
    leaders = _leaders(assessed, {_group(assessed[n].kind) for n in outside})
    first = Amount(retrieval_policy().ranking.anchor, "work of the pack (EB-5.2)")
    raised = [_raised(one, first) if n in leaders else one for n, one in enumerate(assessed)]
    last: dict[Kind | None, float] = {}
    for n in leaders:
        group = _group(raised[n].anchor)
        last[group] = min(last.get(group, raised[n].score), raised[n].score)
    raised = [_beside(one, last) if n in outside else one for n, one in enumerate(raised)]
    best: dict[Kind | None, float] = {}
    for one in raised:
        if one.anchor is None and one.excluded is None:
            best[one.kind] = max(best.get(one.kind, one.score), one.score)
    return [
        one if n in leaders else _lifted(one, best.get(one.kind)) for n, one in enumerate(raised)
    ]


def _yielding(assessed: Sequence[Assessed], understanding: Understanding) -> Sequence[Assessed]:
    """Where the question names a drug that is no product of the vocabulary (others are tags), and a
    work has it: those without it lead no others."""
    asked = asked_about("\n".join(one.text for one in understanding.sub_queries))
    if asked <= {one.lower() for one in understanding.products}:
        return assessed
    on_it = [_names_drug(one.candidate, asked) for one in assessed]
    if not any(has and one.excluded is None for has, one in zip(on_it, assessed, strict=True)):
        return assessed
    return [
        one if has else one._replace(leads=False, yields=True)
        for has, one in zip(on_it, assessed, strict=True)
    ]


def _group(kind: Kind | None) -> Kind | None:
    """Trials and cohorts count as one (EB-4.1)."""
    return "pivotal_trial" if kind == "cohort" else kind


def _outside(assessed: Sequence[Assessed]) -> set[int]:
    """The places of those that outdo the pack (`Assessed.outdoes_pack`) in a kind that leads; one
    of no kind that counts outdoes the pack if it does so in all of them."""
    leading = {_group(one.anchor) for one in assessed if one.leads}
    most: dict[Kind | None, int] = {}
    for one in assessed:
        if one.anchor is not None and one.excluded is None and _group(one.anchor) in leading:
            for group in (_group(one.anchor), None):
                most[group] = max(most.get(group, 0), one.relevance)
    best: dict[Kind | None, int] = {}
    for n, one in sorted(enumerate(assessed), key=_best_first):
        group = _group(one.kind)
        outdoes = group in most and one.relevance > most[group]
        if outdoes and one.anchor is None and one.excluded is None and one.topic.on_topic:
            best.setdefault(group, n)
    return set(best.values())


def _best_first(item: tuple[int, Assessed]) -> tuple[float, int]:
    return -item[1].score, item[1].candidate.document_id.int


def _beside(one: Assessed, last: Mapping[Kind | None, float]) -> Assessed:
    """A work that outdoes the pack, behind the last that leads of its kind; so far that the pack's
    others of that kind come between (`_lifted`)."""
    one, behind = one._replace(outdoes_pack=True), last.get(_group(one.kind))
    if behind is None or one.score >= behind:
        return one
    return _raised(
        one, Amount(behind - 3 * _LIFT - one.score, "more relevant than the pack's works")
    )


def _leaders(assessed: Sequence[Assessed], outdone: Collection[Kind | None]) -> set[int]:
    """The places of the anchors that go before all else; of a kind in which another work outdoes
    the pack one less."""
    counted = retrieval_policy().sufficiency.anchored
    leaders: set[int] = set()
    for group, most in (
        ("guideline", counted.guidelines.most),
        ("systematic_review", counted.reviews.most),
        ("pivotal_trial", counted.studies.most),
    ):
        able = [n for n, one in enumerate(assessed) if one.leads and _group(one.anchor) == group]
        able.sort(key=lambda n: (-assessed[n].score, assessed[n].candidate.document_id.int))
        leaders.update(able[: max(1, most - (group in outdone))])
    return leaders


def _lifted(one: Assessed, best: float | None) -> Assessed:
    if one.anchor is None or one.yields or one.excluded or best is None or one.score > best:
        return one
    # One lifted anchor stands to another as their scores do.
    by = best - one.score + _LIFT * (1 + one.score)
    return _raised(one, Amount(by, "work of the pack, before others of its kind (EB-5.2)"))


def _raised(one: Assessed, amount: Amount) -> Assessed:
    return one._replace(score=one.score + amount.by, reasons=(*one.reasons, str(amount)))
