"""Guideline files of an installation (WIRE 7): a file, and a sidecar that says what it is.

The payload is an envelope: the file's bytes, its place in the folder (`path`), its `sidecar`.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Annotated, Any

import yaml
from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from store.documents.records import SourceRecord
from workers import file_formats
from workers.http.errors import Malformed
from workers.ingest.parsers import json_payload as fields
from workers.ingest.parsers.base import Parsed, Problem
from workers.ingest.parsers.envelope import unwrap

_Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=400)]

MAX_SIDECAR_BYTES = 16 * 1024
_SHOWN_PATH = 80
"""Characters of a path that a problem names, its last ones. Ours."""
FORMATS = frozenset({".pdf", ".html", ".htm", ".xhtml", ".md", ".markdown", ".txt", ".text"})
"""Endings of the files that are read."""

WRITE = (
    "title, organisation, version, effective_date (2026-01-31), licence_note (why you may use it) "
    "and, if it has one, url"
)

_BODIES = {
    "nccn": ("nccn", "national comprehensive cancer network"),
    "asco": ("asco", "american society of clinical oncology"),
    "esmo": ("esmo", "european society for medical oncology"),
}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_PLAIN = re.compile(r"[ -~]+")  # what may stand in a message of one line
_NO_WORD = re.compile(r"[\W_]+")


class BadSidecar(ValueError):
    """The sidecar does not say what it should; the message says what to write."""


def _day(value: Any) -> Any:
    """A day as it is written; a bare number would be taken for seconds since 1970."""
    if not isinstance(value, str) or not _DAY.fullmatch(value):
        raise ValueError("write it as 2026-01-31")
    return value


class Sidecar(BaseModel):
    """What the owner of a file says about it."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    title: _Line
    organisation: _Line = Field(validation_alias=AliasChoices("organisation", "organization"))
    version: _Line
    effective_date: Annotated[date, BeforeValidator(_day)]
    licence_note: _Line = Field(validation_alias=AliasChoices("licence_note", "license_note"))
    url: Annotated[str, Field(pattern=r"^https?://\S+$", max_length=2000)] | None = None

    @property
    def source_type(self) -> str:
        """nccn, asco or esmo by the organisation, else guideline."""
        words = " ".join(_NO_WORD.sub(" ", self.organisation.casefold()).split())
        for body, names in _BODIES.items():
            if words in names:
                return body
        return "guideline"

    @property
    def source_key(self) -> str:
        """Organisation and title: a new version of a guideline is a version, not a document."""
        return f"{_slug(self.organisation)}/{_slug(self.title)}"

    @property
    def key(self) -> str:
        """The `SourceRecord.key` of the guideline."""
        return f"{self.source_type}:{self.source_key}"


def _slug(words: str) -> str:
    return _NO_WORD.sub("-", words.casefold()).strip("-") or "-"


def read_sidecar(content: bytes, *, is_json: bool) -> Sidecar:
    """The sidecar in YAML or JSON; all values are taken as they are written: version 1.10 stays so.

    Raises BadSidecar, whose message is one line.
    """
    if len(content) > MAX_SIDECAR_BYTES:
        raise BadSidecar(f"has more than {MAX_SIDECAR_BYTES:,} bytes; write {WRITE}")
    try:
        if is_json:
            value = json.loads(content, parse_float=str, parse_int=str)
        else:
            # this loader makes nothing but strings, lists and mappings
            value = yaml.load(content, Loader=yaml.BaseLoader)  # noqa: S506
    except (ValueError, yaml.YAMLError, RecursionError):
        raise BadSidecar(f"cannot be read as {'JSON' if is_json else 'YAML'}") from None
    return check_sidecar(value)


def check_sidecar(value: Any) -> Sidecar:
    """Raises BadSidecar, which names fields and never repeats their values."""
    if not isinstance(value, dict):
        raise BadSidecar(f"holds no fields; write {WRITE}")
    if value.get("url") == "":
        value = {name: words for name, words in value.items() if name != "url"}
    try:
        return Sidecar.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        names = dict.fromkeys(str(one["loc"][0])[:40] for one in found if one["loc"])
        known = ", ".join(name if _PLAIN.fullmatch(name) else "?" for name in list(names)[:6])
        raise BadSidecar(f"is missing or wrong in {known}; write {WRITE}") from None


def parse_guideline(payload: bytes) -> Parsed:
    """One guideline file, or a word on one that is gone or cannot be had.

    The text is the file's, as `workers.file_formats` read it; what the sidecar says goes before
    what the file says of itself.

    Raises Malformed: no envelope of this connector.
    """
    opened = unwrap(payload)
    if isinstance(opened, Parsed):
        return opened
    envelope, content = opened
    path = fields.text(envelope, "path")
    try:
        sidecar = check_sidecar(fields.at(envelope, "sidecar"))
    except BadSidecar as error:
        raise Malformed(f"the sidecar in the envelope {error}") from None
    if not path:
        raise Malformed("the envelope does not say where the file stands")
    parsed = Parsed()
    try:
        found = file_formats.read(content, filename=path)
    except file_formats.UnreadableDocument as error:
        parsed.problems.append(Problem(sidecar.key, f"{_shown(path)}: {error}"))
        return parsed
    if len(found) != 1:
        reason = f"{_shown(path)}: more than one document in a file"
        parsed.problems.append(Problem(sidecar.key, reason))
        return parsed
    _add(parsed, path, sidecar, envelope, found[0])
    return parsed


def _shown(path: str) -> str:
    """A path as a line may name it: a file's name may have line ends, and be long."""
    return " ".join(path.split())[-_SHOWN_PATH:]


def _add(
    parsed: Parsed, path: str, sidecar: Sidecar, envelope: Mapping[str, Any], read: SourceRecord
) -> None:
    at = sidecar.effective_date
    fields.add_record(
        parsed,
        sidecar.key,
        source_type=sidecar.source_type,
        source_key=sidecar.source_key,
        title=sidecar.title,
        text=read.text,
        url=sidecar.url,
        published_at=datetime(at.year, at.month, at.day, tzinfo=UTC),
        identifiers=read.identifiers.model_copy(update={"set_id": None, "lcd_id": None}),
        publisher=sidecar.organisation,
        publication_type="Guideline",
        version_label=sidecar.version,
        facts=fields.filled(
            {
                "organisation": sidecar.organisation,
                "version": sidecar.version,
                "effective_date": at.isoformat(),
                "licence_note": sidecar.licence_note,
                "path": path,
                "sha256": fields.text(envelope, "sha256"),
            }
        ),
    )
