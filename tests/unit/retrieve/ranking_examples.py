"""Candidates and questions for the tests of ranking."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from knowledge.scenarios import Scenario
from workers.retrieve.ranking.candidates import Candidate, Place
from workers.retrieve.understanding.model import Pico, Understanding

AF, CKD = "atrial_fibrillation", "chronic_kidney_disease"
GUIDELINES = {"nccn", "asco", "esmo", "guideline"}


def place(score: float = 0.6, **fields: Any) -> Place:
    """A passage that speaks to the question."""
    return Place(
        **{
            "chunk_id": "chunk_0",
            "section": "",
            "start": 0,
            "end": 10,
            "text": "What was found.",
            "score": score,
            "lexical": score,
            "dense": score,
            "covered": 0.7,
        }
        | fields
    )


def candidate(number: int, score: float = 0.6, **fields: Any) -> Candidate:
    """A document on anticoagulation in atrial fibrillation, unless `fields` say something else."""
    diseases = frozenset(fields.pop("diseases", {AF}))
    return Candidate(
        **{
            "document_id": UUID(int=number),
            "version_id": UUID(int=1000 + number),
            "n": 1,
            "source_type": "europepmc",
            "title": "A work",
            "identifiers": {},
            "url": None,
            "year": 2024,
            "publication_type": None,
            "evidence_level": None,
            "focus": diseases,
            "diseases": diseases,
            "decisions": frozenset({"anticoagulation"}),
            "places": (place(score),),
        }
        | fields
    )


def question(
    query_type: str = "general",
    diseases: Iterable[str] = (AF, CKD),
    decisions: Iterable[str] = ("anticoagulation",),
    names: Iterable[str] = (),
) -> Understanding:
    """What was understood of a question."""
    return Understanding(
        query_type=query_type,
        classification="",
        pico=Pico(None, None, None, None, None),
        diseases=tuple(diseases),
        decisions=tuple(decisions),
        names=tuple(names),
        asks_for_today=False,
    )


def pack(**kinds: str) -> Scenario:
    """A scenario of AF with CKD whose works are told by their DOI: `kind="10.1000/x"`."""
    return Scenario.model_validate(
        {
            "name": "af_ckd",
            "label": "AF with CKD",
            "diseases": [AF, CKD],
            "decisions": ["anticoagulation"],
            "reviewed_on": "2026-11-22",
            "entries": [
                {
                    "kind": kind,
                    "title": "A work of the pack",
                    "year": 2024,
                    "doi": doi,
                    "confirmed": True,
                    "basis": "title and DOI on one page",
                }
                for kind, doi in kinds.items()
            ],
        }
    )
