"""Work that a gateway accepted: its id, what it waits for, and that it goes on without us."""

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, NamedTuple

from cli.client.gateway import (
    Client,
    NoGateway,
    client_of,
    look,
    paused_stages,
    submit,
    unready,
)
from cli.output.printing import say_beside
from messages import DOCUMENT_STAGES, QUESTION_STAGES, Stage

POLL_SECONDS = 20
"""A look takes no longer, which is less than a call may (`cli.client.gateway`)."""
SOON_SECONDS = 3
"""The first look comes back so soon: then a paused stage is told before anybody wonders."""
LONG_SECONDS = 30.0
"""After so long without an end or progress it is told where to look later."""

Say = Callable[[str], None]


class WorkFailed(RuntimeError):
    """What was accepted has no result; the message says why."""


class _Kind(NamedTuple):
    path: str
    page: str
    stages: tuple[Stage, ...]


_KINDS: Mapping[str, _Kind] = {
    "question": _Kind("/v1/questions", "/questions", QUESTION_STAGES),
    "note": _Kind("/v1/notes", "/notes", (Stage.SUMMARIZE,)),
    "verification": _Kind("/v1/verifications", "/verify", (Stage.CHECK,)),
    "extraction": _Kind("/v1/extractions", "/extractions", DOCUMENT_STAGES),
}


def on_stderr(line: str) -> None:
    """Say it beside what the command prints."""
    say_beside(line)


def nothing(line: str) -> None:
    """Say nothing: a program asked."""


def result_of_text(
    url: str, kind: str, text: str, say: Say, *, timeout_seconds: float = 600.0
) -> dict[str, Any]:
    """What a running instance makes of a text, with the id under which it keeps it.

    Args:
        say: told its id, what it waits for, and on Ctrl-C that it goes on.

    Raises:
        WorkFailed: it died, or took too long.
        GatewayRefused: the gateway refused it, or none answers.
    """
    with client_of(url) as client:
        accepted = submit(client, _KINDS[kind].path, json={"text": text})
        with Work(client, kind, accepted["id"], say) as work:
            work.say_id()
            return {"id": accepted["id"], **work.result(timeout_seconds)}


class Work:
    """Something that was accepted. Within its block, Ctrl-C says that it goes on, and so does a
    gateway that is gone."""

    def __init__(self, client: Client, kind: str, subject: str, say: Say) -> None:
        self.path = f"{_KINDS[kind].path}/{subject}"
        self._client, self._kind, self._say = client, kind, say
        self._name = f"{kind} {subject}"
        self._page = f"{str(client.base_url).rstrip('/')}{_KINDS[kind].page}/{subject}"
        self._since, self._looks, self._told = time.monotonic(), 0, False

    def say_id(self) -> None:
        """Say its id, and how its words are erased."""
        self._say(f"{self._name} (attest erase {self._name} --reason …)")

    def __enter__(self) -> "Work":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if kind is not None and issubclass(kind, (KeyboardInterrupt, NoGateway)):
            self._say(self.goes_on)

    @property
    def goes_on(self) -> str:
        """That it does, and where to read what becomes of it."""
        return f"{self._name} goes on: {self._page}"

    def moved(self) -> None:
        """There was progress: the time begins anew."""
        self._since = time.monotonic()

    def over(self, seconds: float) -> bool:
        """Whether it has taken so long, since its last progress."""
        return time.monotonic() - self._since > seconds

    def look(self, **params: Any) -> dict[str, Any]:
        """What became of it, soon or after POLL_SECONDS at most; says once what it waits for."""
        if self._looks and not self._told:
            self._tell()
        wait = POLL_SECONDS if self._looks else SOON_SECONDS
        self._looks += 1
        return look(self._client, self.path, params={"wait": wait, **params})

    def result(self, seconds: float) -> dict[str, Any]:
        """Its result, waited for so long.

        Raises:
            WorkFailed: it died, or took too long.
        """
        while not self.over(seconds):
            found = self.look()
            if found["status"] == "done":
                done: dict[str, Any] = found["result"]
                return done
            if found["status"] == "failed":
                raise WorkFailed(found["error"]["detail"])
        raise WorkFailed(f"no result within {seconds:.0f} s; {self.goes_on}")

    def _tell(self) -> None:
        paused = paused_stages(self._client)
        here = [stage for stage in _KINDS[self._kind].stages if stage in paused]
        for stage in here:
            why = paused[stage] or "attest stages list says why"
            self._say(
                f"stage {stage} is paused ({why}): {self._name} waits until it is resumed; read "
                f"it later at {self._page}"
            )
        if not here and self.over(LONG_SECONDS):
            why = f" ({away})" if (away := unready(self._client)) else ""
            self._say(f"{self._name} takes unusually long{why}; read it later at {self._page}")
        self._told = bool(here) or self.over(LONG_SECONDS)
