"""What the pages cost: rendering an answer on the server, and what a browser must fetch.

    python -m benchmarks.pages [--browser]

Prints one JSON object: milliseconds from an answer to its HTML (median, 95th percentile of 200),
for as many references as `--references` says, with two claims each; and bytes of the first page
with all that it links to. With `--browser` a second one: what Chromium measures of a private
instance with the sample corpus, from the beginning of the navigation: the first byte, the first and
the largest contentful paint of each main page, and the CPU time of its main thread (`cpu_ms`, from
the DevTools protocol), which a busy machine does not lengthen. `cold` is a browser that has nothing
of ours yet, `warm` one that has; `floor` is a page without style, script or markup of ours.
"""

import argparse
import json
import os
import statistics
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from api_gateway.documents.adding_view import kinds
from api_gateway.pages import wording
from api_gateway.pages.rendering import NAVIGATION, render, static_files
from api_gateway.questions import sharing
from api_gateway.questions.answer_view import answer_view
from api_gateway.questions.page_routes import FIELDS, NO_ERRORS
from api_gateway.questions.question_in import MAX_QUESTION_CHARS
from api_gateway.questions.view import question_view
from api_gateway.schemas import QuestionOut
from cli.output.printing import Console

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

ROUNDS = 200
_NAMES = UUID("0a6fd8f0-4a3e-4a0c-9d53-1a4f9e6f2f10")
_WORDS = "made-up words of a passage that stand for nothing and only fill a line of the page "


def document_id(n: int) -> str:
    """The id of the made-up document `n`."""
    return str(uuid5(_NAMES, f"document {n}"))


def answer_body(references: int = 10, claims: int = 2) -> dict[str, Any]:
    """An answer with every part that a page shows: `claims` claims for each of its references."""
    keys = [f"E{n}" for n in range(1, references + 1)]
    named = [(f"c{n}-{m}", n) for n in range(1, references + 1) for m in range(1, claims + 1)]
    return {
        "query_type": "general",
        "classification": "oncology/general",
        "pico": {"patient": "adults", "intervention": "xyzomab", "condition": None},
        "tags": {"diseases": ["colorectal_cancer"], "decisions": ["mrd_testing"]},
        "sub_queries": [],
        "sufficiency": {"score": 90, "level": "excellent", "basis": "made up"},
        "abstained": False,
        "abstain_reason": None,
        "abstain_detail": None,
        "cure": None,
        "cure_refreshes": [],
        "summary": {
            "text": " ".join(f"Claim {key}. {_WORDS}" for key, _ in named[:3]),
            "supported_claim_ids": [key for key, _ in named[:3]],
        },
        "sections": [{"heading": "EVIDENCE", "claim_ids": [key for key, _ in named]}],
        "claims": [_claim(key, n) for key, n in named],
        "evidence": [_record(key, n) for key, n in named],
        "references": [_reference(n, key) for n, key in enumerate(keys, start=1)],
        "images": [],
        "conflicts": [],
        "verification_summary": {
            "verified_count": len(named),
            "partial_count": 0,
            "unverified_count": 1,
            "conflicting_count": 0,
        },
        "freshness_summary": {
            "latest_fetch_at": "2026-11-21T00:00:00+00:00",
            "max_age_hours": 37.9,
            "stale_sources": [],
        },
        "recall": {"state": "current", "because": []},
        "provenance": {
            "generator": "extractive",
            "model": None,
            "prompt_version": "extractive.v1",
            "knowledge_version": "000000000000",
            "cost_usd": "0",
            "fallback": None,
            "stage_timings_ms": {"retrieve": 120.5, "generate": 40.0},
        },
    }


def _claim(claim_id: str, n: int) -> dict[str, Any]:
    return {
        "claim_id": claim_id,
        "text": f"Claim {claim_id}. {_WORDS}",
        "basis": "words",
        "verdict": "supported",
        "verification_status": "verified",
        "citations": [
            {
                "evidence_id": f"E{n}",
                "document_id": document_id(n),
                "version": 1,
                "chunk_id": "chunk_0",
                "section": "Results",
                "start": 10,
                "end": 90,
                "quote": _WORDS,
                "quote_verdict": "verbatim",
                "citation": "Results section, chunk_0:10-90",
            }
        ],
    }


def _record(claim_id: str, n: int) -> dict[str, Any]:
    return {
        "claim_id": claim_id,
        "evidence_id": f"E{n}",
        "title": f"Title of the made-up work {n}",
        "version": 1,
        "version_id": str(uuid5(_NAMES, f"version {n}")),
        "labels": [],
        "source": {"name": "A journal", "url": None, "document_id": document_id(n)},
        "clocks": {
            "fetched_at": "2026-11-21T00:00:00+00:00",
            "freshness_hours": 37.9,
            "sla_hours": 168.0,
            "stale": False,
            "published_at": "2025-10-20T00:00:00+00:00",
            "published_precision": "day",
            "published_age_days": 398,
            "dated": False,
        },
        "standing": {"state": "none", "notices": [], "asked": []},
    }


def _reference(n: int, key: str) -> dict[str, Any]:
    return {
        "n": n,
        "evidence_id": key,
        "title": f"Title of the made-up work {n}",
        "authors": "Author A et al.",
        "source": "A journal",
        "year": 2025,
        "badges": ["PubMed", "Clinical Trial", "Recent"],
        "url": f"https://example.org/works/{n}",
        "doi": f"10.5555/work.{n}",
    }


def question(body: dict[str, Any]) -> QuestionOut:
    """A question that has this answer."""
    at = datetime(2026, 11, 22, 12, tzinfo=UTC)
    return QuestionOut.model_validate(
        {
            "id": uuid5(_NAMES, "question"),
            "status": "answered",
            "stage": None,
            "question": "Does xyzomab help in a made-up disease?",
            "created_at": at,
            "finished_at": at,
            "answer": body,
            "error": None,
            "timings": [],
        }
    )


_ASKING: dict[str, Any] = {
    "given": dict.fromkeys(FIELDS, ""),
    "errors": NO_ERRORS,
    "most": MAX_QUESTION_CHARS,
    "kinds": kinds(),
}
"""What the form of a question is made of."""


def answer_page(found: QuestionOut) -> str:
    """The HTML of a question's page."""
    return render(
        "questions/question.html",
        nav=list(NAVIGATION[:3]),
        path=f"/questions/{found.id}",
        question=question_view(found, {}),
        answer=answer_view(found.answer or {}),
        curing=[],
        followed=[],
        key="",
        before=None,
        shared=False,
        link="",
        link_until=None,
        judgments=[(name, words, 0) for name, words in wording.JUDGMENT.items()],
        related=(),
        share_days=sharing.DAYS,
        **_ASKING,
    )


def first_page() -> str:
    """The HTML of the page with the question box."""
    return render(
        "questions/ask.html",
        nav=list(NAVIGATION[:3]),
        path="/",
        refused="",
        examples=wording.EXAMPLES,
        empty=False,
        key="",
        before=None,
        **_ASKING,
    )


WATCH = """new PerformanceObserver((list) => {
    for (const one of list.getEntries()) window.largest = one.startTime;
}).observe({ type: "largest-contentful-paint", buffered: true })"""
PAINTED = "() => window.largest && performance.getEntriesByName('first-contentful-paint').length"
PAINTS = """() => {
    const [page] = performance.getEntriesByType("navigation");
    const [first] = performance.getEntriesByName("first-contentful-paint");
    return [page.responseStart, first.startTime, window.largest];
}"""
VISITS = 10
FLOOR = "/healthz"
"""What a browser paints with no markup, style or script of ours: the time of the machine itself."""


def in_browser() -> dict[str, Any]:
    """Milliseconds to the first byte, the first paint and the largest one: medians of ten loads.

    Pages are visited in turn, so that a load of the machine falls on all of them, and `ratio` is
    the first paint over that of `FLOOR`: it can be compared where milliseconds cannot.
    """
    from benchmarks.screenshots import instance  # a browser is no need of the other figures
    from cli.commands.demo import QUESTIONS
    from cli.commands.questions.ask import ask

    with instance(Console(stderr=True)) as (url, browser):
        asked = ask(url, {"question": QUESTIONS[0]})
        return {"bench": "browser", **paints(browser, url, f"/questions/{asked['id']}")}


def paints(browser: "Browser", url: str, answer: str) -> dict[str, Any]:
    """The paints of each page of the instance at `url`, whose page of an answer is at `answer`."""
    paths = {
        **{"floor": FLOOR, "ask": "/", "answer": answer, "history": "/questions"},
        **{"library": "/library", "verify": "/verify", "operate": "/operate"},
        **{"quality": "/operate/quality"},
    }
    seen: dict[str, list[list[float]]] = {}
    kept = browser.new_context()
    for path in paths.values():
        _visit(kept, url + path)  # so that it has styles and scripts
    for _ in range(VISITS):
        for name, path in paths.items():
            fresh = browser.new_context()
            seen.setdefault(f"{name}_cold", []).append(_visit(fresh, url + path))
            fresh.close()
            seen.setdefault(f"{name}_warm", []).append(_visit(kept, url + path))
    told = {name: _told(times) for name, times in seen.items()}
    for name, one in told.items():
        floor = told[f"floor_{name.rpartition('_')[2]}"]["first_paint_ms"]
        one["ratio"] = round(one["first_paint_ms"] / floor, 2)
    return {"load": os.getloadavg()[0], **told}


def _visit(context: "BrowserContext", address: str) -> list[float]:
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.add_init_script(WATCH)
    page.goto(address, wait_until="load")
    page.wait_for_function(PAINTED)
    times: list[float] = page.evaluate(PAINTS)
    metrics = devtools.send("Performance.getMetrics")["metrics"]
    times += [one["value"] * 1000 for one in metrics if one["name"] == "TaskDuration"]
    page.close()
    return times


def _told(times: list[list[float]]) -> dict[str, float]:
    names = ("first_byte_ms", "first_paint_ms", "largest_paint_ms", "cpu_ms")
    medians = (round(statistics.median(each), 1) for each in zip(*times, strict=True))
    return dict(zip(names, medians, strict=True))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--references", type=int, default=10)
    parser.add_argument("--browser", action="store_true", help="also in a real browser")
    given = parser.parse_args()
    references = given.references
    found = question(answer_body(references))
    answer_page(found)  # the templates are compiled once a process
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        html = answer_page(found)
        times.append((time.perf_counter() - began) * 1000)
    sizes = {name: len(one.content) for name, one in static_files().items()}
    first = first_page()
    linked = sum(size for name, size in sizes.items() if f"/static/{name}?" in first)
    print(
        json.dumps(
            {
                "references": references,
                "answer_ms_p50": round(statistics.median(times), 2),
                "answer_ms_p95": round(statistics.quantiles(times, n=20)[-1], 2),
                "answer_bytes": len(html.encode()),
                "first_page_bytes": len(first.encode()) + linked,
                "all_static_bytes": sum(sizes.values()),
            }
        )
    )
    if given.browser:
        print(json.dumps(in_browser()))


if __name__ == "__main__":
    main()
