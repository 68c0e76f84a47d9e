"""Identifiers stay: what the Messages API receives of documents has none, and what is made of its
reply is the same as without masks."""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pytest

from tests.fakes.messages_api import MessagesApi
from tests.fakes.web import FakeWeb
from tests.unit.masking.grammar import document
from workers.extract.loop.extraction import extract_text
from workers.extract.loop.proposing import Ask
from workers.extract.rubrics import rubric
from workers.language_model.anthropic import AnthropicModel
from workers.language_model.masking import through_masks

KEY = "made-up-key-4712"
KIND = "clinical-notes"
SEEDS = (0, 1, 2, 3, 4, 5, 6, 7, 8)


@pytest.fixture
def api() -> MessagesApi:
    return MessagesApi({KEY})


@pytest.fixture
def model(api: MessagesApi) -> Iterator[AnthropicModel]:
    with FakeWeb(api) as web:
        one = AnthropicModel(KEY, "claude-sonnet-5-5", web.mirrors[api.origin])
        yield one
        one.close()


def quoting(body: Mapping[str, Any]) -> str:
    """A model that takes the lines of the document, in turn, for the fields of a letter."""
    user = body["messages"][0]["content"]
    text = json.loads(user[user.rindex('{"document": ') :])["document"]
    fields = rubric(KIND).fields
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    said = [
        {"field": fields[n % len(fields)], "status": "found", "words": line}
        for n, line in enumerate(lines)
    ]
    return json.dumps({"fields": said})


def test_a_request_has_no_identifier_and_the_extraction_is_the_same_as_without_masks(
    api: MessagesApi, model: AnthropicModel
) -> None:
    api.writer = quoting
    wrong = []
    for seed in SEEDS:
        made = document(seed)
        api.asked.clear()
        masked: Ask = partial(through_masks, model.propose)
        found = extract_text(made.text, document_type=KIND, ask=masked).as_body()
        sent = json.dumps(api.asked, ensure_ascii=False)
        for said in made.clinical:
            sent = sent.replace(said, " ")
        words = sent.replace("\\n", " ").replace('\\"', " ").split()
        wrong += [(made.style, one) for one in made.identifiers if one in words]
        plain = extract_text(made.text, document_type=KIND, ask=model.propose).as_body()
        if found["fields"] != plain["fields"]:
            wrong.append((made.style, "fields"))

    assert not wrong
