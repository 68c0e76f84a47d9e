"""One call of a connector: its tries, its redirects and the meaning of its responses."""

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import httpx
import structlog

from workers.http.allow import Addresses, host_of, origin_of
from workers.http.body import Oversized, Undecodable
from workers.http.errors import (
    Malformed,
    QuotaExhausted,
    Refused,
    TooLarge,
    Unreachable,
)
from workers.http.rate_limit import Turns
from workers.http.redact import without_words
from workers.http.responses import Fetched, read_answer, refusal, status_words
from workers.http.retry import (
    LONGEST_RETRY_AFTER_SECONDS,
    TIRED_SECONDS,
    TRIES,
    Trouble,
    backoff_seconds,
    is_passing,
    retry_after_seconds,
)
from workers.http.transport import NoAnswer, Wire

log = structlog.get_logger(__name__)

Parameters = Mapping[str, str | int | float]

MAX_REDIRECTS = 5
"""Our choice: WIRE lists single redirects only (alias NCT ids)."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SECRET_HEADERS = frozenset({"authorization", "x-api-key", "cookie"})


@dataclass(frozen=True)
class Wanted:
    """A request; `address` is its logical address."""

    method: str
    address: httpx.URL
    form: Parameters | None
    headers: Mapping[str, str]
    accept: Collection[int]
    max_bytes: int
    content: bytes | None = None
    """A body that is not a form."""


@dataclass
class Call:
    """Sends a request until there is a response or an error. Used once."""

    source: str
    """The source's name in errors."""
    addresses: Addresses
    turns: Turns
    wire: Wire
    seconds: float
    """The most seconds that all exchanges together may take."""
    paused: float = 0.0
    """Seconds waited so far because of the source's Retry-After."""
    tries: int = TRIES
    """The most tries."""
    talked: float = 0.0
    """Seconds that the exchanges have taken so far."""

    def fetch(self, wanted: Wanted) -> Fetched:
        """The response. Raises as `SourceClient.get` does."""
        tries = 1
        while not isinstance(outcome := self._follow(wanted), Fetched):
            self._bear(outcome, tries)
            tries += 1
        return outcome

    def _bear(self, trouble: Trouble, tries: int) -> None:
        """Sleep until the next try, or raise the error that the trouble amounts to."""
        retry_after = trouble.retry_after or 0.0
        if retry_after:
            self.turns.hold(trouble.host, retry_after)
        text = f"{self.source}: {trouble.host} {trouble.said}"
        if self.paused + retry_after > LONGEST_RETRY_AFTER_SECONDS:
            raise QuotaExhausted(f"{text} and asks for a pause of {retry_after:.0f} s", retry_after)
        if tries == self.tries or not trouble.again:
            text = f"{text}, {tries} times" if tries > 1 else text
            if trouble.status == 429:
                raise QuotaExhausted(text, max(retry_after, TIRED_SECONDS))
            raise Unreachable(text)
        self.paused += retry_after
        pause = retry_after or backoff_seconds(tries)
        log.info(
            "source_asked_again",
            source=self.source,
            host=trouble.host,
            status=trouble.status,
            tries=tries,
            pause_seconds=round(pause, 1),
        )
        self.turns.sleep(pause)

    def _follow(self, wanted: Wanted) -> Fetched | Trouble:
        """One try, redirects included."""
        for _ in range(MAX_REDIRECTS + 1):
            outcome = self._exchange(wanted)
            if not isinstance(outcome, Wanted):
                return outcome
            wanted = outcome
        raise Refused(
            f"{self.source}: {host_of(wanted.address)} redirects more than {MAX_REDIRECTS} times"
        )

    def _exchange(self, wanted: Wanted) -> Fetched | Trouble | Wanted:
        """One request and its response; a redirect returns the next request."""
        host = host_of(wanted.address)
        self.turns.wait(host)
        began = time.monotonic()
        try:
            with self.wire.answer(
                wanted.method,
                self.addresses.actual(wanted.address),
                wanted.form,
                wanted.headers,
                self.seconds - self.talked,
                wanted.content,
            ) as response:
                return self._judge(wanted, host, response)
        except NoAnswer as error:
            if error.late:
                return Trouble(host, f"did not finish within {self.seconds:g} s", again=False)
            return Trouble(host, str(error))
        except Undecodable as error:
            return Trouble(host, f"sent a body that cannot be used: {error}")
        except Oversized:
            large = f"{self.source}: the answer of {host} is larger than {wanted.max_bytes:,} bytes"
        finally:
            self.talked += time.monotonic() - began
        raise TooLarge(large)

    def _judge(
        self, wanted: Wanted, host: str, response: httpx.Response
    ) -> Fetched | Trouble | Wanted:
        status = response.status_code
        if status in wanted.accept:
            return read_answer(response, wanted.max_bytes)
        if status in _REDIRECTS and (location := response.headers.get("location")):
            return self._redirected(wanted, status, location)
        text = f"answered {status_words(status)}"
        if is_passing(status):
            retry_after = retry_after_seconds(response.headers.get("retry-after"), self.turns.now())
            return Trouble(host, text, status, retry_after)
        if status < 300:
            raise Malformed(f"{self.source}: {host} {text}, which is none of its answers")
        reason = without_words(refusal(response), _values(wanted))
        raise Refused(f"{self.source}: {host} {text}" + (f": {reason}" if reason else ""))

    def _redirected(self, wanted: Wanted, status: int, location: str) -> Wanted:
        """The request that `location` leads to. A secret header is not sent to another origin;
        301, 302 and 303 turn into GET (RFC 9110, 15.4)."""
        target = self.addresses.redirected(wanted.address, location)
        headers = wanted.headers
        if origin_of(target) != origin_of(wanted.address):
            headers = {
                name: text for name, text in headers.items() if name.lower() not in _SECRET_HEADERS
            }
        if status in (307, 308):
            return replace(wanted, address=target, headers=headers)
        return replace(
            wanted, method="GET", form=None, content=None, address=target, headers=headers
        )


def _values(wanted: Wanted) -> list[str]:
    """The words and tokens that the request carried, which no error may repeat."""
    sent = [value for _, value in wanted.address.params.multi_items()]
    tokens = [text for name, text in wanted.headers.items() if name.lower() in _SECRET_HEADERS]
    posted = [str(value) for value in (wanted.form or {}).values()]
    return [*sent, *tokens, *posted, (wanted.content or b"").decode(errors="replace")]
