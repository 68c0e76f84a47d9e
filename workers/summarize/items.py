"""Items of a summary by rules: every sentence of a note, in the list its section belongs to. Pure.

An item is a place in the note and nothing else; its text is what stands there.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from clinical_text.assertion.marks import Assertion
from clinical_text.chunks import Chunk
from clinical_text.doc import doc
from knowledge.documents.notes import LISTS, ListName, plan_policy, section_policy
from knowledge.names.reading import names
from knowledge.subjects.drugs import drugs_at
from store.core.spans import Span, citation
from workers.summarize.acts import UNREAD, Act
from workers.summarize.dates import is_date
from workers.summarize.forms import EMPTY_BOX, TICKED_BOX, is_unfilled
from workers.summarize.headings import PLANS
from workers.summarize.names import plain
from workers.summarize.persons import (
    ages_another,
    introduces,
    is_of_a_relative,
    names_a_person,
    speaks_of_a_relative,
)
from workers.summarize.sections import OTHER, NoteOutline, NoteSection, Unit

_SNAPSHOT_KINDS = (OTHER, "overview", "complaint", "history", "assessment", "assessment_plan")
_INLINE = ("assessment", "assessment_plan", "plan")
_TELLING = ("history", "past_history", "systems", "examination", "results", "assessment")
"""Kinds of parts behind which a plan may begin within the line: "Assessment: CAP. Plan: rest"."""
"""Kinds that a label within a line of no known part names."""
_LABEL_REACH = 600
"""Characters behind a label within a line in which what it heads stands (ours)."""
_INNER_LABEL = re.compile(
    r"(?:^|[.;?!)]\s+)(?P<name>[A-Z][^\W\d_]*(?:[ /&][A-Za-z]+){0,3})\s?:(?=\s)"
)
_GIVES = re.compile(r"(?i)\b(?:give|gives|given|gave|giving|administer\w*)\b")
_OPEN = (
    "complaint", "overview", "history", "past_history", "systems", "examination", "results",
    "assessment",
)  # fmt: skip
"""Kinds of parts below whose heading a sentence may surely do something else."""
_STEPS = ("order", "medicine", "judgement", "problem", "courtesy")
"""What a line of a plan may do that stays below its heading."""
LIST_OF: dict[str, ListName] = {
    "order": "assessment",
    "judgement": "assessment",
    "problem": "key_problems",
    "history": "pertinent_history",
    "medicine": "medicines_allergies",
    "finding": "objective_findings",
    "result": "labs_imaging",
    "snapshot": "patient_snapshot",
    "courtesy": "pertinent_history",
}
"""The list of each act."""
NOT_HAD = frozenset({Assertion.NEGATED, Assertion.OTHER})
_WORD = re.compile(r"\w+")
_EDGES = " \t\r\n\u00a0"


@dataclass(frozen=True, slots=True)
class Item:
    """`[start, end)` of the note, within one chunk, in one list."""

    list: ListName
    start: int
    end: int
    chunk: Chunk
    kind: str
    """Of the section it stands in."""
    over: tuple[tuple[int, int], ...] = ()
    """The places of the lines that it stands under, the widest first: `Stopped:`."""
    divider: bool = False
    """Whether it is such a line itself."""
    earlier: bool = False
    """Whether it is of an entry of a record before the one whose plan is in force."""
    inferred: bool = False
    """Whether a language model named the part that it stands in."""
    act: Act = UNREAD
    """What it does."""
    problems: tuple[Span, ...] = ()
    """The words that name a problem of the patient."""

    def text_in(self, note: str) -> str:
        """The words, to the letter."""
        return note[self.start : self.end]

    @property
    def source(self) -> str:
        """The citation (CN-4.1), written here and nowhere else."""
        return citation(self.chunk.section, self.chunk.chunk_id, self.start, self.end)

    def as_body(self, note: str) -> dict[str, str]:
        """The two fields of an item (clinical notes seed, "Schema Rules")."""
        return {"text": self.text_in(note), "source": self.source}


class Places:
    """Finds the chunk that holds a place, and cuts a place that none holds whole."""

    def __init__(self, text: str, chunks: Sequence[Chunk]) -> None:
        self.text, self.chunks = text, chunks
        self._starts = [one.start for one in chunks]

    def holding(self, start: int, end: int) -> Iterator[tuple[int, int, Chunk]]:
        """The parts of `[start, end)`, in order, each with the chunk it lies in."""
        while start < end:
            chunk = self._furthest(start)
            if chunk is None:
                return
            stop = min(end, chunk.end)
            words = self.text[start:stop]
            first = start + len(words) - len(words.lstrip(_EDGES))
            last = stop - len(words) + len(words.rstrip(_EDGES))
            if first < last:
                yield first, last, chunk
            start = stop
            while start < end and self.text[start].isspace():
                start += 1

    def _furthest(self, at: int) -> Chunk | None:
        """Of the chunks that hold `at`, the one that goes on the longest."""
        n = bisect_right(self._starts, at) - 1
        if n < 0:
            return None
        found = self.chunks[n]
        return found if at < found.end else None


def items_of(text: str, outline: NoteOutline, chunks: Sequence[Chunk]) -> list[Item]:
    """Every statement of the note, in the order of the note; a line over entries, in each list that
    one of them is in.

    Left out are headings that name a known part, lines that only divide, dates and lines that only
    name a person, parts that are administrative but for what they tell of the patient, and words
    that say there is no information (seed, citation rule 3). Nothing is left out because it stood
    before: who takes aspirin may be allergic to it.
    """
    places = Places(text, chunks)
    found: list[Item] = []
    above = lines_above(text, outline)
    placed: set[tuple[int, str]] = set()
    snapshot = False
    for n, unit in enumerate(outline.units):
        section = outline.sections[unit.section]
        target = None if unit.divider else list_for(text, unit, section, snapshot=snapshot)
        if target is None or n not in above:
            continue
        snapshot = snapshot or target == "patient_snapshot"
        for one in (*above[n], n):
            if (one, target) not in placed:
                placed.add((one, target))
                found += item_parts(places, outline, above, one, target)
    entered = {one for one, _ in placed}
    for n, unit in enumerate(outline.units):
        section = outline.sections[unit.section]
        if unit.divider and n not in entered and n in above:
            target = list_for(text, unit, section)
            found += item_parts(places, outline, above, n, target) if target else []
    found = _told_once(text, found)
    found += _problems(text, outline, found)
    found += _unnamed(text, found)
    return sorted(found, key=lambda one: (LISTS.index(one.list), one.start))


def item_parts(
    places: Places,
    outline: NoteOutline,
    above: Mapping[int, tuple[int, ...]],
    n: int,
    target: ListName,
) -> Iterator[Item]:
    """A statement as an item, or as some where no chunk holds it whole."""
    unit = outline.units[n]
    over = tuple((outline.units[one].start, outline.units[one].end) for one in above[n])
    section = outline.sections[unit.section]
    kind = kind_of_unit(places.text, unit, section)
    for start, end, chunk in places.holding(unit.start, unit.end):
        yield Item(
            target, start, end, chunk, kind, over, unit.divider, unit.earlier, section.inferred,
            unit.act,
            tuple(one for one in unit.problems if start <= one.start and one.end <= end),
        )  # fmt: skip


def _told_once(text: str, found: Sequence[Item]) -> list[Item]:
    """The items without those of an earlier day that a later one repeats in the same list, and
    without lines under which nothing is left."""
    if not any(one.earlier for one in found):
        return list(found)
    later = {(one.list, folded(one.text_in(text))) for one in found if not one.earlier}
    kept = [
        one
        for one in found
        if one.divider or not one.earlier or (one.list, folded(one.text_in(text))) not in later
    ]
    covering = {(one.list, start) for one in kept if not one.divider for start, _ in one.over}
    return [
        one
        for one in kept
        if not (one.divider and one.earlier) or (one.list, one.start) in covering
    ]


def lines_above(text: str, outline: NoteOutline) -> dict[int, tuple[int, ...]]:
    """For each unit that may be shown, those that stand over it and are shown with it, from the
    widest. Lines that only divide are missing, but for those that end what another stands over."""
    policy = section_policy()
    found: dict[int, tuple[int, ...]] = {}
    telling: set[int] = set()
    ticked = {
        one.section
        for one in outline.units
        if outline.sections[one.section].kind not in _INLINE
        and TICKED_BOX.match(text, one.start, one.end)
    }
    for n, unit in enumerate(outline.units):
        words = text[unit.start : unit.end]
        if unit.section in ticked and EMPTY_BOX.match(words):
            continue  # nobody ticked it; of a plan, a tick may say that it is done
        if unit.divider and (not says_something(words) or names_a_person(words)):
            continue
        if unit.divider and plain(words) in policy.dividers and unit.section not in telling:
            continue
        if unit.divider:
            telling.add(unit.section)
        over = unit.over if unit.over in found else None
        found[n] = () if over is None else (*found[over], over)
    return found


def _problems(text: str, outline: NoteOutline, found: Sequence[Item]) -> list[Item]:
    """The problems that a plan is ordered by; where no part names any, the entries of the list that
    an assessment is, with what stands over them."""
    policy = plan_policy()
    named = {one.start for one in outline.units if one.problem}
    known = {folded(one.text_in(text)) for one in found if one.list == "key_problems"}
    chosen = [one for one in found if one.start in named and one.list != "key_problems"]
    chosen = [one for one in chosen if not one.earlier] or chosen
    problems: dict[str, Item] = {}
    for one in chosen:
        words = one.text_in(text)
        short = len(words.split()) <= section_policy().heading_words
        if short and not policy.orders(words) and folded(words) not in known:
            problems.setdefault(folded(words), replace(one, list="key_problems"))
    if known or problems:
        return list(problems.values())
    listed = {one.start for one in outline.units if one.listed or one.divider}
    return [
        replace(one, list="key_problems")
        for one in found
        if one.kind in ("assessment", "assessment_plan")
        and one.start in listed
        and one.act.name != "order"
    ]


def _unnamed(text: str, found: Sequence[Item]) -> list[Item]:
    """Statements that name a problem of the patient which no problem and no judgement names: each,
    too, as a problem."""
    naming = [one for one in found if one.list in _NAMING and one.act.name != "order"]
    known = [_Named(text, one.start, one.end) for one in naming]
    added = []
    for one in found:
        if one.list not in _TELLING_LISTS or one.earlier or one.divider:
            continue
        if one.kind in ("allergies", "family_social"):
            continue
        if is_of_a_relative(one.text_in(text)):
            continue
        named = [_Named(text, *place) for place in _his(text, one)]
        new = [each for each in named if not any(map(each.is_in, known))]
        if new:
            known += new
            added.append(replace(one, list="key_problems"))
    return added


_NAMING = ("key_problems", "assessment")
_TELLING_LISTS = ("patient_snapshot", "pertinent_history", "medicines_allergies")
"""Lists whose statements tell what the patient has; what is found is what somebody judges."""


def _his(text: str, item: Item) -> Iterator[Span]:
    """The words of an item that name a problem, but for those that are said to be none of his."""
    read = doc(item.text_in(text))
    for one in item.problems:
        if speaks_of_a_relative(text[item.start : one.start]):
            continue
        if not read.reading(one.start - item.start, one.end - item.start).marks & NOT_HAD:
            yield one


class _Named:
    """What words name: by the tables, and by themselves."""

    def __init__(self, text: str, start: int, end: int) -> None:
        words = text[start:end]
        self._keys = {one.key for one in names(words) if "disease" in one.kinds}
        self._words = set(_WORD.findall(words.casefold()))

    def is_in(self, other: "_Named") -> bool:
        """Whether another names it, too."""
        if self._keys:
            return self._keys <= other._keys or self._words <= other._words
        return self._words <= other._words


def folded(words: str) -> str:
    """Words by which one statement is known to repeat another."""
    return " ".join(words.casefold().split()).strip(".:;, ")


def list_for(
    text: str, unit: Unit, section: NoteSection, *, snapshot: bool = False
) -> ListName | None:
    """The list that a sentence belongs to; None: to no summary.

    A heading that names a part rules what it surely stands over, unless that surely does something
    else; elsewhere what a statement likely does decides.

    Args:
        snapshot: whether the patient has been introduced before.
    """
    policy = section_policy()
    words = text[unit.start : unit.end]
    if not says_something(words) or names_a_person(words):
        return None
    if policy.left_out(section.kind):
        return LIST_OF[unit.act.name] if tells_of_the_patient(words) else None
    kind = kind_of_unit(text, unit, section)
    if section.kind == "overview" and not any(map(str.isalpha, words)):
        return None  # "ID: 4711"
    if not snapshot and section.kind in _SNAPSHOT_KINDS and introduces(words):
        return "patient_snapshot"
    if is_of_a_relative(words) and kind != "allergies" and not drugs_are_given(words):
        return "pertinent_history"
    by_act = LIST_OF[unit.act.name]
    if by_act == "patient_snapshot" and (snapshot or ages_another(words)):
        by_act = "pertinent_history"
    if by_act == "key_problems" and not unit.problems and plan_policy().has("withheld", words):
        by_act = "pertinent_history"  # "Denies migraine" names none
    named = policy.list_of(kind)
    if named is None or _moves(kind, unit.act, headed=_heads(text, section, unit)):
        return by_act
    return named


def _heads(text: str, section: NoteSection, unit: Unit) -> bool:
    """Whether a heading surely stands over a statement: a label over its line, a line over its
    paragraph. Further down it says nothing of where what it heads ends."""
    if not section.title:
        return True  # it goes on behind an administrative part, as it began
    line = text.find("\n", section.start)
    if line < 0 or unit.start < line:
        return True
    if text[section.start : line].partition(section.title)[2].strip(" \t:*#"):
        return False
    between = text[section.body : unit.start]
    return _GAP.search(between.lstrip()) is None


_GAP = re.compile(r"\n[^\S\n]*\n")


def _moves(kind: str, act: Act, *, headed: bool) -> bool:
    """Whether a statement below a heading does what the heading does not name: surely, where that
    stands over it (`headed`), else likely. Below the heading of a plan what names a medicine is
    meant as a step."""
    policy = plan_policy()
    if kind in PLANS and act.name in _STEPS:
        return False
    if not headed:
        sure = policy.certain if kind == "medicines" and act.name == "order" else policy.placed
        return act.sure >= sure
    if kind not in _OPEN or (act.name == "history" and kind not in ("complaint", "overview")):
        return False
    if act.name == "order":
        likely = policy.placed if kind == "complaint" else policy.certain
        return kind != "history" and act.sure >= likely
    return act.name in ("medicine", "finding", "result", "history") and act.sure >= policy.moved


def kind_of_unit(text: str, unit: Unit, section: NoteSection) -> str:
    """The kind of part that a sentence is of: its section's.

    Where that is unknown, or told only what there is, the one that the last label within the line
    names: "CXR: mass. Plan: CT".
    """
    if section.kind in _TELLING:
        return _by_inner_label(text, unit, shortest=2) or section.kind
    return (_by_inner_label(text, unit) or OTHER) if section.kind == OTHER else section.kind


def _by_inner_label(text: str, unit: Unit, shortest: int = 1) -> str | None:
    """The kind of a plan or assessment that the last known label within the line names.

    Args:
        shortest: letters of a label that counts: "P: 132" is a pulse.
    """
    at = max(0, unit.start - _LABEL_REACH)
    line = text[max(at, text.rfind("\n", at, unit.start) + 1) : unit.end]
    names = section_policy().by_name
    labels = (one["name"] for one in _INNER_LABEL.finditer(line))
    kinds = [names.get(plain(one)) for one in labels if len(one) >= shortest]
    last = next((one for one in reversed(kinds) if one is not None), None)
    return last if last in _INLINE else None


def drugs_are_given(words: str) -> bool:
    """Whether a relative gives something: that is the patient's medicine."""
    return _GIVES.search(words) is not None


def says_something(words: str) -> bool:
    """Whether words are more than a mark, a date or "not documented"."""
    bare = words.strip(" \t\r\n.,;:*_#()[]").casefold()
    if bare in section_policy().placeholders:
        return False
    return any(map(str.isalnum, bare)) and not is_date(bare) and not is_unfilled(words)


def tells_of_the_patient(words: str) -> bool:
    """Whether words of an administrative part say what must not be lost with it."""
    return section_policy().tells.search(words.lower()) is not None or bool(drugs_at(words))
