"""The view of an answer's recall state since it was sealed. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api_gateway.pages import links
from api_gateway.pages.clocks import Moment, moment
from api_gateway.pages.wording import RECALL, Badge, badge
from store.recalls.recalls import GATE


@dataclass(frozen=True)
class ReasonView:
    """A document that changed, and how it changed."""

    title: str
    what: str
    href: str | None
    at: Moment | None


@dataclass(frozen=True)
class RecallView:
    """The recall state of an answer, and the questions before and after it."""

    state: str
    badge: Badge
    reasons: Sequence[ReasonView]
    changed: Moment | None
    superseded_by: str | None
    supersedes: str | None


def recall_view(body: Mapping[str, Any], by_key: Mapping[Any, Mapping[str, Any]]) -> RecallView:
    """The view of an answer's `recall`."""
    titles = {
        (record.get("source") or {}).get("document_id"): record.get("title")
        for record in by_key.values()
    }
    return RecallView(
        state=body.get("state", "current"),
        badge=badge(RECALL, body.get("state", "current")),
        reasons=[_reason(reason, titles) for reason in body.get("because") or ()],
        changed=moment(body.get("changed_at")),
        superseded_by=body.get("superseded_by"),
        supersedes=body.get("supersedes"),
    )


def _reason(body: Mapping[str, Any], titles: Mapping[Any, str | None]) -> ReasonView:
    if body.get("change") == GATE:
        return _gate(body)
    document_id, old, new = (body.get(key) for key in ("document_id", "version", "new_version"))
    change = str(body.get("change", "changed")).replace("_", " ")
    what = f"version {old} was replaced by version {new}" if new else change
    notice = " ".join(
        filter(None, (str(body.get("notice_id") or ""), str(body.get("stated_on") or "")))
    )
    href = links.evidence_link(document_id, new or 1)
    if href is not None and isinstance(old, int) and isinstance(new, int):
        href = f"/evidence/{document_id}/diff?old={old}&new={new}"
    elif href is not None:
        href = f"/evidence/{document_id}"
    return ReasonView(
        title=titles.get(document_id) or "A cited document",
        what=f"{what} ({notice})" if notice else what,
        href=href,
        at=moment(body.get("at")),
    )


def _gate(body: Mapping[str, Any]) -> ReasonView:
    """A new gate would not let these claims through."""
    claims = [str(one.get("claim_id")) for one in body.get("findings") or ()]
    told = f"claim {claims[0]} does" if len(claims) == 1 else f"claims {', '.join(claims)} do"
    what = f"{told} not stand under it any more"
    return ReasonView("The way in which claims are verified", what, None, moment(body.get("at")))
