"""The press and news feeds that may be followed (`news.yaml`)."""

from functools import cache
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from knowledge.loader import Policy, load
from knowledge.matching.choosing import one_of


class Feed(Policy):
    """One feed; see the head of `news.yaml`."""

    title: Annotated[str, Field(min_length=1)]
    url: Annotated[str, Field(pattern=r"^https://[a-z0-9.-]+/\S+$")]
    publisher: Annotated[str, Field(min_length=1)]
    hosts: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[a-z0-9.-]+$")], ...], Field(min_length=1)
    ]
    source_type: Literal["news", "regulator"]
    basis: Annotated[str, Field(min_length=1, description="what shows that the feed exists")]

    @model_validator(mode="after")
    def _stands_at_its_publisher(self) -> Self:
        if urlsplit(self.url).netloc not in self.hosts:
            raise ValueError("the feed's own host is not among its hosts")
        return self

    @property
    def origin(self) -> str:
        """The origin (scheme and host) of the feed's URL."""
        return f"https://{urlsplit(self.url).netloc}"


class _File(Policy):
    version: Literal[1]
    feeds: dict[Annotated[str, Field(pattern=r"^[a-z0-9-]+$")], Feed]


@cache
def feeds() -> dict[str, Feed]:
    """All feeds by name, validated; callers must not change the mapping."""
    return _File.model_validate(load("feeds/news")).feeds


def feed(name: str) -> Feed:
    """The feed of this name.

    Raises:
        LookupError: there is no such feed; the message lists all feeds.
    """
    try:
        return feeds()[name]
    except KeyError:
        told = f"there is no feed {name[:60]!r}: {one_of(name, feeds())}"
        raise LookupError(told) from None


def feed_origins() -> tuple[str, ...]:
    """The origins that the source `news` connects to."""
    return tuple(sorted({news_feed.origin for news_feed in feeds().values()}))
