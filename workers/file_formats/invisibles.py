"""Removes invisible characters from a record before its text is fixed."""

from pydantic import ValidationError

from clinical_text.invisible import visible
from store.documents.records import SourceRecord
from workers.file_formats.errors import UnreadableDocument
from workers.file_formats.plain import validation_line


def seen(record: SourceRecord) -> SourceRecord:
    """The record with visible characters only, in all its fields."""
    written = record.model_dump_json(exclude_unset=True)
    kept = visible(written)
    if kept == written:
        return record
    try:
        return SourceRecord.model_validate_json(kept)
    except ValidationError as error:
        raise UnreadableDocument(
            f"without invisible characters: {validation_line(error)}"
        ) from error
