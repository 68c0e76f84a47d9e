"""People who use the system while it is broken: they ask, ask again, upload, refresh and read."""

import contextlib
import hashlib
import json
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import httpx

from tests.chaos.storm.history import History
from tests.servers import TRIAL, TRIAL_QUESTION

SHOWN = ("abstained", "abstain_reason", "summary", "sections", "claims", "evidence", "references")
"""What of an answer may never change once it was shown."""


def digest_of(answer: dict[str, Any] | None) -> str | None:
    """A hash of what may not change of an answer; None without one."""
    if answer is None:
        return None
    kept = json.dumps({name: answer[name] for name in SHOWN}, sort_keys=True)
    return hashlib.sha256(kept.encode()).hexdigest()


class Clients:
    """All of them, each a thread, until `stop`.

    Args:
        key: what they show at the gateway; nothing where it asks for none.
        refreshing: whether one of them lets a source be asked anew.
        upload_seconds: rest after each upload, of which each is cause to answer again.
    """

    def __init__(
        self,
        url: str,
        history: History,
        seed: int,
        *,
        key: str = "",
        refreshing: bool = True,
        upload_seconds: float = 0.5,
    ) -> None:
        self._url, self._history, self._seed = url, history, seed
        self._upload_seconds = upload_seconds
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._over = threading.Event()
        people = [self._ask, self._ask, self._upload, self._refresh, self._read]
        if not refreshing:
            people.remove(self._refresh)
        self._threads = [
            threading.Thread(target=self._run, args=(what, number), daemon=True)
            for number, what in enumerate(people)
        ]
        self.refused = 0

    def start(self) -> None:
        """Let them begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let each finish what it does."""
        self._over.set()
        for thread in self._threads:
            thread.join(60)

    def burst(self, count: int) -> list[UUID]:
        """Ask so many questions at once; gives the ids of those that were accepted."""
        with self._client(20) as client, ThreadPoolExecutor(count) as people:

            def ask(number: int) -> UUID | None:
                key = f"{self._seed}-burst-{number}"
                text = f"{TRIAL_QUESTION} ({key})"
                self._history.invoke(key, text)
                return self._submit(client, random.Random(f"{self._seed} {number}"), key, text)

            return [one for one in people.map(ask, range(count)) if one is not None]

    def read_all(self) -> None:
        """When all is calm: read every accepted question twice more, and every cited version."""
        draw = random.Random(self._seed)
        with self._client(10) as client:
            for ids in self._history.accepted.values():
                for question_id in sorted(ids) * 2:
                    self._read_one(client, draw, question_id)

    def _client(self, seconds: float) -> httpx.Client:
        return httpx.Client(
            base_url=self._url, headers=self._headers, timeout=seconds, trust_env=False
        )

    def _run(self, what: Callable[[httpx.Client, random.Random, int], None], who: int) -> None:
        draw = random.Random(self._seed * 100 + who)
        with self._client(5) as client:
            count = 0
            while not self._over.is_set():
                with contextlib.suppress(httpx.TransportError):  # as people know it: no answer
                    what(client, draw, 1000 * who + count)
                count += 1
                self._over.wait(draw.uniform(0.05, 0.5))

    def _ask(self, client: httpx.Client, draw: random.Random, number: int) -> None:
        key = f"{self._seed}-{number}"
        text = f"{TRIAL_QUESTION} ({key})"
        self._history.invoke(key, text)
        question_id = self._submit(client, draw, key, text)
        if question_id is None:
            return
        if draw.random() < 0.2:
            self._submit(client, draw, key, text)
        for _ in range(draw.randrange(3)):
            found = client.get(f"/v1/questions/{question_id}", params={"wait": 1})
            if found.status_code == 200:
                body = found.json()
                shown = body["answer"] if body["status"] == "answered" else None
                self._history.see(question_id, body["status"], digest_of(shown))

    def _submit(
        self, client: httpx.Client, draw: random.Random, key: str, text: str
    ) -> UUID | None:
        """Try until it is accepted, with the same key; one in ten gives up at the first failure."""
        patient, until = draw.random() > 0.1, time.monotonic() + 20
        while time.monotonic() < until:
            try:
                answer = client.post(
                    "/v1/questions", json={"question": text}, headers={"Idempotency-Key": key}
                )
                if answer.status_code == 202:
                    question_id = UUID(answer.json()["id"])
                    self._history.accept(key, question_id)
                    return question_id
            except httpx.TransportError:
                pass
            self.refused += 1
            if not patient:
                return None
            time.sleep(draw.uniform(0.1, 0.4))
        return None

    def _upload(self, client: httpx.Client, draw: random.Random, number: int) -> None:
        words = f"The follow-up of visit {number} was complete in stage II colon cancer."
        record = {
            **TRIAL,
            "text": f"{TRIAL['text']}\n## Notes\n\n{words}\n",
            "source_key": f"test-upload-{draw.randrange(4)}",
        }
        answer = client.post("/v1/documents", json=record)
        if answer.status_code == 202:
            self._history.upload(UUID(answer.json()["id"]))
        self._over.wait(self._upload_seconds)

    def _refresh(self, client: httpx.Client, draw: random.Random, number: int) -> None:
        client.post("/v1/sources/pubmed/refresh", json={"query": "zorbinib"})
        self._over.wait(draw.uniform(1, 2))

    def _read(self, client: httpx.Client, draw: random.Random, number: int) -> None:
        with self._history.lock:
            known = list(self._history.seen)
        if not known:
            return
        self._read_one(client, draw, draw.choice(known))

    def _read_one(self, client: httpx.Client, draw: random.Random, question_id: UUID) -> None:
        found = client.get(f"/v1/questions/{question_id}")
        if found.status_code != 200:
            return
        body = found.json()
        answer = body["answer"] if body["status"] == "answered" else None
        self._history.see(question_id, body["status"], digest_of(answer))
        cited = [one for claim in (answer or {}).get("claims", []) for one in claim["citations"]]
        if cited:
            self._read_version(client, draw, draw.choice(cited)["document_id"])

    def _read_version(self, client: httpx.Client, draw: random.Random, document_id: str) -> None:
        versions = client.get(f"/v1/documents/{document_id}/versions")
        if versions.status_code != 200:
            return
        version = draw.choice(versions.json()["versions"])
        text = client.get(f"/v1/documents/{document_id}/versions/{version['n']}/text")
        if text.status_code == 200:
            digest = hashlib.sha256(text.content).hexdigest()
            self._history.look_at(UUID(version["id"]), digest)
