"""`attest search` with filters, and what it and `attest ask` say to those that do not fit."""

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.commands.evidence.ingest import find
from cli.commands.questions.ask import asked
from cli.main import app
from knowledge.loader import load
from store.core.settings import Settings
from tests.commands import Attest
from tests.servers import TRIAL, ingest
from workers.inline import InlineWorker

REPORT = {
    "source_type": "pubmed",
    "title": "Example report on surveillance with ctDNA after lung cancer",
    "text": "## Results\n\nIn this made-up report, ctDNA rose before lung cancer recurred.\n",
    "source_key": "test-report",
    "url": "https://example.org/reports/1",
    "published_at": "2019-03-01T00:00:00Z",
}
"""A made-up record: no real study."""


@pytest.fixture
def attest(settings: Settings) -> Attest:
    """Commands on the test's instance."""
    return Attest.on(settings, ATTEST_ENCODER=settings.encoder)


@pytest.fixture
def between(inline: InlineWorker) -> str:
    """Both records are held, the trial in two versions; a moment between the two."""
    ingest(inline.store, TRIAL, REPORT)
    inline.run()
    moment = datetime.now(UTC).isoformat()
    changed = TRIAL["text"].replace("23 centres", "24 centres")
    ingest(inline.store, {**TRIAL, "text": changed})
    inline.run()
    return moment


REPORTED, BEFORE, AFTER = ("pubmed", 1), ("clinicaltrials", 1), ("clinicaltrials", 2)
"""Sources and their versions."""


def test_a_search_finds_what_passes_its_filters_alone(
    settings: Settings, inline: InlineWorker, between: str
) -> None:
    def search(**given: Any) -> set[tuple[str, int]]:
        options = asked("ctDNA", **given).options()
        found = find(settings, inline.store, "ctDNA", options, 50)
        return {(one.source_type, one.n) for one in found.passages}

    assert search() == {REPORTED, AFTER}, "a superseded version is found only as of its time"
    assert search(as_of=between) == {REPORTED, BEFORE}
    assert search(as_of=between, source_types=["clinicaltrials"]) == {BEFORE}
    assert search(as_of="2020-01-01") == set(), "nothing was held then"
    assert search(source_types=["pubmed", "label"]) == {REPORTED}
    assert search(diseases=["colorectal_cancer"]) == {AFTER}
    assert search(diseases=["lung_cancer"], decisions=["surveillance"]) == {REPORTED}
    assert search(diseases=["lung_cancer"], source_types=["label"]) == set()
    assert search(published_from="2019-03-02") == {AFTER}
    assert search(published_from="2019-03-01", published_to="2019-03-01") == {REPORTED}


def test_each_option_of_the_command_confines_the_search(attest: Attest, between: str) -> None:
    def search(*options: str) -> set[tuple[str, int]]:
        done = attest("search", "ctDNA", "--json", *options)
        assert done.returncode == 0, done.stderr
        return {(one["source_type"], one["version"]) for one in json.loads(done.stdout)}

    assert search("--source-type=clinicaltrials", "--source-type=label") == {AFTER}
    assert search("--as-of", between, "--disease=colorectal_cancer") == {BEFORE}
    assert search("--decision=surveillance") == {REPORTED}
    assert search("--since=2019-03-01", "--until=2019-03-01") == {REPORTED}


def test_what_is_asked_for_on_the_command_line_is_what_the_gateway_gets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    posted: list[dict[str, Any]] = []

    def gateway(url: str, body: dict[str, Any], **_: Any) -> dict[str, str]:
        posted.append(body)
        return {"status": "answered"}

    monkeypatch.setattr("cli.commands.questions.ask.ask", gateway)
    monkeypatch.setattr("cli.main.get_settings", lambda: Settings(port=1))
    options = [
        *("--source-type=pubmed", "--source-type=label", "--disease=lung_cancer"),
        *("--decision=surveillance", "--since=2019-01-01", "--until=2020-12-31"),
        *("--as-of=2026-01-31", "--max-references=3"),
    ]
    for given in ([], options):
        done = CliRunner().invoke(app, ["ask", " Why? ", "--json", *given])
        assert done.exit_code == 0, done.output
    assert posted == [
        {"question": "Why?"},
        {
            "question": "Why?",
            "as_of": "2026-01-31",
            "max_references": 3,
            "filters": {
                "source_types": ["pubmed", "label"],
                "diseases": ["lung_cancer"],
                "decisions": ["surveillance"],
                "published_from": "2019-01-01",
                "published_to": "2020-12-31",
            },
        },
    ]


@pytest.mark.parametrize("command", ["search", "ask"])
def test_an_option_that_does_not_fit_is_one_line_before_anything_is_asked(
    attest: Attest, command: str
) -> None:
    done = attest.process(command, "ctDNA", "--disease=lungs")
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("attest: --disease: ")
    assert all(tag in line for tag in load("subjects/vocabulary")["diseases"])


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"source_types": ["pubmed", "blog"]}, r"--source-type: use one of .*\bpubmed\b"),
        ({"decisions": ["lung_cancer"]}, r"--decision: use one of .*\bsurveillance\b"),
        ({"published_from": "2020"}, r"--since: write it as a date .* 2026-01-31"),
        ({"published_to": ""}, r"--until: write it as a date .* 2026-01-31"),
        ({"as_of": "yesterday"}, r"--as-of: write it as a date .* 2026-01-31"),
        ({"as_of": "2026-01-31T10:00:00"}, r"--as-of: .* timezone .*"),
        (
            {"published_from": "2020-01-02", "published_to": "2020-01-01"},
            r"--until: the range ends before it begins: swap its two ends",
        ),
    ],
)
def test_what_does_not_fit_is_named_as_the_option_that_it_came_by(
    options: dict[str, Any], why: str
) -> None:
    with pytest.raises(ValueError, match=f"^{why}") as caught:
        asked("Why?", **options)
    assert not re.search(r"Value error|\n", str(caught.value))


def test_a_question_that_is_empty_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"^question: "):
        asked("  ")


def test_options_that_were_not_given_are_none_of_the_question() -> None:
    plain = asked("Why?", as_of=None, max_references=None, diseases=None, source_types=[])
    assert plain.options() == {}
    confined = asked("Why?", max_references=3, diseases=["lung_cancer"], published_to="2020-01-01")
    assert confined.options() == {
        "max_references": 3,
        "filters": {"diseases": ["lung_cancer"], "published_to": "2020-01-01"},
    }
