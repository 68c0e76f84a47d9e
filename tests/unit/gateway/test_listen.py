"""Who is woken by which notice of PostgreSQL."""

from psycopg import Notify

from api_gateway.http.listen import Notices


def heard(payload: str) -> tuple[bool, bool]:
    """Whether who waits for the end of A is woken, and who follows its steps."""
    notices = Notices("postgresql://nowhere")
    with notices.subscribe("A") as ended, notices.subscribe("A", each_step=True) as moved:
        assert notices.waiters == 2
        notices._wake(Notify("question", payload, 1))
        woken = ended.is_set(), moved.is_set()
    assert notices.waiters == 0
    return woken


def test_a_step_on_the_way_wakes_only_who_follows_each() -> None:
    assert heard("A verify") == (False, True)


def test_an_end_wakes_everybody_who_waits_for_it() -> None:
    assert heard("A") == (True, True)
    assert heard("B") == (False, False)
