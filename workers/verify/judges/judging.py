"""A language model judges claims against their passages; code decides what its word counts.

Its SUPPORTED is needed and never enough: hard facts were looked at before, and a claim with one
against it is not shown to it (invariant 6). Passages are strings of a JSON object, which no text
can close. Each request holds planted controls, made of the same sources and looking like the other
claims: a judge that passes a false one is not believed.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from clinical_text.instructions import addresses_reader
from knowledge.answering.judging import judging_policy
from store.core.hashes import text_hash
from workers.language_model.names import meant, the_one_named
from workers.language_model.port import Prompt, Proposal
from workers.verify.claims import Located
from workers.verify.judges.controls import Control, controls
from workers.verify.passages.locating import CitedText

PURPOSE = "judge"
_AROUND = " \t\n.,:;'\"`*[](){}"
_TOKENS = (512, 160)
"""Of a reply: at all, and for each claim (ours)."""


class Support(StrEnum):
    """What a judge says of a claim and its passage (MRD 3.1)."""

    SUPPORTED = "SUPPORTED"
    PARTIAL = "PARTIAL"
    UNSUPPORTED = "UNSUPPORTED"


_SAID = {
    "supported": Support.SUPPORTED,
    "partial": Support.PARTIAL,
    "partially supported": Support.PARTIAL,
    "partly supported": Support.PARTIAL,
    "unsupported": Support.UNSUPPORTED,
    "not supported": Support.UNSUPPORTED,
}
"""The ways in which models write a verdict. Another word is a fault that the model is told."""


class _Settled(BaseModel):
    model_config = ConfigDict(extra="forbid")

    doubt: str
    holds: Annotated[bool, Field(description="true: yes, the source bears it out; false: no")]


class _Judged(BaseModel):
    model_config = ConfigDict(extra="forbid")

    claim_id: str
    doubts: Annotated[list[_Settled], Field(description="an answer to each doubt of the claim")]
    verdict: Annotated[Support, BeforeValidator(lambda written: meant(written, _SAID))]
    missing: Annotated[
        str,
        Field(description="copied words: not borne out, or left out; empty if none"),
    ] = Field(default_factory=str)


class Judgement(BaseModel):
    """What is asked for."""

    model_config = ConfigDict(extra="forbid")

    verdicts: Annotated[list[_Judged], Field(description="one for each claim, by its id")]


Ask = Callable[[Prompt[Judgement]], Proposal[Judgement]]


@dataclass(frozen=True)
class Reply:
    """What a model said of a claim: its verdict, the doubts that it settled, all that it answered,
    and words of the claim that it misses in the source, or of the source that it misses in it."""

    verdict: Support
    settled: frozenset[str] = frozenset()
    answered: frozenset[str] = frozenset()
    missing: str = ""


@dataclass(frozen=True)
class Material:
    """What is judged in one request: claims, and the controls among them."""

    claims: Sequence[Located]
    controls: Sequence[Control]
    texts: Mapping[str, CitedText]

    def shown(self) -> dict[str, Located | Control]:
        """Claims and controls by the ids that the judge sees, in an order that tells nothing."""
        every: list[Located | Control] = [*self.claims, *self.controls]
        words = "\n".join(_claim(one).text for one in every)
        random.Random(text_hash(words)).shuffle(every)  # noqa: S311  no secret: only an order
        return {f"c{number}": one for number, one in enumerate(every, 1)}

    def as_data(self) -> dict[str, Any]:
        """Only what is judged: no key of ours, no identifier, no verdict, no mark of a control."""
        shown = self.shown()
        claims = {name: _claim(one) for name, one in shown.items()}
        keys = list(dict.fromkeys(key for one in claims.values() for key, _ in one.parts))
        names = {key: f"s{number}" for number, key in enumerate(keys, 1)}
        return {
            "sources": [self._source(names[key], key) for key in keys],
            "claims": [self._claim(name, one, names) for name, one in claims.items()],
        }

    def _source(self, name: str, key: str) -> dict[str, Any]:
        cited = self.texts[key]
        whole = len(cited.source.text) <= judging_policy().document_characters
        told = {"source": name, "title": cited.title}
        told |= {
            one: cited.origin[one] for one in ("version", "published_on") if one in cited.origin
        }
        return told | ({"text": cited.for_model()} if whole else {})

    def _claim(self, name: str, one: Located, names: Mapping[str, str]) -> dict[str, Any]:
        near = [self.texts[key].grounds(place).neighbours for key, place in one.parts]
        around = " ".join(dict.fromkeys(filter(None, near)))
        return {
            "claim_id": name,
            "claim": one.text,
            "source": ", ".join(dict.fromkeys(names[key] for key, _ in one.parts)),
            "passage": one.passage,
            "around": "" if addresses_reader(around) else around,
            "doubts": [doubt.as_data() for doubt in one.doubts],
        }


def _claim(one: Located | Control) -> Located:
    """What a judge sees of a claim, and of a control."""
    return one.claim if isinstance(one, Control) else one


@dataclass(frozen=True)
class Judged:
    """What the model said, by claim id and in the order in which it was asked, and what is stored
    of having asked. `believed` is false where it passed false controls."""

    replies: Mapping[str, Sequence[Reply]] = field(default_factory=dict)
    model: str | None = None
    prompt_version: str | None = None
    prompt_hashes: tuple[str, ...] = ()
    output_hashes: tuple[str, ...] = ()
    note: str = "no language model was asked"
    believed: bool = True
    controls: int = 0
    void: frozenset[str] = frozenset()
    """Ids of claims on which its word does not count: they are decided without it."""
    missed: int = 0
    """Of the false controls, how many it passed; true ones that it did not pass are no fault."""
    mended: int = 0
    """How many claims went back to their drafter."""

    def said(self, claim_id: str) -> Support | None:
        """Its last verdict on a claim."""
        replies = self.replies.get(claim_id, ())
        return replies[-1].verdict if replies else None

    def as_body(self) -> dict[str, Any]:
        """Hashes, no words; the audit log has them keyed (`store.audit.payloads`)."""
        return {
            "note": self.note,
            "model": self.model,
            "prompt_version": self.prompt_version,
            "prompt_hashes": list(self.prompt_hashes),
            "output_hashes": list(self.output_hashes),
            "believed": self.believed,
            "controls": self.controls,
            "controls_missed": self.missed,
            "mended": self.mended,
        }

    def then(self, later: "Judged", void: Collection[str] = ()) -> "Judged":
        """Both askings as one; it is believed if either was.

        Args:
            void: ids of the claims on which neither counts.
        """
        replies = {
            claim_id: (*self.replies.get(claim_id, ()), *later.replies.get(claim_id, ()))
            for claim_id in dict.fromkeys([*self.replies, *later.replies])
        }
        return Judged(
            replies,
            later.model or self.model,
            later.prompt_version or self.prompt_version,
            (*self.prompt_hashes, *later.prompt_hashes),
            (*self.output_hashes, *later.output_hashes),
            later.note,
            self.believed or later.believed,
            self.controls + later.controls,
            frozenset(void),
            self.missed + later.missed,
            self.mended + later.mended,
        )


@cache
def prompt_text() -> tuple[str, str]:
    """Version and text of `prompts/judge.md`."""
    written = files("workers.verify.judges").joinpath("prompts/judge.md").read_text("utf-8")
    head, _, text = written.partition("\n")
    return head.removeprefix("version:").strip(), text.strip()


def material(claims: Sequence[Located], texts: Mapping[str, CitedText], look: int = 1) -> Material:
    """The claims that could still pass, with controls made of them and of the sources.

    Args:
        look: which asking this is; each has controls of its own.
    """
    asked = [one for one in claims if one.may_pass]
    seed = f"{look}:{text_hash(chr(10).join(one.text for one in asked))}"
    planted = judging_policy().controls
    return Material(
        asked,
        controls(asked, texts, seed, planted.false_ones, planted.true_ones) if asked else [],
        texts,
    )


def judge(asked: Material, ask: Ask) -> Judged:
    """Ask for a verdict on each claim, and for an answer to each of its doubts.

    Raises:
        ModelError: the model could not be asked, or gave nothing usable.
    """
    if not asked.claims:
        return Judged(note="nothing to judge")
    version, system = prompt_text()
    shown = asked.shown()
    data = json.dumps(asked.as_data(), ensure_ascii=False, indent=1)
    most = _TOKENS[0] + _TOKENS[1] * len(shown)
    made = ask(Prompt(PURPOSE, version, system, data, Judgement, most))
    said = _replies(made.value, shown)
    false = [name for name, one in shown.items() if isinstance(one, Control) and not one.true]
    passed = [name for name in false if name in said and said[name].verdict is Support.SUPPORTED]
    return Judged(
        replies={
            one.drafted.claim_id: (said[name],)
            for name, one in shown.items()
            if isinstance(one, Located) and name in said
        },
        model=made.model,
        prompt_version=version,
        prompt_hashes=(made.prompt_hash,),
        output_hashes=(made.output_hash,),
        note="judged" if not passed else "not believed: it passed a false control",
        believed=not passed,
        controls=len(false),
        missed=len(passed),
    )


def _replies(judgement: Judgement, known: Mapping[str, Any]) -> dict[str, Reply]:
    """The replies on claims that were asked about; one that is judged twice is not judged, and a
    doubt that is answered twice is not settled."""
    judged = [(the_one_named(one.claim_id, known), one) for one in judgement.verdicts]
    times = Counter(claim_id for claim_id, _ in judged)
    return {
        claim_id: Reply(one.verdict, _settled(one), _answered(one), one.missing.strip(_AROUND))
        for claim_id, one in judged
        if claim_id is not None and times[claim_id] == 1
    }


def _settled(one: _Judged) -> frozenset[str]:
    """The kinds of doubt that it settled."""
    once = _answered(one)
    return frozenset(kind for kind, holds in _answers(one) if holds and kind in once)


def _answered(one: _Judged) -> frozenset[str]:
    """The kinds of doubt that it answered once."""
    times = Counter(kind for kind, _ in _answers(one))
    return frozenset(kind for kind, number in times.items() if number == 1)


def _answers(one: _Judged) -> list[tuple[str, bool]]:
    """Its answers by kind of doubt, whatever the case and the marks around that."""
    return [(answer.doubt.casefold().strip(_AROUND), answer.holds) for answer in one.doubts]
