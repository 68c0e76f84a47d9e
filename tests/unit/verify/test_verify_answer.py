"""The answer that is composed of checked claims: its references and images."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from types import NoneType
from typing import Any, get_args
from uuid import uuid4

import pytest

from api_gateway.questions.answer_schemas import AnswerOut, ClaimOut, CureOut
from contracts import Draft, Retrieval
from contracts.answer import Citation, Earlier
from knowledge.loader import load
from knowledge.works.links import is_direct
from store.core.spans import Span, Structure
from store.models import DocumentVersion
from tests.bodies import filled
from tests.grid import grid
from workers.retrieve.understanding.asked.read import read_asked
from workers.verify.answers.abstention import abstention
from workers.verify.answers.answer import Held, Place, compose
from workers.verify.answers.evidence import Cited, clocks
from workers.verify.claims import Basis, Checked, Rewritten, Verdict
from workers.verify.gate import gate

NOW = datetime(2026, 11, 21, tzinfo=UTC)
TEXT = "It does."
SEARCH = "https://www.google.com/search?q=x"
IMAGE = {
    "title": "An algorithm",
    "url": "https://pmc.ncbi.nlm.nih.gov/articles/PMC1/",
    "image_url": "https://openi.nlm.nih.gov/imgs/512/1.png",
    "source": "Open-i (NLM)",
    "license": None,
}


def held(**fields: Any) -> Held:
    given: dict[str, Any] = {
        "n": 1,
        "content_hash": "0" * 64,
        "title": "A title",
        "text": TEXT,
        "source_type": "pubmed",
        "identifiers": {},
        "authors": [],
        "labels": [],
        "fetched_at": NOW,
        "published_at": None,
    }
    version = DocumentVersion(**(given | fields))
    return Held(Cited("E1", version), clocks(version, NOW, NOW))


def answer(
    verdict: str = "supported",
    work: Held | None = None,
    *,
    contested: Collection[str] = (),
    undecided: Collection[str] = (),
    in_the_past: bool = False,
    drafted: int = 1,
    generator: str = "extractive",
    question: str = "Does it?",
    text: str = TEXT,
    **found: Any,
) -> dict[str, Any]:
    """An answer of one claim, from a retrieval that `found` more."""
    checked = Checked(
        *("c1", text, "E1", "RESULTS", Verdict(verdict), "verbatim", Span(0, len(text))),
        basis=Basis.WORDS,
    )
    found.setdefault("asked", read_asked(question).as_body())
    return compose(
        question=question,
        retrieval=filled(Retrieval, **found),
        draft=filled(Draft, generator=generator, claims=[{"claim_id": "c1"}] * drafted),
        checked=[checked] * drafted,
        passed=gate([checked] * drafted, contested),
        undecided=undecided,
        in_the_past=in_the_past,
        held={"E1": work or held(text=text, identifiers={"pmid": "999999991"})},
        place_of=lambda key, span: Place("chunk_0", "RESULTS", "RESULTS section, chunk_0:0-8"),
    ).as_body()


def test_a_claim_has_the_keys_that_openapi_names() -> None:
    (claim,) = answer(work=held(document_id=uuid4()))["claims"]
    optional = {"rewritten_from", "repaired_from", "completed_from", "scores", "doubts"}
    assert set(claim) | optional == set(ClaimOut.model_validate(claim).model_dump())
    assert set(claim["citations"][0]) == set(Citation.model_fields)
    before = Rewritten("0" * 64, "unsupported", ("numbers",))
    assert set(before.as_body()) == set(Earlier.model_fields)


@grid("words", load("works/trust")["cures"])
def test_an_abstention_has_the_keys_and_values_that_openapi_names(words: str) -> None:
    told = abstention("no_evidence", ["pubmed"], worded=words, asked=["children"])
    cure = {**told.cure, "lacks": {"who": "patients", "asked": ["children"]}}
    shown = CureOut.model_validate(cure).model_dump(mode="json", exclude_unset=True)
    assert shown == cure
    assert set(cure) <= set(CureOut.model_fields)


def test_openapi_names_every_reason_for_which_an_answer_abstains() -> None:
    named, nothing = get_args(AnswerOut.model_fields["abstain_reason"].annotation)
    worded = {"filtered", "dated", "not_held", "overruled", "not_english", "misspelt", "declined"}
    worded |= {f"other_{who}" for who in ("names", "patients", "payers", "regulators")}
    worded |= {"other_named"}
    assert set(get_args(named)) == set(load("works/trust")["cures"]) - worded
    assert nothing is NoneType


@pytest.mark.requirement("EB-6.3")
def test_eb_6_3_an_answer_has_the_images_that_retrieval_found_and_mostly_none() -> None:
    assert answer()["images"] == []
    assert answer(images=[])["images"] == []
    assert answer(images=[IMAGE])["images"] == [IMAGE]


def test_an_abstention_has_no_images_and_no_references() -> None:
    body = answer("unsupported", images=[IMAGE])
    assert (body["abstained"], body["images"], body["references"]) == (True, [], [])


@pytest.mark.parametrize(
    ("generator", "reason"), [("extractive", "no_evidence"), ("model", "unsupported")]
)
def test_where_no_sentence_of_the_sources_answers_there_is_no_evidence(
    generator: str, reason: str
) -> None:
    assert answer(drafted=0, generator=generator)["abstain_reason"] == reason


@pytest.mark.requirement("EB-9.3")
@pytest.mark.parametrize("broken", [{"url": SEARCH}, {"image_url": SEARCH}, {"url": ""}])
def test_eb_9_3_no_image_leads_to_a_search_page(broken: dict[str, str]) -> None:
    whole = {**IMAGE, "image_url": None}
    assert answer(images=[{**IMAGE, **broken}, whole])["images"] == [whole]


@pytest.mark.requirement("EB-9.3")
@pytest.mark.parametrize("identifiers", [{}, {"doi": "10.5555/x"}])
def test_eb_9_3_neither_references_nor_evidence_lead_to_a_search_page(
    identifiers: dict[str, str],
) -> None:
    body = answer(work=held(identifiers=identifiers, url=SEARCH))
    assert not body["abstained"]
    assert [one["source"]["url"] for one in body["evidence"]] == (
        ["https://doi.org/10.5555/x"] if identifiers else [None]
    )
    assert all(is_direct(one["url"]) for one in body["references"])
    assert len(body["references"]) == len(identifiers)


@pytest.mark.parametrize("undecided", [(), ("c1",)])
def test_an_answer_of_contested_claims_abstains_and_says_whether_anything_decides(
    undecided: tuple[str, ...],
) -> None:
    body = answer(contested=["c1"], undecided=undecided)
    assert (body["abstain_reason"], body["claims"]) == ("conflict", [])
    assert ("nothing decides" in body["abstain_detail"]) is bool(undecided)


@pytest.mark.parametrize(("in_the_past", "reason"), [(False, "stale"), (True, None)])
def test_only_a_question_about_the_past_is_answered_from_what_tells_no_present_state(
    in_the_past: bool, reason: str | None
) -> None:
    old = held(published_at=NOW - timedelta(days=6000), identifiers={"pmid": "999999991"})
    body = answer(work=old, in_the_past=in_the_past, asks_for_today=True, as_of="2030-01-01")
    assert body["abstain_reason"] == reason


def test_a_work_that_the_question_names_and_that_is_not_held_is_told() -> None:
    given = answer(drafted=0, named_wanted={"pmid": ["1"]})
    assert given["abstain_reason"] == "no_evidence"
    assert "is not held" in given["abstain_detail"]


def test_what_a_question_takes_for_granted_is_told_with_the_place_that_says_otherwise() -> None:
    said = "The trial met its primary endpoint."
    text = f"{TEXT} {said}"
    spans = [(0, len(TEXT)), (len(TEXT) + 1, len(text))]
    structure = Structure(sections=(), paragraphs=(), sentences=tuple(Span(*one) for one in spans))
    work = held(text=text, title="IMvigor011: results", structure=structure.model_dump(mode="json"))
    body = answer(
        work=work, question="Since IMvigor011 was negative, what now?", names=["IMvigor011"]
    )
    (told,) = [one for one in body["remarks"] if one["code"] == "contradicted"]
    assert told["quote"] == text[told["start"] : told["end"]] == said
    assert "takes for granted: “IMvigor011 was negative”" in told["detail"]


def test_an_answer_has_the_offers_of_retrieval_and_says_what_it_does_not_speak_of() -> None:
    assert answer()["remarks"] == []
    meant = [{"word": "eliqis", "name": "Eliquis", "of": "apixaban"}]
    work = held(title="Apixaban in adults", identifiers={"pmid": "999999991"})
    body = answer(question="Does warfarin, apixaban or eliqis?", meant=meant, work=work)
    assert [one["code"] for one in body["remarks"]] == ["misspelt", "unnamed"]
    assert body["remarks"][1]["names"] == ["warfarin"]
    assert not body["abstained"]


def test_who_asks_what_to_do_is_told_where_studies_alone_speak() -> None:
    asked = {"type": "recommendation", "required": ["pneumonitis"]}
    found = answer(asked=asked, text="Pneumonitis occurred in 9.6% and 1.6%.")
    assert [one["code"] for one in found["remarks"]] == ["no_advice"]
    assert found["lead"]["kind"] == "beside"
    assert not found["abstained"]
    told = answer(asked=asked, text="Pneumonitis is managed with prednisolone.")
    assert told["remarks"] == []


@pytest.mark.parametrize(
    ("question", "title", "asked"),
    [
        ("What is the dose of warfarin in adults?", "Apixaban in adults", "warfarin"),
        ("Do statins help in adults?", "Apixaban in adults", "statins"),
        ("Signatera or warfarin in adults?", "Apixaban in adults", "Signatera, warfarin"),
        ("What is the dose of warfarin in adults?", "Warfarin in adults", None),
        ("Warfarin or apixaban in adults?", "Apixaban in adults", None),
        ("Should adults on warfarin be given apixaban?", "Apixaban in adults", None),
        ("What is the dose in adults?", "Apixaban in adults", None),
    ],
)
def test_invariant_9_an_answer_that_speaks_of_no_drug_that_is_asked_about_is_none(
    question: str, title: str, asked: str | None
) -> None:
    work = held(title=title, identifiers={"pmid": "999999991"})
    body = answer(question=question, work=work)
    assert body["abstained"] is (asked is not None)
    if asked is not None:
        assert (body["abstain_reason"], body["claims"], body["remarks"]) == ("no_evidence", [], [])
        assert body["abstain_detail"].endswith(f"Asked about: {asked}.")
        assert body["cure"]["action"] == "add_sources"


@pytest.mark.parametrize(
    ("claim", "abstains"),
    [
        ("After resection of liver metastases patients who tested positive relapsed.", False),
        ("Patients who tested positive relapsed.", True),
    ],
)
def test_a_claim_that_holds_may_name_what_its_source_calls_otherwise(
    claim: str, abstains: bool
) -> None:
    source = held(text="Of those with metastatic disease who tested positive all relapsed.")
    asked = "How reliable is a test after resection of liver metastases?"
    assert answer(question=asked, text=claim, work=source)["abstained"] is abstains
