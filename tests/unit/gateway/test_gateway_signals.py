"""Behind a gateway its caller's signals are as before: ignored ones would be inherited by all that
is started later, and a supervisor that ignores SIGTERM outlives whoever started it."""

import signal
from types import SimpleNamespace

import pytest

from api_gateway import main
from store.core.settings import Settings

ENDING = (signal.SIGTERM, signal.SIGINT)


def test_a_gateway_that_cannot_listen_leaves_the_signals_as_they_were(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = [signal.getsignal(number) for number in ENDING]
    within: list[object] = []

    def run() -> None:
        within.extend(signal.getsignal(number) for number in ENDING)
        raise SystemExit(1)  # as uvicorn does where the port is taken

    server = SimpleNamespace(engine=None, run=run)
    monkeypatch.setattr(main, "build_server", lambda _: server)
    for name in ("_require_schema", "configure_logs", "settle_memory"):
        monkeypatch.setattr(main, name, lambda *_: None)

    with pytest.raises(SystemExit):
        main.run_gateway(Settings())

    assert within == [signal.SIG_IGN] * 2
    assert [signal.getsignal(number) for number in ENDING] == before
