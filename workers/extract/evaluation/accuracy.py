"""Do the words at the spans say the values, and does nothing else in the document? Pure.

The whole document is looked at, whatever its length. A value is read again from `text[start:end]`
alone; what is denied there is no value; another place that states another value contradicts it; and
of a field of many values, whatever in the document looks like one and no span covers was missed.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from workers.extract.evaluation.damage import Damage, damage
from workers.extract.evaluation.doubts import doubts, drug_doubts
from workers.extract.evaluation.lab_doubts import lab_doubts
from workers.extract.evaluation.scores import FieldScore
from workers.extract.evaluation.signs import apart, leftovers, unread_drugs, unread_entries
from workers.extract.evaluation.signs_policy import signs_policy
from workers.extract.fields import Attempt, FieldResult, Item, Status
from workers.extract.parts import Parts
from workers.extract.rubrics import Rubric, field_policies, policy
from workers.extract.rules.choosing import compatible, extract_field
from workers.extract.rules.denying import against
from workers.extract.rules.laboratory.lab_tables import row_readings
from workers.extract.rules.laboratory.labs import cut_short
from workers.extract.rules.placing import set_aside
from workers.extract.rules.reading import read_every
from workers.extract.rules.texts.negation import negated
from workers.extract.rules.texts.written_days import day_before
from workers.extract.two_readers import entry_in, state_of, value_in
from workers.extract.values import Day, LabValue, Value, Words


def accuracy(parts: Parts, rubric: Rubric, attempt: Attempt) -> tuple[float, Sequence[FieldScore]]:
    """The score, and that of each field that there was something to compare of."""
    scores = []
    worn = damage(parts.printed)
    for field, result in attempt.fields.items():
        if field not in field_policies():
            scores.append(_scored(field, rubric, 0.0, ("there is no such field",)))
            continue
        by_rules = _judge(field, parts, rubric, result)
        judged = _missed(field, parts, attempt, result, by_rules)
        if judged is not None:
            score, issues, grave = _doubted(field, parts, rubric, result, judged, worn)
            grave |= not result.items and _grave_if_missed(field)
            if result.many and _some_unread(field, parts, rubric, attempt):
                score, grave = min(score, signs_policy().entries_left), True
                issues = (*issues, f'entries of the list of "{field}" were not read')
            borne = by_rules[0] if by_rules is not None else 1.0
            scores.append(_scored(field, rubric, score, issues, borne, grave=grave))
    total = sum(one.weight for one in scores)
    return (sum(one.score * one.weight for one in scores) / total if total else 1.0), scores


def _scored(
    field: str,
    rubric: Rubric,
    score: float,
    issues: tuple[str, ...],
    borne: float = 0.0,
    *,
    grave: bool = False,
) -> FieldScore:
    return FieldScore(
        field=field,
        dimension="accuracy",
        present=score > 0,
        score=score,
        weight=policy().tiers[rubric.tier(field)],
        borne=borne,
        issues=issues,
        grave=grave,
    )


Judged = tuple[float, tuple[str, ...]]


def _missed(
    field: str, parts: Parts, attempt: Attempt, result: FieldResult, judged: Judged | None
) -> Judged | None:
    """The judgement with what a second reading found left over of the field."""
    if result.items and not result.many:
        return judged
    if result.many and result.stated is not None:
        return judged
    left = apart(leftovers(field, parts, attempt), parts.text)
    if not left:
        return judged
    if not result.items:
        if judged is not None and judged[0] == 0.0:
            return judged
        return 0.0, (f'"{field}" is said not to be there, but {left} places look like it',)
    score, issues = judged if judged is not None else (1.0, ())
    share = len(result.items) / (len(result.items) + left)
    issue = f'{left} further places look like "{field}", and no value covers them'
    return min(score, share), (*issues, issue)


def _grave_if_missed(field: str) -> bool:
    limits = signs_policy()
    return field in limits.grave_if_missed or field_policies()[field].kind in limits.grave_kinds


def _some_unread(field: str, parts: Parts, rubric: Rubric, attempt: Attempt) -> bool:
    """Whether a field of many values, for whose sake such documents are written, lacks some."""
    if rubric.type not in signs_policy().grave_if_some_missed.get(field, ()):
        return False
    if field == "medications":
        return unread_entries(parts, attempt) > 0 or unread_drugs(parts, attempt) > 0
    return apart(leftovers(field, parts, attempt), parts.text) > 0


def _doubted(
    field: str, parts: Parts, rubric: Rubric, result: FieldResult, judged: Judged, worn: Damage
) -> tuple[float, tuple[str, ...], bool]:
    """The judgement with what speaks against values that their spans bear, and whether gravely.

    A grave doubt about one of many values is one about the field: it counts no more than that one.
    """
    score, issues = judged
    found = [[*doubts(field, parts, one, worn)] for one in result.items]
    if field == "lab_values":
        of_labs = lab_doubts(result.items, rubric.type)
        found = [[*one, *of_labs.get(at, ())] for at, one in enumerate(found)]
    if field == "medications":
        found = [
            [*one, *more] for one, more in zip(found, drug_doubts(parts, result.items), strict=True)
        ]
    if found:
        score *= sum(min((doubt.factor for doubt in one), default=1.0) for one in found) / len(
            found
        )
    graves = [doubt.factor for one in found for doubt in one if doubt.grave]
    score = min(score, *graves) if graves else score
    said = tuple(dict.fromkeys(doubt.words for one in found for doubt in one))
    grave = any(doubt.grave for one in found for doubt in one)
    legible = 1.0 - max(0.0, worn.share - signs_policy().damage_free)
    return score * legible, (*issues, *said), grave


def _judge(
    field: str, parts: Parts, rubric: Rubric, result: FieldResult
) -> tuple[float, tuple[str, ...]] | None:
    if field_policies()[field].many:
        return _judge_many(field, parts, result)
    ours = state_of(field, parts, rubric.type)
    if result.status is Status.NOT_PRESENT:
        if ours.status is Status.NOT_PRESENT:
            return None
        return 0.0, (f'"{field}" is said not to be there, but the document states it',)
    problems = [problem for one in result.items if (problem := unsupported(field, parts, one))]
    if problems:
        return 0.0, tuple(dict.fromkeys(problems))
    if result.status is Status.AMBIGUOUS:
        return 1.0, ()
    other = _contradicted(field, ours, result.items[0].value)
    if other is not None:
        return policy().contradicted, (other,)
    return 1.0, ()


def unsupported(field: str, parts: Parts, item: Item) -> str | None:
    """What is wrong with an item's span, None where its words say the value."""
    text = parts.text
    if item.end > len(text):
        return f'the span of "{field}" runs past the end of the document'
    whole = field_policies()[field].extent == "document"
    read = parts.whole if whole else text
    if not any(stated_by_its_span(field, one, item) for one in (read, parts.printed)):
        return f'the words at the span of "{field}" do not say its value'
    if isinstance(item.value, LabValue) and cut_short(text, item.value, item.end):
        return "a laboratory value is given without the unit that stands behind it"
    return against(field, parts, item)


def stated_by_its_span(field: str, text: str, item: Item) -> bool:
    """Whether the words at the span, read for themselves, state the item's value."""
    words = text[item.start : item.end]
    if isinstance(item.value, Words) and item.value.text == words:
        return True
    if isinstance(item.value, Day) and day_before(words, item.value.iso) == item.value:
        return True  # its year is the document's
    return any(_says(value, item.value) for value in _readings(field, words))


def _readings(field: str, words: str) -> list[Value]:
    kind = field_policies()[field]
    if kind.many or kind.kind == "margin":
        # a clause that calls a margin positive and negative states both
        read = read_every(field, words) if words.strip() else []
        told = entry_in(field, words) if kind.kind in ("lab", "marker", "medication") else None
        if told is not None:
            read = [*read, told]
        # of a row of several columns the headings say which is the result, and not the row
        return [*read, *row_readings(words)] if kind.kind == "lab" else read
    value = value_in(field, words)
    return [value] if value is not None else []


def _says(read: Value, held: Value) -> bool:
    if isinstance(read, Words) and isinstance(held, Words):
        return read.key == held.key
    return read.key == held.key or (read.kind == held.kind and compatible(read, held))


def _contradicted(field: str, ours: FieldResult, value: Value) -> str | None:
    """What else the document says of the field, None where that agrees or is less telling."""
    if ours.status is Status.NOT_PRESENT or (isinstance(value, Words) and field != "histology"):
        return None
    if ours.status is Status.AMBIGUOUS:
        return f'the document states "{field}" in ways that contradict each other'
    stated = ours.items[0].value
    if isinstance(value, Words) and isinstance(stated, Words):
        mine, theirs = set(value.key[1].split()), set(stated.key[1].split())  # type: ignore[attr-defined]
        if mine <= theirs or theirs <= mine:
            short = len(mine) < 2 <= len(theirs)
            return f'"{field}" is named more fully elsewhere' if short else None
        return f'the document names another "{field}" in a place that counts more'
    if compatible(value, stated):
        fuller = _says_more(stated, value)
        return f'"{field}" is stated more fully elsewhere' if fuller else None
    return f'the document states another "{field}" in a place that counts more'


def _says_more(stated: Value, value: Value) -> bool:
    """Whether the document gives a part that the value lacks, such as a distance or N and M."""
    theirs, mine = (one.model_dump(exclude_none=True) for one in (stated, value))
    return bool({"distance_mm", "n", "m"} & (theirs.keys() - mine.keys()))


def _judge_many(
    field: str, parts: Parts, result: FieldResult
) -> tuple[float, tuple[str, ...]] | None:
    """Share of items that hold, times the share of look-alikes that a span covers."""
    covered, seen = _coverage(field, parts, result)
    if not result.items:
        if not seen:
            return None if result.status is Status.NOT_PRESENT else (1.0, ())
        if result.stated is not None and not _rules_find(field, parts):
            return 1.0, ()
        if not _rules_find(field, parts) and seen < 2:
            return None
        return 0.0, (f'"{field}" is left empty, but {seen} places look like one',)
    problems = [problem for one in result.items if (problem := unsupported(field, parts, one))]
    held = 1.0 - len(problems) / len(result.items)
    issues = list(dict.fromkeys(problems))
    if covered < seen:
        issues.append(f'{seen - covered} of {seen} places that look like "{field}" are left out')
    missing = _values_left_out(field, parts, result)
    if missing:
        issues.append(f'{missing} values of "{field}" that the document states are left out')
    stated = len(result.items) - len(problems) + missing
    recall = (stated - missing) / stated if stated else 0.0
    share = covered / seen if seen else 1.0
    return held * min(share, recall), tuple(issues)


def _rules_find(field: str, parts: Parts) -> bool:
    return bool(extract_field(field, parts).items)


def _values_left_out(field: str, parts: Parts, result: FieldResult) -> int:
    """How many values the rules read that the attempt does not have."""
    ours = extract_field(field, parts)
    # markers: one entry for each marker; which of two results is right, the spans say
    length = 2 if field == "ihc_markers" else None
    held = {one.value.key[:length] for one in result.items}
    return sum(one.value.key[:length] not in held for one in ours.items)


def _counts_for_nothing(field: str, parts: Parts, start: int, end: int) -> bool:
    """Whether what looks like a value is denied, of background or set aside."""
    # a stain that is negative is a value, too
    if field != "ihc_markers" and negated(parts.text, start, end):
        return True
    return parts.rank(start) == 0 or set_aside(field, parts, start, end) is not None


_MOST_TOLD = 20_000
"""Characters of an attempt's spans in which the words of a place are looked for again (ours)."""


def _coverage(field: str, parts: Parts, result: FieldResult) -> tuple[int, int]:
    """Places covered by spans, and all that look like a value outside background."""
    shaped = field_policies()[field].shaped
    if shaped is None:
        return 0, 0
    spans = sorted((one.start, one.end) for one in result.items)
    covered = seen = 0
    told = "\n".join(dict.fromkeys(parts.text[start:end].lower() for start, end in spans))
    told = told[:_MOST_TOLD]
    starts = [start for start, _ in spans]
    reach = list(accumulate((end for _, end in spans), max))
    for match in shaped.finditer(parts.text):
        at = bisect_left(starts, match.end()) - 1
        inside = at >= 0 and match.start() < reach[at]
        if not inside and _counts_for_nothing(field, parts, *match.span()):
            continue
        seen += 1
        # the same words again say nothing new
        covered += inside or match.group().lower() in told
    return covered, seen
