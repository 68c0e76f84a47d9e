"""A model proposes values by quoting the document's words; code finds the words and reads them.

The model's word for a value counts for nothing: the span is where its quotation stands (invariant
4), and the value is what the rules read there. A quotation that stands nowhere is dropped.
"""

import json
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from clinical_text.quotes import Source, check
from workers.extract.evaluation.scores import EvaluationFailed, Feedback
from workers.extract.fields import NOT_PRESENT, Attempt, FieldResult, Item, Status
from workers.extract.loop.optimizer import optimized_prompt
from workers.extract.parts import Parts, Section, line_end
from workers.extract.rubrics import Rubric, field_policies
from workers.extract.rules.choosing import CHOSEN, compatible, markers_contradict
from workers.extract.rules.denying import against
from workers.extract.rules.reading import read_at, read_every, read_words
from workers.extract.scanned import readings
from workers.extract.trust import Trust, likelihoods_of
from workers.extract.two_readers import entry_in, value_in
from workers.extract.units import told
from workers.extract.values import Value, Words
from workers.language_model.port import ModelError, Prompt, Proposal

PURPOSE = "extract"
OPINION_PURPOSE = "judge extraction"
MOST_TOKENS = 4096
LONGEST = 2_000
"""Characters of a quoted value; sections of text may be longer, and are the rules' business."""


class ProposedField(BaseModel):
    """One value that the model proposes, by the words that state it."""

    model_config = ConfigDict(extra="forbid")

    field: str
    status: Status
    words: Annotated[str, Field(description="the document's own words, exactly; empty if none")]


class ProposedFields(BaseModel):
    """What is asked for."""

    model_config = ConfigDict(extra="forbid")

    fields: list[ProposedField]


class OpinionOnField(BaseModel):
    """How right one field is."""

    model_config = ConfigDict(extra="forbid")

    field: str
    accuracy: float


class OpinionOnFields(BaseModel):
    """What a second reader is asked for."""

    model_config = ConfigDict(extra="forbid")

    fields: list[OpinionOnField]


Ask = Callable[[Prompt[ProposedFields]], Proposal[ProposedFields]]
AskOpinion = Callable[[Prompt[OpinionOnFields]], Proposal[OpinionOnFields]]


@cache
def _written(name: str) -> tuple[str, str]:
    """Version and text of `prompts/<name>.md`."""
    written = files("workers.extract").joinpath(f"prompts/{name}.md").read_text("utf-8")
    head, _, text = written.partition("\n")
    return head.removeprefix("version:").strip(), text.strip()


def base_prompt(rubric: Rubric) -> str:
    """What is asked of a document of a type: its fields by tier, each with what it holds."""
    lines = [f"Extract clinical data from this {rubric.type.upper()} document."]
    for title, fields in (
        ("Required fields", rubric.required),
        ("Important fields", rubric.important),
        ("Optional fields", rubric.optional),
    ):
        asked = [one for one in fields if field_policies()[one].extent != "document"]
        if asked:
            lines.append(f"\n{title}:")
        for field in asked:
            many = " (any number of values)" if field_policies()[field].many else ""
            lines.append(f"- {field}: {field_policies()[field].hint}{many}")
    return "\n".join(lines)


def remembered_prompt(rubric: Rubric, fields: Sequence[str]) -> str:
    """The same, with the fields to look for first that did well for the type before.

    The fields' names and hints are ours, so no word of an earlier document can come along; a name
    that the rubric does not have is left out.
    """
    named = [one for one in rubric.fields if one in fields]
    if not named:
        return base_prompt(rubric)
    _, words = _written("remembered")
    lines = [f"- {one}: {field_policies()[one].hint}" for one in named]
    return "\n\n".join([base_prompt(rubric), "\n".join([words, *lines])])


def prompt_for(
    parts: Parts,
    rubric: Rubric,
    *,
    previous: Attempt | None = None,
    feedback: Feedback | None = None,
    iteration: int = 0,
    target: float = 0.95,
    base: str | None = None,
) -> Prompt[ProposedFields]:
    """The request for an attempt; the whole document is in it, as a string of JSON.

    Args:
        base: a prompt that did well before, in place of the one of the rubric.
    """
    version, system = _written("base")
    asked = base or base_prompt(rubric)
    if previous is not None and feedback is not None:
        held = {name: one for name, one in previous.values().items() if name != "raw_text"}
        asked = optimized_prompt(asked, feedback, held, iteration, target)
    document = json.dumps({"document": parts.printed}, ensure_ascii=False)
    user = f"{asked}\n\n{document}"
    return Prompt(PURPOSE, version, system, user, ProposedFields, MOST_TOKENS, patience=2.0)


def located(
    parts: Parts,
    rubric: Rubric,
    proposed: Sequence[ProposedField],
    believed: Callable[[str], bool] = lambda _: False,
) -> Mapping[str, FieldResult]:
    """The fields of which the model's words stand in the document and state a value.

    Args:
        believed: whether words count for a field though nothing in their line speaks of it.
    """
    sources = [Source(one) for one in dict.fromkeys((parts.printed, parts.text))]
    entries: dict[str, list[ProposedField]] = defaultdict(list)
    for one in proposed:
        if one.field in rubric.fields:
            entries[one.field].append(one)
    found: dict[str, FieldResult] = {}
    for field, ones in entries.items():
        items = [item for one in ones
                 for item in _items(field, one, parts, sources, believed(field))]  # fmt: skip
        if items:
            found[field] = _result(field, items, ones)
        elif all(one.status is Status.NOT_PRESENT for one in ones):
            many = field_policies()[field].many
            found[field] = FieldResult(status=Status.NOT_PRESENT, many=many, origin="model")
    return found


def _items(
    field: str, one: ProposedField, parts: Parts, sources: Sequence[Source], believed: bool
) -> list[Item]:
    if one.status is Status.NOT_PRESENT or not one.words.strip() or len(one.words) > LONGEST:
        return []
    quote = next((said for source in sources
                  if (said := check(one.words.strip(), source)).accepted), None)  # fmt: skip
    if quote is None or quote.start is None or quote.end is None:
        return []
    start, end = quote.start, quote.end
    text = field_policies()[field].kind == "words"
    words = (parts.printed if text else parts.text)[start:end]
    if field_policies()[field].many:
        values: list[Value] = read_every(field, words)
    else:
        value = read_words(field, words)
        values = [] if value is None else [value]
    if not values and field_policies()[field].many:
        # a name of which the parts stand elsewhere, as in a record
        values = [one.value for one in read_at(field, parts, start, end)]
    if not values:
        values = _by_form(field, words)
    if not values and (believed or _speaks_of(field, parts, start)):
        # the service located what it cannot read: it is a value as written
        values = [Words(text=parts.printed[start:end])]
    return _in_place(field, [Item(value=value, start=start, end=end) for value in values], parts,
                     cut=not _UNCUT.isdisjoint(quote.cuts))  # fmt: skip


def _by_form(field: str, words: str) -> list[Value]:
    """What words say that no rule reads: an entry of a list by its form, a value of which a scan
    took signs for others."""
    if not field_policies()[field].many:
        value = value_in(field, words)
        return [] if value is None else [value]
    every = (entry_in(field, one) for one in (words, *readings(words)))
    return [one for one in every if one is not None][:1]


def _speaks_of(field: str, parts: Parts, place: int) -> bool:
    """Whether the line of a place speaks of the field: it has its label or one of its words."""
    begin = parts.text.rfind("\n", 0, place) + 1
    stop = line_end(parts.text, place, len(parts.text))
    cue = field_policies()[field].cue
    if cue is not None and cue.search(parts.text, begin, stop):
        return True
    return any(one.section is not None and one.start <= place < parts.sections[one.section].end
               for one in told(parts, field))  # fmt: skip


_UNCUT = frozenset(["number", "word"])
"""What a quotation cuts that changes its value: "2 cm" out of "12 cm"."""


def _in_place(field: str, items: list[Item], parts: Parts, *, cut: bool) -> list[Item]:
    """Quoted values that hold where they stand; where the rules read another there, that.

    A quotation may leave out what turns it round ("present" out of "not present"), so the place is
    read with all that stands around it.
    """
    if field_policies()[field].kind == "words" and field != "histology":
        return items
    kept: list[Item] = []
    for item in items:
        there = [] if field == "histology" else read_at(field, parts, item.start, item.end)
        if any(compatible(item.value, one.value) for one in there):
            kept.append(item)
        elif there:
            kept += [Item(value=one.value, start=one.start, end=one.end) for one in there]
        elif not cut and against(field, parts, item) is None:
            kept.append(item)
    return list(dict.fromkeys(kept))


def _result(field: str, items: list[Item], ones: Sequence[ProposedField]) -> FieldResult:
    many = field_policies()[field].many
    if many:
        kept = list({one.value.key: one for one in items}.values())
        opposed = markers_contradict(one.value for one in kept)
        status = Status.AMBIGUOUS if opposed else Status.FOUND
        return FieldResult(status=status, many=True, items=tuple(kept), origin="model")
    readings: list[Item] = []
    for item in items:
        if not any(compatible(item.value, one.value) for one in readings):
            readings.append(item)
    said = any(one.status is Status.AMBIGUOUS for one in ones) and len(readings) > 1
    status = Status.AMBIGUOUS if said else Status.FOUND
    kept = readings if said else readings[:1]
    return FieldResult(status=status, items=tuple(kept), origin="model")


def proposed_attempt(
    parts: Parts, rubric: Rubric, proposal: Proposal[ProposedFields], rules: Attempt | None = None
) -> Attempt:
    """The attempt that a proposal makes.

    Args:
        rules: what the rules found; it stands where the model's words stand nowhere or state
            nothing, and a model's "not present" does not overrule what the rules found.
    """
    fields = dict(rules.fields) if rules is not None else {}
    proposed = proposal.value.fields
    found = located(parts, rubric, proposed)
    trust = _trust(parts, rubric, proposed, found, rules)
    if trust is not None:
        found = {**located(parts, rubric, proposed, trust.prefers), **found}
    for field, result in found.items():
        held = fields.get(field)
        prefers = trust is not None and trust.prefers(field)
        if result.status is Status.NOT_PRESENT and held is not None and held.items:
            continue
        if (
            rules is not None
            and not prefers
            and not (held and held.items)
            and _of_another(field, result, parts, rules)
        ):
            continue
        if held is not None and trust is not None and trust.bounds(field):
            prefers = prefers or _of_the_same_words(field, result, held)
        fields[field] = _beside(field, parts, result, held, prefers=prefers)
    if "raw_text" in rubric.fields and "raw_text" not in fields:
        value = parts.whole.strip()
        at = parts.whole.find(value)
        whole = read_words("raw_text", value)
        fields["raw_text"] = (
            FieldResult(
                status=Status.FOUND, items=(Item(value=whole, start=at, end=at + len(value)),)
            )
            if whole is not None
            else NOT_PRESENT
        )
    return Attempt(document_type=rubric.type, fields=fields)


def _trust(
    parts: Parts,
    rubric: Rubric,
    proposed: Sequence[ProposedField],
    found: Mapping[str, FieldResult],
    rules: Attempt | None,
) -> Trust | None:
    """How far the reply is believed; not at all where there is nothing to test it by."""
    if rules is None or not parts.text.strip():
        return None
    answered = {one.field for one in proposed
                if one.status is not Status.NOT_PRESENT and one.field in rubric.fields}  # fmt: skip
    return Trust(answered, found, rules, likelihoods_of(parts, rubric, rules))


def _of_another(field: str, result: FieldResult, parts: Parts, rules: Attempt) -> bool:
    """Whether words that nothing but the model takes for the field's state something else: they
    begin with a label that is not the field's, or are all within a value that is no text."""
    if field_policies()[field].kind != "words" or not result.items:
        return False
    start, end = result.items[0].start, result.items[0].end
    mine = {parts.sections[one.section].heading_start
            for one in told(parts, field) if one.section is not None}  # fmt: skip
    if any(start <= one.heading_start and one.start < end and one.heading_start not in mine
           for one in parts.sections[: bisect_left(parts.sections, end, key=_begins)]
           if one.heading_start < start + _LABEL):  # fmt: skip
        return True
    return any(
        one.start <= start and end <= one.end
        for name, held in rules.fields.items()
        if field_policies()[name].kind not in _TELLING
        for one in held.items
    )


_TELLING = ("words", "measurement")
"""Kinds of values that a text may be told in: "right renal mass 5 cm" is a diagnosis, too."""
_LABEL = 3
"""Characters of a quotation before its label: marks (ours)."""


def _begins(section: Section) -> int:
    return section.heading_start


def _of_the_same_words(field: str, result: FieldResult, held: FieldResult) -> bool:
    """Whether a text that the model quotes is of the words that the rules read, or of some."""
    if field_policies()[field].kind != "words" or not (result.items and held.items):
        return False
    said, own = result.items[0], held.items[0]
    return said.start < own.end and own.start < said.end


def _beside(
    field: str, parts: Parts, result: FieldResult, held: FieldResult | None, *, prefers: bool
) -> FieldResult:
    """What the rules read and what the model adds; ambiguous where it reads another value that is
    no background.

    A model never loses what the rules had: words that stand under a label stay, entries of a list
    are put together. Of several places that the rules read, too, such as of several sizes, the
    model may choose.

    Args:
        prefers: the model is likelier right than the rules are (`trust`): its value stands, and of
            a list that it reads in full no entries of other sections do.
    """
    kind = field_policies()[field].kind
    if held is None or not held.items or not result.items:
        return result
    if kind != "words" and all(isinstance(one.value, Words) for one in result.items):
        return held
    if kind == "words":
        better = prefers or _tells_better(parts, result.items[0], held.items[0])
        return result if better else held
    if result.many:
        kept = _of_its_sections(parts, result.items, held.items) if prefers else held.items
        both = _fullest((*kept, *(one for one in result.items if _adds(one, held.items))))
        opposed = markers_contradict(one.value for one in both)
        status = Status.AMBIGUOUS if opposed else held.status
        return FieldResult(status=status, many=True, items=both, origin="model")
    said = result.items[0]
    if any(compatible(a.value, b.value) for a in result.items for b in held.items):
        return result
    if any(said.start <= one.start and one.end <= said.end for one in held.items):
        return held  # words in which the rules read it
    if prefers:
        return result
    if parts.rank(held.items[0].start) == 0 < parts.rank(said.start):
        return result
    if field in CHOSEN and any(not one.wide for one in read_at(field, parts, said.start, said.end)):
        return result
    every = (*held.items, *result.items)
    return FieldResult(status=Status.AMBIGUOUS, items=every, origin="model")


def _adds(said: Item, held: Sequence[Item]) -> bool:
    """Whether an entry of a model's is one of its own: none of words as written in which the rules
    read entries, or that tell a story, and none that says of the same words what the rules say."""
    here = [one for one in held if one.start < said.end and said.start < one.end]
    if isinstance(said.value, Words):
        return not here and len(said.value.text.split()) <= _ENTRY_WORDS
    mine = said.value.model_dump(exclude_none=True)
    return not any(one.value.key == said.value.key and mine.keys() <= one.value.model_dump(
        exclude_none=True).keys() for one in here)  # fmt: skip


_ENTRY_WORDS = 12
"""Words of an entry as written: those of `gold`, in which an unread value is told (ours)."""


def _of_its_sections(parts: Parts, said: Sequence[Item], held: Sequence[Item]) -> Sequence[Item]:
    """The rules' entries that stand among a model's, or in their sections; all of them where it
    leaves one out there, for then it may have left out others."""
    both = [one for one in held if any(_is_one(one, other) for other in said)]
    inside = {_section(parts, one) for one in (*said, *both)}
    first, last = min(one.start for one in said), max(one.end for one in said)
    own = [one for one in held
           if first <= one.start < last or _section(parts, one) in inside]  # fmt: skip
    return own if len(own) == len(both) else held


def _is_one(one: Item, other: Item) -> bool:
    """Whether two entries are of the same words, or say the same."""
    return (one.start < other.end and other.start < one.end) or compatible(one.value, other.value)


def _section(parts: Parts, item: Item) -> str:
    """The title of the section that an item stands in; records of a list have the same."""
    at = bisect_right(parts.sections, item.start, key=_begins)
    return parts.sections[at - 1].title if at else ""


def _fullest(items: Sequence[Item]) -> tuple[Item, ...]:
    """Each value once: of two of which one says the same with more detail, that one."""
    kept: list[Item] = []
    for item in items:
        mine = item.value.model_dump(exclude_none=True)
        others = [one.value.model_dump(exclude_none=True) for one in kept]
        if any(mine.items() <= one.items() for one in others):
            continue
        kept = [one for one, held in zip(kept, others, strict=True)
                if not held.items() <= mine.items()]  # fmt: skip
        kept.append(item)
    return tuple(kept)


def _tells_better(parts: Parts, said: Item, held: Item) -> bool:
    """Whether quoted words are those that the rules read, with more of the same statement, or
    without what another label says."""
    if said.value.key == held.value.key:
        return True
    if said.start <= held.start and held.end <= said.end:
        return not _labels_within(parts, said)
    return said.start == held.start and said.end < held.end and _labels_within(parts, held)


def _labels_within(parts: Parts, item: Item) -> bool:
    at = bisect_left(parts.sections, item.start + 1, key=_begins)
    return at < len(parts.sections) and parts.sections[at].heading_start < item.end


def second_opinion(ask: AskOpinion) -> Callable[[str, Attempt], Mapping[str, float]]:
    """A model as a further judge of accuracy, shown the whole document.

    What it returns raises EvaluationFailed when the model gives nothing usable: a second reader
    that fails is a failed evaluation.
    """

    def opinion(text: str, attempt: Attempt) -> Mapping[str, float]:
        version, system = _written("opinion")
        values = {k: v for k, v in attempt.values().items() if v is not None and k != "raw_text"}
        user = json.dumps({"document": text, "values": values}, ensure_ascii=False)
        prompt = Prompt(OPINION_PURPOSE, version, system, user, OpinionOnFields, MOST_TOKENS)
        try:
            proposal = ask(prompt)
        except ModelError as error:
            raise EvaluationFailed("the second reader gave no opinion") from error
        said = {one.field: one.accuracy for one in proposal.value.fields if one.field in values}
        if any(not 0.0 <= share <= 1.0 for share in said.values()):
            raise EvaluationFailed("the second reader gave no number from 0 to 1")
        if values and not said:
            raise EvaluationFailed("the second reader judged no field")
        return said

    return opinion
