"""A record in another language than English is held and searchable, and no evidence. Pure."""

from clinical_text.language import other_language
from store.documents.records import NOT_ENGLISH, SourceRecord


def with_its_language(record: SourceRecord) -> SourceRecord:
    """The record with a label and its language (fact `language`, ISO 639-1) where its text is not
    in English, by whichever door it came."""
    language = other_language(record.text)
    if language is None or NOT_ENGLISH in record.labels:
        return record
    told = {
        "labels": (*record.labels, NOT_ENGLISH),
        "facts": {**record.facts, "language": language},
    }
    return record.model_copy(update=told)
