"""The written pairs: claims, each with a passage that bears it out and the same passage edited.

`written/` holds claims, places of passages, edits and verdicts; the texts are taken out of the
shared data. How they were made: written/README.md.
"""

import csv
import html
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent / "written"

_NUMBER_OF_SNIPPETS = 6
_PARTS = {  # of an article's file: the words where the part begins, and its characters
    "trial": ("", 3500),
    "full text results": ("BODY.RESULTS", 4500),
    "full text discussion": ("BODY.DISCUSSION", 4000),
}


class Written(NamedTuple):
    """A claim beside a passage, and what writer and second reader agree the passage says of it.

    `key` names the claim, which has up to two passages; `edited` tells them apart.
    """

    claim: str
    passage: str
    label: str
    key: str
    document: str
    edited: bool


class Sources:
    """The texts of the shared data by the place that `documents.jsonl` names."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._read: dict[str, Mapping[str, str]] = {}

    def text(self, source: str, kind: str) -> str:
        """The text at `FILE#KEY`; of an article's file the part that its kind names."""
        file, _, key = source.partition("#")
        folder, path = file.split("/")[0], self._data / file
        if folder == "rct_numeric":
            return _results(path.read_text(encoding="utf-8"))
        if folder == "evidence_inference":
            start, most = _PARTS[kind]
            article = path.read_text(encoding="utf-8")
            begin = article.index(start)
            return article[begin : begin + most].strip()
        if file not in self._read:
            self._read[file] = _READERS[folder](path)
        return self._read[file][key].strip()


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as file:  # ends of lines inside a field become "\n"
        yield from csv.DictReader(file)


def _results(article: str) -> str:
    begin = article.lower().find("result", 2500)
    return article[begin : begin + 5000].strip()


def _abstracts(path: Path) -> dict[str, str]:
    found = {}
    for key, one in json.loads(path.read_text(encoding="utf-8")).items():
        parts = zip(one["LABELS"], one["CONTEXTS"], strict=True)
        told = [*(f"{label}: {part}" for label, part in parts), f"CONCLUSION: {one['LONG_ANSWER']}"]
        found[key] = "\n".join(told)
    return found


def _reviews(path: Path) -> dict[str, str]:
    return {row["pmid"]: row["abstract"] for row in _lines(path)}


def _snippets(path: Path) -> dict[str, str]:
    found = {}
    for question in json.loads(path.read_text(encoding="utf-8"))["questions"]:
        texts = [snippet["text"] for snippet in question["snippets"][:_NUMBER_OF_SNIPPETS]]
        found[question["id"]] = "\n".join(texts)
    return found


def _policies(path: Path) -> dict[str, str]:
    return {row["id"]: _unmarked(row["text"]) for row in _lines(path)}


def _unmarked(text: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", " ", html.unescape(text)))


def _sections(path: Path) -> dict[str, str]:
    return {row["ID"]: row["section_text"] for row in _rows(path)}


def _notes(path: Path) -> dict[str, str]:
    return {str(number): row["note"][:4500] for number, row in enumerate(_rows(path))}


_READERS = {
    "pubmedqa": _abstracts,
    "pubmedrs200": _reviews,
    "bioasq": _snippets,
    "cms_lcd": _policies,
    "mts_dialog": _sections,
    "aci_bench": _notes,
}


def documents(data: Path, folder: Path = FOLDER) -> dict[str, str]:
    """The texts by their names.

    Raises:
        ValueError: a text has not the length it had when the claims were written.
    """
    found, sources = {}, Sources(data)
    for row in _lines(folder / "documents.jsonl"):
        name = row["document"]
        found[name] = row["text"] if "text" in row else sources.text(row["source"], row["kind"])
        if len(found[name]) != row.get("characters", len(found[name])):
            raise ValueError(f"{name} has {len(found[name])} characters, not {row['characters']}")
    return found


def edited(passage: str, edits: list[tuple[int, int, str]]) -> str:
    """The passage with stretches replaced, one after the other."""
    for start, end, new in edits:
        passage = passage[:start] + new + passage[end:]
    return passage


def written(data: Path, folder: Path = FOLDER) -> Iterator[Written]:
    """The pairs on which writer and second reader agree: the passage bears the claim out, or not.

    What it says instead (contradicted, not enough) is the second reader's word.
    """
    texts = documents(data, folder)
    for row in _lines(folder / "claims.jsonl"):
        text, true = texts[row["document"]], row["label"] == "supported"
        passage = " ".join(text[start:end] for start, end in row["spans"])
        passages = passage, edited(passage, row["edits"])
        for turned, (read, verdict) in enumerate(zip(passages, row["judge"], strict=True)):
            borne_out = true != bool(turned)
            if verdict != "unsure" and (verdict == "supported") == borne_out:
                yield Written(row["claim"], read, verdict, row["id"], row["document"], bool(turned))
