"""A judge as the product asks for one: supports what it is shown, but for claims that turn their
passage in a word or two, have figures that it lacks, or share next to nothing with it."""

import json
import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any

_ALIKE = 0.75
"""Likeness of its words from which a claim is its passage with a change."""
_FAR = 0.3
"""Likeness of its words up to which a claim is of something else."""


def careful(content: str | Mapping[str, Any]) -> str:
    """The reply to what a judge is asked: every claim supported but those that were turned."""
    data = json.loads(content) if isinstance(content, str) else content
    return json.dumps(
        {"verdicts": [verdict(one, not turned(one)) for one in data.get("claims", ())]}
    )


def verdict(shown: Mapping[str, Any], true: bool) -> dict[str, Any]:
    """One verdict, all doubts answered alike."""
    return {
        "claim_id": shown["claim_id"],
        "doubts": [{"doubt": one["doubt"], "holds": true} for one in shown["doubts"]],
        "verdict": "SUPPORTED" if true else "UNSUPPORTED",
    }


def turned(shown: Mapping[str, Any]) -> bool:
    """Whether a claim is almost its passage and not a part of it, or not of it at all."""
    claim, passage = _words(shown["claim"]), _words(shown["passage"])
    if " ".join(claim) in " ".join(passage):
        return False
    if {word for word in claim if word[:1].isdigit()} - {*passage}:
        return True
    if len({*claim} & {*passage}) <= _FAR * len({*claim}):
        return True
    matched = SequenceMatcher(None, claim, passage, autojunk=False).get_matching_blocks()
    return sum(block.size for block in matched) >= _ALIKE * len(claim)


def _words(text: str) -> list[str]:
    return re.findall(r"[\w.,%-]*\w|%", text.lower())
