"""Guideline files of an installation (WIRE 7): a file and a sidecar that describes it.

The payload is an envelope with the file's bytes, its `path` in the folder and its `sidecar`.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Annotated, Any

import yaml
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from store.documents.records import SourceRecord, unlike
from workers import file_formats
from workers.http.errors import Malformed
from workers.ingest.parsers import json_payload as fields
from workers.ingest.parsers.base import Parsed, Problem
from workers.ingest.parsers.envelope import unwrap

_Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=400)]

MAX_SIDECAR_BYTES = 16 * 1024
_SHOWN_PATH = 80
"""A problem shows at most this many characters of a path, its last ones. The limit is our own."""
FORMATS = frozenset({".pdf", ".html", ".htm", ".xhtml", ".md", ".markdown", ".txt", ".text"})
"""The suffixes of files that are read."""

WRITE = (
    "title, organisation, version, effective_date (2026-01-31), licence_note (why you may use it) "
    "and, if it has them, url, doi and pmid"
)

_BODIES = {
    "nccn": ("nccn", "national comprehensive cancer network"),
    "asco": ("asco", "american society of clinical oncology"),
    "esmo": ("esmo", "european society for medical oncology"),
}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_PLAIN = re.compile(r"[ -~]+")  # printable ASCII: safe in a one-line message
_NO_WORD = re.compile(r"[\W_]+")


class BadSidecar(ValueError):
    """The sidecar is missing or has wrong fields; the message says what to write."""


def _day(value: Any) -> Any:
    """Return the day as written. A bare number is refused: it would mean seconds since 1970."""
    if not isinstance(value, str) or not _DAY.fullmatch(value):
        raise ValueError("write it as 2026-01-31")
    return value


def _doi(value: str) -> str:
    if (how := unlike("doi", value)) is not None:
        raise ValueError(how)
    return value


class Sidecar(BaseModel):
    """The owner's description of a file."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    title: _Line
    organisation: _Line = Field(validation_alias=AliasChoices("organisation", "organization"))
    version: _Line
    effective_date: Annotated[date, BeforeValidator(_day)]
    licence_note: _Line = Field(validation_alias=AliasChoices("licence_note", "license_note"))
    url: Annotated[str, Field(pattern=r"^https?://\S+$", max_length=2000)] | None = None
    doi: (
        Annotated[str, Field(pattern=r"^10\.[0-9]{4,9}/\S+$", max_length=300), AfterValidator(_doi)]
        | None
    ) = None
    pmid: Annotated[str, Field(pattern=r"^[1-9][0-9]{0,8}$")] | None = None

    @property
    def declared(self) -> dict[str, str]:
        """The identifiers that it declares; whether they are of this work is checked as of any
        document that no source brought."""
        named = {"doi": self.doi, "pmid": self.pmid}
        return {kind: value for kind, value in named.items() if value is not None}

    @property
    def source_type(self) -> str:
        """`nccn`, `asco` or `esmo` if the organisation is one of them, else `guideline`."""
        words = " ".join(_NO_WORD.sub(" ", self.organisation.casefold()).split())
        for body, names in _BODIES.items():
            if words in names:
                return body
        return "guideline"

    @property
    def source_key(self) -> str:
        """Organisation and title, so a new version of a guideline remains the same document."""
        return f"{_slug(self.organisation)}/{_slug(self.title)}"

    @property
    def key(self) -> str:
        """The `SourceRecord.key` of the guideline."""
        return f"{self.source_type}:{self.source_key}"


def _slug(words: str) -> str:
    return _NO_WORD.sub("-", words.casefold()).strip("-") or "-"


def read_sidecar(content: bytes, *, is_json: bool) -> Sidecar:
    """Read a sidecar in YAML or JSON. Values stay as written: version 1.10 does not become 1.1.

    Raises BadSidecar with a one-line message.
    """
    if len(content) > MAX_SIDECAR_BYTES:
        raise BadSidecar(f"has more than {MAX_SIDECAR_BYTES:,} bytes; write {WRITE}")
    try:
        if is_json:
            value = json.loads(content, parse_float=str, parse_int=str)
        else:
            # this loader creates only strings, lists and mappings
            value = yaml.load(content, Loader=yaml.BaseLoader)  # noqa: S506
    except (ValueError, yaml.YAMLError, RecursionError):
        raise BadSidecar(f"cannot be read as {'JSON' if is_json else 'YAML'}") from None
    return check_sidecar(value)


def check_sidecar(value: Any) -> Sidecar:
    """Validate a sidecar. Raises BadSidecar, which names fields and never repeats their values."""
    if not isinstance(value, dict):
        raise BadSidecar(f"holds no fields; write {WRITE}")
    if value.get("url") == "":
        value = {name: words for name, words in value.items() if name != "url"}
    try:
        return Sidecar.model_validate(value)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False, include_context=False)
        names = dict.fromkeys(str(detail["loc"][0])[:40] for detail in details if detail["loc"])
        known = ", ".join(name if _PLAIN.fullmatch(name) else "?" for name in list(names)[:6])
        raise BadSidecar(f"is missing or wrong in {known}; write {WRITE}") from None


def parse_guideline(payload: bytes) -> Parsed:
    """Read one guideline file, or a notice that one is gone or not available.

    The text is the file's, as `workers.file_formats` reads it. The sidecar's metadata take
    precedence over the file's own.

    Raises Malformed if the payload is not an envelope of this connector.
    """
    unwrapped = unwrap(payload)
    if isinstance(unwrapped, Parsed):
        return unwrapped
    envelope, content = unwrapped
    path = fields.text(envelope, "path")
    try:
        sidecar = check_sidecar(fields.at(envelope, "sidecar"))
    except BadSidecar as error:
        raise Malformed(f"the sidecar in the envelope {error}") from None
    if not path:
        raise Malformed("the envelope does not say where the file stands")
    parsed = Parsed()
    try:
        documents = file_formats.read(content, filename=path)
    except file_formats.UnreadableDocument as error:
        parsed.problems.append(Problem(sidecar.key, f"{_shown(path)}: {error}"))
        return parsed
    if len(documents) != 1:
        reason = f"{_shown(path)}: more than one document in a file"
        parsed.problems.append(Problem(sidecar.key, reason))
        return parsed
    _add(parsed, path, sidecar, envelope, documents[0])
    return parsed


def _shown(path: str) -> str:
    """The path on one line, cut to its end: file names may be long or contain line breaks."""
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
        identifiers=read.identifiers.model_copy(
            update={"set_id": None, "lcd_id": None} | sidecar.declared
        ),
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
