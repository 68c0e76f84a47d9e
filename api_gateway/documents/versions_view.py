"""The view of a document and its versions in the evidence viewer. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from api_gateway.pages.clocks import (
    BY_VERSION,
    FRESH,
    STALE,
    Moment,
    moment,
    published,
    span_of_hours,
)
from api_gateway.pages.wording import STANDING, Badge
from knowledge.feeds.sources import source_policy
from knowledge.works.links import direct_url
from store.documents.browse import DocumentSummary, VersionSummary
from store.documents.publication_status import HeldNotice, Standing

STATUS = {
    "current": Badge("Current", "good", "check", "The version that answers may rest on"),
    "superseded": Badge("Superseded", "warn", "half", "A newer version has taken its place"),
    "retracted": Badge("Retracted", "bad", "cross", "The work is evidence no longer"),
}


@dataclass(frozen=True)
class VersionView:
    """A version in the list of a document."""

    n: int
    href: str
    diff: str | None
    badge: Badge
    fetched: Moment | None
    chars: int
    shown: bool


@dataclass(frozen=True)
class DocumentView:
    """The head of the viewer: the work, its source and its standing."""

    id: str
    n: int
    title: str
    authors: str
    source: str
    kind: str
    url: str | None
    identifiers: Sequence[tuple[str, str]]
    claims: Sequence[str]
    published: Moment | None
    fetched: Moment | None
    checked: Moment | None
    limit: str | None
    freshness: Badge
    badge: Badge
    standing: str | None
    notices: Sequence[str]
    newer: str | None
    versions: Sequence[VersionView]
    labels: Sequence[str]
    content_hash: str


def document_view(
    document: DocumentSummary,
    checked_at: datetime,
    age_hours: float,
    what_became: Standing,
    n: int,
    claims: Sequence[str] = (),
) -> DocumentView:
    """The view of version `n`; it must be among the document's versions.

    Args:
        checked_at: when the document was last checked, `age_hours` ago.
        claims: the texts about a document sent under the numbers of works that sources hold. Its
            numbers are then neither linked nor shown as its own.
    """
    version = next(row for row in document.versions if row.n == n)
    shown = document.shown
    policy = source_policy(document.source_type)
    fresh = STALE if policy.is_stale(age_hours) else FRESH
    base = f"/evidence/{document.id}"
    return DocumentView(
        id=str(document.id),
        n=n,
        title=version.title,
        authors=", ".join(version.authors),
        source=version.publisher or source_policy(version.source_type).name,
        kind=version.publication_type or source_policy(version.source_type).badge,
        url=None if claims else direct_url(version.identifiers, version.url),
        identifiers=[
            (kind.upper().replace("_ID", ""), v)
            for kind, v in version.identifiers.items()
            if not claims
        ],
        claims=claims,
        published=published(version.published_at, version.published_precision),
        fetched=moment(version.fetched_at),
        checked=moment(checked_at),
        limit=None if policy.sla_hours is None else span_of_hours(policy.sla_hours),
        freshness=BY_VERSION if policy.sla_hours is None else fresh,
        badge=_status(version),
        standing=STANDING.get(what_became.state),
        notices=list(dict.fromkeys(map(_notice, what_became.notices))),
        newer=f"{base}/versions/{shown.n}" if shown is not None and shown.n > n else None,
        versions=[
            VersionView(
                n=row.n,
                href=f"{base}/versions/{row.n}",
                diff=f"{base}/diff?old={row.n - 1}&new={row.n}" if row.n > 1 else None,
                badge=_status(row),
                fetched=moment(row.fetched_at),
                chars=row.chars,
                shown=row.n == n,
            )
            for row in document.versions
        ],
        labels=[label.replace("-", " ") for label in version.labels],
        content_hash=version.content_hash,
    )


def _notice(one: HeldNotice) -> str:
    stated = one.stated_on.isoformat() if one.stated_on else ""
    parts = (one.kind.replace("_", " "), one.notice_id, stated, f"by the word of {one.source}")
    return " ".join(filter(None, parts))


def _status(version: VersionSummary) -> Badge:
    return STATUS.get(version.status, STATUS["superseded"])
