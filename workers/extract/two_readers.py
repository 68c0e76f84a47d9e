"""What a document states of a field: the rules' reading and that of the learned reader. Pure.

The two fail differently. Where the rules find nothing, words that the reader is sure of are the
value, if words of the field's kind can be read there; where both find something else, the rules'
words stand unless the reader does not take them for the field at all. What a document states in
two ways stays ambiguous: a person decides (ADR 0064).
"""

from weakref import WeakKeyDictionary

from workers.extract import span_reader
from workers.extract.fields import FieldResult, Item, Status
from workers.extract.parts import Parts
from workers.extract.rubrics import field_policies, policy
from workers.extract.rules.choosing import compatible, extract_field
from workers.extract.rules.denying import against
from workers.extract.rules.reading import read_words
from workers.extract.span_reader import Stated

_read: "WeakKeyDictionary[Parts, dict[str, Stated]]" = WeakKeyDictionary()


def state_of(field: str, parts: Parts, document_type: str, *, wide: bool = False) -> FieldResult:
    """The field as both readings have it.

    Args:
        wide: let the rules read more generously.
    """
    by_rules = extract_field(field, parts, wide=wide)
    if field_policies()[field].many or by_rules.status is Status.AMBIGUOUS:
        return by_rules
    stated = read(parts, document_type)
    item, share = surest(field, parts, stated)
    if item is None:
        return by_rules
    limits = policy().two_readers
    found = FieldResult(status=Status.FOUND, items=(item,))
    if by_rules.status is Status.NOT_PRESENT:
        return found if share >= limits.fill_from else by_rules
    (held,) = by_rules.items
    if share < limits.instead_from or _agree(held, item):
        return by_rules
    own = stated.share(field, held.start, held.end)
    return found if own is not None and own < limits.instead_below else by_rules


def read(parts: Parts, document_type: str) -> Stated:
    """What the learned reader makes of a document of a type; read once."""
    held = _read.setdefault(parts, {})
    if document_type not in held:
        held[document_type] = span_reader.load().read(parts.whole, document_type)
    return held[document_type]


def surest(field: str, parts: Parts, stated: Stated) -> tuple[Item | None, float]:
    """The words that the reader is surest of, that can be read as the field and that are neither
    denied, nor a relative's, nor of earlier, and how sure it is."""
    text = parts.printed if field_policies()[field].kind == "words" else parts.text
    for one in stated.parts(field):
        value = read_words(field, text[one.start : one.end])
        if value is None:
            continue
        item = Item(value=value, start=one.start, end=one.end)
        if against(field, parts, item) is None:
            return item, one.share
    return None, 0.0


def _agree(one: Item, other: Item) -> bool:
    return compatible(one.value, other.value) or (one.start < other.end and other.start < one.end)
