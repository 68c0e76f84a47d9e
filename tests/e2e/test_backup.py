"""What an instance holds outlives it: where it was, and elsewhere from a backup."""

import json
import signal
import threading
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.e2e.instances import ask, attest, start
from tests.servers import TRIAL, wait_until


def get(url: str, path: str) -> dict[str, Any]:
    body: dict[str, Any] = httpx.get(f"{url}{path}", timeout=30).json()
    return body


@pytest.mark.requirement("OP-6.4")
@pytest.mark.timeout(600)
def test_op_6_4_state_survives_a_restart_and_a_backup_under_load_that_is_restored_elsewhere(
    tmp_path: Path,
) -> None:
    ended = start(tmp_path / "data")
    records = tmp_path / "records.jsonl"
    records.write_text(json.dumps(TRIAL) + "\n", "utf-8")
    assert ended.attest("ingest", str(records)).returncode == 0
    first = ask(ended)
    family = ended.family()
    assert len(family) >= 7
    assert ended.stop() == 0
    assert psutil.wait_procs(family, 20)[1] == [], "a signal leaves no process"

    running = start(tmp_path / "data")
    assert get(running.url, f"/v1/questions/{first['id']}")["status"] == "answered"
    assert ask(running)["answer"]["abstained"] is False
    stop, asked = threading.Event(), []

    def keep_asking() -> None:
        while not stop.wait(0.5):
            body = {"question": "What is the primary endpoint of the trial?"}
            asked.append(httpx.post(f"{running.url}/v1/questions", json=body).json()["id"])

    asking = threading.Thread(target=keep_asking)
    asking.start()
    file = tmp_path / "attest.backup"
    made = running.attest_process("backup", str(file), "--json")
    stop.set()
    asking.join()
    assert made.returncode == 0, made.stderr
    header = json.loads(made.stdout)
    assert header["rows"]["question"] >= 1
    before = get(running.url, f"/v1/questions/{first['id']}")
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(timeout=60) == 0

    again = attest(f"--data-dir={tmp_path / 'data'}", "restore", str(file))
    assert again.returncode == 1
    assert "not empty" in again.stderr
    done = attest("restore", str(file), f"--data-dir={tmp_path / 'elsewhere'}", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["events_verified"] == header["audit"]["seq"]
    there = start(tmp_path / "elsewhere")
    try:
        assert get(there.url, f"/v1/questions/{first['id']}") == before

        def all_ended() -> bool:
            page = get(there.url, "/v1/questions?limit=200")
            return all(one["status"] == "answered" for one in page["questions"])

        wait_until(all_ended, 90, "what was under way has ended")
        assert json.loads(there.attest("audit", "verify", "--json").stdout)["whole"] is True
        erased = there.attest(
            "erase", "question", first["id"], "--reason=patient-request", "--json"
        )
        assert json.loads(erased.stdout)["erased"] == [first["id"]]
        assert httpx.get(f"{there.url}/v1/questions/{first['id']}").status_code == 410
        refused = there.attest("erase", "question", first["id"], "--reason=because he asked")
        assert refused.returncode == 1
        assert "patient-request" in refused.stderr
    finally:
        there.stop()
