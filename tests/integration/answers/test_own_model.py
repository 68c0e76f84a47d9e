"""A question whose language model is a server of one's own that keeps to no form: real PostgreSQL,
the chat completions API on loopback. Whatever it says, the question ends, and nothing that is shown
as supported is without its place."""

import json
import random
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest
from sqlmodel import col, select

from cli.instance.model_check import model as check
from store.core.settings import Settings
from store.models import Answer, ModelUsage
from tests.fakes.chat_api import ChatApi, completion, error
from tests.fakes.judging import careful
from tests.fakes.web import FakeWeb, Reply
from tests.servers import TRIAL, TRIAL_QUESTION, ask, get_question, ingest
from workers.inline import InlineWorker
from workers.language_model.chat import ChatModel

ENDPOINT = (
    "The primary endpoint of the ctDNA-guided trial was recurrence-free survival at 2 years in "
    "colon cancer."
)
NOTHING = dict.fromkeys(("patient", "intervention", "comparison", "outcome"))
Says = Callable[[str], str | Reply]


def drafted(**changed: Any) -> str:
    claim = {"heading": "CLINICAL TRIALS", "text": ENDPOINT, "evidence_id": "E1", "quote": ENDPOINT}
    return json.dumps({"verdict": "ANSWER", "claims": [claim | changed], "missing": []})


@dataclass
class Own:
    """The server, and a worker that asks it."""

    worker: InlineWorker
    api: ChatApi
    settings: Settings
    drafts: Says = lambda data: drafted()
    judges: Says = careful
    purposes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.api.writer = self._write

    def _write(self, body: Mapping[str, Any]) -> str | Reply:
        purpose = body["response_format"]["json_schema"]["name"]
        self.purposes.append(purpose)
        data = body["messages"][1]["content"]
        match purpose:
            case "understand":
                return json.dumps(NOTHING | {"diseases": [], "decisions": []})
            case "generate":
                return self.drafts(data)
            case "repair":
                return json.dumps({"repaired": []})
            case _:
                return self.judges(data)

    def ask(self) -> dict[str, Any]:
        """The answer's body; the question has ended, with four requests for it at most."""
        self.purposes.clear()
        question_id = ask(self.worker.store, TRIAL_QUESTION)
        self.worker.run()
        with self.worker.store.reading() as session:
            assert get_question(self.worker.store, question_id).status == "answered"
            body: dict[str, Any] = session.get_one(Answer, question_id).body
            rows = session.exec(
                select(ModelUsage.outcome).where(
                    ModelUsage.subject == str(question_id), col(ModelUsage.purpose) != "understand"
                )
            ).all()
        assert sum(outcome != "unavailable" for outcome in rows) <= 4, self.purposes
        return body


@pytest.fixture
def own(settings: Settings, inline: InlineWorker) -> Iterator[Own]:
    ingest(inline.store, TRIAL)
    inline.run()
    api = ChatApi()
    with FakeWeb(api) as web:
        given = {
            "model_url": web.mirrors[api.origin],
            "model_name": "m",
            "model_seconds": 5.0,
            "model_input_usd": 0,
            "model_output_usd": 0,
        }
        changed = settings.model_copy(update=given)
        worker = InlineWorker(changed, inline.store, sleep=lambda _: None)
        yield Own(worker, api, changed)
        worker.close()
        assert isinstance(worker.context.language_model, ChatModel)
        worker.context.language_model.close()


def test_forms_of_one_draft_are_one_claim_judged_and_shown(own: Own) -> None:
    forms = {
        "as told": drafted(),
        "key in brackets": drafted(evidence_id="[e1]."),
        "key with a label": drafted(evidence_id="evidence E1"),
        "a list of keys": drafted(evidence_id=["E1"]),
        "marks around the quotation": drafted(quote=f"\u201c{ENDPOINT}\u201d"),
        "a key behind the text": drafted(text=f"{ENDPOINT} [E1]"),
        "a fence": f"```json\n{drafted()}\n```",
        "a verdict in lower case": drafted().replace("ANSWER", "answer."),
    }
    for name, form in forms.items():
        own.drafts = lambda data, form=form: form
        body = own.ask()
        shown = [(one["text"], one["verdict"]) for one in body["claims"]]
        assert shown == [(ENDPOINT, "supported")], name
        assert body["provenance"]["generator"] == "model", name
        assert Decimal(body["provenance"]["cost_usd"]) == 0, name
        assert own.purposes.count("generate") == 1, name


def test_verdicts_in_other_words_count_and_unknown_ones_are_asked_for_once_more(own: Own) -> None:
    def loosely(data: str) -> str:
        said = json.loads(careful(data))
        for one in said["verdicts"]:
            one["claim_id"] = f"[{one['claim_id'].upper()}]"
            one["verdict"] = {"SUPPORTED": "Supported.", "UNSUPPORTED": "NOT SUPPORTED"}.get(
                one["verdict"], one["verdict"]
            )
        return json.dumps(said)

    own.judges = loosely
    assert [one["verdict"] for one in own.ask()["claims"]] == ["supported"]
    own.judges = lambda data: loosely(data).replace("upported", "ubstantiated")
    body = own.ask()
    assert own.purposes == ["understand", "generate", "judge", "judge"]
    assert all(one["verdict"] == "supported" for one in body["claims"])  # its source's own words


MISBEHAVIOUR: dict[str, Says] = {
    "prose": lambda data: "The trial is good.",
    "an echo": lambda data: data,
    "a cut object": lambda data: drafted()[:-9],
    "cut at its limit": lambda data: completion(drafted(), "length"),
    "an invented key": lambda data: drafted(evidence_id="E9"),
    "an invented quotation": lambda data: drafted(quote="It cures everybody."),
    "a false claim": lambda data: drafted(text=ENDPOINT.replace("2 years", "9 years")),
    "another shape": lambda data: json.dumps({"answer": ENDPOINT}),
    "overloaded": lambda data: error(503, "x", {"retry-after": "86400"}),
    "no such model": lambda data: error(404, "x"),
    "too long for it": lambda data: error(400, "exceeds the context"),
    "noise": lambda data: random.Random(len(data)).randbytes(300).decode("latin-1"),
}


JUDGES: dict[str, Says] = {
    "careful": careful,
    "agreeing": lambda data: careful(data).replace("UNSUPPORTED", "SUPPORTED"),
    "prose": lambda data: "All fine!",
}
JUDGED = ("an invented key", "an invented quotation", "a false claim")
"""What else it says is no draft, and comes before no judge."""


def test_whatever_it_says_the_question_ends_and_nothing_false_is_supported(own: Own) -> None:
    for drafting, drafts in MISBEHAVIOUR.items():
        for judging in JUDGES if drafting in JUDGED else ("careful",):
            own.drafts, own.judges = drafts, JUDGES[judging]
            body = own.ask()
            for one in body["claims"]:
                told = f"{drafting}, judge {judging}: {one['text']}"
                assert one["verdict"] != "supported" or "9 years" not in one["text"], told
                assert "cures" not in one["text"], told
                for place in one["citations"]:
                    assert TRIAL["text"][place["start"] : place["end"]] == place["quote"], told


def test_a_server_that_is_too_slow_is_given_up_and_not_asked_for_the_same_again(own: Own) -> None:
    release = threading.Event()

    def slow(data: str) -> str:
        release.wait(30)
        return drafted()

    own.drafts = slow
    assert isinstance(own.worker.context.language_model, ChatModel)
    own.worker.context.language_model._seconds = 0.2
    try:
        body = own.ask()
    finally:
        release.set()
    assert body["provenance"]["fallback"]["reason"] == "unavailable"
    assert own.purposes.count("generate") == 1


def test_attest_status_says_what_is_wrong_with_the_server(own: Own) -> None:
    def said(**changed: Any) -> tuple[str, str]:
        found = check(own.settings.model_copy(update=changed), 5)
        return found.said, found.do

    assert said() == ("answers, has m", "")
    assert said(model_name="n") == ("has no n", "set ATTEST_MODEL_NAME, to m")
    assert said(model_key="k")[1] == "mend ATTEST_MODEL_KEY"
    nobody = said(model_url="http://127.0.0.1:9")
    assert nobody[0].startswith("does not answer")
    assert "ATTEST_MODEL_URL" in nobody[1]
