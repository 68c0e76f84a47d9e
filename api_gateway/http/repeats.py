"""A submission that comes again under its Idempotency-Key: it is no new work, and its row exists.

Limits on what a key may ask and cost do not refuse it: that would keep a result from whom it was
made for. It costs what refusing it costs, a look at the database.
"""

from collections.abc import Callable, Mapping
from typing import Any

from api_gateway.http.idempotency import ROWS
from api_gateway.state import Gateway
from store.texts.idempotency import was_accepted


def is_repeat(
    gateway: Gateway, accepts: Callable[[str], Any], headers: Mapping[str, str], owner: str
) -> bool:
    """Whether what is sent was accepted before. Asks the database, so it may not run in the loop.

    Args:
        accepts: what the route names of itself (`access.named`).
    """
    key, row = headers.get("idempotency-key"), ROWS.get(accepts("work"))
    if key is None or row is None:
        return False
    with gateway.store.reading() as session:
        return was_accepted(session, row, owner, key)
