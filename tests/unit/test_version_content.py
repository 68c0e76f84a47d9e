"""The content of a version: its hash stays what it was whatever way the JSON is written."""

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

import hypothesis.strategies as st
from hypothesis import given

from store.documents.records import Identifiers, SourceRecord

_WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1)
_LINE = _WORDS.filter(lambda text: bool(text.strip()))
_PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | _WORDS
)
_FACTS = st.dictionaries(
    _WORDS,
    st.recursive(
        _PLAIN, lambda inner: st.lists(inner) | st.dictionaries(_WORDS, inner), max_leaves=8
    ),
    max_size=4,
)


def _hash_by_definition(record: SourceRecord) -> str:
    """The SHA-256 of the record's own JSON with sorted keys; later fields only where filled."""
    body = record.model_dump(mode="json", exclude={"fetched_at", "source_key", "notices"})
    for later in ("subjects", "facts"):
        if not body[later]:
            del body[later]
    written = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()


@given(
    title=_LINE,
    text=_LINE,
    authors=st.lists(_LINE, max_size=3),
    subjects=st.lists(_LINE, max_size=3),
    facts=_FACTS,
    doi=st.none() | st.just("10.1000/x"),
    published=st.none()
    | st.datetimes(timezones=st.just(UTC)).filter(lambda moment: 1 < moment.year < 9999),
)
def test_the_hash_is_that_of_the_records_sorted_json(
    title: str,
    text: str,
    authors: list[str],
    subjects: list[str],
    facts: dict[str, Any],
    doi: str | None,
    published: datetime | None,
) -> None:
    record = SourceRecord(
        title=title,
        text=text,
        authors=tuple(authors),
        subjects=tuple(subjects),
        facts=facts,
        identifiers=Identifiers(doi=doi),
        published_at=published,
    )

    assert record.content_hash() == _hash_by_definition(record)


def test_what_json_has_no_form_for_is_hashed_as_it_is_stored() -> None:
    record = SourceRecord(
        title="A trial", text="Words.", facts={"seen": datetime(2026, 3, 2, tzinfo=UTC), "n": (1,)}
    )

    assert record.content_hash() == _hash_by_definition(record)
    assert json.loads(record.content().facts) == {"n": [1], "seen": "2026-03-02T00:00:00Z"}
