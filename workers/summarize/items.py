"""Items of a summary by rules: every sentence of a note, in the list its section belongs to. Pure.

An item is a place in the note and nothing else; its text is what stands there.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from knowledge.notes import LISTS, ListName, section_policy
from store.spans import citation
from workers.reading.chunks import Chunk
from workers.summarize.persons import introduces, names_a_person
from workers.summarize.sections import OTHER, NoteOutline, NoteSection, Unit

_SNAPSHOT_KINDS = (OTHER, "overview", "complaint", "history", "assessment", "assessment_plan")
_DATE = re.compile(
    r"[\W\d_]*(?:(?:\d{1,2}|\b)\s*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\W*\d*)?"
    r"[\W\d_]*(?:[ap]\.?m\.?)?[\W\d_]*",
    re.IGNORECASE,
)
_LONGEST_DATE = 40
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
    """Every statement of the note, once in each list, in the order of the note.

    Left out are headings and lines that only divide, dates and lines that only name a person, parts
    that are administrative, and words that say there is no information (seed, citation rule 3).
    """
    places = Places(text, chunks)
    found: list[Item] = []
    seen: set[tuple[str, str]] = set()
    snapshot = False
    for unit in outline.units:
        section = outline.sections[unit.section]
        target = list_for(text, unit, section, snapshot=snapshot)
        if target is None:
            continue
        snapshot = snapshot or target == "patient_snapshot"
        for start, end, chunk in places.holding(unit.start, unit.end):
            key = (target, " ".join(text[start:end].casefold().split()).strip(".;, "))
            if key in seen or not key[1]:
                continue
            seen.add(key)
            found.append(Item(target, start, end, chunk, section.kind))
    if not any(one.list == "key_problems" for one in found):
        found += list(_problems(outline, found))
    order = {name: n for n, name in enumerate(LISTS)}
    return sorted(found, key=lambda one: order[one.list])


def _problems(outline: NoteOutline, found: Sequence[Item]) -> Iterator[Item]:
    """Where no part names the problems: the entries of the list that an assessment is."""
    listed = {one.start for one in outline.units if one.listed}
    for item in found:
        if item.kind in ("assessment", "assessment_plan") and item.start in listed:
            yield replace(item, list="key_problems")


def list_for(
    text: str, unit: Unit, section: NoteSection, *, snapshot: bool = False
) -> ListName | None:
    """The list that a sentence belongs to; None: to no summary.

    `snapshot` says whether the patient has been introduced before.
    """
    policy = section_policy()
    words = text[unit.start : unit.end]
    if policy.left_out(section.kind) or not says_something(words) or names_a_person(words):
        return None
    if section.kind == "overview" and not any(map(str.isalpha, words)):
        return None  # "ID: 4711"
    if unit.divider:
        plain = words.strip(" .:#*-").casefold()
        problem = section.kind == "assessment_plan" and plain not in policy.dividers
        return "key_problems" if problem else None
    if not snapshot and section.kind in _SNAPSHOT_KINDS and introduces(words):
        return "patient_snapshot"
    return policy.list_of(section.kind) or by_words(words)


def says_something(words: str) -> bool:
    """Whether words are more than a mark, a date or "not documented"."""
    plain = words.strip(" \t\r\n.,;:*_#()[]").casefold()
    if plain in section_policy().placeholders:
        return False
    if len(plain) <= _LONGEST_DATE and _DATE.fullmatch(plain):
        return False
    return any(map(str.isalnum, plain))


def by_words(words: str) -> ListName:
    """The list that a sentence outside of any known part belongs to."""
    policy, lower = section_policy(), words.lower()
    return next((cue.list for cue in policy.cues if cue.pattern.search(lower)), policy.otherwise)
