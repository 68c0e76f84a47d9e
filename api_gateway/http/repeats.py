"""Repeated submissions under the same Idempotency-Key: no new work, as the row exists.

The limits of a key do not refuse a repeat, which would keep the result from its owner. Answering a
repeat costs as much as refusing it: a look at the database.
"""

from collections.abc import Callable, Mapping
from typing import Any

from api_gateway.http.idempotency import ROWS
from api_gateway.state import Gateway
from store.texts.idempotency import was_accepted


def is_repeat(
    gateway: Gateway, accepts: Callable[[str], Any], headers: Mapping[str, str], owner: str
) -> bool:
    """Whether the submission was accepted before. It queries the database, so it must not run in
    the event loop.

    Args:
        accepts: reads an attribute of the route's dependencies (`access.named`).
    """
    key, row = headers.get("idempotency-key"), ROWS.get(accepts("work"))
    if key is None or row is None:
        return False
    with gateway.store.reading() as session:
        return was_accepted(session, row, owner, key)
