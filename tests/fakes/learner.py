"""A language model behind the fake Messages API that improves only when it is told what is wrong.

    learner = Learner(knows={"date": ["2024-05-17"]}, hidden={"impression": ["a new metastasis"]})
    api.writer = learner.write

It quotes what it knows. A field of `hidden` it quotes once the feedback names the fault, as
`[field]`, or the prompt names the field among those that are often lost. Opinions are `opinion`.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.fakes.web import Reply

FEEDBACK = "--- FEEDBACK FROM QUALITY EVALUATION"
REMEMBERED = "often lose some fields"


class Learner:
    """Counts what it was asked: each is a request that was paid for."""

    def __init__(
        self, knows: Mapping[str, Sequence[str]], hidden: Mapping[str, Sequence[str]]
    ) -> None:
        self.knows = knows
        self.hidden = hidden
        self.prompts: list[str] = []
        """The users' turns of requests for fields."""
        self.opinions = 0
        self.opinion: str | Reply = json.dumps({"fields": []})

    def write(self, body: Mapping[str, Any]) -> str | Reply:
        """The answer to a request."""
        user: str = body["messages"][0]["content"]
        if '"values"' in user[user.index("{") :] and "Extract clinical data" not in user:
            self.opinions += 1
            return self.opinion
        self.prompts.append(user)
        asked, _, _ = user.partition('{"document"')
        issues = asked.partition(FEEDBACK)[2].partition("PREVIOUS ATTEMPT")[0]
        often = asked.partition(REMEMBERED)[2].partition(FEEDBACK)[0]
        told = {one for one in self.hidden if f"[{one}]" in issues or f"- {one}:" in often}
        quoted = {**self.knows, **{one: self.hidden[one] for one in told}}
        fields = [
            {"field": field, "status": "found", "words": words}
            for field, every in quoted.items()
            for words in every
        ]
        return json.dumps({"fields": fields})
