"""Marked statements for training: written ones, and public notes whose headings mark them.

ACI-BENCH (Yim et al., Sci Data 2023) and MTS-Dialog (Ben Abacha et al., EACL 2023), both CC BY 4.0,
development splits; their texts are read where they lie and not kept.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.notes_marked import marks
from workers.summarize.acts import ACTS, Statement
from workers.summarize.sections import NoteOutline, outline
from workers.summarize.statements import statements_of

CODES = dict(zip("pakhmolsn", ACTS, strict=True))
SHARED = Path("../shared/data")
_HERE = Path(__file__).parent
_HEADER = {
    "GENHX": "h", "ROS": "h", "PASTMEDICALHX": "h", "PASTSURGICAL": "h", "FAM/SOCHX": "h",
    "OTHER_HISTORY": "h", "GYNHX": "h", "IMMUNIZATIONS": "h", "ALLERGY": "m", "MEDICATIONS": "m",
    "EXAM": "o", "LABS": "l", "IMAGING": "l", "DIAGNOSIS": "k", "ASSESSMENT": "k", "PLAN": "p",
}  # fmt: skip
_KINDS = {
    "history": "h", "past_history": "h", "family_social": "h", "systems": "h", "complaint": "s",
    "medicines": "m", "allergies": "m", "examination": "o", "results": "l", "plan": "p",
}  # fmt: skip
_INNER = re.compile(
    r"(?P<agreed>patient agreements?)|(?P<judged>medical reasoning|reasoning)"
    r"|(?P<ordered>medical treatment|treatment|additional testing|specialist referrals?|referrals?"
    r"|patient education|counsel|follow.?up|plan)",
    re.IGNORECASE,
)


class Marked(NamedTuple):
    """The statements of a text in order, each with the index of its act, and how much it counts."""

    statements: list[Statement]
    acts: list[int]
    weight: float
    ordered: bool
    """Whether their order is that of a note."""


_MARKS = ("", "- ", "• ")
_BEHIND = (": ", " - ", "/ ", " ")
Lines = list[tuple[str, str]]
"""Codes (`H`: a heading) and words."""
_NAMED = re.compile(r"\[([^\[\]]+)\]")
_FIFTH = 5


def written(pattern: str = "written_*.txt") -> Iterator[tuple[str, Lines]]:
    """The fragments written for training, with their names."""
    for path in sorted(_HERE.glob(pattern)):
        for part in re.split(r"(?m)^= ", path.read_text("utf-8"))[1:]:
            name, *rows = part.strip().split("\n")
            pairs = (row.split(" ", 1) for row in rows)
            yield name, [(code[0], words) for code, words in pairs if code[0] in {*CODES, "H"}]


def named(pattern: str = "named_*.txt") -> Iterator[tuple[Lines, list[list[tuple[int, int]]]]]:
    """The fragments whose problems are marked with brackets: without these, and for each line the
    places of what they held."""
    for _, lines in written(pattern):
        bare, places = Lines(), list[list[tuple[int, int]]]()
        for code, words in lines:
            held, at, text = list[tuple[int, int]](), 0, ""
            for one in _NAMED.finditer(words):
                text += words[at : one.start()]
                held.append((len(text), len(text) + len(one[1])))
                text, at = text + one[1], one.end()
            bare.append((code, text + words[at:]))
            places.append(held)
        yield bare, places


def whole(*, held_out: bool) -> Iterator[marks.Marked]:
    """The whole notes that are trained on, or the one in five of `whole_*.txt` that is held out."""
    for path in sorted(_HERE.glob("whole_*.txt")):
        for n, note in enumerate(marks.marked(path)):
            if (n % _FIFTH == _FIFTH - 1) == held_out:
                yield note
    if not held_out:
        for path in sorted(_HERE.glob("own_*.txt")):
            yield from marks.marked(path)


def of_whole(note: marks.Marked, weight: float) -> Marked:
    """A whole note as it is read, with the acts that its marks name."""
    found = outline(note.text)
    acts = dict(acts_of(note, found))
    statements = statements_of(note.text, found)
    return Marked([statements[n] for n in acts], list(acts.values()), weight, ordered=True)


def acts_of(note: marks.Marked, found: NoteOutline) -> Iterator[tuple[int, int]]:
    """The numbers of the units that are marked as one thing, with that of their act; what no mark
    touches is a title, a greeting or a signature."""
    for n, unit in enumerate(found.units):
        if not any(one.start < unit.end and unit.start < one.end for one in note.statements):
            yield n, ACTS.index("courtesy")
            continue
        for place in note.statements:
            inside = min(unit.end, place.end) - max(unit.start, place.start)
            if inside > _WITHIN * (unit.end - unit.start):
                if place.urgency is not None:
                    yield n, _act(place)
                break


_WITHIN = 0.6
"""Of a unit that must stand in a marked place (ours)."""
_FIRST = (
    ("patient_snapshot", "snapshot"), ("key_problems", "problem"), ("assessment", "judgement"),
    ("pertinent_history", "history"), ("medicines_allergies", "medicine"),
    ("objective_findings", "finding"), ("labs_imaging", "result"),
)  # fmt: skip
"""What a statement does that may stand in several lists."""


def _act(place: marks.Statement) -> int:
    if place.urgency:
        return ACTS.index("order")
    return next((ACTS.index(act) for name, act in _FIRST if name in place.lists), 3)


def aci(split: str) -> Iterator[Lines]:
    """The notes of ACI-BENCH as lines, marked by their headings and inner labels."""
    with (SHARED / f"aci_bench/dev/{split}.csv").open(encoding="utf-8", newline="") as file:
        notes = [row["note"] for row in csv.DictReader(file)]
    for note in notes:
        found, lines = outline(note), Lines()
        section = -1
        for unit in found.units:
            part, words = found.sections[unit.section], note[unit.start : unit.end]
            if unit.section != section and part.title:
                lines.append(("H", part.title))
            section = unit.section
            code = _KINDS.get(part.kind) or _judged(part.kind, words, unit.divider)
            if code:
                lines.append((code, words))
        yield lines


_STATE = {"code": "a"}


def _judged(kind: str, words: str, divider: bool) -> str | None:
    """The code of a line of an assessment and plan: by the label that it or one before it has."""
    if kind not in ("assessment", "assessment_plan"):
        return None
    label, colon, _ = words.partition(":")
    found = _INNER.search(label) if colon and len(label) < 50 else None
    if found:
        _STATE["code"] = "n" if found["agreed"] else "a" if found["judged"] else "p"
        return _STATE["code"]
    if divider or len(words.split()) < 5:
        _STATE["code"] = "a"
        return "k"
    return _STATE["code"]


def mts(split: str) -> Iterator[Lines]:
    """The sections of MTS-Dialog, each marked by its header."""
    path = SHARED / f"mts_dialog/dev/MTS-Dialog-{split}Set.csv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            code = _HEADER.get(row["section_header"])
            if code:
                text = row["section_text"]
                yield [(code, text[one.start : one.end]) for one in outline(text).units]


def dialogues(split: str) -> Iterator[Marked]:
    """The dialogues of MTS-Dialog as they were spoken, each marked by the header of its section."""
    path = SHARED / f"mts_dialog/dev/MTS-Dialog-{split}Set.csv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            code = _HEADER.get(row["section_header"])
            text = row["dialogue"].replace("\r\n", "\n")
            if code and text.count("\n") > 3:
                places = [(0, len(text), list(CODES).index(code))]
                yield _marked(text, outline(text), places, 0.2, ordered=False)


def pieces(lines: Lines, size: int) -> Iterator[Lines]:
    """Notes of a few lines, each below the heading that it stood below."""
    heading, piece = Lines(), Lines()
    for line in lines:
        if line[0] == "H":
            heading = [line]
            continue
        piece = piece or list(heading)
        piece.append(line)
        if sum(code != "H" for code, _ in piece) == size:
            yield piece
            piece = []
    if piece:
        yield piece


def rendered(lines: Lines, form: str, weight: float, *, ordered: bool = True) -> Marked:
    """Lines as a note of a form, read as the service reads it.

    `headed`: headings on lines of their own; `plain`: lines without headings; `prose`: one
    paragraph; `capitals`: as headed; `labelled`: headings before the first words below them.
    """
    text, places = composed(lines, form)
    acts = [(one.start, one.end, list(CODES).index(one.code)) for one in places]
    return _marked(text, outline(text), acts, weight, ordered)


class Place(NamedTuple):
    """Where the line of a number stands in a text, from `words` on without its label."""

    line: int
    code: str
    start: int
    words: int
    end: int


def composed(lines: Lines, form: str) -> tuple[str, list[Place]]:
    """The text of `rendered`, and where its lines are."""
    text, places, label = "", list[Place](), ""
    for n, (code, words) in enumerate(lines):
        if code == "H":
            if form in ("headed", "capitals"):
                text += f"\n{words.strip(':')}:\n"
            if form == "labelled":
                label = words.strip(":") + _BEHIND[n % len(_BEHIND)]
            continue
        mark = _MARKS[len(lines) % len(_MARKS)] if form == "headed" else ""
        text += mark
        start, begins = len(text), len(text) + len(label)
        said, label = label + (words.upper() if form == "capitals" else words), ""
        if form == "prose":
            said = said[0].upper() + said[1:] + ("" if said[-1] in ".!?:" else ".")
        places.append(Place(n, code, start, begins, start + len(said)))
        text += said + (" " if form == "prose" else "\n")
    return text, places


def _marked(
    text: str,
    found: NoteOutline,
    places: Sequence[tuple[int, int, int]],
    weight: float,
    ordered: bool,
) -> Marked:
    statements, acts = list[Statement](), list[int]()
    for unit, one in zip(found.units, statements_of(text, found), strict=True):
        held = [
            (min(unit.end, end) - max(unit.start, start), act)
            for start, end, act in places if min(unit.end, end) > max(unit.start, start)
        ]  # fmt: skip
        if held and max(held)[0] >= 0.6 * (unit.end - unit.start):
            statements.append(one if ordered else one._replace(place=None))
            acts.append(max(held)[1])
    return Marked(statements, acts, weight, ordered)
