"""Reads documents with gold fields, in two layouts.

- `NAME.txt` beside `NAME.json` `{type, fields}`.
- `TaskNNN_name.md`, the sample reports of the DRAGON benchmark: a label in the head, the report
  between fences. A label is gold only if it is the value of one of our fields; of the other reports
  only the document type is gold.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workers.extract.rubrics import DOCUMENT_TYPES, plain

_LABEL = re.compile(r"(?m)^Label: (.+)$")
_REPORT = re.compile(r"(?s)```[a-z]*\n(.*?)```")
_NUMBERED = re.compile(r"Task(\d{3})_")
_ORIGIN, _VOLUME, _PSA, _DENSITY, _TUMOR, _NODULE, _LESIONS = (
    "013", "019", "020", "021", "022", "023", "024",
)  # fmt: skip
_FIELDS = {_ORIGIN: "specimen", _VOLUME: "prostate_volume", _PSA: "psa", _DENSITY: "psa_density",
           _TUMOR: "tumor_size", _NODULE: "measurements", _LESIONS: "measurements"}  # fmt: skip
_PATHOLOGY = frozenset(["004", "006", "011", "012", "013", "015"])
_NO_REPORT = frozenset(["014", "025", "026", "027", "028"])
"""Tasks of two sentences without a report, and tasks that are not translated."""


@dataclass(frozen=True)
class Case:
    """A document and its gold."""

    name: str
    text: str
    types: Sequence[str]
    fields: Mapping[str, Any]

    @property
    def type(self) -> str:
        """The types joined by "+"."""
        return "+".join(self.types)


def read_cases(directory: Path) -> list[Case]:
    """Return the cases of a folder, by name.

    Raises:
        ValueError: there is no such folder, it is empty, or a file cannot be read.
    """
    if not directory.is_dir():
        raise ValueError(f"{directory} is no folder; it must hold NAME.txt beside NAME.json")
    cases = [_sample(path) for path in sorted(directory.glob("Task*.md"))]
    cases = [case for case in cases if case.text]
    for path in sorted(directory.rglob("*.json")):
        text = path.with_suffix(".txt")
        if not text.is_file():
            continue
        try:
            gold = json.loads(path.read_text(encoding="utf-8-sig"))
            words = text.read_text(encoding="utf-8-sig")
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path.name} or its text cannot be read: {error}") from error
        if not isinstance(gold, Mapping):
            raise ValueError(f"{path.name} holds no object with type and fields")  # noqa: TRY004
        fields = gold.get("fields") or {}
        if not isinstance(fields, Mapping):
            raise ValueError(f"{path.name}: fields must be an object")  # noqa: TRY004
        cases.append(Case(path.stem, words, _types(gold), fields))
    if not cases:
        raise ValueError(f"{directory} holds no NAME.txt beside NAME.json")
    return cases


def _types(gold: Mapping[str, Any]) -> Sequence[str]:
    """Return the types, from any spelling: "lab_report", ["pathology", "radiology"], "a+b"."""
    raw = gold.get("type") or gold.get("types") or gold.get("document_type") or "unknown"
    named = raw if isinstance(raw, list) else str(raw).replace(",", "+").split("+")
    if plain(str(raw)) == "composite":
        named = gold.get("contains") or gold.get("parts") or ["composite"]
    known = {plain(document_type): document_type for document_type in DOCUMENT_TYPES}
    known |= {
        plain(document_type).removesuffix("s"): document_type for document_type in DOCUMENT_TYPES
    }
    return [known.get(plain(str(name)), str(name).strip()) for name in named]


def _sample(path: Path) -> Case:
    """Return a sample report; its text is empty if the file holds none."""
    number = _NUMBERED.match(path.name)
    words = path.read_text(encoding="utf-8-sig")
    label, report = _LABEL.search(words), _REPORT.search(words)
    kind = _kind(number[1]) if number is not None else None
    if number is None or kind is None or report is None or "Label" not in words:
        return Case(path.stem, "", [], {})
    text = _strings(report[1])
    field = _FIELDS.get(number[1])
    fields = {field: _gold(number[1], label[1])} if field and label else {}
    return Case(path.stem, text, [kind], fields)


def _kind(number: str) -> str | None:
    """Return the type of a task's reports; None if it has no report in English."""
    if number in _PATHOLOGY:
        return "pathology"
    return None if number in _NO_REPORT else "radiology"


def _strings(report: str) -> str:
    """Return the report; if it is written as a list of JSON strings, the strings as lines."""
    try:
        held = json.loads(report)
    except json.JSONDecodeError:
        return report
    return "\n".join(map(str, held)) if isinstance(held, list) else report


def _gold(number: str, label: str) -> Any:
    if number in (_NODULE, _LESIONS):
        # the label names only some of the report's lesions: further ones are no mistake
        return {"includes": [f"{size.strip()} mm" for size in label.split(",")]}
    return f"{label} mm" if number == _TUMOR else label
