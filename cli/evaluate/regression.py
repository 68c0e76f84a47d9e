"""`attest evaluate regression`: the plan's thirty questions, through every stage."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from cli.evaluate.corpora import take_in_path
from cli.evaluate.scratch import maintain, scratch, take_in
from knowledge.links import is_search_page
from knowledge.loader import load
from knowledge.policy import retrieval_policy
from knowledge.regression import Asked, regression
from store import questions
from store.models import Answer, Retrieval
from store.settings import Settings
from workers.inline import InlineWorker

Advance = Callable[[str, int, int], None]

TRIALS = "clinical_trials"
ANCHORS = "quote_anchor_coverage"


class NoCorpus(ValueError):
    """There is nothing to ask; the text says what is missing."""


@dataclass(frozen=True)
class Run:
    """What became of one question: its stored retrieval and its answer."""

    asked: Asked
    retrieval: Mapping[str, Any]
    answer: Mapping[str, Any]

    @property
    def kinds(self) -> Counter[str]:
        """How many documents of each kind of source were retrieved as evidence."""
        return Counter(entry["source_type"] for entry in self.retrieval["evidence"])


def evaluate_regression(
    corpus: Path, settings: Settings, advance: Advance, more: Sequence[Path] = ()
) -> dict[str, Any]:
    """Take in every `*.jsonl` of `corpus` and ask the questions, with the real encoder.

    Args:
        more: files and folders of documents that are taken in once the questions are answered:
            anchors are counted over them too, the other figures are those of the corpus.

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
    """How many anchors current documents have."""
    with worker.store.reading() as session:
        found: int = session.execute(
            sa.text(
                "SELECT count(*) FROM anchor a JOIN document_version v ON v.id = a.version_id "
                "WHERE v.status = 'current'"
            )
        ).scalar_one()
    return found


def _ask(worker: InlineWorker, asked: Asked) -> Run:
    with worker.store.unit_of_work("evaluate", request_id=uuid4()) as work:
        question_id = questions.submit(work, asked.text, {}).id
    worker.run()
    with worker.store.reading() as session:
        return Run(
            asked,
            session.get_one(Retrieval, question_id).body,
            session.get_one(Answer, question_id).body,
        )


def report(runs: Sequence[Run], anchors: int) -> dict[str, Any]:
    """Every figure with its target, and each question that fails, with what is wrong. Pure.

    `passed` is about the questions; how many anchors there are depends on what is taken in.
    """
    trials = [run for run in runs if run.asked.type == TRIALS]
    figures: dict[str, float | None] = {
        "nccn_share_trial_queries": _mean(_share(run, {"nccn"}) for run in trials),
        "trial_sources_trial_queries": _mean(_trial_sources(run) for run in trials),
        "routing_compliance": _mean(float(not _misrouted(run)) for run in runs),
        "supported_claim_rate": _supported(runs),
        "unanchored_quote_rate": _unanchored(runs),
        ANCHORS: float(anchors),
        "guideline_share_trial_queries": _mean(_share(run, _guidelines()) for run in trials),
        "questions_over_a_cap": float(sum(bool(_over_caps(run)) for run in runs)),
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
        "abstained": sum(run.answer["abstained"] for run in runs),
        "failing": failing,
        "passed": not failing and all(row["met"] for name, row in rows.items() if name != ANCHORS),
    }


def _mean(values: Any) -> float | None:
    found = list(values)
    return fmean(found) if found else None


def _supported(runs: Sequence[Run]) -> float | None:
    """The share of all drafted claims that the gate found supported, withheld ones included."""
    counts = [run.answer["verification_summary"] for run in runs]
    drafted = sum(sum(one.values()) for one in counts)
    return sum(one["verified_count"] for one in counts) / drafted if drafted else None


def _unanchored(runs: Sequence[Run]) -> float | None:
    """The share of quotations, cited ones and those inside claims, that stood nowhere."""
    cited = [
        place["quote_verdict"] in ("verbatim", "normalized")
        for run in runs
        for claim in run.answer["claims"]
        for place in claim["citations"]
    ]
    inside = [run.answer["quotations"] for run in runs]
    total = len(cited) + sum(one["inside_claims"] for one in inside)
    lost = cited.count(False) + sum(one["unanchored"] for one in inside)
    return lost / total if total else None


def _guidelines() -> frozenset[str]:
    return retrieval_policy().caps["guideline"].of


def _share(run: Run, kinds: frozenset[str] | set[str]) -> float:
    found = run.kinds
    return sum(found[kind] for kind in kinds) / max(1, found.total())


def _trial_sources(run: Run) -> float:
    return float(sum(run.kinds[kind] for kind in retrieval_policy().needs[TRIALS].of))


def _misrouted(run: Run) -> str | None:
    """Whether the question was taken for something else, or its answer does not lead with the first
    section of its type."""
    kind = run.retrieval["query_type"]
    if run.asked.type == "general":
        return None
    if kind != run.asked.type:
        return f"taken for {kind}"
    shown = [section["heading"] for section in run.answer["sections"]]
    first = load("answers")["sections"][kind][0]["heading"]
    return f"leads with {shown[0]}" if shown and shown[0] != first else None


def _over_caps(run: Run) -> list[str]:
    kind, found = run.retrieval["query_type"], run.kinds
    return [
        f"over the cap on {name}"
        for name, cap in retrieval_policy().caps.items()
        if kind not in cap.not_for and sum(found[one] for one in cap.of) > cap.most
    ]


def _search_pages(run: Run) -> list[str]:
    urls = [one["url"] for one in run.answer["references"]]
    urls += [one["source"]["url"] for one in run.answer["evidence"] if one["source"]["url"]]
    return [url for url in urls if is_search_page(url)]


def _faults(run: Run) -> list[str]:
    faults = [*_over_caps(run), *(f"search page {url}" for url in _search_pages(run))]
    if wrong := _misrouted(run):
        faults.append(wrong)
    for claim in run.answer["claims"]:
        if claim["verdict"] != "supported" and "rewritten_from" not in claim:
            faults.append(f"shows a claim that is {claim['verdict']}")
        faults += [
            f"shows a quotation that is {one['quote_verdict']}"
            for one in claim["citations"]
            if one["quote_verdict"] not in ("verbatim", "normalized")
        ]
    return faults
