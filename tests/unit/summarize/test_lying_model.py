"""A language model that lies about a note tells nothing: its words are the note's, in the lists and
with the doubts that the rules leave them."""

import json
from pathlib import Path

from benchmarks.notes_unseen import measure
from tests.unit.summarize.test_model import Model, item
from workers.summarize.model import (
    Asked,
    ProposedPlan,
    ProposedSection,
    ProposedSections,
    ProposedStep,
    ProposedSummary,
    propose_items,
    propose_plan,
    propose_sections,
)
from workers.summarize.plan import recommendations
from workers.summarize.summary import read

NOTE = """HPI:
She has a rash. Her brother has leprosy.

Family History:
- Haemophilia

Medications stopped:
- Warfarin 5 mg daily

Plan:
- Emollient
"""


def lists(text: str, *proposed: tuple[str, str]) -> dict[str, list[str]]:
    reading = read(text)
    said = [item(reading, name, words) for name, words in proposed]
    items = propose_items(Model(ProposedSummary(items=said)), reading, Asked())
    found: dict[str, list[str]] = {}
    for one in items:
        found.setdefault(one.list, []).append(one.text_in(text))
    return found


def test_an_illness_of_the_family_stays_in_the_history_whatever_a_model_says() -> None:
    found = lists(NOTE, ("key_problems", "Haemophilia"), ("assessment", "brother has leprosy"))
    assert "key_problems" not in found
    assert "Her brother has leprosy." in found["pertinent_history"]
    at = found["pertinent_history"].index("Haemophilia")
    assert found["pertinent_history"][at - 1] == "Family History:"


def test_a_drug_that_was_stopped_stays_among_the_medicines_under_that_line() -> None:
    found = lists(NOTE, ("assessment", "Warfarin 5 mg daily"))
    assert "Warfarin 5 mg daily" not in found.get("assessment", [])
    at = found["medicines_allergies"].index("Warfarin 5 mg daily")
    assert found["medicines_allergies"][at - 1] == "Medications stopped:"


def test_a_plan_that_only_a_model_found_is_never_sure() -> None:
    text = (
        "She feels well today. She was told to take ibuprofen once a day. Her knee is better. "
        "Swelling is gone.\n"
    )
    said = ProposedSection(kind="plan", first_words="She was told to take ibuprofen")
    parts = propose_sections(Model(ProposedSections(sections=[said])), read(text), Asked())
    reading = read(text, parts)
    assert recommendations(text, reading.items)
    assert all(one.note for one in recommendations(text, reading.items))


def test_an_order_of_an_earlier_day_is_not_recommended_because_a_model_says_so() -> None:
    text = (
        "Progress note 3/2/2026\nPlan:\n- gentamicin 320 mg\n\n"
        "Progress note 3/5/2026\nPlan:\n- cefalexin 500 mg TID\n"
    )
    reading, asked = read(text), Asked()
    keys = [f"A{n}" for n in range(1, 9)]
    steps = [ProposedStep(item=one, confidence=1.0, doubt=None) for one in keys]
    plan = propose_plan(Model(ProposedPlan(recommendations=steps)), reading, reading.items, asked)
    assert not [one for one in plan if "gentamicin" in one.text]
    assert [one for one in plan if "cefalexin" in one.text]
    assert asked.refused["earlier"] > 0


def test_the_truths_of_the_unseen_notes_name_words_that_stand_in_them() -> None:
    folder = Path(measure.__file__).parent / "notes"
    for path in sorted(folder.glob("*.json")):
        gold = json.loads(path.read_bytes())
        note = measure.folded(path.with_suffix(".txt").read_text("utf-8"))
        for one in (*gold["required"], *gold["forbidden"]):
            assert all(measure.folded(word) in note for word in one["say"]), (path.name, one)
