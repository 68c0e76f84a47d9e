"""`attest evaluate regression`: asks the plan's thirty questions through every stage."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from cli.evaluate.corpora import take_in_path
from cli.evaluate.scratch import maintain, scratch, take_in
from contracts import Answer, Retrieval
from knowledge.operation.regression import Asked, regression
from knowledge.works.links import is_search_page
from store.core.settings import Settings
from store.models import Answer as StoredAnswer
from store.models import Retrieval as StoredRetrieval
from store.questions import questions
from workers.audit.quality import ANCHORED, TRIALS, Measured, leads, measure
from workers.inline import InlineWorker

Advance = Callable[[str, int, int], None]

ANCHORS = "quote_anchor_coverage"


class NoCorpus(ValueError):
    """There is nothing to ask; the text says what is missing."""


@dataclass(frozen=True)
class Run:
    """One question with its stored retrieval and its answer."""

    asked: Asked
    retrieval: Retrieval
    answer: Answer

    @cached_property
    def measured(self) -> Measured:
        """The same figures that the service records for every answer (MRD 4.2)."""
        return measure(self.retrieval, self.answer)


def evaluate_regression(
    corpus: Path, settings: Settings, advance: Advance, more: Sequence[Path] = ()
) -> dict[str, Any]:
    """Ingest every `*.jsonl` of `corpus` and ask the questions, with the real encoder.

    Args:
        more: files and folders of documents that are ingested after the questions are answered.
            Anchors are counted over them too; the other figures are those of the corpus.

    Raises:
        NoCorpus: the folder holds no records.
        NothingThere: one of `more` holds no documents.
    """
    files = sorted(corpus.glob("*.jsonl"))
    if not files:
        raise NoCorpus(f"{corpus} holds no *.jsonl with records")
    with scratch(settings.model_copy(update={"encoder": "minilm"})) as worker:
        for number, path in enumerate(files, start=1):
            take_in(worker, path.read_bytes())
            advance("ingest", number, len(files))
        maintain(worker.store)
        runs = []
        for number, asked in enumerate(regression().questions, start=1):
            runs.append(_ask(worker, asked))
            advance("ask", number, len(regression().questions))
        counts = {"corpus": _anchors(worker)}
        for number, path in enumerate(more, start=1):
            before = _anchors(worker)
            take_in_path(worker, path)
            counts[path.name] = _anchors(worker) - before
            advance("more", number, len(more))
        counted = _anchors(worker)
    body = report(runs, counted)
    body["anchors"] = counts
    return body | {"passed": body["passed"] and (not more or body[ANCHORS]["met"])}


def _anchors(worker: InlineWorker) -> int:
    """Count the anchors of current documents."""
    with worker.store.reading() as session:
        count: int = session.execute(
            sa.text(
                "SELECT count(*) FROM anchor a JOIN document_version v ON v.id = a.version_id "
                "WHERE v.status = 'current'"
            )
        ).scalar_one()
    return count


def _ask(worker: InlineWorker, asked: Asked) -> Run:
    with worker.store.unit_of_work("evaluate", request_id=uuid4()) as work:
        question_id = questions.submit(work, asked.text, {}).id
    worker.run()
    with worker.store.reading() as session:
        return Run(
            asked,
            Retrieval.read(session.get_one(StoredRetrieval, question_id).body),
            Answer.read(session.get_one(StoredAnswer, question_id).body),
        )


def report(runs: Sequence[Run], anchors: int) -> dict[str, Any]:
    """Return every figure with its target, and each failing question with its faults. Pure.

    `passed` is about the questions; the number of anchors depends on the documents ingested.
    """
    trials = [run for run in runs if run.asked.type == TRIALS]
    figures: dict[str, float | None] = {
        "nccn_share_trial_queries": _mean(run.measured.share(run.measured.nccn) for run in trials),
        "trial_sources_trial_queries": _mean(float(run.measured.trial_sources) for run in trials),
        "routing_compliance": _mean(float(not _misrouted(run)) for run in runs),
        "supported_claim_rate": _supported(runs),
        "unanchored_quote_rate": _unanchored(runs),
        ANCHORS: float(anchors),
        "guideline_share_trial_queries": _mean(
            run.measured.share(run.measured.guidelines) for run in trials
        ),
        "questions_over_a_cap": float(sum(bool(run.measured.over_caps) for run in runs)),
        "search_page_urls": float(sum(len(_search_pages(run)) for run in runs)),
    }
    targets = regression().targets
    rows = {
        name: {
            "value": None if figure is None else round(figure, 4),
            "target": targets[name].model_dump(exclude_none=True),
            "met": targets[name].met(figure),
        }
        for name, figure in figures.items()
    }
    failing = [{"question": run.asked.text, "why": why} for run in runs if (why := _faults(run))]
    return {
        **rows,
        "questions": len(runs),
        "abstained": sum(run.answer.abstained for run in runs),
        "failing": failing,
        "passed": not failing and all(row["met"] for name, row in rows.items() if name != ANCHORS),
    }


def _mean(values: Any) -> float | None:
    numbers = list(values)
    return fmean(numbers) if numbers else None


def _supported(runs: Sequence[Run]) -> float | None:
    """Return the share of all drafted claims, withheld ones included, that the gate supported."""
    drafted = sum(run.measured.claims.drafted for run in runs)
    return sum(run.measured.claims.verified for run in runs) / drafted if drafted else None


def _unanchored(runs: Sequence[Run]) -> float | None:
    """Return the share of quotations, cited ones and those inside claims, found in no source."""
    total = sum(run.measured.quotations for run in runs)
    return sum(run.measured.unanchored for run in runs) / total if total else None


def _misrouted(run: Run) -> str | None:
    """Return the fault if the question was classified as another type, or its answer does not lead
    with the first section of its type; else None."""
    kind, first = run.measured.query_type, run.measured.first_section
    if run.asked.type == "general":
        return None
    if kind != run.asked.type:
        return f"taken for {kind}"
    return f"leads with {first}" if first is not None and not leads(kind, first) else None


def _search_pages(run: Run) -> list[str]:
    urls = [reference.url for reference in run.answer.references]
    urls += [record.source.url for record in run.answer.evidence if record.source.url]
    return [url for url in urls if is_search_page(url)]


def _faults(run: Run) -> list[str]:
    faults = [*(f"over the cap on {name}" for name in run.measured.over_caps)]
    faults += (f"search page {url}" for url in _search_pages(run))
    if wrong := _misrouted(run):
        faults.append(wrong)
    for claim in run.answer.claims:
        if claim.verdict != "supported" and claim.rewritten_from is None:
            faults.append(f"shows a claim that is {claim.verdict}")
        faults += [
            f"shows a quotation that is {citation.quote_verdict}"
            for citation in claim.citations
            if citation.quote_verdict not in ANCHORED
        ]
    return faults
