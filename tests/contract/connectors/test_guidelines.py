"""The guideline folder: files with a sidecar, read when they changed, gone when taken away."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.contract.connectors.conftest import MakeClient
from tests.fakes.web import Clock, FakeWeb
from workers.http.client import SourceClient
from workers.http.errors import InvalidQuery, Malformed, Refused
from workers.ingest.connectors import guidelines
from workers.ingest.connectors.base import Ask, Continuation, Page
from workers.ingest.connectors.guidelines import FILES_A_STEP, Guidelines
from workers.ingest.parsers.base import Parsed

KEY = "nccn:nccn/made-up-tumours"


@pytest.fixture
def client(source_client: MakeClient) -> Iterator[SourceClient]:
    with FakeWeb() as web:
        yield source_client("guidelines", web)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "guidelines"
    made.mkdir()
    return made


def write(
    folder: Path,
    name: str,
    text: str = "# Made up\n\nDo nothing.\n",
    *,
    ending: str = ".yaml",
    **sidecar: str,
) -> Path:
    """A file and its sidecar; `sidecar` changes fields, an empty one is left out."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    told = {
        "title": "Made-up tumours",
        "organisation": "NCCN",
        "version": "1.2026",
        "effective_date": "2026-01-31",
        "licence_note": "made up for tests",
    } | sidecar
    told = {field: words for field, words in told.items() if words}
    body = json.dumps(told)  # which is YAML as well
    Path(f"{path}{ending}").write_text(body, "utf-8")
    return path


def refresh(
    client: SourceClient,
    folder: Path | None,
    query: str = "",
    marks: Mapping[str, Any] | None = None,
) -> list[Page]:
    source = Guidelines(folder)
    wanted = Ask(source.check_query(query), None, client.now(), marks or {})
    found: list[Page] = []
    continuation: Continuation | None = None
    while not found or continuation is not None:
        # what stands between two pages goes through PostgreSQL
        continuation = json.loads(json.dumps(continuation))
        found.append(source.page(client, wanted, continuation))
        continuation = found[-1].next
        assert len(found) < 50, "the folder never ends"
    return found


def read(found: list[Page]) -> Parsed:
    parsed = Parsed()
    for page in found:
        for payload in page.payloads:
            parsed.add(Guidelines(None).parse(payload.content))
    return parsed


def why(client: SourceClient, folder: Path) -> str:
    parsed = read(refresh(client, folder))
    assert parsed.records == []
    (problem,) = parsed.problems
    return problem.reason


@pytest.mark.parametrize("ending", [".yaml", ".yml", ".json"])
def test_a_file_with_a_sidecar_is_a_guideline(
    ending: str, client: SourceClient, folder: Path
) -> None:
    write(folder, "nccn/tumours.md", ending=ending, url="https://example.test/tumours")
    (record,) = read(refresh(client, folder)).records
    assert record.key == KEY
    assert (record.source_type, record.version_label) == ("nccn", "1.2026")
    assert record.text == "# Made up\n\nDo nothing.\n"
    assert str(record.published_at) == "2026-01-31 00:00:00+00:00"
    assert record.url == "https://example.test/tumours"
    assert record.facts["path"] == "nccn/tumours.md"
    assert str(folder) not in record.model_dump_json()


def test_a_sidecar_may_stand_without_the_files_ending(client: SourceClient, folder: Path) -> None:
    path = write(folder, "tumours.md")
    Path(f"{path}.yaml").rename(folder / "tumours.yaml")
    assert len(read(refresh(client, folder)).records) == 1


def test_unchanged_files_are_not_read_again(client: SourceClient, folder: Path) -> None:
    write(folder, "a.md")
    write(folder, "b.md", title="Other tumours")
    marks = refresh(client, folder)[-1].marks
    (again,) = refresh(client, folder, marks=marks)
    assert (again.payloads, again.marks) == ((), marks)
    (folder / "b.md").write_text("Do something.")
    (record,) = read(refresh(client, folder, marks=marks)).records
    assert (record.title, record.text) == ("Other tumours", "Do something.")


def test_a_changed_sidecar_is_a_new_version_of_the_same_document(
    client: SourceClient, folder: Path
) -> None:
    write(folder, "a.md")
    marks = refresh(client, folder)[-1].marks
    write(folder, "a.md", version="2.2026")
    parsed = read(refresh(client, folder, marks=marks))
    (record,) = parsed.records
    assert (record.key, record.version_label, parsed.gone) == (KEY, "2.2026", [])


def test_a_file_that_was_taken_away_is_gone(client: SourceClient, folder: Path) -> None:
    path = write(folder, "a.md")
    marks = refresh(client, folder)[-1].marks
    path.unlink()
    found = refresh(client, folder, marks=marks)
    assert read(found).gone == [KEY]
    assert read(refresh(client, folder, marks=found[-1].marks)).gone == []


def test_a_file_that_moved_or_has_a_newer_version_is_not_gone(
    client: SourceClient, folder: Path
) -> None:
    path = write(folder, "a.md")
    marks = refresh(client, folder)[-1].marks
    path.unlink()
    write(folder, "new/b.md", version="2.2026", effective_date="2026-02-28")
    parsed = read(refresh(client, folder, marks=marks))
    assert (parsed.gone, [record.version_label for record in parsed.records]) == ([], ["2.2026"])


def test_a_file_that_moved_out_of_what_is_followed_is_not_gone_until_it_is_nowhere(
    client: SourceClient, folder: Path
) -> None:
    write(folder, "nccn/a.md")
    found = refresh(client, folder, "nccn")
    (folder / "other").mkdir()
    for name in ("a.md", "a.md.yaml"):
        (folder / "nccn" / name).rename(folder / "other" / name)
    for _ in range(2):
        found = refresh(client, folder, "nccn", marks=found[-1].marks)
        parsed = read(found)
        assert (parsed.gone, parsed.unseen, parsed.records) == ([], [KEY], [])
    for name in ("a.md", "a.md.yaml"):
        (folder / "other" / name).rename(folder / "nccn" / name)
    back = refresh(client, folder, "nccn", marks=found[-1].marks)
    assert [record.key for record in read(back).records] == [KEY]
    for name in ("a.md", "a.md.yaml"):
        (folder / "nccn" / name).unlink()
    for marks in (found[-1].marks, back[-1].marks):
        last = refresh(client, folder, "nccn", marks=marks)
        assert read(last).gone == [KEY]
        assert read(refresh(client, folder, "nccn", marks=last[-1].marks)).gone == []


def test_a_file_whose_sidecar_broke_is_told_and_not_gone(
    client: SourceClient, folder: Path
) -> None:
    path = write(folder, "a.md")
    marks = refresh(client, folder)[-1].marks
    good = Path(f"{path}.yaml").read_bytes()
    Path(f"{path}.yaml").write_text("title: [")
    found = refresh(client, folder, marks=marks)
    parsed = read(found)
    assert parsed.gone == []
    assert "a.md has a sidecar that cannot be read as YAML" in parsed.problems[0].reason
    Path(f"{path}.yaml").write_bytes(good)
    assert refresh(client, folder, marks=found[-1].marks)[0].payloads == ()


def test_of_two_versions_the_newer_counts_and_the_older_is_told(
    client: SourceClient, folder: Path
) -> None:
    write(folder, "a.md", version="2", effective_date="2026-02-01")
    write(folder, "b.md", version="1", effective_date="2026-01-01")
    write(folder, "c.md", version="3", effective_date="2026-03-01")
    parsed = read(refresh(client, folder))
    assert [record.version_label for record in parsed.records] == ["3"]
    assert sorted(problem.reason[:4] for problem in parsed.problems) == ["a.md", "b.md"]
    assert all("take one away" in problem.reason for problem in parsed.problems)


def test_many_files_come_some_at_a_time(client: SourceClient, folder: Path) -> None:
    for number in range(20):
        write(folder, f"{number:02}.txt", title=f"Tumour {number}")
    found = refresh(client, folder)
    assert [len(page.payloads) for page in found] == [FILES_A_STEP, FILES_A_STEP, 4]
    assert len(read(found).records) == 20
    assert [bool(page.marks) for page in found] == [False, False, True]


def test_a_file_that_goes_while_the_folder_is_read_is_told_and_looked_for_again(
    client: SourceClient, folder: Path
) -> None:
    for number in range(FILES_A_STEP + 1):
        write(folder, f"{number}.txt", title=f"Tumour {number}")
    source, wanted = Guidelines(folder), Ask("", None, client.now())
    first = source.page(client, wanted, None)
    assert first.next is not None
    (last,) = first.next["todo"]
    (folder / last).unlink()
    second = source.page(client, wanted, first.next)
    assert last in read([second]).problems[0].reason
    assert last not in second.marks["files"]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["a.md", "esmo/b.md", "nccn/c.txt", "nccn/deep/d.md"]),
        ("nccn", ["nccn/c.txt", "nccn/deep/d.md"]),
        ("/nccn/ ", None),
        ("nccn/", ["nccn/c.txt", "nccn/deep/d.md"]),
        ("nccn/*.md", ["nccn/deep/d.md"]),
        ("*.md", ["a.md", "esmo/b.md", "nccn/deep/d.md"]),
        ("nc", []),
    ],
)
def test_a_query_is_a_folder_or_a_pattern(
    query: str, names: list[str] | None, client: SourceClient, folder: Path
) -> None:
    for name in ("a.md", "esmo/b.md", "nccn/c.txt", "nccn/deep/d.md"):
        write(folder, name, title=name)
    if names is None:
        with pytest.raises(InvalidQuery):
            Guidelines(folder).check_query(query)
        return
    found = read(refresh(client, folder, query)).records
    assert sorted(record.facts["path"] for record in found) == names


@pytest.mark.parametrize(
    "query", ["/etc", "..", "nccn/../..", "~/x", "a\\b", "C:x", "a//b", "./a", "a\x00", "x" * 300]
)
def test_a_query_that_leads_out_of_the_folder_is_refused(query: str) -> None:
    with pytest.raises(InvalidQuery):
        Guidelines(None).check_query(query)


def test_without_a_sidecar_the_file_is_told_with_what_to_write(
    client: SourceClient, folder: Path
) -> None:
    path = write(folder, "nccn/a.md")
    Path(f"{path}.yaml").unlink()
    reason = why(client, folder)
    assert reason.startswith("nccn/a.md has no sidecar: write nccn/a.md.yaml with title, ")
    assert "effective_date (2026-01-31)" in reason


@pytest.mark.parametrize(
    ("sidecar", "named"),
    [
        ({"title": ""}, "title"),
        ({"organisation": ""}, "organisation"),
        ({"effective_date": "31.01.2026"}, "effective_date"),
        ({"effective_date": "86400"}, "effective_date"),
        ({"licence_note": ""}, "licence_note"),
        ({"url": "javascript:alert(1)"}, "url"),
        ({"tilte": "x"}, "tilte"),
    ],
)
def test_a_sidecar_that_misses_something_says_what(
    sidecar: dict[str, str], named: str, client: SourceClient, folder: Path
) -> None:
    write(folder, "a.md", **sidecar)
    reason = why(client, folder)
    assert f"is missing or wrong in {named}; write" in reason
    assert "javascript" not in reason


def test_a_link_out_of_the_folder_is_refused(
    client: SourceClient, folder: Path, tmp_path: Path
) -> None:
    write(folder, "a.md").unlink()
    (tmp_path / "secret.md").write_text("secret")
    (folder / "a.md").symlink_to(tmp_path / "secret.md")
    assert "leads out of the folder" in why(client, folder)


def test_a_linked_sidecar_is_refused_as_well(
    client: SourceClient, folder: Path, tmp_path: Path
) -> None:
    path = write(folder, "a.md")
    Path(f"{path}.yaml").rename(tmp_path / "secret.yaml")
    Path(f"{path}.yaml").symlink_to(tmp_path / "secret.yaml")
    assert "leads out of the folder" in why(client, folder)


def test_linked_folders_are_told_and_not_entered(
    client: SourceClient, folder: Path, tmp_path: Path
) -> None:
    write(tmp_path / "elsewhere", "a.md")
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    (folder / "loop").symlink_to(folder)
    reasons = [problem.reason for problem in read(refresh(client, folder)).problems]
    assert [reason.partition(" ")[0] for reason in reasons] == ["linked", "loop"]


def test_links_within_the_folder_work(client: SourceClient, folder: Path) -> None:
    write(folder, "store/.hidden.md")
    write(folder, "a.md").unlink()
    (folder / "a.md").symlink_to(folder / "store" / ".hidden.md")
    assert len(read(refresh(client, folder)).records) == 1


def test_a_pipe_a_broken_link_and_a_strange_kind_are_told(
    client: SourceClient, folder: Path
) -> None:
    write(folder, "pipe.md").unlink()
    os.mkfifo(folder / "pipe.md")
    write(folder, "broken.md").unlink()
    (folder / "broken.md").symlink_to(folder / "nothing.md")
    write(folder, "slides.pptx")
    reasons = {
        problem.reason.partition(" ")[0]: problem.reason
        for problem in read(refresh(client, folder)).problems
    }
    assert set(reasons) == {"pipe.md", "broken.md", "slides.pptx"}
    assert "not a plain file" in reasons["pipe.md"]
    assert "save it as PDF" in reasons["slides.pptx"]


def test_a_file_over_the_limit_is_told(
    client: SourceClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guidelines, "MAX_FILE_BYTES", 2**20)
    write(folder, "a.md", "x" * (2**20 + 1))
    assert "more than 1 MB" in why(client, folder)


def test_a_file_that_cannot_be_read_is_a_problem_of_its_document(
    client: SourceClient, folder: Path
) -> None:
    path = write(folder, "a.pdf")
    path.write_bytes(b"\x00 no pdf")
    parsed = read(refresh(client, folder))
    assert [problem.source_id for problem in parsed.problems] == [KEY]
    assert parsed.problems[0].reason.startswith("a.pdf: ")


def test_hidden_files_are_passed_over(client: SourceClient, folder: Path) -> None:
    write(folder, ".git/a.md")
    (folder / ".DS_Store").write_bytes(b"x")
    assert refresh(client, folder)[0].payloads == ()


def test_by_key(client: SourceClient, folder: Path) -> None:
    write(folder, "a.md")
    write(folder, "b.md", title="Other tumours")
    page = Guidelines(folder).fetch(client, [KEY, "nccn:nccn/none"])
    assert [record.key for record in read([page]).records] == [KEY]


def test_without_a_folder_it_says_what_to_set(client: SourceClient, folder: Path) -> None:
    with pytest.raises(Refused, match="ATTEST_GUIDELINES_DIR"):
        refresh(client, None)
    with pytest.raises(Refused, match="mount"):
        refresh(client, folder / "not there")
    with pytest.raises(Refused, match="mount"):
        refresh(client, write(folder, "a.md"))


def test_a_continuation_cannot_name_files_outside(client: SourceClient, folder: Path) -> None:
    (folder.parent / "secret.md").write_text("secret")
    source, wanted = Guidelines(folder), Ask("", None, client.now())
    page = source.page(client, wanted, {"todo": ["../secret.md", "/etc/passwd"], "marks": {}})
    assert page.payloads == ()
    with pytest.raises(Malformed):
        source.page(client, wanted, {"cursor": "x"})


def test_no_request_is_ever_made(folder: Path, clock: Clock, source_client: MakeClient) -> None:
    write(folder, "a.md")
    with FakeWeb() as web:
        refresh(source_client("guidelines", web), folder)
    assert web.requests == []
