"""Made-up documents, and what the tests of extraction ask of the store."""

from typing import Any
from uuid import UUID

from store.core.unit_of_work import Store
from store.extractions import extractions
from store.extractions.extractions import EXTRACTIONS, File
from store.models import ExtractionRow
from tests.fakes.learner import Learner
from tests.unit.extract.made import REPORT
from workers.inline import InlineWorker

KEY = "made-up-key-4713"
LETTER = """Computed tomography of the chest, Lakeside General Hospital, 2024-05-17

Dear colleague, we looked at the chest of Mrs. Xyzzy with contrast medium.
There is a nodule in the right upper lobe which has a greatest extent of 14 mm.
It was not there last year. The liver is without focal lesions, and the bones are intact.
The jury, to speak plainly, is out, impression or not.
Kind regards.
"""
"""A letter about nobody, whose impression neither the rules nor the learned reader find."""
FINDINGS = LETTER[LETTER.index("There is") : LETTER.index("\nThe jury")]
IMPRESSION = "The jury, to speak plainly, is out"
DEBRIS = "~^}{ ¤¦ xq |\\ §¬ zzk " * 30


def submit(worker: InlineWorker, document: str | File = REPORT, **options: Any) -> UUID:
    with worker.store.unit_of_work("test") as work:
        return extractions.submit(work, document, **options).id


def stored(store: Store, extraction_id: UUID) -> ExtractionRow:
    with store.reading() as session:
        found = EXTRACTIONS.get(session, extraction_id)
        assert found is not None
        return found


def result_of(store: Store, extraction_id: UUID) -> dict[str, Any]:
    row = stored(store, extraction_id)
    assert row.status == "done", row.error
    assert row.result is not None
    return row.result


def timeless(body: Any) -> Any:
    """A result without how long anything took."""
    if isinstance(body, dict):
        return {k: timeless(v) for k, v in body.items() if k != "processing_time_ms"}
    return [timeless(one) for one in body] if isinstance(body, list) else body


def learner() -> Learner:
    """A model that quotes the findings at once, and the impression when it is told of it."""
    knows = {"date": ["2024-05-17"], "findings": [FINDINGS]}
    return Learner(knows, {"impression": [IMPRESSION]})
