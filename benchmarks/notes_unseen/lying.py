"""A language model that lies about a note, behind a fake of its interface on loopback.

Each lie is one answer: altered words, true words in a list where they are false, an assessment item
recommended without its doubt, or parts of a note that are named wrongly. The adapter, the prompts
and what is kept of an answer are the product's.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from benchmarks.notes_unseen.measure import Shown, telling
from benchmarks.notes_unseen.shown import shown
from tests.fakes.messages_api import MessagesApi
from tests.fakes.web import FakeWeb
from workers.language_model.anthropic import AnthropicModel
from workers.summarize.model import Asked, propose_items, propose_plan, propose_sections
from workers.summarize.summary import read

_KEY = "made-up-key"
_CHUNK = re.compile(r"^## .*\((chunk_\d+), chars \d+-\d+\)$", re.MULTILINE)
_STEP = re.compile(r"^- (A\d+): (.*)$", re.MULTILINE)


def told_lies(notes: Mapping[str, str], lies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lies that a summary tells as the note's own: altered words anywhere; true words in the
    list that makes them false, without what takes that back; a step without its doubt."""
    api = MessagesApi({_KEY})
    with FakeWeb(api) as web:
        model = AnthropicModel(_KEY, "claude-sonnet-5-5", web.mirrors[api.origin])
        try:
            return [one for one in lies if _is_told(api, model, notes[one["note"]], one)]
        finally:
            model.close()


def _is_told(api: MessagesApi, model: AnthropicModel, note: str, lie: Mapping[str, Any]) -> bool:
    api.writer = lambda body: json.dumps(_written(body, lie))
    asked, reading = Asked(), read(note)
    if "first_words" in lie:
        reading = read(note, propose_sections(model, reading, asked))
        items = reading.items
    else:
        items = propose_items(model, reading, asked)
    plan = propose_plan(model, reading, items, asked)
    lines = shown(reading, items, plan)
    where = [str(lie.get("list", "plan"))]
    said = str(lie.get("step") or lie["quote"])
    found = list(telling(lines, where, [said], lie.get("unless", ())))
    return any(not marked and _is_sure(line) for line, marked in found)


def _is_sure(line: Shown) -> bool:
    """Whether a line is told without a doubt beside it, which only steps may have."""
    return line.list != "plan" or line.sure


def _written(body: Mapping[str, Any], lie: Mapping[str, Any]) -> dict[str, Any]:
    (asked_for,) = body["output_config"]["format"]["schema"]["properties"]
    user = body["messages"][0]["content"]
    if asked_for == "sections":
        kind, first = lie["section"], lie["first_words"]
        return {"sections": [{"kind": kind, "first_words": first}]}
    if asked_for == "items":
        if "quote" not in lie:
            return {"items": []}
        chunk = _chunk_of(user, str(lie.get("near", lie["quote"])))
        return {"items": [{"list": lie["list"], "chunk_id": chunk, "quote": lie["quote"]}]}
    said = str(lie.get("step") or lie["quote"]).casefold()
    named = [key for key, words in _STEP.findall(user) if said in words.casefold()]
    steps = [{"item": key, "confidence": 1.0, "doubt": None} for key in named]
    return {"recommendations": steps}


def _chunk_of(user: str, near: str) -> str:
    heads = list(_CHUNK.finditer(user))
    for head, after in zip(heads, [*heads[1:], None], strict=True):
        if near in user[head.end() : after.start() if after else len(user)]:
            return head[1]
    return heads[0][1]
