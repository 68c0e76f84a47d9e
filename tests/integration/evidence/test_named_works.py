"""Who asks for a work by its number is answered from it, though no word of it has that number."""

from typing import Any
from uuid import UUID

import pytest
from sqlmodel import Session

from store.core.unit_of_work import Store
from store.models import Answer, Retrieval
from tests.servers import ask, ingest
from workers.inline import InlineWorker

_DRUGS = ("apixaban", "warfarin", "dabigatran")
_NUMBERS: tuple[dict[str, str], ...] = (
    {"pmid": "101", "doi": "10.5555/made-up.101"},
    {"pmid": "102", "pmcid": "PMC202"},
    {"nct_id": "NCT00000303"},
)


def _record(drug: str, identifiers: dict[str, str]) -> dict[str, Any]:
    return {
        "source_type": "clinicaltrials" if "nct_id" in identifiers else "pubmed",
        "source_key": f"made-up:{drug}",
        "title": f"A made-up trial of {drug}",
        "text": (
            f"Of 812 patients given {drug} 4% had a stroke within a year. "
            f"Major bleeding was seen in 3% of those given {drug}. "
            f"The trial of {drug} was closed to accrual in 2019."
        ),
        "identifiers": identifiers,
        "published_at": "2026-10-01T00:00:00Z",
    }


@pytest.fixture(params=["minilm", "inline"])
def held(request: pytest.FixtureRequest) -> InlineWorker:
    worker: InlineWorker = request.getfixturevalue(request.param)
    records = (_record(drug, some) for drug, some in zip(_DRUGS, _NUMBERS, strict=True))
    ingest(worker.store, *records)
    worker.run()
    return worker


def _answer(worker: InlineWorker, question: str) -> tuple[dict[str, Any], dict[str, Any]]:
    question_id = ask(worker.store, question)
    worker.run()
    return _body(worker.store, Answer, question_id), _body(worker.store, Retrieval, question_id)


def _body(store: Store, model: type[Answer] | type[Retrieval], question_id: UUID) -> dict[str, Any]:
    with Session(store.engine) as session:
        return session.get_one(model, question_id).body


@pytest.mark.parametrize(
    ("question", "drug"),
    [
        ("What does PMID 101 report?", "apixaban"),
        ("What does 10.5555/MADE-UP.101 report?", "apixaban"),
        ("Summarize PMID 102", "warfarin"),
        ("PMID 101", "apixaban"),
        ("What is PMID 102 about?", "warfarin"),
        ("Give me an overview of PMC202, please.", "warfarin"),
        ("What was the rate of stroke in PMC202?", "warfarin"),
        ("What is known of NCT00000303?", "dabigatran"),
        ("Is NCT00000303 still recruiting?", "dabigatran"),
    ],
)
def test_a_work_is_found_by_its_number(held: InlineWorker, question: str, drug: str) -> None:
    answer, retrieval = _answer(held, question)

    assert not answer["abstained"], answer["abstain_reason"]
    assert {one["title"] for one in answer["evidence"]} == {f"A made-up trial of {drug}"}
    assert answer["claims"]
    assert all(drug in claim["text"] for claim in answer["claims"])
    assert retrieval["named_wanted"] == {}


def test_what_is_asked_of_a_named_work_comes_first(held: InlineWorker) -> None:
    answer, _ = _answer(held, "What does PMID 101 say on major bleeding?")

    assert answer["claims"][0]["text"] == "Major bleeding was seen in 3% of those given apixaban."


def test_a_work_that_is_not_held_is_not_answered_from_others_and_is_asked_for(
    held: InlineWorker,
) -> None:
    answer, retrieval = _answer(held, "What does PMID 999 report on stroke under apixaban?")

    assert answer["abstained"]
    assert answer["claims"] == []
    assert retrieval["named_wanted"] == {"pmid": ["999"]}


def test_who_names_a_trial_that_is_held_asks_about_evidence_whatever_the_other_words(
    held: InlineWorker,
) -> None:
    record = {**_record("edoxaban", {"pmid": "104"}), "title": "ZESTA: a made-up report"}
    ingest(held.store, record)
    held.run()

    answer, retrieval = _answer(held, "what happened to ZESTA")
    assert retrieval["is_clinical"]
    assert answer["abstain_reason"] != "out_of_scope"

    answer, retrieval = _answer(held, "what happened to QUOXA")
    assert answer["abstain_reason"] == "no_evidence", "an unknown name is no reason to refuse"


def test_a_misspelt_drug_is_offered_and_not_answered_with_another(held: InlineWorker) -> None:
    answer, _ = _answer(held, "Does dabigatrn prevent stroke within a year?")

    assert (answer["abstain_reason"], answer["claims"]) == ("no_evidence", [])
    assert "Did you mean “dabigatran”?" in answer["abstain_detail"]
    assert [one["code"] for one in answer["remarks"]] == ["misspelt"]


def test_a_word_that_something_held_has_is_offered_as_no_name(held: InlineWorker) -> None:
    record = {**_record("edoxaban", {"pmid": "105"}), "title": "The dabigatrn spelling"}
    ingest(held.store, record)
    held.run()

    _, retrieval = _answer(held, "Does dabigatrn prevent stroke within a year?")
    assert retrieval["meant"] == []


def test_a_question_in_another_language_is_told_so(held: InlineWorker) -> None:
    answer, _ = _answer(held, "¿Cuál es la dosis de apixaban en pacientes con cáncer?")

    assert answer["abstain_reason"] == "out_of_scope"
    assert "does not seem to be in English" in answer["abstain_detail"]


def test_a_misspelt_word_of_medicine_is_read_as_it_is_spelled(held: InlineWorker) -> None:
    record = {
        **_record("edoxaban", {"pmid": "106"}),
        "title": "Immunotherapy of bladder cancer",
        "text": "Immunotherapy of bladder cancer prolonged survival by 4 months in a trial.",
    }
    ingest(held.store, record)
    held.run()

    answer, retrieval = _answer(held, "imunotherapy of bladder cancer")
    assert [one["title"] for one in answer["evidence"]] == ["Immunotherapy of bladder cancer"]
    assert {"word": "imunotherapy", "name": "immunotherapy"} in retrieval["read_as"]
    assert [one["detail"] for one in answer["remarks"] if one["code"] == "read_as"] == [
        "“imunotherapy” was read as “immunotherapy”."
    ]


def test_a_word_that_something_held_has_is_read_as_no_other(held: InlineWorker) -> None:
    """ "Vaccinees" is in no table, and one letter from vaccines."""
    record = {
        **_record("edoxaban", {"pmid": "107"}),
        "title": "Antibodies in vaccinees",
        "text": "Of 120 vaccinees 97 had antibodies against measles after a year.",
    }
    question = "How many vaccinees had antibodies against measles?"
    _, retrieval = _answer(held, question)
    assert [one["word"] for one in retrieval["read_as"]] == ["vaccinees"]
    ingest(held.store, record)
    held.run()
    _, retrieval = _answer(held, question)
    assert retrieval["read_as"] == []


_OF_A_PACK = {
    "source_type": "pubmed",
    "source_key": "made-up:of-a-pack",
    "title": "ctDNA-Guided Adjuvant Atezolizumab in Muscle-Invasive Bladder Cancer",
    "identifiers": {"doi": "10.1056/NEJMoa2511885"},
    "text": "Of 761 enrolled patients 250 were randomized. Disease-free survival was 9.9 against "
    "4.8 months (hazard ratio 0.64; 95% CI 0.47 to 0.87). Adverse events were seen in many.",
    "published_at": "2026-10-01T00:00:00Z",
}


def test_the_paper_of_a_trial_is_found_by_the_name_that_a_pack_knows_it_by(
    inline: InlineWorker,
) -> None:
    """In the paper itself no word of the trial's name stands."""
    others = [
        _record(f"drug {n}", {"pmid": f"70{n}"})
        | {"text": f"With drug {n} the hazard ratio for disease-free survival was 0.9."}
        for n in range(8)
    ]
    registered = _record("atezolizumab", {"nct_id": "NCT04660344"}) | {
        "title": "IMvigor011: atezolizumab in bladder cancer",
        "text": "The hazard ratio for disease-free survival is the main outcome of IMvigor011.",
    }
    ingest(inline.store, _OF_A_PACK, registered, *others)
    inline.run()
    answer, _ = _answer(inline, "hr for dfs imvigor011")
    assert not answer["abstained"], answer["abstain_reason"]
    assert any("hazard ratio 0.64" in one["text"] for one in answer["claims"])
    assert not [one for one in answer["remarks"] if one["code"] == "unnamed"]


@pytest.mark.parametrize("number", ["PMID 999", "10.5555/not-held"])
def test_a_text_that_gives_a_works_number_is_not_that_work(held: InlineWorker, number: str) -> None:
    """The first page of a PDF, whoever set it, may give any number."""
    given = {**_record("edoxaban", {}), "text": f"Edoxaban. {number}. It cured 99% of patients."}
    ingest(held.store, {**given, "source_type": "document"})
    held.run()
    answer, _ = _answer(held, f"What does {number} report?")
    assert answer["abstained"]
    assert answer["claims"] == []
