"""What people saw of the system, and whether it can have been true (in the style of Jepsen).

Each operation is written down when it is invoked and when it returns. What returned without an
answer may have happened or not; what was answered has happened, and must have gone on happening.
"""

import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session


@dataclass
class History:
    """The operations of all clients of one storm. Threads may share it."""

    asked: dict[str, str] = field(default_factory=dict)
    """Idempotency key → the question's text, for every attempt that was made."""
    accepted: dict[str, set[UUID]] = field(default_factory=lambda: defaultdict(set))
    """Idempotency key → the ids that were given for it."""
    seen: dict[UUID, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Question → the hashes of the answers that were shown."""
    ended_then_not: set[UUID] = field(default_factory=set)
    uploads: set[UUID] = field(default_factory=set)
    texts: dict[UUID, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Version → the hashes of its text at the moments when somebody looked."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def invoke(self, key: str, text: str) -> None:
        """A question is about to be submitted."""
        with self.lock:
            self.asked[key] = text

    def accept(self, key: str, question_id: UUID) -> None:
        """The gateway has accepted it."""
        with self.lock:
            self.accepted[key].add(question_id)

    def see(self, question_id: UUID, status: str, digest: str | None) -> None:
        """Somebody read it: with an answer, or without."""
        with self.lock:
            if digest is not None:
                self.seen[question_id].add(digest)
            elif status in ("queued", "running") and self.seen.get(question_id):
                self.ended_then_not.add(question_id)

    def look_at(self, version_id: UUID, digest: str) -> None:
        """Somebody read a version's text."""
        with self.lock:
            self.texts[version_id].add(digest)

    def upload(self, item_id: UUID) -> None:
        """The gateway has accepted a document."""
        with self.lock:
            self.uploads.add(item_id)

    def contradictions(self, session: Session) -> Iterator[str]:
        """Each way in which what was seen cannot be true of what the database holds now."""
        yield from self._questions(session)
        yield from self._answers()
        items = {row.id for row in session.execute(sa.text("SELECT id FROM ingest_item"))}
        for one in self.uploads - items:
            yield f"an accepted document is lost: {one}"
        yield from self._versions(session)

    def _questions(self, session: Session) -> Iterator[str]:
        rows = session.execute(sa.text("SELECT id, text, status FROM question")).all()
        held = {row.id for row in rows}
        for key, ids in self.accepted.items():
            if len(ids) > 1:
                yield f"one idempotency key, several questions: {key} {sorted(map(str, ids))}"
            for one in ids - held:
                yield f"an accepted question is lost: {one}"
        texts = set(self.asked.values())
        for row in rows:
            if row.text not in texts:
                yield f"a question that nobody asked: {row.id}"
            if row.status not in ("answered", "failed"):
                yield f"an accepted question did not end: {row.id} is {row.status}"

    def _answers(self) -> Iterator[str]:
        for question_id, digests in self.seen.items():
            if len(digests) > 1:
                yield f"an answer changed after it was shown: {question_id}"
        for question_id in self.ended_then_not:
            yield f"a question had an answer, and then none: {question_id}"

    def _versions(self, session: Session) -> Iterator[str]:
        rows = session.execute(
            sa.text(
                "SELECT id, encode(sha256(convert_to(text, 'UTF8')), 'hex') AS digest "
                "FROM document_version"
            )
        )
        stored = {row.id: row.digest for row in rows}
        for version_id, digests in self.texts.items():
            if digests != {stored.get(version_id)}:
                yield f"a version's text changed: {version_id}"
