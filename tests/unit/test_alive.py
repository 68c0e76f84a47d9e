"""Which of the processes that listen say nothing any more, as Redis lists its clients."""

from workers.runtime.liveness import SILENT_SECONDS, silent

LATE = str(int(SILENT_SECONDS) + 1)
WORKER = {"flags": "PU", "sub": "6", "psub": "0", "idle": "21"}
STOPPED = {"flags": "P", "sub": "1", "psub": "0", "idle": LATE}
GATEWAY = {"flags": "U", "sub": "0", "psub": "0", "idle": LATE}


def test_a_process_that_listens_and_says_nothing_is_silent_and_nobody_else_is() -> None:
    assert silent([WORKER, GATEWAY], 6) == []
    assert silent([WORKER, STOPPED, GATEWAY], 7) == [float(LATE)]


def test_where_others_listen_too_nobody_can_tell_whose_silence_it_is() -> None:
    """Of a client Redis tells how many channels it listens to and not which."""
    assert silent([WORKER, STOPPED], 6) is None
    assert silent([WORKER, {**STOPPED, "sub": "0", "psub": "1"}], 6) is None


def test_a_list_of_clients_that_misses_something_tells_nothing() -> None:
    assert silent([{"flags": "P"}], 1) is None
    assert silent([], 0) == []
