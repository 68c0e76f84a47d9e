"""A claim that fell for a reason that can be named goes back to the model that drafted it, once.

What comes back is a draft like any other: it is located, read and judged (DESIGN 7.6).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from clinical_text.instructions import addresses_reader
from knowledge.answering.generation import generation_policy
from knowledge.answering.judging import judging_policy
from workers.language_model.names import the_one_named
from workers.language_model.port import Prompt, Proposal
from workers.verify.claims import Drafted, Located
from workers.verify.judges.judging import Reply, Support
from workers.verify.passages.locating import CitedText

PURPOSE = "repair"
_TOKENS = (512, 400)
"""Of a reply: at all, and for each claim (ours)."""
_HOPELESS = frozenset({"unknown_evidence", "not_current", "instructions"})
"""Findings that no other wording cures."""
_REASONS = {
    Support.PARTIAL: "The source bears out only a part of it.",
    Support.UNSUPPORTED: "The source does not bear it out.",
}


class _Repaired(BaseModel):
    model_config = ConfigDict(extra="forbid")

    claim_id: str
    text: str
    quote: Annotated[str, Field(description="copied letter by letter from the source")]


class Repairs(BaseModel):
    """What is asked for."""

    model_config = ConfigDict(extra="forbid")

    repaired: Annotated[list[_Repaired], Field(description="claims that could be mended")]


Ask = Callable[[Prompt[Repairs]], Proposal[Repairs]]


@dataclass(frozen=True)
class Mended:
    """The claims as they were drafted anew, and what is stored of having asked."""

    claims: Mapping[str, Drafted]
    prompt_hashes: tuple[str, ...] = ()
    output_hashes: tuple[str, ...] = ()


def reasons(one: Located, reply: Reply | None) -> list[str]:
    """Why a claim fell, in plain words; none where it did not, or no wording would cure it."""
    if set(one.findings) & _HOPELESS:
        return []
    if one.findings:
        return list(one.details) or ["The quotation does not stand in the source letter by letter."]
    if reply is None:
        return []
    told = [
        f"{doubt.question} No: {doubt.detail}."
        for doubt in one.doubts
        if doubt.kind not in reply.settled
    ]
    if reply.verdict is not Support.SUPPORTED:
        told.append(_REASONS[reply.verdict])
        if reply.missing and reply.missing in one.text:  # a copy: no judge writes into a claim
            told.append(f"Not borne out as it stands: “{reply.missing}”.")
        elif reply.missing and reply.missing in one.passage:
            told.append(f"The claim leaves out: “{reply.missing}”.")
    return told


def repair(
    fallen: Mapping[str, Sequence[str]],
    located: Sequence[Located],
    texts: Mapping[str, CitedText],
    ask: Ask,
) -> Mended:
    """Ask once for the fallen claims in other words. Only the text and the quotation may change.

    Args:
        fallen: by claim id the reasons.

    Raises:
        ModelError: the model could not be asked, or gave nothing usable.
    """
    asked = {one.drafted.claim_id: one for one in located if one.drafted.claim_id in fallen}
    version, system = _prompt_text()
    data = json.dumps(_as_data(fallen, asked, texts), ensure_ascii=False, indent=1)
    most = _TOKENS[0] + _TOKENS[1] * len(asked)
    made = ask(Prompt(PURPOSE, version, system, data, Repairs, most))
    bounds, claims = generation_policy().draft, {}
    for one in made.value.repaired:
        text, quote = " ".join(one.text.split()), one.quote.strip()
        within = len(text) <= bounds.claim_chars and len(quote) <= bounds.quote_chars
        claim_id = the_one_named(one.claim_id, asked)
        if claim_id is not None and text and quote and within:
            before = asked[claim_id].drafted
            claims[claim_id] = replace(before, text=text, quote=quote, also=(), further=())
    return Mended(claims, (made.prompt_hash,), (made.output_hash,))


def _as_data(
    fallen: Mapping[str, Sequence[str]],
    asked: Mapping[str, Located],
    texts: Mapping[str, CitedText],
) -> dict[str, Any]:
    keys = list(dict.fromkeys(one.drafted.evidence_id for one in asked.values()))
    names = {key: f"s{number}" for number, key in enumerate(keys, 1)}
    most = judging_policy().document_characters
    return {
        "sources": [
            {
                "source": names[key],
                "title": texts[key].title,
                "text": _shown(texts[key], [o for o in asked.values() if _of(o, key)], most),
            }
            for key in keys
        ],
        "fallen": [
            {
                "claim_id": claim_id,
                "claim": one.text,
                "quote": one.drafted.quote,
                "source": names[one.drafted.evidence_id],
                "reasons": list(fallen[claim_id]),
            }
            for claim_id, one in asked.items()
        ],
    }


def _of(one: Located, key: str) -> bool:
    return one.drafted.evidence_id == key


def _shown(cited: CitedText, claims: Sequence[Located], most: int) -> str:
    """The whole text, or of a longer one the passages of the claims with what is around them; its
    beginning where none was found."""
    text = cited.for_model() if len(cited.source.text) <= most else cited.source.text
    if len(text) <= most:
        return text
    parts = []
    for one in claims:
        if one.place is not None:
            grounds = cited.grounds(one.place)
            near = f"{grounds.passage} {grounds.neighbours}"
            parts.append(grounds.passage if addresses_reader(near) else near)
    shown = "\n\n".join(dict.fromkeys(parts))[:most] or text[:most]
    return "" if addresses_reader(shown) else shown


@cache
def _prompt_text() -> tuple[str, str]:
    """Version and text of `prompts/repair.md`."""
    written = files("workers.verify.judges").joinpath("prompts/repair.md").read_text("utf-8")
    head, _, text = written.partition("\n")
    return head.removeprefix("version:").strip(), text.strip()
