"""What a document states of a field: the rules' reading and that of the learned reader. Pure.

The two fail differently. Words that the reader is sure of are the value, if words of the field's
kind can be read there; else what the rules read, unless the reader does not take it for the field
at all; else words of which the reader is less sure. What a document states in two ways stays
ambiguous: a person decides (ADR 0065).
"""

from weakref import WeakKeyDictionary

from workers.encoder.tagging import Part
from workers.extract import span_reader
from workers.extract.fields import FieldResult, Found, Item, Status
from workers.extract.parts import Parts
from workers.extract.rubrics import field_policies, policy, rubric
from workers.extract.rules.choosing import extract_field
from workers.extract.rules.denying import against
from workers.extract.rules.entries import entry
from workers.extract.rules.reading import find_value, read_every, read_words
from workers.extract.rules.texts.days import STAY, settled
from workers.extract.rules.texts.written_days import day_before
from workers.extract.scanned import readings
from workers.extract.span_reader import TAGS, Stated
from workers.extract.values import Day, LabValue, Medication, Value, Words

_read: "WeakKeyDictionary[Parts, dict[str, Stated]]" = WeakKeyDictionary()


def state_of(field: str, parts: Parts, document_type: str, *, wide: bool = False) -> FieldResult:
    """The field as both readings have it.

    Args:
        wide: let the rules read more generously.
    """
    by_rules = extract_field(field, parts, wide=wide)
    if by_rules.status is Status.AMBIGUOUS:
        return by_rules
    stated = read(parts, document_type)
    if field_policies()[field].many:
        return _of_list(field, parts, by_rules, stated, drops=_reads(field, parts, document_type))
    item, share = surest(field, parts, stated)
    limits = policy().two_readers.words if _is_words(field) else policy().two_readers.typed
    if item is not None and share >= limits.lead_from:
        if any(one.value.key == item.value.key for one in by_rules.items):
            return by_rules
        return FieldResult(status=Status.FOUND, items=(item,))
    for one in by_rules.items:
        own = stated.share(field, one.start, one.end)
        if own is None or own >= limits.dropped_below or not _reads(field, parts, document_type):
            return by_rules
    if item is not None and share >= limits.fill_from:
        return FieldResult(status=Status.FOUND, items=(item,))
    return FieldResult(status=Status.NOT_PRESENT)


def _reads(field: str, parts: Parts, document_type: str) -> bool:
    """Whether the reader has shown in this document that its silence means something: of the other
    fields that the rules read there, it takes at least half for what they do."""
    held = _agreed.setdefault(parts, {})
    if document_type not in held:
        stated = read(parts, document_type)
        held[document_type] = {
            one: any(
                (stated.share(one, item.start, item.end) or 0.0) >= _TAKEN for item in found.items
            )
            for one in rubric(document_type).fields
            if one in TAGS and (found := extract_field(one, parts)).items
        }
    others = [agreed for one, agreed in held[document_type].items() if one != field]
    return any(others) and 2 * sum(others) >= len(others)


_agreed: "WeakKeyDictionary[Parts, dict[str, dict[str, bool]]]" = WeakKeyDictionary()
_TAKEN = 0.5
"""Share of the words from which on the reader takes them for a field (ours)."""


def _of_list(
    field: str, parts: Parts, by_rules: FieldResult, stated: Stated, *, drops: bool
) -> FieldResult:
    """The entries of both: the rules', but those that the reader does not take for one of now, and
    those that it is sure of and the rules have not.

    Args:
        drops: its silence means something.
    """
    limits = policy().two_readers.lists.get(field)
    if limits is None:
        return by_rules
    kept = []
    for one in by_rules.items:
        share = stated.share(field, one.start, one.end)
        known = drops and _is_known_to_the_reader(one.value)
        if share is None or share >= limits.kept_from or not known:
            kept.append(one)
    for part in stated.entries(field):
        held = any(one.start < part.end and part.start < one.end for one in by_rules.items)
        if held or part.share < limits.added_from:
            continue
        item = _entry(field, parts, part)
        if item is not None and not any(item.value.key == one.value.key for one in kept):
            kept.append(item)
    items = tuple(sorted(kept, key=lambda one: one.start))
    if items == by_rules.items:
        return by_rules
    status = Status.FOUND if items else Status.NOT_PRESENT
    return FieldResult(status=status, items=items, many=True)


def _is_known_to_the_reader(value: Value) -> bool:
    """Whether the reader may say that an entry is none. It has learned from few drugs that are only
    named, and from few results without a number."""
    if isinstance(value, Medication):
        return value.dose is not None
    return not isinstance(value, LabValue) or value.number is not None


def _entry(field: str, parts: Parts, part: Part) -> Item | None:
    """What the words of an entry say; None where they say nothing of its kind, or are denied."""
    value = entry_in(field, parts.text[part.start : part.end])
    if value is None:
        return None
    item = Item(value=value, start=part.start, end=part.end)
    return item if against(field, parts, item) is None else None


def _is_words(field: str) -> bool:
    return field_policies()[field].kind == "words"


def read(parts: Parts, document_type: str) -> Stated:
    """What the learned reader makes of a document of a type; read once."""
    held = _read.setdefault(parts, {})
    if document_type not in held:
        held[document_type] = span_reader.load().read(parts.whole, document_type)
    return held[document_type]


def surest(field: str, parts: Parts, stated: Stated) -> tuple[Item | None, float]:
    """The words that the reader is surest of, that can be read as the field and that are neither
    denied, nor a relative's, nor of earlier, and how sure it is."""
    text = parts.printed if _is_words(field) else parts.text
    for one in stated.parts(field):
        start, end = _without_marks(text, one.start, one.end)
        value = value_in(field, text[start:end])
        if value is None and field in STAY:
            value = _day_without_year(text[start:end], parts, stated)
        if value is None:
            continue
        if isinstance(value, Day):
            value = settled(parts, [Found(value, start, end)])[0].value
        item = Item(value=value, start=start, end=end)
        if against(field, parts, item) is None:
            return item, one.share
    return None, 0.0


def _day_without_year(words: str, parts: Parts, stated: Stated) -> Value | None:
    """A day of a stay that names no year: the last before the day of the document."""
    item, share = surest("date", parts, stated)
    if share < policy().two_readers.typed.fill_from:
        item = next(iter(extract_field("date", parts).items), None)
    if item is None or not isinstance(item.value, Day):
        return None
    return day_before(words, item.value.iso)


def _without_marks(text: str, start: int, end: int) -> tuple[int, int]:
    """The place of words without the commas and other marks at their ends."""
    words = text[start:end]
    start += len(words) - len(words.lstrip(_AHEAD))
    return start, max(start, start + len(text[start:end].rstrip(_BEHIND)))


_AHEAD, _BEHIND = " \t\n,;:.|", " \t\n,;:|"


def entry_in(field: str, words: str) -> Value | None:
    """The entry of a list that words state, by its form where no rule knows its name."""
    values = read_every(field, words)
    return values[0] if len(values) == 1 else entry(field_policies()[field].kind, words)


def value_in(field: str, words: str) -> Value | None:
    """The value of a field of one value that words state; where they have none, of what they may
    have been before a scan."""
    value = read_words(field, words)
    if value is None and field in _TOLD_WITHOUT_A_FIGURE:
        return _as_told(words)
    if value is None:
        others = (find_value(field, one) for one in readings(words))
        value = next((one for one in others if one is not None), None)
    return value


_TOLD_WITHOUT_A_FIGURE = frozenset(["blood_loss"])
"""Amounts that reports tell in words ("minimal")."""
_MOST_WORDS = 4
"""Of such (ours)."""


def _as_told(words: str) -> Value | None:
    """An amount as it is told, where it is told without a figure."""
    told = words.strip(" .;,")
    is_short = 0 < len(told.split()) <= _MOST_WORDS
    return Words(text=told) if is_short and not any(map(str.isdigit, told)) else None
