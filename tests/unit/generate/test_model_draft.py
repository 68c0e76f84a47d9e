"""What of a language model's draft goes on to the gate: known sources, sections and bounds."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.answering.generation import generation_policy
from tests.examples import examples
from tests.grid import grid
from workers.generate.model import Accepted, Written, WrittenClaim, accept, draft
from workers.generate.prompting import instructions_for
from workers.generate.snippets import Shown
from workers.language_model.port import ModelUnusable, Prompt, Proposal, T, Usage

BOUNDS = generation_policy().draft
QUESTION = "Which trials are there of example test A?"


def source(evidence_id: str, source_type: str, publication_type: str | None = None) -> Shown:
    return Shown(evidence_id, source_type, publication_type, "A title", None, None, {}, ["Words."])


EVIDENCE = [
    source("E1", "nccn"),
    source("E2", "pubmed"),
    source("E3", "clinicaltrials"),
    source("E4", "pubmed", "Randomized Controlled Trial"),
]


def claim(evidence_id: str = "E3", heading: str = "CLINICAL TRIALS", **other: str) -> WrittenClaim:
    words = {"text": f"A statement on {evidence_id} under {heading}.", "quote": "Words."} | other
    return WrittenClaim(evidence_id=evidence_id, heading=heading, **words)


def answer(*claims: WrittenClaim, missing: tuple[str, ...] = ()) -> Written:
    return Written(verdict="ANSWER", claims=list(claims), missing=list(missing))


def kept(written: Written, query_type: str = "clinical_trials") -> Accepted:
    return accept(written, EVIDENCE, instructions_for(query_type).sections)


@grid(
    ("bad", "reason"),
    [
        pytest.param(claim("E9"), "unknown_evidence", id="an invented source"),
        pytest.param(claim(""), "unknown_evidence", id="no source"),
        pytest.param(claim("E1, E9"), "unknown_evidence", id="an invented source among others"),
        pytest.param(claim(text=" "), "empty", id="says nothing"),
        pytest.param(claim(quote="\n "), "empty", id="quotes nothing"),
        pytest.param(claim(text="x" * (BOUNDS.claim_chars + 1)), "too_long", id="long text"),
        pytest.param(claim(quote="x" * (BOUNDS.quote_chars + 1)), "too_long", id="long quotation"),
        pytest.param(claim(quote="Else."), "repeated", id="said before"),
    ],
)
def test_a_claim_out_of_bounds_is_dropped_and_counted_and_the_others_stay(
    bad: WrittenClaim, reason: str
) -> None:
    accepted = kept(answer(claim(), bad))
    assert list(accepted.claims) == [claim()]
    assert accepted.refused == {reason: 1}


@given(st.permutations(range(1, 5)), st.integers(0, 4), st.sets(st.integers(-2, 9), max_size=3))
def test_claims_that_answer_keep_their_place_wherever_they_come_to_stand(
    order: list[int], named: int, unknown: set[int]
) -> None:
    """Of claims in any order, one of an unknown source; a number of no claim is nothing."""
    claims = [claim(("E1", "E3", "E2", "E9")[n - 1], text=f"Statement {n}.") for n in order]
    numbers = [order.index(n) + 1 for n in range(1, named + 1)]
    written = Written(
        verdict="ANSWER", claims=claims, answer=[*numbers, *unknown - set(range(1, 5))], missing=[]
    )
    accepted = kept(written)
    places = dict(zip((one.text for one in accepted.claims), accepted.answer, strict=True))
    assert places == {f"Statement {n}.": n if n <= named else 0 for n in (1, 2, 3)}


def test_no_more_claims_than_allowed_are_kept() -> None:
    many = [claim(text=f"Statement {n}.") for n in range(BOUNDS.claims + 5)]
    accepted = kept(answer(*many))
    assert list(accepted.claims) == many[: BOUNDS.claims]
    assert accepted.refused == {"too_many": 5}


@grid(
    ("evidence_id", "heading", "home"),
    [
        ("E3", "CLINICAL TRIALS", "CLINICAL TRIALS"),
        ("E3", "1. **Clinical  trials**:", "CLINICAL TRIALS"),
        ("E1", "CLINICAL TRIALS", "GUIDELINE CONTEXT"),
        ("E1", "CURRENT GUIDELINE POSITION", "GUIDELINE CONTEXT"),
        ("E3", "GUIDELINE CONTEXT", "CLINICAL TRIALS"),
        ("E2", "CLINICAL TRIALS", "SUPPORTING EVIDENCE"),
        ("E4", "CLINICAL TRIALS", "CLINICAL TRIALS"),
        ("E4", "SUPPORTING EVIDENCE", "SUPPORTING EVIDENCE"),
        ("E1", "LIMITATIONS", "LIMITATIONS"),
        ("E3", "", "CLINICAL TRIALS"),
    ],
)
@pytest.mark.requirement("MC-2.1b")
def test_mc_2_1b_a_claim_stands_only_in_a_section_that_takes_its_source(
    evidence_id: str, heading: str, home: str
) -> None:
    (found,) = kept(answer(claim(evidence_id, heading))).claims
    assert found.heading == home


def test_a_comparison_of_guidelines_takes_guidelines_only() -> None:
    heading = "CROSS-GUIDELINE COMPARISON"
    claims = kept(answer(claim("E1", heading), claim("E2", heading)), "guidelines").claims
    assert [one.heading for one in claims] == [heading, "EMERGING EVIDENCE"]


@pytest.mark.requirement("MC-2.1b")
def test_mc_2_1b_claims_are_put_into_the_order_of_the_sections() -> None:
    written = answer(
        claim("E1", "GUIDELINE CONTEXT"),
        claim("E3", "LIMITATIONS"),
        claim("E2", "SUPPORTING EVIDENCE"),
        claim("E3", "CLINICAL TRIALS"),
    )
    assert [one.heading for one in kept(written).claims] == [
        "CLINICAL TRIALS",
        "SUPPORTING EVIDENCE",
        "GUIDELINE CONTEXT",
        "LIMITATIONS",
    ]


def test_missing_names_only_sections_that_no_source_shown_belongs_to() -> None:
    without = [source("E2", "pubmed")]
    sections = instructions_for("clinical_trials").sections
    wanted = ("CLINICAL TRIALS", "SUPPORTING EVIDENCE", "LIMITATIONS", "PRAISE")
    said = answer(claim("E2", "LIMITATIONS"), missing=wanted)
    assert accept(said, without, sections).missing == ["CLINICAL TRIALS"]
    assert kept(said).missing == []


@pytest.mark.requirement("SP-8")
def test_sp_8_an_abstention_has_no_claims_whatever_else_was_written() -> None:
    accepted = kept(Written(verdict="ABSTAIN_UNVERIFIED", claims=[claim()], missing=[]))
    assert accepted.abstained
    assert (list(accepted.claims), accepted.refused) == ([], {"abstained": 1})


@examples(200)
@given(
    st.lists(
        st.builds(
            WrittenClaim,
            heading=st.sampled_from(["CLINICAL TRIALS", "LIMITATIONS", "", "X"]) | st.text(),
            text=st.text(max_size=40),
            evidence_id=st.sampled_from(["E1", "E2", "E3", "E4", "E5", ""]),
            quote=st.text(max_size=40),
        ),
        max_size=30,
    )
)
def test_whatever_is_written_the_gate_gets_known_sources_in_order_and_every_claim_is_counted(
    claims: list[WrittenClaim],
) -> None:
    sections = instructions_for("general").sections
    accepted = accept(answer(*claims), EVIDENCE, sections)
    known = {one.evidence_id: one for one in EVIDENCE}
    places = {one.heading: n for n, one in enumerate(sections)}
    order = [places[one.heading] for one in accepted.claims]
    assert order == sorted(order)
    assert len(accepted.claims) + sum(accepted.refused.values()) == len(claims)
    assert len(accepted.claims) <= BOUNDS.claims
    for one in accepted.claims:
        found = known[one.evidence_id]
        assert sections[places[one.heading]].takes(found.source_type, found.publication_type)
        assert one.text
        assert one.quote
        assert "\n" not in one.text


class Says:
    """A language model that answers with one thing; it keeps what it was asked."""

    name = "made-up-model"

    def __init__(self, said: dict[str, Any]) -> None:
        self.said = said
        self.asked: list[Prompt[Any]] = []

    def propose(self, prompt: Prompt[T]) -> Proposal[T]:
        self.asked.append(prompt)
        value = prompt.shape.model_validate(self.said)
        return Proposal(value, self.name, Usage(10, 5), "p" * 64, "o" * 64)


def test_a_draft_says_what_made_it_and_numbers_its_claims_in_reading_order() -> None:
    said = answer(claim("E2", "SUPPORTING EVIDENCE"), claim(), claim("E9")).model_dump()
    body = draft(Says(said), QUESTION, "clinical_trials", EVIDENCE).as_body()
    assert [(one["claim_id"], one["evidence_id"]) for one in body["claims"]] == [
        ("c1", "E3"),
        ("c2", "E2"),
    ]
    assert body["claims"][0].keys() == {"claim_id", "text", "evidence_id", "quote", "heading"}
    assert (body["generator"], body["model"], body["form"]) == (
        "anthropic",
        "made-up-model",
        "trial",
    )
    assert body["prompt_version"] == instructions_for("clinical_trials").version
    assert (body["prompt_hash"], body["output_hash"]) == ("p" * 64, "o" * 64)
    assert (body["refused"], body["abstained"]) == ({"unknown_evidence": 1}, False)
    assert json.loads(json.dumps(body)) == body


def test_a_draft_without_one_usable_claim_is_unusable_and_an_abstention_is_a_draft() -> None:
    with pytest.raises(ModelUnusable):
        draft(Says(answer(claim("E9")).model_dump()), QUESTION, "general", EVIDENCE)
    with pytest.raises(ModelUnusable):
        draft(Says(answer().model_dump()), QUESTION, "general", EVIDENCE)
    abstaining = {"verdict": "ABSTAIN_UNVERIFIED", "claims": [], "missing": []}
    body = draft(Says(abstaining), QUESTION, "general", EVIDENCE).as_body()
    assert (body["abstained"], body["claims"]) == (True, [])
