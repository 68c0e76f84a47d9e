"""Clinical notes to be summarized."""

from uuid import uuid4

from messages import SummarizeV1
from store.core.hashes import new_hash_key, text_hash
from store.core.unit_of_work import UnitOfWork
from store.models import LOCAL_OWNER, Note, now
from store.texts.text_table import TextTable

NOTES = TextTable(Note, "note")


def submit(
    work: UnitOfWork,
    text: str,
    title: str | None = None,
    *,
    owner: str = LOCAL_OWNER,
    idempotency_key: str | None = None,
) -> Note:
    """Accept a note, as `TextTable.accept` does. A title may name a patient, so it stays in the row
    as the text does.

    Raises:
        KeyReused: the key was used for another request.
    """
    key = new_hash_key()
    note = Note(
        id=uuid4(),
        text=text,
        text_hash=text_hash(text, key),
        hash_key=key,
        title=title,
        request_id=work.request_id or uuid4(),
        created_at=now(),
        owner=owner,
        idempotency_key=idempotency_key,
    )
    message = SummarizeV1(request_id=note.request_id, note_id=note.id, text_hash=note.text_hash)
    request = {"text": text, "title": title}
    return NOTES.accept(work, note, request, message, text_hash=note.text_hash)
