"""The pages of clinical documents: send a document, follow it, read its fields beside its text."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session

from api_gateway.backpressure.bodies import BodyLimit
from api_gateway.extractions import view
from api_gateway.extractions.routes import EXTRACTION
from api_gateway.extractions.schemas import MAX_DOCUMENT_CHARS
from api_gateway.extractions.uploads import Sent, sent
from api_gateway.extractions.view import extraction_line, label
from api_gateway.http.uploads import Received
from api_gateway.pages.clocks import milliseconds
from api_gateway.pages.forms import Given, lines
from api_gateway.problems import invalid
from api_gateway.resources.page_routes import Pages, page_router
from knowledge.documents.extraction import DOCUMENT_TYPE_NAMES, PROFILE_NAMES
from knowledge.loader import load
from store.extractions import extractions, reviews
from store.models import ExtractionIteration, ExtractionRow, Review

BODY_LIMITS = {("POST", "/extractions"): BodyLimit(None)}
OPTIONS = ("title", "document_type", "profile")


def _threshold(profile: str) -> float | None:
    values = load("rubrics/policy")["profiles"].get(profile)
    return float(values["threshold"]) if values else None


def _sent(form: Given) -> Sent:
    """The document of the form, as it would be sent to the API.

    Raises:
        Problem: it is refused, or there is none.
    """
    options = {name: form.fields[name] for name in OPTIONS if form.fields.get(name, "").strip()}
    if form.content is not None:
        return sent(Received(form.content, form.filename, form.declared, tuple(options.items())))
    text = lines(form.fields.get("text", ""))
    if not text.strip():
        raise invalid("form.file", "choose a file or paste a text")
    return sent(Received(json.dumps({"text": text, **options}, ensure_ascii=False).encode()))


def _content(given: Sent) -> Mapping[str, Any]:
    document, options = given.document, given.options
    fields = {"title": options.title, "type": options.document_type, "profile": options.profile}
    return fields | {"document": document if isinstance(document, str) else vars(document)}


@dataclass(frozen=True)
class _Beside:
    """The iterations of an extraction, and its review if it needed one."""

    steps: Sequence[ExtractionIteration]
    review: Review | None


def _beside(session: Session, row: ExtractionRow) -> _Beside:
    steps = extractions.iterations(session, row.id)
    return _Beside(steps, reviews.of_extraction(session, row.id))


def _view(row: ExtractionRow, beside: _Beside, chosen: str | None) -> Mapping[str, Any]:
    """How far the document is, or its fields; the words of `chosen` stand out."""
    result = row.result if row.status == "done" else None
    extracted = result if result is not None and row.outcome == "extracted" else None
    review = beside.review
    return {
        "line": extraction_line(row),
        "score": view.score(row.score),
        "is_open": row.status in EXTRACTION.unfinished,
        "took": milliseconds(row.seconds * 1000),
        "steps": _steps(row, beside.steps),
        "found": view.result_view(row.text or "", extracted, chosen) if extracted else None,
        "unreadable": result if result is not None and extracted is None else None,
        "review": review,
        "review_badge": view.REVIEW.get(review.status) if review else None,
    }


def _steps(
    row: ExtractionRow, iterations: Sequence[ExtractionIteration]
) -> list[Mapping[str, Any]]:
    kinds = [part["type"] for part in (row.plan or {}).get("parts", [])]
    return [
        {
            "part": step.part + 1,
            "kind": label(kinds[step.part] if step.part < len(kinds) else "unknown"),
            "n": step.n,
            "score": view.score(step.score),
            "gain": "–" if step.gain is None else f"{step.gain:+.3f}",
        }
        for step in iterations
    ]


router = page_router(
    Pages(
        EXTRACTION,
        path="/extractions",
        form="extractions/extractions.html",
        shown="extractions/extraction.html",
        fields=("text", *OPTIONS),
        given=_sent,
        content=_content,
        choices={
            "types": [(name, label(name)) for name in DOCUMENT_TYPE_NAMES if name != "unknown"],
            "profiles": [(name, label(name), _threshold(name)) for name in PROFILE_NAMES],
            "most": MAX_DOCUMENT_CHARS,
        },
        line=extraction_line,
        page_size=20,
        beside=_beside,
        view=_view,
        chosen="field",
    )
)
