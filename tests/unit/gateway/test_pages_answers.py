"""What the page of an answer shows: views from bodies, without a server."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args
from uuid import uuid4

import pytest

from api_gateway.pages import rendering
from api_gateway.pages.clocks import clocks, moment, published, span_of_hours
from api_gateway.pages.links import evidence_link, origin_of, version_link
from api_gateway.pages.wording import ABSTENTION, CLAIM, QUOTE, badge
from api_gateway.problems import GIVEN_UP
from api_gateway.questions.answer_view import LeadView, answer_view
from api_gateway.questions.answers import failed_answer
from api_gateway.questions.view import question_view
from api_gateway.schemas import QuestionOut, StageTiming
from benchmarks.pages import answer_body, answer_page, document_id, question
from knowledge.works.conflicts import RuleName

FRAME: dict[str, Any] = {"nav": [], "path": "/verify"}


def body(**changes: Any) -> dict[str, Any]:
    return {**answer_body(2, 1), **changes}


@pytest.mark.requirement("SP-B2")
def test_each_claim_has_its_badge_its_reference_and_the_link_to_its_very_words() -> None:
    view = answer_view(body())
    claim = view.sections[0].claims[0]
    assert claim.badge.label == "Verified"
    assert claim.numbers == [1]
    assert claim.citations[0].href == (
        f"/evidence/{document_id(1)}/versions/1?start=10&end=90#span"
    )


def test_a_remark_is_shown_and_leads_to_the_words_that_it_rests_on() -> None:
    place = {"document_id": document_id(1), "version": 1, "start": 10, "end": 90}
    remarks = [
        {"code": "misspelt", "detail": "Did you mean “Eliquis” (apixaban)?"},
        {"code": "contradicted", "detail": "A held source says otherwise.", **place},
    ]
    spelling, denied = answer_view(body(remarks=remarks)).remarks
    assert (spelling.detail, spelling.href) == ("Did you mean “Eliquis” (apixaban)?", None)
    assert denied.href == f"/evidence/{document_id(1)}/versions/1?start=10&end=90#span"
    page = answer_page(question(body(remarks=remarks)))
    assert "Did you mean “Eliquis” (apixaban)?" in page
    assert "Read it in place" in page
    told = page.partition('<section class="banner warn" aria-label="Remarks">')[2]
    assert "A held source says otherwise." in told.partition("</section>")[0]  # nobody overlooks it


def test_an_answer_of_before_there_were_remarks_has_none() -> None:
    assert answer_view(body()).remarks == []


def test_a_source_that_has_no_reference_is_named_beside_the_claim() -> None:
    """An upload has no address, so no reference names it: its title would be nowhere."""
    held = "Title of the made-up work 1"
    with_reference = answer_page(question(body()))
    without = answer_page(question(body(references=[])))
    places = without.split('<span class="place-source">')[1:]
    assert held in places[0].partition("</span>")[0]
    assert (
        held not in with_reference.split('<span class="place-source">')[1].partition("</span>")[0]
    )


def test_what_cites_nothing_has_no_recall_state() -> None:
    nothing = {"sections": [], "claims": [], "references": [], "conflicts": [], "evidence": []}
    silent = body(abstained=True, abstain_reason="no_evidence", cure={"detail": "Add."}, **nothing)
    assert "Since then" not in answer_page(question(silent))
    assert "Since then" in answer_page(question(body()))


@pytest.mark.parametrize("rule", get_args(RuleName))
def test_each_rule_that_decides_a_conflict_is_told_in_words(rule: str) -> None:
    side = {"evidence_id": "E1", "quote": "q", "start": 0, "end": 1}
    conflict = {"resolved": True, "rule": rule, "stands": "E1", "sides": [side, side]}
    (shown,) = answer_view(body(conflicts=[conflict])).conflicts
    assert shown.decided.endswith("stands") or " stands over " in shown.decided
    assert "Decided by" not in shown.decided


@pytest.mark.parametrize("most", [1, 4000, 300_000])
def test_a_box_takes_more_than_it_may_hold_so_that_nothing_is_cut_in_silence(most: int) -> None:
    """Chromium cuts what is pasted at `maxlength` UTF-16 units, of which a character has up to two:
    what is cut at this length has more characters than are taken, and is refused."""
    shown: dict[str, Any] = {"given": {}, "errors": [], "key": "", "before": None}
    room = rendering.render("verifications/verify.html", many=0, most=most, **shown, **FRAME)
    assert f'maxlength="{2 * most + 1}"' in room


@pytest.mark.requirement("SP-B2")
def test_both_clocks_stand_beside_each_citation() -> None:
    place = answer_view(body()).sections[0].claims[0].citations[0]
    assert place.clocks is not None
    assert place.clocks.published is not None
    assert place.clocks.published.words == "20 Oct 2025"
    assert place.clocks.checked is not None
    assert place.clocks.checked.words == "21 Nov 2026"
    assert (place.clocks.age, place.clocks.limit) == ("38 h", "7 d")
    assert place.clocks.state.label == "Fresh"


@pytest.mark.parametrize(
    ("status", "label"),
    [
        ("verified", "Verified"),
        ("partially_verified", "Partially verified"),
        ("conflicting", "Conflicting"),
        ("unverified", "Unverified"),
        ("something new", "Unverified"),
        (None, "Unverified"),
    ],
)
def test_a_state_that_is_not_known_is_never_shown_as_a_pass(status: str | None, label: str) -> None:
    changed = body()
    changed["claims"][0]["verification_status"] = status
    assert answer_view(changed).sections[0].claims[0].badge.label == label


def test_a_summary_of_claims_in_several_states_has_no_badge_of_one() -> None:
    claims = [one["claim_id"] for one in body()["claims"]]
    lead = {"kind": "list", "text": "Both.", "claim_ids": claims}
    assert lead_of(body(lead=lead)).badge == CLAIM["verified"]
    changed = body(lead=lead)
    changed["claims"][1]["verification_status"] = "partially_verified"
    assert lead_of(changed).badge is None


def lead_of(answer: dict[str, Any]) -> LeadView:
    lead = answer_view(answer).lead
    assert lead is not None
    return lead


def test_a_state_is_told_by_its_word_and_its_icon() -> None:
    drawings = (Path(rendering.__file__).parent / "templates" / "macros.html").read_text("utf-8")
    for one in CLAIM.values():
        assert one.label
        assert f'name == "{one.icon}"' in drawings
    assert len({one.icon for one in CLAIM.values()}) == len(CLAIM)


@pytest.mark.parametrize("verdict", ["altered", "stitched", "fabricated", "unchecked", "new"])
def test_words_that_are_not_the_stored_ones_are_not_shown_as_a_quotation(verdict: str) -> None:
    changed = body()
    changed["claims"][0]["citations"][0]["quote_verdict"] = verdict
    place = answer_view(changed).sections[0].claims[0].citations[0]
    assert place.quote is None
    assert place.quote_badge.tone != "good"


@pytest.mark.requirement("EB-9.3")
def test_a_reference_that_leads_to_a_search_is_not_shown() -> None:
    changed = body()
    changed["references"][0]["url"] = "https://www.google.com/search?q=xyzomab"
    assert [one.n for one in answer_view(changed).references] == [2]


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//example.org", "x"])
def test_a_reference_has_the_address_of_a_web_page_or_is_not_shown(url: str) -> None:
    changed = body()
    changed["references"][0]["url"] = url
    changed["images"] = [{"title": "t", "url": url, "image_url": url, "source": "s"}]
    view = answer_view(changed)
    assert [one.n for one in view.references] == [2]
    assert view.images == []


def test_the_policy_of_a_page_names_the_hosts_of_its_own_figures_only() -> None:
    figure = {"title": "t", "url": "https://example.org/1", "source": "s", "license": "CC BY"}
    changed = body(images=[{**figure, "image_url": "https://images.example.org/a/b.png"}])
    assert answer_view(changed).image_origins == ["https://images.example.org"]
    assert answer_view(body()).image_origins == []
    plain = body(images=[{**figure, "image_url": "http://images.example.org/a/b.png"}])
    assert answer_view(plain).images[0].image_url is None


@pytest.mark.parametrize(
    "url", ["https://a.example;script-src *", "https://a.example'x", "https://ex ample.org/"]
)
def test_no_host_adds_a_rule_to_the_policy(url: str) -> None:
    origin = origin_of(url)
    assert origin is None or not set(origin) & set("; '*")


@pytest.mark.requirement("SP-B3")
def test_an_abstention_tells_its_reason_and_what_would_cure_it() -> None:
    cure = {"action": "refresh", "detail": "Fetch them again.", "sources": ["pubmed"]}
    refresh = str(uuid4())
    view = answer_view(
        body(
            abstained=True,
            abstain_reason="stale",
            abstain_detail="Too long ago.",
            cure=cure,
            cure_refreshes=[{"refresh_id": refresh, "source": "pubmed"}],
        )
    )
    assert view.abstention is not None
    assert view.abstention.title == ABSTENTION["stale"]
    assert (view.abstention.detail, view.abstention.cure) == ("Too long ago.", "Fetch them again.")
    assert view.abstention.sources == ("pubmed",)
    assert view.abstention.refreshes == (refresh,)


def test_a_question_that_a_stage_gave_up_on_is_shown_as_an_abstention() -> None:
    view = answer_view(failed_answer())
    assert view.abstention is not None
    assert view.abstention.reason == "unchecked"
    assert GIVEN_UP in view.abstention.detail
    assert not view.sections


def conflict() -> dict[str, Any]:
    sides = [
        {
            "evidence_id": key,
            "document_id": document_id(n),
            "version_id": str(uuid4()),
            "start": 4,
            "end": 9,
            "quote": words,
            "statement": "",
        }
        for n, (key, words) in enumerate([("E1", "It helps."), ("E1@1", "It harms.")], start=1)
    ]
    return {
        "kind": "effects",
        "why": "opposite_direction",
        "subject": "xyzomab",
        "outcome": "survival",
        "resolved": True,
        "rule": "newer_version",
        "stands": "E1",
        "sides": sides,
    }


def test_a_conflict_shows_both_sides_in_their_own_words_and_which_stands() -> None:
    made = conflict()
    made["sides"][0]["statement"] = "It helps in a year."
    shown = answer_view(body(conflicts=[made])).conflicts[0]
    assert shown.about == "xyzomab · survival"
    assert [side.statement for side in shown.sides] == ["It helps in a year.", ""]
    assert shown.decided == "Decided by newer version"
    assert [(side.quote, side.stands) for side in shown.sides] == [
        ("It helps.", True),
        ("It harms.", False),
    ]
    assert all(side.href for side in shown.sides)
    assert "earlier version" in shown.sides[1].title


def sides_of(**told: Any) -> dict[str, Any]:
    """A conflict whose first side tells what it is of."""
    made = conflict() | {"resolved": False, "rule": None, "stands": None}
    made["sides"][0] |= {
        "evidence_id": "E8",
        "title": "A made-up guideline",
        "source": {
            "name": "Example Society",
            "source_type": "guideline",
            "published_at": "2024-01-01T00:00:00+00:00",
            "published_precision": "year",
        },
        "clocks": {
            "fetched_at": "2026-11-20T00:00:00+00:00",
            "freshness_hours": 24.0,
            "sla_hours": 168.0,
            "stale": False,
            "published_at": "2024-01-01T00:00:00+00:00",
            "published_precision": "year",
        },
        **told,
    }
    return made


def test_an_abstention_for_conflict_names_its_sides_with_both_clocks() -> None:
    view = answer_view(body(abstained=True, evidence=[], conflicts=[sides_of()]))
    first, second = view.conflicts[0].sides
    assert (first.title, first.source) == ("A made-up guideline", "Example Society")
    assert first.clocks is not None
    assert first.clocks.published is not None
    assert (first.clocks.published.words, first.clocks.state.label) == ("2024", "Fresh")
    assert second.title == "Source E1@1"  # an answer from before sides told their source


def test_an_earlier_version_is_named_with_its_date_and_no_clock_of_a_check() -> None:
    made = sides_of(evidence_id="E8@1", clocks=None)
    first = answer_view(body(abstained=True, evidence=[], conflicts=[made])).conflicts[0].sides[0]
    assert first.title == "A made-up guideline (an earlier version)"
    assert (first.clocks, first.published and first.published.words) == (None, "2024")


def test_the_page_of_an_abstention_shows_what_each_side_is_of() -> None:
    html = answer_page(question(body(abstained=True, evidence=[], conflicts=[sides_of()])))
    for words in ("A made-up guideline", "Example Society", "2024", "Fresh"):
        assert words in html


def test_a_recalled_answer_names_what_changed_and_leads_to_the_difference() -> None:
    because = {
        "document_id": document_id(1),
        "change": "superseded",
        "version": 1,
        "new_version": 2,
        "at": "2026-11-22T10:00:00+00:00",
    }
    recall = {"state": "superseded", "because": [because], "superseded_by": str(uuid4())}
    shown = answer_view(body(recall=recall)).recall
    assert shown.badge.label == "Superseded"
    assert shown.reasons[0].title == "Title of the made-up work 1"
    assert shown.reasons[0].what == "version 1 was replaced by version 2"
    assert shown.reasons[0].href == f"/evidence/{document_id(1)}/diff?old=1&new=2"


def test_an_answer_without_optional_parts_is_shown_all_the_same() -> None:
    view = answer_view({"abstained": False, "claims": [], "provenance": {}})
    assert view.sections == []
    assert view.recall.state == "current"


@pytest.mark.parametrize(
    ("hours", "words"), [(0.2, "12 min"), (1, "1 h"), (48, "48 h"), (49, "2 d"), (168, "7 d")]
)
def test_ages_are_told_in_the_unit_that_fits(hours: float, words: str) -> None:
    assert span_of_hours(hours) == words


@pytest.mark.parametrize(
    ("precision", "words"), [("year", "2022"), ("month", "Jan 2022"), ("day", "1 Jan 2022")]
)
def test_a_date_is_shown_as_far_as_its_source_states_it(precision: str, words: str) -> None:
    shown = published("2022-01-01T00:00:00+00:00", precision)
    assert shown is not None
    assert shown.words == words


def test_moments_are_told_in_utc() -> None:
    shown = moment("2026-11-22T01:30:00+02:00")
    assert shown is not None
    assert shown.words == "21 Nov 2026, 23:30 UTC"
    assert moment("not a moment") is None


def test_without_a_limit_freshness_goes_by_the_version() -> None:
    assert clocks({"freshness_hours": 5000, "sla_hours": None}).state.label == "By version"
    assert clocks({"freshness_hours": 5, "sla_hours": 24, "stale": True}).state.label == "Stale"


def test_links_are_made_of_ids_only() -> None:
    assert evidence_link("../etc", 1, 0, 5) is None
    assert evidence_link(document_id(1), "1", 0, 5) is None
    assert version_link(document_id(1), "x", 0, 5) is None


def test_the_stages_stand_in_their_order_whatever_has_begun() -> None:
    at = datetime(2026, 11, 22, tzinfo=UTC)
    timing = StageTiming(
        stage="retrieve",
        status="done",
        attempts=1,
        started_at=at,
        finished_at=at + timedelta(milliseconds=120),
        ms=120.0,
    )
    found = QuestionOut.model_validate(
        {
            "id": uuid4(),
            "status": "running",
            "stage": "retrieve",
            "question": "q",
            "created_at": at,
            "finished_at": None,
            "answer": None,
            "error": None,
            "timings": [timing],
        }
    )
    view = question_view(found, {"as_of": "2026-01-31", "patient_context": "Mrs. Xyzzy"})
    assert view.is_open
    assert [(one.name, one.status) for one in view.stages] == [
        ("retrieve", "done"),
        ("generate", "pending"),
        ("verify", "pending"),
        ("audit", "pending"),
    ]
    assert view.stages[0].took == "120 ms"
    assert view.limits == [("as of", "31 Jan 2026"), ("with", "patient context")]
    moment_of_a_program = question_view(found, {"as_of": "2026-01-31T12:30:00+01:00"})
    assert moment_of_a_program.limits == [("as of", "31 Jan 2026, 11:30 UTC")]


def test_the_badges_of_quotations_know_every_verdict() -> None:
    known = {"verbatim", "normalized", "altered", "misattributed"}
    known |= {"stitched", "fabricated", "unchecked"}
    assert set(QUOTE) == known
    assert badge(QUOTE, "verbatim").tone == "good"


def test_a_page_is_made_whole_of_an_answer() -> None:
    html = answer_page(question(body(conflicts=[conflict()])))
    assert html.count('class="claim"') == 2
    assert "It harms." in html
    assert "<script>" not in html
    assert "style=" not in html


def test_no_label_speaks_the_language_of_the_program() -> None:
    templates = Path(rendering.__file__).parent / "templates"
    shown = {
        one.name: re.sub(r"{[{%].*?[%}]}|<[^>]*>", " ", one.read_text("utf-8"), flags=re.S)
        for one in sorted(templates.rglob("*.html"))
    }
    words = re.compile(
        r"\bcures?\b|recall state|of 100\b|circuit|##|\w+(?:Error|Exception)\b", re.I
    )
    assert {name: found for name, text in shown.items() if (found := words.findall(text))} == {}
