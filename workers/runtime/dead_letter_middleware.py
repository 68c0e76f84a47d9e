"""Dead messages of Redis as dead letters of PostgreSQL, with an id derived from the message's."""

from collections.abc import Callable
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

import dramatiq
from dramatiq.errors import ActorNotFound
from dramatiq.middleware import Middleware

from store.dead_letters.dead_letters import Death
from workers.runtime.dramatiq_keys import canonical
from workers.runtime.errors import describe
from workers.runtime.wire import fault, unreadable


class DeadLetterCopy(Middleware):
    """Copies messages that die in dramatiq itself (an unknown actor) to PostgreSQL."""

    def __init__(self, report: Callable[[Death, str], None]) -> None:
        self._report = report

    def after_nack(self, _broker: dramatiq.Broker, message: Any) -> None:
        """Report the death; dramatiq calls this once a message has been refused for good."""
        error = getattr(message, "_exception", None)
        if error is None or isinstance(error, ActorNotFound):
            cause = "no worker of this version knows its actor: upgrade the workers, then replay"
        else:
            cause = describe(error)
        redis_id = message.options["redis_message_id"]
        death = Death(
            id=letter_id(redis_id),
            stage=canonical(message.queue_name),
            payload=message.args[0],
            error_type=type(error).__name__ if error else "Rejected",
            cause=cause,
            outbox_id=UUID(message.message_id),
        )
        self._report(death, redis_id)


def letter_id(redis_id: str) -> UUID:
    """The id of the dead letter of the message that Redis holds under `redis_id`."""
    return uuid5(NAMESPACE_OID, f"attest dead letter {redis_id}")


def death_of(body: bytes, stage: str, redis_id: str) -> Death:
    """The death of a message that Redis keeps as dead because no worker could copy it."""
    if fault(body, stage) is not None:
        return unreadable(body, stage, letter_id(redis_id))
    message = dramatiq.Message.decode(body)
    return Death(
        id=letter_id(redis_id),
        stage=stage,
        payload=message.args[0],
        error_type="Rejected",
        cause="a worker refused it and could not write down why: its database was away",
        outbox_id=UUID(message.message_id),
    )
