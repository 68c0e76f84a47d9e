"""A peer runs in a process of its own, and the probes see through one that only repeats."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.peers import probes, venvs
from benchmarks.peers.children import Child, ChildFailed, child


@pytest.fixture
def parrot() -> Iterator[Child]:
    with child(Path(sys.executable), "tests.fakes.parrot") as running:
        yield running


def test_a_peer_names_its_version_and_answers_order_by_order(parrot: Child, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("One ≥ two.", "utf-8")
    assert parrot.versions == {"Parrot": "1"}
    assert parrot.do("ingest", files=[str(path)])["seconds"] >= 0
    asked = parrot.do("ask", questions=["a", "b", "c"])
    assert (len(asked["seconds"]), asked["cited"]) == (3, 3)
    assert parrot.do("memory")["pss"] > 1
    parrot.do("new")
    assert parrot.do("ask", questions=["a"])["cited"] == 0


def test_the_probes_tell_a_parrot_from_a_witness(parrot: Child, tmp_path: Path) -> None:
    found = probes.theirs(parrot, tmp_path, quotations=2, characters=2000)
    assert found["chunks"] == {"chunks": 5, "verbatim": 5, "placed": 5, "in_place": 5}
    assert found["quotations"] == {
        "true": 2,
        "true_shown": 2,
        "altered": 2,
        "altered_shown": 2,
    }
    assert found["changed_file"] == {"before": "old", "after": "both"}


def test_words_without_a_source_do_not_count_as_shown(tmp_path: Path) -> None:
    with child(Path(sys.executable), "tests.fakes.parrot", ["--mute"]) as mute:
        found = probes.theirs(mute, tmp_path, quotations=1, characters=2000)
    assert (found["quotations"]["true_shown"], found["quotations"]["altered_shown"]) == (0, 0)


def test_a_peer_that_fails_says_so_and_hangs_nobody(parrot: Child) -> None:
    with pytest.raises(ChildFailed, match="parrot has ended"):
        parrot.do("ingest", files=["/does/not/exist.txt"])
    with pytest.raises(ChildFailed):
        parrot.do("memory")


def test_a_peer_gets_no_keys_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTEST_KEY", "secret")
    with child(Path(sys.executable), "tests.integration.benchmarks.environment_peer") as running:
        assert "PATH" in running.versions
        assert "ATTEST_KEY" not in running.versions


@pytest.mark.parametrize("name", ["paperqa", "llamaindex", "haystack", "encoder"])
def test_what_peers_are_made_of_is_pinned_and_names_no_place(name: str) -> None:
    lines = (venvs.REQUIREMENTS / f"requirements-{name}.txt").read_text("utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert pins
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][A-Za-z0-9.]*", line) for line in pins)
