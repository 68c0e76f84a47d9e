"""The references of an answer: what each shows, and which badges it earns (EB-7 to EB-9). Pure."""

import re
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from knowledge.feeds.sources import source_policy
from knowledge.works.kinds import Kind, kind_of
from knowledge.works.links import DirectUrl
from knowledge.works.trust import Standard, badge_policy
from store.documents.documents import Version
from workers.verify.answers.evidence import Cited, Clocks

SHOWN_IDENTIFIERS = ("pmid", "doi", "nct_id")
"""DESIGN section 5."""
MOST_AUTHORS = 3
"""EB-8.1."""
_RESULTS = re.compile(r"(?<!\bno )\bresults posted\b", re.IGNORECASE)
_BARE = "bibliographic-only"
"""The label of a record that holds facts of the publication alone
(`knowledge/works/trust.yaml`)."""


class Reference(BaseModel):
    """A numbered reference. Its type can hold no search page (EB-9)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    n: int = Field(ge=1)
    evidence_id: str
    title: str
    authors: str
    source: str
    year: int | None
    badges: tuple[str, ...]
    url: DirectUrl
    pmid: str | None = None
    doi: str | None = None
    nct_id: str | None = None

    def as_body(self) -> dict[str, Any]:
        """As the answer shows it: without identifiers that it has not."""
        body = self.model_dump(mode="json")
        return {
            name: value
            for name, value in body.items()
            if value is not None or name not in SHOWN_IDENTIFIERS
        }


def references(used: Iterable[tuple[Cited, Clocks]]) -> list[dict[str, Any]]:
    """Numbered references; what has no direct page is left out (EB-7.5, EB-8.5), and so is every
    identifier in doubt."""
    listed: list[Reference] = []
    for cited, age in used:
        version, page = cited.version, cited.page
        if page is None:
            continue
        known = cited.known
        listed.append(
            Reference(
                n=len(listed) + 1,
                evidence_id=cited.evidence_id,
                title=version.title,
                authors=authors(version.authors),
                source=version.publisher or source_policy(version.source_type).name,
                year=version.published_at.year if version.published_at else None,
                badges=tuple(badges(cited, age.published_age_days)),
                url=page,
                **{kind: known[kind] for kind in SHOWN_IDENTIFIERS if kind in known},
            )
        )
    return [one.as_body() for one in listed]


def authors(names: list[str]) -> str:
    """First author et al. where there are more than three, or the source cut its list (EB-8.1)."""
    cut = len(names) > MOST_AUTHORS or names[-1:] == ["et al."]
    return f"{names[0]} et al." if cut else ", ".join(names)


def badges(cited: Cited, published_age_days: int | None) -> list[str]:
    """Where it comes from, what kind of work it is, what speaks for it and what against (EB-8.4).
    What a caller brought says so, and gets nothing that its number alone would lend it.

    The rules and their numbers stand in `knowledge/works/trust.yaml`.
    """
    rules, version = badge_policy(), cited.version
    kinds = (version.publication_type, version.evidence_level)
    typed = [rules.types.get((kind or "").lower(), ()) for kind in kinds]
    typed.append(rules.types.get((_kind(version) or "").replace("_", " "), ()))
    found = [
        source_policy(version.source_type).badge,
        "Cochrane" if not cited.is_callers and _is_cochrane(cited) else None,
        rules.standings.get(cited.standing.state),
        *next(filter(None, typed), ()),
        *_quality(cited, published_age_days),
        *map(rules.labels.get, cited.labels),
    ]
    return list(dict.fromkeys(badge for badge in found if badge))


def _is_cochrane(cited: Cited) -> bool:
    rule = badge_policy().cochrane
    journal = (cited.version.publisher or "").lower()
    return (
        cited.known.get("doi", "").lower().startswith(rule.doi_prefix) or journal in rule.journals
    )


def _quality(cited: Cited, published_age_days: int | None) -> list[str]:
    """What speaks for a work. A concern about it takes back what is said of its worth."""
    rules, version = badge_policy(), cited.version
    found = []
    if cited.standing.state != "expression_of_concern":
        is_entry = cited.anchor is not None and not cited.is_callers and _has_results(version)
        if is_entry or _meets(rules.gold_standard, version):
            found.append("Gold Standard")
        if _meets(rules.practical_guidance, version):
            found.append("Practical Guidance")
        if _is_highly_cited(cited):
            found.append("Highly Cited")
    if published_age_days is not None and published_age_days <= rules.recent.days:
        found.append("Recent")
    return found


def _kind(version: Version) -> Kind | None:
    return kind_of(
        version.source_type,
        version.publication_type,
        version.evidence_level,
        title=version.title,
        text=version.text,
    )


def _has_results(version: Version) -> bool:
    """A registration is no evidence before it has results, in whatever pack it stands, nor is a
    record that is held without a word of them; a body's recommendation needs none."""
    kind = _kind(version)
    if kind in ("registry_entry", "protocol"):
        return bool(_RESULTS.search(version.evidence_level or ""))
    bare = version.text.strip() == version.title.strip() or _BARE in version.labels
    return kind == "guideline" or not bare


def _is_highly_cited(cited: Cited) -> bool:
    """Sources count what cites a DOI (WIRE 5), which may be another work's where it is in doubt."""
    doubtful = cited.version.identifiers.keys() - cited.identifiers.keys()
    enough = (cited.cited_by or 0) >= badge_policy().highly_cited.citations
    return enough and "doi" not in doubtful


def _meets(rule: Standard, version: Version) -> bool:
    level = (version.evidence_level or "").lower()
    fits = level in rule.levels or version.source_type in rule.source_types
    return fits and rule.not_labels.isdisjoint(version.labels)
