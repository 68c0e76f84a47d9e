"""Validates data from Redis before it is trusted: is it one of our messages?"""

import re
from collections.abc import Mapping
from uuid import UUID

import dramatiq
from dramatiq.errors import DecodeError

from store.dead_letters.dead_letters import Death

_NAME = re.compile(r"[a-z][a-z_]{0,39}")
MAX_BYTES = 256 * 1024
"""The largest message names 1000 versions and takes about 40 KB."""


def fault(body: bytes, queue_name: str) -> str | None:
    """Why `body`, found on `queue_name`, is not one of our messages; None if it is.

    dramatiq trusts the form of decoded messages: a wrong queue name ends a worker thread, and wrong
    options end a consumer together with the batch it has fetched (DRAMATIQ 2.5 S2).
    """
    if len(body) > MAX_BYTES:
        return "it is larger than any message"
    try:
        message = dramatiq.Message.decode(body)
    except DecodeError:
        return "it is no JSON message"
    if message.queue_name != queue_name:
        return "it was sent to another queue"
    if not isinstance(message.actor_name, str) or not _NAME.fullmatch(message.actor_name):
        return "it names no actor"
    if not isinstance(message.options, dict) or not isinstance(
        message.options.get("redis_message_id"), str
    ):
        return "it carries no id of the broker"
    if "eta" in message.options:
        return "it is delayed, and nothing is delayed here"
    if not _is_uuid(message.message_id):
        return "its id is none of an outbox row"
    if len(message.args) != 1 or not isinstance(message.args[0], Mapping) or message.kwargs:
        return "it does not consist of one JSON object"
    return None


def unreadable(body: bytes, queue_name: str, letter_id: UUID) -> Death:
    """The death of a body that is no message; it has no outbox row, and its text is not kept."""
    return Death(
        id=letter_id,
        stage=queue_name,
        payload={"bytes": len(body)},
        error_type="UndecodableMessage",
        cause=f"{fault(body, queue_name)}; nothing was promised by it",
    )


def _is_uuid(text: object) -> bool:
    try:
        return str(UUID(str(text))) == text
    except ValueError:
        return False
