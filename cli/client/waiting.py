"""Waits for work that a gateway accepted, and says what it waits for and that it goes on."""

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
"""Seconds of a long poll; less than the timeout of a call (`cli.client.gateway`)."""
SOON_SECONDS = 3
"""Seconds of the first poll; short, so that a paused stage is reported early."""
LONG_SECONDS = 30.0
"""Seconds without an end or progress after which the command says where to look later."""

Say = Callable[[str], None]
Watch = Callable[[dict[str, Any]], dict[str, Any]]


class WorkFailed(RuntimeError):
    """The accepted work has no result; the message says why."""


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
    """Print the line on stderr, beside the output of the command."""
    say_beside(line)


def nothing(line: str) -> None:
    """Print nothing: the caller is a program."""


def unwatched(_: dict[str, Any]) -> dict[str, Any]:
    """Every look is the same."""
    return {}


def result_of_text(
    url: str, kind: str, text: str, say: Say, *, timeout_seconds: float = 600.0
) -> dict[str, Any]:
    """Return what a running instance makes of a text, with the id under which it is kept.

    Args:
        say: called with the id, with what the work waits for, and on Ctrl-C that it goes on.

    Raises:
        WorkFailed: the work failed, or took too long.
        GatewayRefused: the gateway refused it, or none answers.
    """
    with client_of(url) as client:
        accepted = submit(client, _KINDS[kind].path, json={"text": text})
        with Work(client, kind, accepted["id"], say) as work:
            work.say_id()
            return {"id": accepted["id"], **work.result(timeout_seconds)}


class Work:
    """Accepted work. When its block ends by Ctrl-C, or because the gateway is gone, it says that
    the work goes on."""

    def __init__(self, client: Client, kind: str, subject: str, say: Say) -> None:
        self.path = f"{_KINDS[kind].path}/{subject}"
        self._client, self._kind, self._say = client, kind, say
        self._name = f"{kind} {subject}"
        self._page = f"{str(client.base_url).rstrip('/')}{_KINDS[kind].page}/{subject}"
        self._since, self._looks, self._told = time.monotonic(), 0, False

    def say_id(self) -> None:
        """Say the id of the work, and how its words are erased."""
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
        """The sentence that the work goes on, and where to read its result."""
        return f"{self._name} goes on: {self._page}"

    def over(self, seconds: float) -> bool:
        """Return true if there was no progress for `seconds`."""
        return time.monotonic() - self._since > seconds

    def look(self, **params: Any) -> dict[str, Any]:
        """Return the state of the work after POLL_SECONDS at most; say once what it waits for."""
        if self._looks and not self._told:
            self._tell()
        wait = POLL_SECONDS if self._looks else SOON_SECONDS
        self._looks += 1
        return look(self._client, self.path, params={"wait": wait, **params})

    def result(self, seconds: float, watch: Watch = unwatched) -> dict[str, Any]:
        """Wait for the result until there is no progress for so many seconds.

        Args:
            watch: called with each state; returns the parameters of the next look. Parameters that
                differ from the last ones are progress.

        Raises:
            WorkFailed: the work failed, or took too long.
        """
        seen: dict[str, Any] = {}
        while not self.over(seconds):
            state = self.look(**seen)
            before, seen = seen, watch(state)
            if seen != before:
                self._since = time.monotonic()
            if state["status"] == "done":
                result: dict[str, Any] = state["result"]
                return result
            if state["status"] == "failed":
                raise WorkFailed(state["error"]["detail"])
        raise WorkFailed(f"no result within {seconds:.0f} s; {self.goes_on}")

    def _tell(self) -> None:
        paused = paused_stages(self._client)
        paused_here = [stage for stage in _KINDS[self._kind].stages if stage in paused]
        for stage in paused_here:
            reason = paused[stage] or "attest stages list says why"
            self._say(
                f"stage {stage} is paused ({reason}): {self._name} waits until it is resumed; read "
                f"it later at {self._page}"
            )
        if not paused_here and self.over(LONG_SECONDS):
            reason = f" ({away})" if (away := unready(self._client)) else ""
            self._say(f"{self._name} takes unusually long{reason}; read it later at {self._page}")
        self._told = bool(paused_here) or self.over(LONG_SECONDS)
