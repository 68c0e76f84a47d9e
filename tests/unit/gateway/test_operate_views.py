"""What the Operate pages say, from rows to words, and what their drawings hold."""

import base64
import hashlib
import re
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from lxml import etree

from api_gateway.audit import view as audit_view
from api_gateway.dead_letters.view import end, facts
from api_gateway.operations import view as operate
from api_gateway.pages.charts import bar_chart, line_chart
from api_gateway.pages.clocks import dollars, second
from api_gateway.quality import view as quality_view
from knowledge.operation.quality import Figure, quality_metrics
from store.audit.audit import ChainReport, Checkpoint
from store.core.settings import Settings
from store.models import DeadLetter
from store.models.operators import DeadLetterResolution
from store.pipeline.circuits import StageState
from store.pipeline.queue_report import QueueReport
from store.reports.model_usage import Asked, DayCost, Spent, Unpriced
from store.reports.quality import Counts, Ended
from store.reports.quality_report import Day, Judged, QualityReport
from store.reports.week_tables import Table

AT = datetime(2026, 11, 22, 14, 30, 5, tzinfo=UTC)
DAYS = [f"2026-11-{n:02d}" for n in range(16, 23)]
SVG = "{http://www.w3.org/2000/svg}"


WATCH = {"active": True, "query": "words of a question", "cursor_at": AT, "last_error": None}


def source(**changed: Any) -> dict[str, Any]:
    """A source as `store.sources.source_report.body` gives it."""
    return {
        "name": "pubmed",
        "title": "PubMed",
        "tier": "tier_2",
        "sla_hours": 168.0,
        "status": "ok",
        "reason": None,
        "age_hours": 30.0,
        "in_sla": True,
        "breached_since": None,
        "last_success_at": AT,
        "last_error": None,
        "last_error_at": None,
        "next_run_at": AT,
        "documents": 3,
        "watches": [WATCH],
        **changed,
    }


def stage(name: str = "verify", state: str = "closed", **changed: Any) -> StageState:
    given: dict[str, Any] = {
        "reason": None,
        "changed_by": None,
        "changed_at": None,
        "probe_at": None,
        "probing": False,
        "failed_probes": 0,
        "deaths": 0,
        "done": 0,
        "waiting": 0,
        "held": 0,
        **changed,
    }
    return StageState(name, state, **given)


# the overview


@pytest.mark.parametrize(
    ("changed", "labels"),
    [
        ({}, ["In time"]),
        ({"in_sla": False}, ["Late"]),
        ({"in_sla": None, "sla_hours": None}, ["No limit"]),
        ({"in_sla": None, "watches": []}, ["Not followed"]),
        ({"status": "degraded"}, ["Failing", "In time so far"]),
        ({"status": "degraded", "in_sla": False}, ["Failing", "Late"]),
    ],
)
def test_the_state_of_a_source_is_words_and_an_icon(
    changed: dict[str, Any], labels: list[str]
) -> None:
    line = operate.source_line(source(**changed))
    assert [one.label for one in line["badges"]] == labels
    assert all(one.icon and one.meaning for one in line["badges"])


def test_a_source_is_shown_with_its_age_beside_its_limit_and_without_its_queries() -> None:
    line = operate.source_line(source())
    assert (line["age"], line["limit"], line["followed"]) == ("30 h", "7 d", 1)
    never = operate.source_line(source(age_hours=None, sla_hours=None))
    assert (never["age"], never["limit"]) == ("never", "none")
    assert "words of a question" not in repr(line)


def test_a_query_that_failed_and_was_never_complete_is_counted_beside_those_that_were() -> None:
    failing = {**WATCH, "cursor_at": None, "last_error": "404"}
    to_come = {**WATCH, "cursor_at": None}
    line = operate.source_line(source(watches=[WATCH, failing, to_come]))
    assert (line["followed"], line["incomplete"]) == (3, 1)


def test_a_stage_stands_beside_its_queue_in_the_order_of_the_chain() -> None:
    queue = QueueReport("verify", due=2, published=3, delayed=1, oldest_seconds=90, dead_letters=4)
    lines = operate.stage_lines([stage("retrieve"), stage("verify", held=5)], [queue])
    assert [one.name for one in lines] == ["retrieve", "verify"]
    assert (lines[0].waiting, lines[0].oldest) == (0, "")
    assert (lines[1].waiting, lines[1].oldest) == (11, "2 min")


def test_a_stage_whose_state_is_not_known_does_not_work() -> None:
    stages = [stage("a"), stage("b", "open"), stage("c", "paused"), stage("d", "?")]
    works, open_, paused, odd = operate.stage_lines(stages, [])
    assert [one.works for one in (works, open_, paused, odd)] == [True, False, False, False]
    assert (open_.badge.label, paused.badge.label) == ("Stopped itself", "Paused")
    assert odd.badge.tone == "bad"


def shown(sources: list[dict[str, Any]], stages: list[StageState]) -> dict[str, operate.Tile]:
    spent = Spent(Decimal("1.5"), (), 3)
    lines = operate.stage_lines(stages, [QueueReport("verify", due=2, dead_letters=1)])
    found = operate.tiles([operate.source_line(one) for one in sources], lines, spent)
    return {one.label: one for one in found}


def test_the_tiles_count_what_is_and_say_what_is_not_well() -> None:
    good = shown([source(), source(in_sla=None, watches=[])], [stage()])
    assert (good["Sources in time"].value, good["Sources in time"].badge) == (
        "1 of 1",
        operate.IN_TIME,
    )
    assert good["Dead letters"].badge is not None
    assert good["Messages waiting"].value == "2"
    bad = shown([source(), source(in_sla=False)], [stage(), stage("audit", "paused")])
    assert (bad["Sources in time"].value, bad["Sources in time"].badge) == ("1 of 2", operate.LATE)
    assert bad["Stages that work"].value == "1 of 2"
    assert "audit" in bad["Stages that work"].detail
    assert shown([], [])["Sources in time"].badge is None


def test_the_model_is_told_with_its_price_or_that_there_is_none() -> None:
    nobody = operate.model_tile(Settings(), Spent(Decimal(0), (), 0))
    assert nobody.value == "none"
    own = Settings(
        model_url="http://127.0.0.1:1", model_name="ours", model_input_usd=1, model_output_usd=2
    )
    told = operate.model_tile(own, Spent(Decimal(0), (), 1, ("before",)))
    assert told.value == "ours, before"
    assert "US$ 2.20 written" in told.detail


@pytest.mark.parametrize(
    ("cost", "words"),
    [("0", "US$ 0.00"), ("0.00042", "US$ 0.0004"), ("1.239", "US$ 1.24"), ("1234", "US$ 1,234.00")],
)
def test_small_costs_are_not_rounded_away(cost: str, words: str) -> None:
    assert dollars(Decimal(cost)) == words


def test_a_cost_that_is_not_known_is_said_and_not_zero() -> None:
    _, told = operate.cost_words(Spent(Decimal(0), (Unpriced("m", 900, 100),), 1))
    assert "1,000 tokens is not known" in told
    assert "not known" not in operate.cost_words(Spent(Decimal(0), (), 0))[1]


# dead letters


def letter(**changed: Any) -> DeadLetter:
    given: dict[str, Any] = {
        "id": UUID(int=7),
        "outbox_id": UUID(int=8),
        "stage": "retrieve",
        "subject": "a subject",
        "payload": {"b": 1, "a": 2},
        "error_type": "Permanent",
        "cause": "a cause",
        "traceback": "",
        "fingerprint": "f" * 16,
        "attempts": 3,
        "replays": 1,
        "status": "open",
        "code_version": "0.1",
        "message_schema": "retrieve.v1",
        "first_failed_at": AT,
        "died_at": AT,
        **changed,
    }
    return DeadLetter(**given)


def test_a_letter_is_told_whole_and_how_it_ended() -> None:
    assert end(None) == {}
    assert facts(letter())["Replays before"] == "1"
    given_up = DeadLetterResolution(
        dead_letter_id=UUID(int=7), kind="discarded", by="key:1", reason="asked twice", at=AT
    )
    assert end(given_up) == {
        "By": "key:1",
        "At": "22 Nov 2026, 14:30 UTC",
        "Reason": "asked twice",
    }
    assert "not ours" in facts(letter(outbox_id=None))["Promise"]


# audit


def test_a_search_is_kept_in_the_address_of_every_page_of_it() -> None:
    asked = audit_view.search({"subject": " a&b ", "actor": "x", "odd": "y", "cursor": "z"})
    assert asked == audit_view.Search(subject="a&b", actor="x")
    assert asked.address("c+1") == "/operate/audit?subject=a%26b&actor=x&cursor=c%2B1"
    assert audit_view.search({}).is_empty
    assert audit_view.search({}).address() == "/operate/audit"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-11-22T14:30", datetime(2026, 11, 22, 14, 30, tzinfo=UTC)),
        ("2026-11-22 14:30", datetime(2026, 11, 22, 14, 30, tzinfo=UTC)),
        ("2026-11-22", datetime(2026, 11, 22, tzinfo=UTC)),
        ("2026-11-22T14:30+02:00", datetime(2026, 11, 22, 12, 30, tzinfo=UTC)),
        ("", None),
    ],
)
def test_a_moment_without_an_offset_is_meant_in_utc(written: str, meant: datetime | None) -> None:
    assert audit_view.Search(since=written).filters()["since"] == meant


@pytest.mark.parametrize("written", ["yesterday", "2026-13-01", "0001-01-01T00:00+14:00"])
def test_what_is_no_moment_is_refused_without_repeating_it(written: str) -> None:
    with pytest.raises(audit_view.NotAMoment) as refused:
        audit_view.Search(until=written).filters()
    assert written not in str(refused.value)


def test_an_event_is_told_to_the_second() -> None:
    assert second(AT) == "22 Nov 2026, 14:30:05"


def test_a_walk_says_how_far_it_went_and_where_the_chain_broke() -> None:
    whole = audit_view.chain_view(
        ChainReport(2, True, None, None, Checkpoint(1002, b"\0" * 32)), after=1000
    )
    assert (whole.badge.label, whole.everything) == ("Whole", False)
    assert "2 events, behind event 1,000, to event 1,002" in whole.words
    broken = audit_view.chain_view(
        ChainReport(1, False, 2, "event 2 is missing", Checkpoint(1, b"\0" * 32)), after=0
    )
    assert (broken.badge.label, broken.everything) == ("Broken", True)
    assert "event 2 is missing" in broken.words


# quality


def judged(name: str, value: float | None, over: int = 50) -> Judged:
    return Judged(name, quality_metrics()[name], Figure(value, over if value is not None else 0))


def metric(name: str, value: float | None, trend: list[Day]) -> quality_view.MetricView:
    ((view,),) = [one.metrics for one in quality_view.groups([judged(name, value)], trend, 7)]
    return view


def test_a_metric_stands_beside_its_target_met_or_not() -> None:
    name = "supported_claim_rate"
    assert [one.label for one in metric(name, 0.97, []).badges] == ["Met"]
    missed = metric(name, 0.5, [])
    assert [one.label for one in missed.badges] == ["Missed", "Alert"]
    assert (missed.value, missed.target, missed.over) == ("0.5", "≥ 0.95", 50)
    unknown = metric(name, None, [])
    assert (unknown.value, [one.label for one in unknown.badges]) == ("unknown", ["Unknown"])
    assert [one.label for one in metric("citations_per_response", 8.0, []).badges] == ["No target"]


def test_a_day_on_which_nothing_was_seen_is_unknown_and_never_zero() -> None:
    name = "supported_claim_rate"
    trend = [
        Day("2026-11-20", {name: Figure(1.0, 2)}),
        Day("2026-11-21", {}),
        Day("2026-11-22", {name: Figure(0.97, 4)}),
    ]
    view = metric(name, 0.97, trend)
    assert [(one.day, one.value, one.over) for one in view.points] == [
        ("2026-11-20", "1", 2),
        ("2026-11-21", "", 0),
        ("2026-11-22", "0.97", 4),
    ]
    assert view.chart == "/operate/quality/charts/supported_claim_rate.svg?days=7"
    assert "known on 2 of 3 days" in view.alt
    assert "target ≥ 0.95" in view.alt
    assert metric(name, None, [Day("2026-11-22", {})]).chart is None, "an empty chart says nothing"
    assert metric(name, 0.97, trend[1:]).chart is None, "a single point is no line"
    assert metric("quote_anchor_coverage", 600.0, trend).points == [], "a state has no days"


def test_what_the_gate_did_and_what_an_answer_cost_stand_above_all_metrics() -> None:
    asked = [Asked("judge", 30, Decimal("0.6"), 0, 900.0, 2000.0, 0.02, 0.03)]
    counts = Counts(
        [Ended("guidelines", "answered", 9), Ended("guidelines", "no_evidence", 3)],
        failed=1,
        response_ms_p50=800.0,
        response_ms_p95=2100.0,
        cost_usd=Decimal("0.6"),
        cost_unknown=2,
        stops={"judge": 4},
        asked=asked,
    )
    known = {"own_words_rate": 0.9, "source_words_rate": 0.1, "judges_disagree_rate": 0.25}
    metrics = [judged(name, value, 40) for name, value in known.items()]
    report = QualityReport(AT, AT, metrics, [], counts)
    assert {one.label: (one.value, one.detail) for one in quality_view.tiles(report)} == {
        "Answers": ("12", "3 abstained, 1 failed; 95% took up to 2.1 s"),
        "In a model's own words": (
            "90%",
            "of 40 claims that it drafted; 10% in words of sources",
        ),
        "Judges disagreed on": ("25%", "of 40 claims"),
        "Requests an answer": (
            "2.5",
            "30 requests to models, those for documents and notes too",
        ),
        "Cost of an answer": ("US$ 0.0600", "US$ 0.6000 in all; of 2 it is not known"),
    }
    nothing = Counts([], 0, None, None, Decimal(0), 0)
    empty = quality_view.tiles(QualityReport(AT, AT, [], [], nothing))
    assert [one.value for one in empty] == ["0", "none", "none", "none", "unknown"]


def test_columns_of_figures_are_told_from_those_of_words() -> None:
    table = Table(
        "t", ("what", "value", "target"), [("a", "1,000", "≥ 0.9"), ("b", "unknown", "-")]
    )
    ((_, figures),) = quality_view.numeric([table])
    assert figures == [False, True, True]


def test_every_day_has_its_cost_also_where_nothing_was_asked() -> None:
    known = DayCost(date(2026, 11, 21), Decimal("0.25"), 2, 1)
    days = quality_view.cost_days([known], date(2026, 11, 20), date(2026, 11, 22))
    assert [(one.day.day, dollars(one.cost)) for one in days] == [
        (20, "US$ 0.00"),
        (21, "US$ 0.2500"),
        (22, "US$ 0.00"),
    ]
    assert "US$ 0.2500 in all" in quality_view.cost_alt(days)


# drawings


def test_the_package_that_draws_leaves_nothing_among_the_finders_of_modules() -> None:
    assert all(hasattr(one, "find_spec") for one in sys.meta_path)


@pytest.mark.parametrize("dark", [False, True])
def test_a_drawing_runs_nothing_and_asks_nobody(dark: bool) -> None:
    values = [0.9, None, 0.95, None, 1.0, 0.97, 0.96]
    title = "</title><script>alert(1)</script>"
    for one in (
        line_chart(title, DAYS, values, target=0.95, dark=dark),
        bar_chart(title, DAYS, [value or 0 for value in values], dark=dark),
    ):
        drawn = etree.fromstring(one.content)
        tags = {element.tag.removeprefix(SVG) for element in drawn.iter(etree.Element)}
        assert tags.isdisjoint({"script", "a", "image", "use", "foreignObject", "desc"})
        assert drawn.findtext(f"{SVG}title") == title
        for element in drawn.iter(etree.Element):
            assert not {"style", "href", "src"}.intersection(element.attrib)
            assert not [name for name in element.attrib if str(name).startswith("on")]
        style = "".join(drawn.itertext(f"{SVG}style"))
        assert not re.search(r"url\(|@import|https?:", style)
        assert not list(drawn.iter(etree.Comment))


def test_the_policy_of_a_drawing_allows_its_own_style_and_nothing_else() -> None:
    one = line_chart("x", DAYS, [1.0] * 7)
    style = "".join(etree.fromstring(one.content).itertext(f"{SVG}style"))
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in one.policy
    assert one.policy.startswith("default-src 'none';")
    assert "unsafe" not in one.policy


def dots(content: bytes) -> int:
    return len(list(etree.fromstring(content).iter(f"{SVG}circle")))


def test_a_day_of_which_nothing_is_known_is_a_gap() -> None:
    known = [0.9, None, 0.95, None, None, 0.97, 0.96]
    one = line_chart("x", DAYS, known, target=0.5)
    assert dots(one.content) == 4, "one dot for each day that is known, none for the target"
    assert dots(line_chart("x", DAYS, [None] * 7).content) == 0


def test_a_drawing_names_few_days_and_always_the_last_one() -> None:
    days = [f"2026-{month:02d}-{day:02d}" for month in (9, 10, 11) for day in range(1, 29)]
    drawn = etree.fromstring(line_chart("x", days, [1.0] * len(days)).content)
    told = [one.text or "" for one in drawn.iter(f"{SVG}text")]
    named = [one for one in told if one.endswith(("Sep", "Oct", "Nov"))]
    assert 3 <= len(named) <= 6
    assert "28 Nov" in named
