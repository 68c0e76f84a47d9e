"""What outbox, ledger and dead letters must make of what happens to them. Pure; no SQL.

Two stages a question: `retrieve`, whose commit promises `generate`, whose commit answers.
"""

from dataclasses import dataclass, field
from uuid import UUID

OPEN = ("pending", "published")
MAX_ATTEMPTS = 3
GIVEN_UP = f"given up after {MAX_ATTEMPTS} attempts; the last left no word"

Key = tuple[str, UUID]
"""Stage and question."""


@dataclass
class Work:
    """What the ledger knows of one piece of work; `via` is the promise of its last claim."""

    status: str = "new"
    attempts: int = 0
    token: int = 0
    expired: bool = False
    via: UUID | None = None
    effects: int = 0


@dataclass
class Letter:
    """An open dead letter."""

    error_type: str
    cause: str

    @property
    def incurable(self) -> bool:
        """Whether another attempt of the same code is no use."""
        return self.error_type == "Permanent"

    @property
    def unreadable(self) -> bool:
        """Whether the message could not even be read."""
        return self.error_type in ("UnknownMessage", "InvalidMessage")


@dataclass
class Promised:
    """An outbox row. `due` and `old` are the two clocks that matter to relay and reconciler."""

    key: Key
    status: str
    due: bool = True
    old: bool = False
    letter: Letter | None = None
    replayed: list[Letter] = field(default_factory=list)


@dataclass
class Held:
    """What a worker works on, and the token that it was given."""

    promise: UUID
    key: Key
    token: int
    attempts: int


@dataclass
class Model:
    """All that the database should hold."""

    questions: dict[UUID, str] = field(default_factory=dict)
    works: dict[Key, Work] = field(default_factory=dict)
    promises: dict[UUID, Promised] = field(default_factory=dict)

    def asked(self, question: UUID, promise: UUID, *, published: bool) -> None:
        """A question was accepted, or its work promised once more."""
        self.questions.setdefault(question, "queued")
        self.promised(promise, ("retrieve", question), published=published)

    def promised(self, promise: UUID, key: Key, *, published: bool) -> None:
        """A promise was committed; `published` is what its row says."""
        self.promises[promise] = Promised(key, "published" if published else "pending")
        self.works.setdefault(key, Work())

    def swept(self) -> list[UUID]:
        """The relay publishes what is due; gives its ids."""
        due = [key for key, one in self.promises.items() if one.status == "pending" and one.due]
        for key in due:
            self.promises[key].status, self.promises[key].old = "published", False
        return due

    def reconciled(self) -> int:
        """What was published long ago, and nobody works on, is to be published again."""
        lost = [
            one
            for key, one in self.promises.items()
            if one.status == "published" and one.old and not self._is_worked_on(key)
        ]
        for one in lost:
            one.status, one.due = "pending", True
        return len(lost)

    def _is_worked_on(self, promise: UUID) -> bool:
        return any(
            one.status == "running" and one.via == promise and not one.expired
            for one in self.works.values()
        )

    def may_claim(self, key: Key) -> bool:
        """Whether a worker gets the work now: nobody has it, and its back-off is over."""
        work = self.works[key]
        if work.status == "waiting":
            via = self.promises[work.via] if work.via else None
            return via is None or via.status != "pending" or via.due
        return work.status == "new" or (work.status == "running" and work.expired)

    def delivered(self, promise: UUID, token: int) -> Held | None:
        """A worker was handed the message; `token` is what the ledger gave, 0 for nothing."""
        found = self.promises[promise]
        work = self.works[found.key]
        if not self.may_claim(found.key):
            if work.status == "done":
                found.status = "done"
            elif work.status == "dead" and found.status == "published":
                found.status = "dead"
            return None
        work.status, work.expired, work.via = "running", False, promise
        work.attempts, work.token = work.attempts + 1, token
        held = Held(promise, found.key, token, work.attempts)
        if work.attempts > MAX_ATTEMPTS:
            self._die(held, Letter("Permanent", GIVEN_UP))
            return None
        return held

    def holds(self, held: Held) -> bool:
        """Whether this token is the newest of work that is under way."""
        work = self.works[held.key]
        return work.status == "running" and work.token == held.token

    def finished(self, held: Held) -> bool:
        """The work was committed, if the token held."""
        if not self.holds(held):
            return False
        work = self.works[held.key]
        work.status, work.effects = "done", work.effects + 1
        self.promises[held.promise].status = "done"
        stage, question = held.key
        self.questions[question] = "answered" if stage == "generate" else "running"
        return True

    def failed(self, held: Held, letter: Letter, *, counts: bool = True) -> None:
        """The work failed in a way that may pass."""
        if not self.holds(held):
            return
        if counts and held.attempts >= MAX_ATTEMPTS:
            self._die(held, letter)
            return
        work, promise = self.works[held.key], self.promises[held.promise]
        work.status, work.attempts = "waiting", work.attempts - (not counts)
        if promise.status in OPEN:
            promise.status, promise.due = "pending", False

    def died(self, held: Held, letter: Letter) -> None:
        """The work failed in a way that will not pass."""
        if self.holds(held):
            self._die(held, letter)

    def _die(self, held: Held, letter: Letter) -> None:
        self.works[held.key].status = "dead"
        promise = self.promises[held.promise]
        if promise.status in OPEN:
            promise.status = "dead"
        self._bury(promise, letter)

    def broke(self, held: Held, letter: Letter) -> None:
        """The work died, and to write that down failed: the promise ends, the ledger's row hangs
        until its lease has run out."""
        promise = self.promises[held.promise]
        if self.holds(held) and promise.status in OPEN:
            promise.status = "dead"
            self._bury(promise, letter)

    def damaged(self, promise: UUID, letter: Letter) -> None:
        """A copy that nobody can read arrived."""
        found = self.promises[promise]
        if found.status == "published" and not self._is_worked_on(promise):
            found.status = "dead"
            self._bury(found, letter)

    def _bury(self, promise: Promised, letter: Letter) -> None:
        promise.letter = promise.letter or letter
        self._question_failed(promise.key[1])

    def _question_failed(self, question: UUID) -> None:
        if self.questions[question] != "answered":  # what has its answer keeps it
            self.questions[question] = "failed"

    def may_replay(self, promise: UUID, *, force: bool) -> bool:
        """Whether an operator may send the promise's open dead letter again."""
        found = self.promises[promise]
        letter = found.letter
        if letter is None or found.status != "dead":
            return False
        if self.questions[found.key[1]] == "answered":
            return False
        again = letter.unreadable or (letter.incurable and letter in found.replayed)
        return force or not again

    def replayed(self, promise: UUID) -> None:
        """It was sent again, with fresh attempts."""
        found = self.promises[promise]
        work = self.works[found.key]
        if work.status == "dead":
            work.status, work.attempts = "waiting", 0
        found.status, found.due = "pending", True
        if self.questions[found.key[1]] == "failed":
            self.questions[found.key[1]] = "queued"
        assert found.letter is not None
        found.replayed.append(found.letter)
        found.letter = None

    def settled(self) -> bool:
        """Whether nothing is left that relay, reconciler or worker would do."""
        return all(one.status not in OPEN for one in self.promises.values())
