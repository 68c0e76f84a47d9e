"""`attest evaluate packs`: what it finds wrong in packs, and what it asks the sources (EB-4.1)."""

import json
import string
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from cli.evaluate import packs as module
from cli.evaluate.packs import Report, evaluate_packs, same_title
from cli.main import app
from knowledge import scenarios
from store.core.settings import Settings
from tests.contract.connectors.conftest import MakeClient
from tests.fakes.clinicaltrials import ClinicalTrials
from tests.fakes.crossref import Crossref, update
from tests.fakes.eutils import Eutils
from tests.fakes.web import Clock, FakeWeb, Reply
from workers.http.client import SourceClient

TITLE = "Made-up drug versus placebo in adults with an imagined disease"
TRIAL = {
    "kind": "pivotal_trial",
    "title": TITLE,
    "year": 2024,
    "trial": "MADE-UP-1",
    "pmid": "101",
    "doi": "10.5555/one",
    "nct_id": "NCT00000001",
    "confirmed": True,
    "basis": "title and identifiers together on one page",
}
REGISTERED = {
    "kind": "pivotal_trial",
    "title": "A study of an invented drug in invented patients",
    "year": 2020,
    "trial": "INVENTED-2",
    "nct_id": "NCT00000002",
    "confirmed": True,
    "basis": "title and number together on one page",
}
DOUBTFUL = {
    "kind": "guideline",
    "title": "A guideline that nobody saw",
    "year": 2025,
    "confirmed": False,
    "basis": "not confirmed: unseen",
}
WHAT_A_PACK_NEEDS = [
    {**TRIAL, "kind": kind, "title": f"{TITLE} {kind}", "pmid": None, "doi": None, "nct_id": None}
    | {"url": f"https://example.org/{kind}"}
    for kind in ("guideline", "systematic_review")
]


def pack(*entries: dict[str, Any], name: str = "made_up", **fields: Any) -> dict[str, str]:
    """A pack's file, by its name."""
    whole = {
        "name": name,
        "label": name,
        "diseases": ["sepsis"],
        "decisions": ["duration"],
        "reviewed_on": "2026-11-22",
        "entries": list(entries),
    }
    return {f"{name}.yaml": yaml.safe_dump(whole | fields)}


def problems(report: Report) -> list[str]:
    return [fault.problem for fault in report.faults]


# without a network


def test_a_sound_pack_has_no_fault_and_nobody_was_asked() -> None:
    report = evaluate_packs(pack(TRIAL, REGISTERED, DOUBTFUL, *WHAT_A_PACK_NEEDS))
    assert problems(report) == []
    assert report.looked_up is None
    assert module.body(report)["existence"] == "not checked"
    (said,) = module.body(report)["packs"]
    assert (said["confirmed"], said["unconfirmed"], said["missing"]) == (4, 1, [])
    assert said["usable"] == {"guidelines": 1, "reviews": 1, "trials or cohorts": 2}


@pytest.mark.requirement("EB-4.1")
def test_eb_4_1_a_group_without_a_usable_entry_is_named() -> None:
    (said,) = module.body(evaluate_packs(pack(TRIAL, DOUBTFUL)))["packs"]
    assert said["missing"] == ["guidelines", "reviews"]
    cohort = {**TRIAL, "kind": "cohort"}
    (said,) = module.body(evaluate_packs(pack(cohort, *WHAT_A_PACK_NEEDS)))["packs"]
    assert said["missing"] == []


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"made_up.yaml": "name: [unclosed"}, "no YAML"),
        ({"made_up.yaml": "just words"}, "the file"),
        (pack({**TRIAL, "pmid": "0101"}), "entries.0.pmid"),
        (pack({**TRIAL, "kind": "editorial"}), "entries.0.kind"),
        (pack(TRIAL, diseases=["no_such_disease"]), "no_such_disease is no tag"),
        (pack(TRIAL, decisions=["no_such_decision"]), "no_such_decision is no tag"),
        ({"other.yaml": pack(TRIAL)["made_up.yaml"]}, "its file is called other.yaml"),
        (pack({**DOUBTFUL, "pmid": "7"}), "not confirmed, and yet it has pmid 7"),
        (pack({**DOUBTFUL, "confirmed": True}), "leads to no work"),
        (pack({**DOUBTFUL, "url": "https://example.org/search?q=x"}), "a search page"),
        (pack(TRIAL, {**REGISTERED, "doi": "10.5555/ONE"}), "doi 10.5555/one occurs 2 times"),
        (
            pack(TRIAL) | pack({**TRIAL, "title": "Another title"}, name="second"),
            "pmid 101: another title than in made_up",
        ),
        (
            pack(TRIAL) | pack({**TRIAL, "year": 2023}, name="second"),
            "doi 10.5555/one: another year than in made_up",
        ),
        (
            pack(TRIAL) | pack({**TRIAL, "kind": "cohort"}, name="second"),
            "nct_id nct00000001: another kind than in made_up",
        ),
    ],
)
def test_what_is_wrong_with_a_pack_is_said(files: dict[str, str], said: str) -> None:
    assert [problem for problem in problems(evaluate_packs(files)) if said in problem]


def test_one_bad_file_hides_no_other() -> None:
    report = evaluate_packs({"bad.yaml": "[]"} | pack(TRIAL))
    assert [one.name for one in report.packs] == ["made_up"]
    assert [fault.pack for fault in report.faults] == ["bad.yaml"]


def test_a_work_may_stand_in_two_packs() -> None:
    assert problems(evaluate_packs(pack(TRIAL) | pack(TRIAL, name="second"))) == []


@given(st.lists(st.text(string.ascii_lowercase, min_size=1), min_size=1, unique=True))
def test_a_title_is_the_same_in_any_case_order_and_with_a_subtitle(words: list[str]) -> None:
    title = " ".join(words)
    assert same_title(title, title.upper())
    assert same_title(title, " ".join(reversed(words)))
    assert same_title(f"{title}: a report of a task force", title)


@pytest.mark.parametrize(
    "other", ["", "A study of an invented drug in invented patients", "Made-up drug: a protocol"]
)
def test_another_work_has_another_title(other: str) -> None:
    assert not same_title(TITLE, other)


def test_accents_do_not_make_another_title() -> None:
    assert same_title("Étude sur la pneumopathie", "Etude sur la pneumopathie")


# asking the sources


@pytest.fixture
def pubmed(clock: Clock) -> Eutils:
    fake = Eutils(clock)
    fake.put(101, title=f"{TITLE}.", pub_date="<Year>2024</Year>")
    return fake


@pytest.fixture
def crossref(clock: Clock) -> Crossref:
    fake = Crossref(clock)
    fake.put("10.5555/one", title=[TITLE.upper()], issued={"date-parts": [[2023, 12]]})
    return fake


@pytest.fixture
def registry(clock: Clock) -> ClinicalTrials:
    fake = ClinicalTrials(clock)
    fake.put("NCT00000001", title="The registry's own words for it")
    fake.put("NCT00000002", title=REGISTERED["title"])
    return fake


@pytest.fixture
def web(pubmed: Eutils, crossref: Crossref, registry: ClinicalTrials) -> Iterator[FakeWeb]:
    with FakeWeb(pubmed, crossref, registry) as web:
        yield web


@pytest.fixture
def clients(web: FakeWeb, source_client: MakeClient) -> dict[str, SourceClient]:
    return {name: source_client(name, web) for name in ("pubmed", "crossref", "clinicaltrials")}


Clients = dict[str, SourceClient]


def test_works_that_exist_under_their_titles_have_no_fault(clients: Clients, web: FakeWeb) -> None:
    report = evaluate_packs(pack(TRIAL, REGISTERED, DOUBTFUL), clients)
    assert problems(report) == []
    assert report.looked_up == 4
    assert {request.origin for request in web.requests} == {
        "https://eutils.ncbi.nlm.nih.gov",
        "https://api.crossref.org",
        "https://clinicaltrials.gov",
    }


def test_an_identifier_that_two_packs_share_is_asked_about_once(
    clients: Clients, web: FakeWeb
) -> None:
    only_doi = {**TRIAL, "pmid": None, "nct_id": None}
    report = evaluate_packs(pack(only_doi) | pack(only_doi, name="second"), clients)
    assert (report.looked_up, len(web.requests)) == (1, 1)


def test_an_unconfirmed_entry_is_not_asked_about(clients: Clients, web: FakeWeb) -> None:
    report = evaluate_packs(pack(DOUBTFUL), clients)
    assert (report.looked_up, web.requests) == (0, [])


@pytest.mark.requirement("EB-7.5")
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"pmid": "999"}, "pmid 999: pubmed has no such record"),
        ({"doi": "10.5555/none"}, "doi 10.5555/none: crossref has no such record"),
        ({"nct_id": "NCT99999999"}, "nct_id nct99999999: clinicaltrials has no such record"),
        ({"year": 2020}, "pmid 101: pubmed has the year 2024, not 2020"),
        ({"year": 2026}, "doi 10.5555/one: crossref has the year 2023, not 2026"),
        ({"title": "Quite another work on something else"}, "pubmed has another title"),
        ({"title": "Quite another work on something else"}, "crossref has another title"),
    ],
)
def test_eb_7_5_what_a_source_says_otherwise_is_a_fault(
    changed: dict[str, object], said: str, clients: Clients
) -> None:
    report = evaluate_packs(pack({**TRIAL, **changed}), clients)
    assert [problem for problem in problems(report) if said in problem]


def test_a_missing_record_hides_no_other(clients: Clients) -> None:
    gone = {**TRIAL, "pmid": "999", "doi": "10.5555/none", "nct_id": "NCT99999999"}
    report = evaluate_packs(pack(gone, TRIAL, REGISTERED), clients)
    assert sorted(problem.split(":")[0] for problem in problems(report)) == [
        "doi 10.5555/none",
        "nct_id nct99999999",
        "pmid 999",
    ]
    assert {fault.title for fault in report.faults} == {TITLE}


def test_a_registry_record_is_known_by_its_title_or_by_the_trials_name(
    clients: Clients, registry: ClinicalTrials
) -> None:
    registry.put("NCT00000002", title="Quite other words for a different thing")
    (said,) = problems(evaluate_packs(pack(REGISTERED), clients))
    assert "clinicaltrials has another title: Quite other words" in said
    registry.put("NCT00000002", title="INVENTED-2: quite other words")
    assert problems(evaluate_packs(pack(REGISTERED), clients)) == []


def test_a_retracted_work_is_a_fault(clients: Clients, pubmed: Eutils, crossref: Crossref) -> None:
    pubmed.retract(101, 102)
    crossref.change("10.5555/one", updated_by=[update("retraction", "10.5555/notice")])
    said = [one for one in problems(evaluate_packs(pack(TRIAL), clients)) if "retracted" in one]
    assert [one.split(":")[0] for one in said] == ["pmid 101", "doi 10.5555/one"]


def test_a_source_that_does_not_answer_shows_nothing(clients: Clients, web: FakeWeb) -> None:
    web.fault = lambda request: Reply(503, b"") if "crossref" in request.origin else None
    (said,) = problems(evaluate_packs(pack(TRIAL), clients))
    assert said.startswith("crossref did not answer for 1 identifiers")


# the command


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["evaluate", "packs", *arguments])
    return done.exit_code, done.stdout


def test_the_packs_that_the_product_ships_are_sound() -> None:
    code, out = run("--json")
    assert json.loads(out)["faults"] == []
    assert {one["name"]: one["missing"] for one in json.loads(out)["packs"] if one["missing"]} == {}
    assert code == 0


def test_offline_the_table_says_that_existence_was_not_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scenarios, "pack_files", lambda: pack(TRIAL))
    code, out = run()
    assert code == 0
    assert "existence was not checked" in out
    assert "made_up has no usable guidelines, no usable reviews" in out
    assert "no fault" in out


def test_a_fault_makes_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenarios, "pack_files", lambda: pack({**DOUBTFUL, "pmid": "7"}))
    code, out = run()
    assert code == 1
    assert f"made_up: {DOUBTFUL['title']}: not confirmed, and yet it has pmid 7" in out


def test_online_the_sources_are_asked(
    monkeypatch: pytest.MonkeyPatch, clients: Clients, pubmed: Eutils
) -> None:
    @contextmanager
    def of_the_fake_web(settings: Settings) -> Iterator[Clients]:
        yield clients

    monkeypatch.setattr(scenarios, "pack_files", lambda: pack(TRIAL, *WHAT_A_PACK_NEEDS))
    monkeypatch.setattr(module, "source_clients", of_the_fake_web)
    code, out = run("--online", "--json")
    assert (code, json.loads(out)["existence"], json.loads(out)["looked_up"]) == (0, "checked", 3)
    pubmed.delete(101)
    code, out = run("--online")
    assert code == 1
    assert "pmid 101: pubmed has no such record" in out
    assert "3 identifiers were looked up" in out
