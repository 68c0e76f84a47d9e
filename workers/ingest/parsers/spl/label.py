"""Drug labels in HL7 Structured Product Labeling (WIRE 6, DailyMed): one label per payload."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from xml.etree.ElementTree import Element

from store.documents.records import Identifiers
from workers.http.errors import Malformed
from workers.ingest.parsers import json_payload as fields
from workers.ingest.parsers.base import Doubt, LeftOut, Parsed, Problem
from workers.ingest.parsers.html_text import Blocks
from workers.ingest.parsers.spl.narrative import Narrative, lines, one_line
from workers.ingest.parsers.xml import parse_xml

_NS = "{urn:hl7-org:v3}"
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DIGITS = re.compile(r"\d{4,8}")
_APPROVAL_YEAR = re.compile(r"initial u\.?s\.? approval:? {0,3}(\d{4})", re.IGNORECASE)
_BOILERPLATE = ("these highlights do not include", "see full prescribing information for")

_NDC = "2.16.840.1.113883.6.69"
_UNCLASSIFIED = "42229-5"
_PRODUCTS = frozenset({"manufacturedProduct", "partProduct"})
_DEEPEST_HEADING = 6

LABEL_PAGE = "https://dailymed.nlm.nih.gov/dailymed/drugInfo.cfm?setid="

MAPPED = {
    "document": "id code title effectiveTime setId versionNumber author component",
    "author": "assignedEntity",
    "assignedEntity": "representedOrganization",
    "representedOrganization": "name",
    "component": "structuredBody section",
    "structuredBody": "component",
    "section": "code title text component subject",
    "subject": "manufacturedProduct",
    "manufacturedProduct": (
        "manufacturedProduct code name formCode asEntityWithGeneric ingredient asContent part "
        "subjectOf consumedIn"
    ),
    "part": "partProduct subjectOf consumedIn",
    "partProduct": "code name formCode asEntityWithGeneric ingredient asContent part",
    "asEntityWithGeneric": "genericMedicine",
    "genericMedicine": "name",
    "ingredient": "ingredientSubstance",
    "ingredientSubstance": "name activeMoiety",
    "activeMoiety": "name activeMoiety",
    "asContent": "containerPackagedProduct",
    "containerPackagedProduct": "code asContent",
    "consumedIn": "substanceAdministration",
    "substanceAdministration": "routeCode",
    "subjectOf": "approval policy",
    "approval": "id code",
    "policy": "code",
}
"""Element → its children that are mapped into the record; written parent/child below."""

LEFT_OUT: LeftOut = {
    "author/time": "empty in labels",
    "representedOrganization/id": "a business number of the labeler",
    "representedOrganization/assignedEntity": "the factories and their tasks",
    "document/languageCode": "labels are English",
    "document/relatedDocument": "the version before; versions are kept here",
    "section/id": "names the section of this version only",
    "section/effectiveTime": "the label's date is kept",
    "section/excerpt": "the Highlights: a digest of the sections",
    "component/observationMedia": "pictures",
    "ingredientSubstance/code": "UNII code; the name is kept",
    "activeMoiety/code": "UNII code; the name is kept",
    "ingredient/quantity": "strengths stand in the label's text",
    "asContent/quantity": "package sizes stand in the label's text",
    "asContent/subjectOf": "marketing dates of single packages",
    "containerPackagedProduct/formCode": "kind of container",
    "part/quantity": "how many parts a kit has",
    "subjectOf/characteristic": "color, shape and imprint",
    "subjectOf/marketingAct": "marketing dates of single products",
    "approval/author": "always the FDA in these labels",
}

_CHILDREN = {parent: frozenset(names.split()) for parent, names in MAPPED.items()}


def parse_spl(payload: bytes) -> Parsed:
    """Read the label in an SPL document: title, sections in order under headings, and facts.

    White space is normalized within paragraphs. A footnote gets a mark and follows its table or
    text. A section without a title is named by its code if the code is specific.

    Raises Malformed if the payload is not XML or not an SPL document.
    """
    root = parse_xml(payload)
    if root.tag != _NS + "document":
        raise Malformed("not a label: the root element is no SPL document")
    parsed = Parsed()
    set_id = _attribute(root, "setId", "root")
    if not _UUID.fullmatch(set_id):
        parsed.problems.append(Problem(None, "the label has no set id"))
        return parsed
    source_id = f"set_id:{set_id.lower()}"
    data = _Data()
    data.read(root, parsed)
    title_lines = lines(root.find(_NS + "title"))
    effective, precision = _effective(root, source_id, parsed)
    approved = _APPROVAL_YEAR.search(" ".join(title_lines)[:2000])
    title = _title(title_lines, data)
    text = _text(root, title_lines)
    fields.add_record(
        parsed,
        source_id,
        source_type="label",
        title=title,
        text=text if text.strip() else title,
        url=LABEL_PAGE + set_id,
        published_at=effective,
        published_precision=precision,
        identifiers=Identifiers(set_id=set_id),
        publisher=fields.one_line(data.labeler) or None,
        publication_type=fields.one_line(_attribute(root, "code", "displayName")) or None,
        facts=fields.filled(
            {
                "spl_id": _attribute(root, "id", "root"),
                "spl_version": _version(root, source_id, parsed),
                "effective_time": _iso(effective, precision),
                "initial_us_approval": int(approved[1]) if approved else None,
                **data.facts(),
                "sections": list(_section_facts(root)),
            }
        ),
    )
    return parsed


class _Data:
    """The values of the label's data elements; each list is free of duplicates, in label order."""

    def __init__(self) -> None:
        self.labeler = ""
        self.products: dict[str, None] = {}
        self.generics: dict[str, None] = {}
        self.ingredients: dict[str, None] = {}
        self.moieties: dict[str, None] = {}
        self.forms: dict[str, None] = {}
        self.routes: dict[str, None] = {}
        self.applications: dict[str, None] = {}
        self.categories: dict[str, None] = {}
        self.schedules: dict[str, None] = {}
        self.packages: set[str] = set()

    def read(self, root: Element, parsed: Parsed) -> None:
        """Read all known elements in order, and count the unknown ones."""
        stack = [(root, "document")]
        while stack:
            element, name = stack.pop()
            known = _CHILDREN[name]
            down = []
            for child in element:
                local = child.tag.rpartition("}")[2]
                if local not in known:
                    if f"{name}/{local}" not in LEFT_OUT:
                        parsed.unmapped[_path(name, local)] += 1
                    continue
                self._take(name, local, child, element)
                if local in _CHILDREN and not _is_inactive(local, child):
                    down.append((child, local))
            stack.extend(reversed(down))

    def facts(self) -> dict[str, Any]:
        """The values as facts of a record."""
        return {
            "labeler": self.labeler,
            "products": list(self.products),
            "generic_names": list(self.generics),
            "active_ingredients": list(self.ingredients),
            "active_moieties": list(self.moieties),
            "dosage_forms": list(self.forms),
            "routes": list(self.routes),
            "application_numbers": list(self.applications),
            "marketing_categories": list(self.categories),
            "dea_schedules": list(self.schedules),
            "ndc_count": len(self.packages) or None,
        }

    def _take(self, parent: str, name: str, element: Element, above: Element) -> None:
        if name == "name":
            self._take_name(parent, one_line(element), above)
        elif name == "formCode" and parent in _PRODUCTS:
            _note(self.forms, element.get("displayName"))
        elif name == "routeCode":
            _note(self.routes, element.get("displayName"))
        elif name == "code":
            self._take_code(parent, element)
        elif name == "id" and parent == "approval":
            _note(self.applications, element.get("extension"))

    def _take_name(self, parent: str, words: str, above: Element) -> None:
        if parent == "representedOrganization":
            self.labeler = self.labeler or words
        elif parent in _PRODUCTS:
            _note(self.products, words)
        elif parent == "genericMedicine":
            _note(self.generics, words)
        elif parent == "ingredientSubstance":
            _note(self.ingredients, words)
        elif parent == "activeMoiety" and above.find(_NS + "activeMoiety") is None:
            _note(self.moieties, words)

    def _take_code(self, parent: str, element: Element) -> None:
        if parent == "approval":
            _note(self.categories, element.get("displayName"))
        elif parent == "policy":
            _note(self.schedules, element.get("displayName"))
        elif parent == "containerPackagedProduct" and element.get("codeSystem") == _NDC:
            self.packages.add(element.get("code") or "")
            self.packages.discard("")


def _is_inactive(name: str, element: Element) -> bool:
    """Return True for inactive ingredients (class IACT); active ones are ACTIB, ACTIM and ACTIR."""
    return name == "ingredient" and not (element.get("classCode") or "").startswith("ACTI")


def _note(found: dict[str, None], words: str | None) -> None:
    cleaned = " ".join((words or "").split())
    if cleaned:
        found[cleaned] = None


def _path(parent: str, child: str) -> str:
    return f"{parent}/{child if child.isascii() and len(child) <= 60 else '?'}"


def _attribute(root: Element, child: str, name: str) -> str:
    element = root.find(_NS + child)
    return (element.get(name) or "").strip() if element is not None else ""


def _effective(root: Element, source_id: str, parsed: Parsed) -> tuple[datetime | None, str]:
    """The date of the version and its precision: YYYYMMDD or a part of it; a time is ignored."""
    written = _attribute(root, "effectiveTime", "value")
    digits = _DIGITS.match(written)
    day = digits[0] if digits else ""
    stated = fields.when(f"{day[:4]}-{day[4:]}" if len(day) == 6 else day)
    if stated is None:
        if written:
            parsed.doubts.append(Doubt(source_id, "effective_time", written[:100]))
        return None, "day"
    return stated


def _version(root: Element, source_id: str, parsed: Parsed) -> int | None:
    written = _attribute(root, "versionNumber", "value")
    version = fields.number(written)
    if version is None and written:
        parsed.doubts.append(Doubt(source_id, "spl_version", written[:100]))
    return version


def _iso(moment: datetime | None, precision: str) -> str | None:
    if moment is None:
        return None
    return moment.date().isoformat()[: {"year": 4, "month": 7}.get(precision, 10)]


def _title(lines: list[str], data: _Data) -> str:
    """The title line that names the product, else the product's name and its substance."""
    for line in lines:
        words = line
        lower = line.lower()
        if lower.startswith(_BOILERPLATE):
            at = lower.find(_BOILERPLATE[1])
            end = line.find(". ", at) if at >= 0 else -1
            words = line[end + 2 :] if end >= 0 else ""
        year = _APPROVAL_YEAR.search(words[:2000])
        words = words[: year.start()] if year else words
        if words.strip():
            return fields.one_line(words)
    product = next(iter(data.products), "") or "Drug label"
    substance = next(iter(data.generics or data.ingredients), "")
    return fields.one_line(f"{product} ({substance})" if substance else product)


def _text(root: Element, title_lines: list[str]) -> str:
    blocks = Blocks()
    for line in title_lines:
        blocks.words(line)
        blocks.end_block()
    for section in _sections(root.find(f"{_NS}component/{_NS}structuredBody")):
        _add_section(blocks, section, 2)
    return blocks.text()


def _sections(element: Element | None) -> Iterator[Element]:
    if element is not None:
        yield from element.iterfind(f"{_NS}component/{_NS}section")


def _add_section(blocks: Blocks, section: Element, level: int) -> None:
    text = section.find(_NS + "text")
    heading = one_line(section.find(_NS + "title"))
    if not heading and text is not None and any(words.strip() for words in text.itertext()):
        heading = _code_name(section)
    if heading:
        blocks.words(heading)
        blocks.end_block("#" * min(level, _DEEPEST_HEADING) + " ")
    if text is not None:
        Narrative(blocks, text).write()
    for inner in _sections(section):
        _add_section(blocks, inner, level + 1 if heading else level)


def _code_name(section: Element) -> str:
    code = section.find(_NS + "code")
    if code is None or code.get("code") == _UNCLASSIFIED:
        return ""
    words = " ".join((code.get("displayName") or "").split())
    return words.removeprefix("SPL ").removesuffix(" SECTION")


def _section_facts(root: Element) -> Iterator[dict[str, Any]]:
    """The LOINC code and title of each section that has a specific code."""
    for section in root.iter(_NS + "section"):
        code = section.find(_NS + "code")
        loinc = code.get("code", "") if code is not None else ""
        if loinc and loinc != _UNCLASSIFIED and section.find(_NS + "subject") is None:
            title = one_line(section.find(_NS + "title")) or _code_name(section)
            yield fields.filled({"loinc": loinc, "title": title})
