"""Plain text and Markdown, and the decoding that all textual formats share."""

import re
from pathlib import PurePath

from pydantic import BaseModel, ValidationError

from store.documents.records import MAX_TEXT_CHARS, Identifiers, SourceRecord, unlike
from workers.file_formats.errors import UnreadableDocument

MAX_TITLE = 1000  # as in store.records.Line

_FRONT_MATTER = re.compile(
    r"---[ \t]*\n(?P<body>(?:[^\n]*\n){1,200}?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)"
)
_FRONT_LINE = re.compile(r"(?P<key>[A-Za-z][\w-]{0,60})[ \t]*:(?:[ \t]+(?P<value>[^\n]*))?")
_ATX = re.compile(r"^#{1,6}[ \t]+(\S[^\n]{0,999})", re.MULTILINE)
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<rest>[^\n]*)")
_SETEXT = re.compile(r"^(?P<title>[^\W_][^\n]{0,999})\n={3,}[ \t]*$", re.MULTILINE)


def decode(data: bytes) -> str:
    """The text of UTF-8 bytes, without a byte order mark and with `\\n` line ends.

    Raises UnreadableDocument where the bytes are empty, another encoding, or hold NUL characters.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise UnreadableDocument("the file is UTF-16; save it as UTF-8 and try again")
    if data[:5] == b"%PDF-":
        raise UnreadableDocument("the file is a PDF; name it .pdf and try again")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # utf-8-sig counts from after the byte order mark
        position = error.start + (3 if data.startswith(b"\xef\xbb\xbf") else 0)
        raise UnreadableDocument(
            f"byte {position} (0x{data[position]:02x}) is not UTF-8; "
            "save the file as UTF-8 and try again"
        ) from error
    nul = text.find("\x00")
    if nul >= 0:
        raise UnreadableDocument(
            f"character {nul} is NUL, which text cannot hold; is this a text file? Remove it"
        )
    if not text.strip():
        raise UnreadableDocument("the file is empty; nothing to read")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def file_title(filename: str) -> str:
    """A title from a file's name: the name without its folder and extension."""
    return clean_title(PurePath(filename.replace("\\", "/")).stem) or "Untitled document"


def clean_title(title: str) -> str:
    """A title on one line, without surrounding marks, at most MAX_TITLE characters."""
    return " ".join(title.replace("\x00", " ").split()).strip("*_ ")[:MAX_TITLE].strip()


def record(title: str, text: str, identifiers: Identifiers | None = None) -> SourceRecord:
    """The record of one document; raises UnreadableDocument if the text is too long or blank."""
    if len(text) > MAX_TEXT_CHARS:
        raise UnreadableDocument(
            f"the document has {len(text):,} characters; the limit is {MAX_TEXT_CHARS:,}: split it"
        )
    try:
        return SourceRecord(title=title, text=text, identifiers=identifiers or Identifiers())
    except ValidationError as error:
        raise UnreadableDocument(validation_line(error)) from error


def validation_line(error: ValidationError) -> str:
    """The first three findings of a validation on one line, without values."""
    findings = error.errors(include_url=False, include_input=False, include_context=False)
    lines = [_finding(finding["type"], finding["loc"], finding["msg"]) for finding in findings[:3]]
    more = f" (and {len(findings) - 3} more)" if len(findings) > 3 else ""
    return "; ".join(lines) + more


def _finding(kind: str, place: tuple[int | str, ...], message: str) -> str:
    field = " ".join(".".join(map(str, place)).split())[:60] or "record"
    if kind == "extra_forbidden":
        return f"unknown field {field!r}: remove it or correct its name"
    if kind == "missing":
        return f"field {field!r} is missing"
    if kind == "timezone_aware":
        return f"field {field!r} has no time zone: write it as 2024-03-01T00:00:00Z"
    if kind == "string_type":
        return f"field {field!r} should be text in quotation marks"
    if kind == "tuple_type":
        return f"field {field!r} should be a list"
    return f"field {field!r}: {' '.join(message.split())[:200]}"


def read_text(data: bytes, filename: str) -> SourceRecord:
    """A plain text file, titled by its name."""
    return record(file_title(filename), decode(data))


def read_markdown(data: bytes, filename: str) -> SourceRecord:
    """A Markdown file; its text is kept as written, without its front matter.

    Front matter (`key: value` lines between `---`) gives the title and all valid identifiers. The
    title is otherwise the first heading, otherwise the file's name.
    """
    text = decode(data)
    front, text = _front_matter(text)
    if not text.strip():
        raise UnreadableDocument("the file holds front matter only; nothing to read")
    title = clean_title(front.get("title", "")) or _first_heading(text) or file_title(filename)
    return record(title, text, _identifiers(front))


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    block = _FRONT_MATTER.match(text)
    if not block:
        return {}, text
    fields: dict[str, str] = {}
    for line in block["body"].splitlines():
        if not line.strip() or line[0] in " \t-#":
            continue  # lists, nested values and comments of the front matter
        match = _FRONT_LINE.fullmatch(line)
        if not match:
            return {}, text  # running text between two rules
        value = (match["value"] or "").strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        fields[match["key"].lower()] = value
    return fields, text[block.end() :].lstrip("\n")


def _identifiers(front: dict[str, str]) -> Identifiers:
    """The valid identifiers of the front matter; others are left out."""
    identifiers: dict[str, str] = {}
    for name in Identifiers.model_fields:
        value = front.get(name)
        if value and unlike(name, value) is None and _is_valid(Identifiers, {name: value}):
            identifiers[name] = front[name]
    return Identifiers(**identifiers)


def _is_valid(model: type[BaseModel], fields: dict[str, str]) -> bool:
    try:
        model.model_validate(fields)
    except ValidationError:
        return False
    return True


def _first_heading(text: str) -> str:
    text = _without_code(text)
    marked, underlined = _ATX.search(text), _SETEXT.search(text)
    if underlined and (not marked or underlined.start() < marked.start()):
        return clean_title(underlined["title"].replace("**", ""))
    return clean_title(marked[1].rstrip("# \t").replace("**", "")) if marked else ""


def _without_code(text: str) -> str:
    """The text without fenced code (CommonMark 0.31, 4.5), whose comments are not headings."""
    kept, fence = [], ""
    for line in text.split("\n"):
        mark = _FENCE.fullmatch(line)
        if fence:
            if mark and mark["fence"].startswith(fence) and not mark["rest"].strip():
                fence = ""
        elif mark and not ("`" in mark["fence"] and "`" in mark["rest"]):
            fence = mark["fence"]
            kept.append("")  # the lines before and after it are not adjacent
        else:
            kept.append(line)
    return "\n".join(kept)
