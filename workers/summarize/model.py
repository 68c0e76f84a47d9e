"""A summary by a language model: it names chunks and copies words, code finds them. Pure.

A model writes no citation and no word that a reader sees (invariant 4). Words that it copied choose
the sentences they stand in, whole, so that no negation is cut off; what is not found to the letter
is dropped and counted. Sections that it passed over are filled by the rules.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from clinical_text.chunks import Chunk
from clinical_text.quotes import Source, check
from knowledge.documents.notes import LISTS, ListName, plan_policy, section_policy
from workers.language_model.port import Consulted, LanguageModel, ModelError, Prompt, Proposal
from workers.summarize.cautions import addressed
from workers.summarize.items import Item, Places, item_parts, lines_above, list_for
from workers.summarize.persons import is_of_a_relative
from workers.summarize.plan import Recommendation, guarded, recommendations, urgency
from workers.summarize.summary import Reading
from workers.summarize.templates import chunks_with_headers, template

Doubt = Literal["conditional", "withheld", "assessment", "unsure"]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ProposedItem(_Shape):
    """Words that belong into a list."""

    list: ListName
    chunk_id: Annotated[str, Field(description="of the chunk the words were copied from")]
    quote: Annotated[str, Field(description="copied letter by letter, a whole sentence or entry")]


class ProposedSummary(_Shape):
    """What is asked for of some chunks."""

    items: list[ProposedItem]


class ProposedStep(_Shape):
    """An assessment item that recommends something."""

    item: Annotated[str, Field(description="its key, such as A3")]
    confidence: float
    doubt: Doubt | None


class ProposedPlan(_Shape):
    """What is asked for of the assessment: its recommendations, most urgent first."""

    recommendations: list[ProposedStep]


class ProposedSection(_Shape):
    """Where a part begins."""

    kind: Literal[
        "overview", "complaint", "history", "past_history", "family_social", "systems",
        "medicines", "allergies", "examination", "results", "assessment", "plan",
    ]  # fmt: skip
    first_words: str


class ProposedSections(_Shape):
    """What is asked for of a note without headings."""

    sections: list[ProposedSection]


@dataclass
class Asked:
    """What was asked of the model, and what of its answers was dropped."""

    consulted: list[Consulted] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    supplemented: int = 0

    def add(self, purpose: str, version: str, made: Proposal[Any]) -> None:
        self.consulted.append(
            Consulted(purpose, made.model, version, made.prompt_hash, made.output_hash, made.usage)
        )


def batches(chunks: Sequence[Chunk]) -> list[list[Chunk]]:
    """All chunks at once where they fit, else whole sections together as far as they fit (CN-1).

    A section that does not fit by itself is cut between chunks.
    """
    limit = plan_policy().model.call_chars
    size = sum(one.end - one.start for one in chunks)
    if size <= limit:
        return [list(chunks)] if chunks else []
    sections: list[list[Chunk]] = []
    for one in chunks:
        if sections and sections[-1][-1].section == one.section:
            sections[-1].append(one)
        else:
            sections.append([one])
    found: list[list[Chunk]] = [[]]
    used = 0
    for section in sections:
        whole = sum(one.end - one.start for one in section)
        for part in [section] if whole <= limit else [[one] for one in section]:
            needs = sum(one.end - one.start for one in part)
            if used and used + needs > limit:
                found.append([])
                used = 0
            found[-1].extend(part)
            used += needs
    return found


def propose_items(model: LanguageModel, reading: Reading, asked: Asked) -> list[Item]:
    """The items that the model chose, and those of sections that it chose nothing of.

    Raises:
        ModelError: as the model raises it at the first request; a later one leaves its sections to
            the rules.
    """
    told, bounds = template("text_summary"), plan_policy().model
    chosen: list[Item] = []
    for n, part in enumerate(batches(reading.chunks)):
        user = told.fill(chunks_with_headers=chunks_with_headers(reading.text, part))
        try:
            made = model.propose(
                Prompt(
                    "summarize", told.version, told.system, user, ProposedSummary,
                    max_tokens=bounds.max_tokens, patience=bounds.patience,
                )
            )  # fmt: skip
        except ModelError:
            if n == 0:
                raise
            asked.refused["part_failed"] += 1
            continue
        asked.add("summarize", told.version, made)
        chosen += located(reading, made.value.items, part, asked)
    return _completed(reading, chosen, asked)


def located(
    reading: Reading, proposed: Sequence[ProposedItem], shown: Sequence[Chunk], asked: Asked
) -> list[Item]:
    """The sentences that hold the proposed words, each once in a list; the rest is counted."""
    bounds = plan_policy().model
    sources = {one.chunk_id: (one, Source(reading.text[one.start : one.end])) for one in shown}
    places, found = Places(reading.text, reading.chunks), dict[tuple[str, int], Item]()
    above = lines_above(reading.text, reading.outline)
    for one in proposed:
        if len(found) >= bounds.items:
            asked.refused["too_many"] += 1
            continue
        named = sources.get(one.chunk_id.strip())
        if named is None:
            asked.refused["unknown_chunk"] += 1
            continue
        if len(one.quote) > bounds.quote_chars:
            asked.refused["too_long"] += 1
            continue
        place = check(one.quote.strip(), named[1])
        if not place.accepted or place.start is None or place.end is None:
            asked.refused["not_in_chunk"] += 1
            continue
        start, end = named[0].start + place.start, named[0].start + place.end
        fitting = list(_sentences(reading, places, above, one.list, (start, end)))
        if not fitting:
            asked.refused["says_nothing"] += 1
        for item in fitting:
            found.setdefault((item.list, item.start), item)
    return sorted(found.values(), key=lambda one: (LISTS.index(one.list), one.start))


def _sentences(
    reading: Reading,
    places: Places,
    above: Mapping[int, tuple[int, ...]],
    target: ListName,
    quoted: tuple[int, int],
) -> list[Item]:
    """The whole sentences that a quotation touches, each behind what stands over it, without those
    that belong nowhere."""
    start, end = quoted
    wanted: dict[tuple[int, ListName], None] = {}
    for n, unit in enumerate(reading.outline.units):
        section = reading.outline.sections[unit.section]
        if unit.end <= start or unit.start >= end or n not in above:
            continue
        by_rules = list_for(reading.text, unit, section)
        if by_rules is not None:
            own = by_rules if _is_fixed(reading, n, above[n]) else target
            wanted |= dict.fromkeys((one, own) for one in (*above[n], n))
    return [
        item for n, own in wanted for item in item_parts(places, reading.outline, above, n, own)
    ]


def _is_fixed(reading: Reading, n: int, above: Sequence[int]) -> bool:
    """Whether a model may not move a statement to another list: it tells of another person, or a
    line above it turns what it says."""
    units, text = reading.outline.units, reading.text
    unit = units[n]
    if reading.outline.sections[unit.section].kind == "family_social":
        return True
    if is_of_a_relative(text[unit.start : unit.end]):
        return True
    return any(plan_policy().turns(text[units[one].start : units[one].end]) for one in above)


def _completed(reading: Reading, chosen: list[Item], asked: Asked) -> list[Item]:
    """The chosen items, with those of the rules where the model chose nothing of a section, and
    with all that a plan says."""
    sections = [one.start for one in reading.outline.sections]
    touched = {_section_at(sections, one.start) for one in chosen}
    planned = {one.start for one in chosen if one.list == "assessment"}
    more = [
        one
        for one in reading.items
        if _section_at(sections, one.start) not in touched
        or (one.kind == "plan" and one.list == "assessment" and one.start not in planned)
    ]
    asked.supplemented += len(more)
    return sorted([*chosen, *more], key=lambda one: (LISTS.index(one.list), one.start))


def _section_at(starts: Sequence[int], at: int) -> int:
    return max(start for start in starts if start <= at)


def propose_plan(
    model: LanguageModel, reading: Reading, items: Sequence[Item], asked: Asked
) -> list[Recommendation]:
    """The assessment items that the model names, in its order, and what stands in a plan besides.

    The rules may lower its confidence, never raise it; notes are ours.

    Raises:
        ModelError: as the model raises it.
    """
    told, bounds = template("plan_generation"), plan_policy().model
    keyed = {f"A{n}": one for n, one in enumerate(_of(items, "assessment"), start=1)}
    titles = dict.fromkeys(one.chunk.section or "BODY" for one in items)
    user = told.fill(
        summary_sections=_shown(reading.text, items, keyed), section_titles_list=", ".join(titles)
    )
    made = model.propose(
        Prompt(
            "plan", told.version, told.system, user, ProposedPlan,
            max_tokens=bounds.max_tokens, patience=bounds.patience,
        )
    )  # fmt: skip
    asked.add("plan", told.version, made)
    by_rules = {one.item: one for one in recommendations(reading.text, items)}
    for_programs = addressed(reading.text, items)
    found: dict[Item, Recommendation] = {}
    for step in made.value.recommendations[: bounds.recommendations]:
        item = keyed.get(step.item.strip())
        if item is None or item in found or item.earlier:
            why = "unknown_item" if item is None else "earlier" if item.earlier else "repeated"
            asked.refused[why] += 1
            continue
        found[item] = _weighed(reading.text, item, step, by_rules.get(item))
        if item in for_programs:
            found[item] = replace(found[item], note=plan_policy().notes.addressed)
    left = [one for one in by_rules.values() if one.item.kind == "plan" and one.item not in found]
    asked.supplemented += len(left)
    return [*found.values(), *sorted(left, key=lambda one: urgency(one.text))]


def _weighed(
    text: str, item: Item, step: ProposedStep, rule: Recommendation | None
) -> Recommendation:
    policy = plan_policy()
    limit = rule.confidence if rule else policy.confidence.inferred
    note = rule.note if rule else policy.notes.assessment
    if step.confidence < limit:
        note = getattr(policy.notes, step.doubt or "", policy.notes.model)
    sure = step.confidence if step.confidence == step.confidence else 0.0  # no number: not sure
    return Recommendation(item, item.text_in(text), *guarded(min(sure, limit), note))


def _of(items: Sequence[Item], name: str) -> list[Item]:
    return [one for one in items if one.list == name]


def _shown(text: str, items: Sequence[Item], keyed: Mapping[str, Item]) -> str:
    """The summary as the plan's prompt shows it: a part for each list, assessment items by key."""
    keys = {item: key for key, item in keyed.items()}
    parts = []
    for name in LISTS:
        lines = [
            f"- {keys[one] + ': ' if one in keys else ''}{' '.join(one.text_in(text).split())}"
            for one in _of(items, name)
        ]
        parts.append("\n".join([f"## {name}", *lines]))
    return "\n\n".join(parts)


def propose_sections(
    model: LanguageModel, reading: Reading, asked: Asked
) -> list[tuple[int, str, str]]:
    """Where the parts of a note without headings begin: places, titles of ours, kinds (CN-7).

    Raises:
        ModelError: as the model raises it.
    """
    told, bounds = template("section_inference"), plan_policy().model
    made = model.propose(
        Prompt(
            "sections", told.version, told.system, told.fill(note=reading.text), ProposedSections,
            max_tokens=bounds.max_tokens, patience=bounds.patience,
        )
    )  # fmt: skip
    asked.add("sections", told.version, made)
    source, starts = Source(reading.text), {one.start for one in reading.outline.units}
    found: list[tuple[int, str, str]] = []
    for one in made.value.sections:
        place = check(one.first_words.strip(), source)
        start = place.start if place.accepted else None
        if start not in starts or (found and start is not None and start <= found[-1][0]):
            asked.refused["no_such_place"] += 1
        elif start is not None and one.kind in section_policy().kinds:
            found.append((start, one.kind.replace("_", " ").upper(), one.kind))
    return found
