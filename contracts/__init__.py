"""Bodies that stages hand on through the store, as frozen types: what is written, sealed and shown.

A body is written with the version of its form (`schema_version`). Bodies of every release are read:
see `contracts.body`.
"""

from contracts.answer import Answer
from contracts.body import Body, Part, UnknownForm
from contracts.draft import Draft
from contracts.extraction import Extraction
from contracts.inputs import AnswerInputs, CheckedClaim
from contracts.retrieval import Retrieval
from contracts.summary import Summary

__all__ = [
    "Answer",
    "AnswerInputs",
    "Body",
    "CheckedClaim",
    "Draft",
    "Extraction",
    "Part",
    "Retrieval",
    "Summary",
    "UnknownForm",
]
