"""The model: drafts from claims that a reader of the records wrote, and a judge who knows them.

`claims.tsv` holds a claim a line (id, record, words, quotation), written freely, true by reading. A
quotation `a ~~ b` goes from `a` to the end of `b`, and ` [...] ` stands where words are left out.
`questions.tsv` holds for each question the claims that a good answer has, those that answer it with
a star, best first; `-` where the records have no answer.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes.messages_api import error
from tests.fakes.web import Reply

HERE = Path(__file__).parent
_KINDS = {
    "C": "coverage",
    "G": "guidelines",
    "R": "regulator",
    "T": "trials",
    "P": "publications",
}
_GAP = " [...] "
_BEGIN = 60
"""Characters of a quotation by which its passage is known."""
_MASK = re.compile(r"\[[A-Z]+-[\d.]+\]")


@dataclass(frozen=True)
class Told:
    """A claim as it was written down."""

    name: str
    title: str
    text: str
    quote: str


@dataclass(frozen=True)
class Asked:
    """A question, and the claims that a good answer has; none: the records do not answer it."""

    origin: str
    text: str
    claims: Sequence[str]
    leading: Sequence[str]


def told(records: Path) -> dict[str, Told]:
    """Every claim by its id.

    Raises:
        ValueError: a quotation is not in its record.
    """
    documents = dict(_documents(records))
    found = {}
    for line in (HERE / "claims.tsv").read_text("utf-8").splitlines():
        name, key, text, spec = line.split("\t")
        title, body = documents[key]
        pieces = [_copied(body, piece, name) for piece in spec.split(_GAP)]
        found[name] = Told(name, title, text, _GAP.join(pieces))
    return found


def _documents(records: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    number = 0
    for letter, stem in _KINDS.items():
        for line in (records / f"{stem}.jsonl").read_text("utf-8").splitlines():
            record = json.loads(line)
            number += 1
            yield f"{letter}{number}", (" ".join(record["title"].split()), record["text"])


def _copied(body: str, piece: str, name: str) -> str:
    begin, _, end = piece.partition(" ~~ ")
    start = body.find(begin)
    stop = body.find(end, start + len(begin) - 1) + len(end) if end else start + len(begin)
    if start < 0 or stop <= start:
        raise ValueError(f"the quotation of claim {name} is not in its record")
    return body[start:stop]


def asked() -> list[Asked]:
    """The questions."""
    found = []
    for line in (HERE / "questions.tsv").read_text("utf-8").splitlines():
        origin, text, names = line.split("\t")
        some = [] if names == "-" else names.split()
        bare = [one.lstrip("*") for one in some]
        found.append(Asked(origin, text, bare, [one[1:] for one in some if one[:1] == "*"]))
    return found


class Writer:
    """Answers requests of the product. `drafts` holds for each question what was drafted."""

    def __init__(self, claims: Mapping[str, Told], questions: Sequence[Asked], seed: int) -> None:
        self.claims = claims
        self.now = questions[0]
        """The question that is being asked; a request may show it with masks."""
        self.chance = random.Random(seed)
        self.drafts: dict[str, list[Told]] = {}
        self.doubts = 0

    def __call__(self, body: Mapping[str, Any]) -> str | Reply | None:
        """The reply to a request; what it is not meant for gets an error that nobody retries."""
        said = body["messages"][0]["content"]
        content = json.loads(said) if said.startswith("{") else {}
        if "evidence" in content:
            return self._draft(content)
        if "claims" in content:
            return self._judge(content)
        return error(400, "invalid_request_error", "not asked of this model")

    def _draft(self, content: Mapping[str, Any]) -> str:
        question = self.now
        keys = {
            claim.title: one["key"]
            for one in content["evidence"]
            for claim in self.claims.values()
            if _reads(one["title"], claim.title)
        }
        some = [self.claims[name] for name in question.claims]
        held = [one for one in some if one.title in keys]
        self.drafts[question.text] = held
        if not held:
            return json.dumps(
                {"verdict": "ABSTAIN_UNVERIFIED", "claims": [], "answer": [], "missing": []}
            )
        claims = [
            {
                "heading": "EVIDENCE",
                "text": one.text,
                "evidence_id": self._form(keys[one.title]),
                "quote": one.quote,
            }
            for one in held
        ]
        answer = [n for n, one in enumerate(held, 1) if one.name in question.leading]
        return json.dumps({"verdict": "ANSWER", "claims": claims, "answer": answer, "missing": []})

    def _form(self, key: str) -> str:
        return self.chance.choice((key, f"[{key}]", key.lower(), f" {key}"))

    def _judge(self, content: Mapping[str, Any]) -> str:
        return json.dumps({"verdicts": [self._verdict(one) for one in content["claims"]]})

    def _verdict(self, one: Mapping[str, Any]) -> dict[str, Any]:
        self.doubts += len(one["doubts"])
        true = self._true(_squeezed(one["claim"]), _squeezed(one["passage"]))
        return {
            "claim_id": one["claim_id"],
            "doubts": [{"doubt": doubt["doubt"], "holds": true} for doubt in one["doubts"]],
            "verdict": "SUPPORTED" if true else "UNSUPPORTED",
        }

    def _true(self, claim: str, passage: str) -> bool:
        """A claim of its own beside the words that it was written of, or the source's own words."""
        own = next((one for one in self.claims.values() if _reads(claim, one.text)), None)
        if own is None:
            return claim in passage
        begin = _squeezed(own.quote.split(_GAP)[0])[:_BEGIN]
        return begin in passage or bool(_MASK.search(passage))


def _reads(shown: str, text: str) -> bool:
    """Whether a text is the one that is shown, where that may have masks."""
    parts = map(re.escape, _MASK.split(_squeezed(shown)))
    return re.fullmatch(".+".join(parts), _squeezed(text)) is not None


def _squeezed(text: str) -> str:
    return " ".join(text.split())
