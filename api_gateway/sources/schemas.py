"""Schemas of sources, refreshes and findings, as OpenAPI shows them."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from api_gateway.http.storable import STORABLE
from knowledge.feeds.sources import Tier
from store.documents.findings import Kind as FindingKind

RefreshStatus = Literal["queued", "fetching", "storing", "complete", "failed"]
OPERATORS_ONLY = "shown only to keys with the scope `operate`: it may hold words of a question"
SAID = f"{OPERATORS_ONLY}, since a source may repeat what it was asked"


class WatchOut(BaseModel):
    """A query that is followed at a source, or was."""

    id: UUID
    query: str | None = Field(
        description="in the source's own language; null where `origin` is `abstention`, which is "
        f"{OPERATORS_ONLY}"
    )
    origin: Literal["user", "suggested", "abstention"]
    active: bool = Field(description="whether it is followed now")
    cursor_at: datetime | None = Field(description="all that the source said until then is held")
    age_hours: float | None = Field(description="since `cursor_at`; null if never complete")
    in_sla: bool | None = Field(description="null: not followed now, or no SLA")
    refresh_id: UUID | None = Field(description="its latest refresh, see /v1/refreshes/{id}")
    status: RefreshStatus | None = Field(description="of its latest refresh")
    last_success_at: datetime | None
    last_error: str | None = Field(description=f"null once a refresh is complete; {SAID}")
    last_error_at: datetime | None
    next_run_at: datetime | None


class FollowedOut(WatchOut):
    """A query that is followed, and where."""

    source: str
    title: str = Field(description="the name of the source, for people")


class WatchList(BaseModel):
    """Queries that are followed."""

    watches: list[FollowedOut]


class WatchIn(BaseModel):
    """What to follow, and where."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={"examples": [{"source": "pubmed", "query": "ctDNA AND colorectal"}]},
    )

    source: Annotated[str, Field(max_length=100)] = Field(description="see /v1/sources?all=true")
    query: Annotated[str, Field(min_length=1, max_length=4000), STORABLE] = Field(
        description="in the source's own language"
    )


class SourceOut(BaseModel):
    """A source that is followed, against its SLA."""

    name: str
    title: str
    source_type: str | None = Field(description="null: it completes what other sources brought")
    tier: Tier | None
    badge: str | None
    sla_hours: float | None = Field(description="null: freshness goes by version, or no documents")
    status: Literal["ok", "degraded", "idle"] = Field(
        description="degraded: it fails and is left alone until `retry_at`; idle: nothing is "
        "followed there"
    )
    reason: str | None = Field(description=f"why it is degraded, {SAID}")
    retry_at: datetime | None = Field(description="until when a degraded source is not asked")
    age_hours: float | None = Field(
        description="of the oldest query that is followed; null if none was ever complete"
    )
    in_sla: bool | None = Field(description="null: nothing is followed, or no SLA")
    breached_since: datetime | None
    last_success_at: datetime | None = Field(description="when a refresh was last complete")
    last_error: str | None = Field(description=SAID)
    last_error_at: datetime | None
    next_run_at: datetime | None
    documents: int = Field(description="documents whose current version it brought")
    versions: int = Field(description="versions that it brought, superseded ones included")
    findings_open: int = Field(description="what does not hold about its records, /v1/findings")
    watches: list[WatchOut]


class HeldOut(BaseModel):
    """One kind of source: what is held of it, whoever brought it, and how fresh that is."""

    source_type: str
    name: str
    tier: Tier
    badge: str
    sla_hours: float | None = Field(description="null: freshness goes by version")
    documents: int = Field(description="documents with a current version")
    latest_fetch_at: datetime
    oldest_check_at: datetime
    stale: bool = Field(description="whether the oldest check is longer ago than the SLA allows")


class SourceList(BaseModel):
    """The sources that are followed or brought something, and what is held of each kind."""

    sources: list[SourceOut]
    held: list[HeldOut]


class RefreshIn(BaseModel):
    """What to refresh: all that is followed at the source, or one query."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={"examples": [{"query": "ctDNA AND colorectal", "keep": True}]},
    )

    query: str | None = Field(
        default=None,
        description="in the source's own language, up to 4000 characters; all queries that are "
        "followed, if left out",
    )
    keep: Annotated[bool, Field(strict=True)] = Field(
        default=True, description="follow `query` from now on; false: ask this once"
    )


class RefreshPromised(BaseModel):
    """A refresh that will be done, or is under way."""

    id: UUID
    watch_id: UUID
    status: RefreshStatus
    href: str


class RefreshesPromised(BaseModel):
    """Refreshes were promised. Follow each `href`, best with `?wait=30`."""

    refreshes: list[RefreshPromised]


class RefreshOut(BaseModel):
    """One run of a followed query: fetched page by page, complete once every page is stored."""

    id: UUID
    watch_id: UUID
    source: str
    query: str | None = Field(
        description="in the source's own language; null where `reason` or the origin of its watch "
        f"is `abstention`, which is {OPERATORS_ONLY}"
    )
    reason: Literal["schedule", "retry", "user", "abstention"]
    status: RefreshStatus
    since: datetime | None = Field(
        description="asked for what changed since then; null: for everything, or not begun"
    )
    requested_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    total: int | None = Field(description="records to come, where the source tells")
    steps: int = Field(description="steps taken: pages of a listing, batches of records")
    payloads: int = Field(description="answers that were kept to be read")
    records: int = Field(description="records read")
    fresh: int = Field(description="new or changed versions among them")
    problems: int = Field(description="records that could not be read")
    error: str | None = Field(description=f"why it failed, {SAID}")
    retry_at: datetime | None = Field(description="after a failure: when it is tried again")


class FindingOut(BaseModel):
    """Something about a record that does not hold."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    kind: FindingKind
    source: str
    subject: str = Field(description="what is in doubt: an identifier, a key, a field's path")
    document_id: UUID | None
    detail: dict[str, Any] = Field(description="ids, names of fields and counts; no texts")
    first_seen_at: datetime
    last_seen_at: datetime
    resolved_at: datetime | None


class FindingPage(BaseModel):
    """Findings, newest first."""

    findings: list[FindingOut]
    next_cursor: str | None = Field(description="for the next page; null on the last")
