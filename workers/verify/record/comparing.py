"""What the gate of today makes of a claim that an earlier one let through (DESIGN 7.8). Pure.

Facts, doubts and the verifier are code: they are asked again. What a language model replied is read
from the record. A doubt that the record does not answer is a question for a judge; nobody is asked
here, and nothing is taken for answered.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from store.core.spans import Span
from workers.verify.checking import Verifier, in_own_words, read
from workers.verify.claims import Basis, Checked, Located, Opinions, Verdict
from workers.verify.doubts import Doubt
from workers.verify.entailment import reader
from workers.verify.entailment.reader import Reading
from workers.verify.judges import deciding
from workers.verify.judges.judging import Judged, Reply
from workers.verify.passages.locating import CitedText, locate
from workers.verify.record.claims import Recorded
from workers.verify.record.counts import stopped_by

Standing = Literal["stands", "falls", "needs_judge"]


@dataclass(frozen=True)
class Compared:
    """A claim as it was recorded and as the gate of today reads it.

    `checks` are what it falls by, or what a judge would have to say: hard facts by their codes,
    `doubt KIND`, `verifier`, `judge`, `quotation` (its words are not where it cites them) or
    `other source` (a hard fact speaks against it beside another citation).
    """

    recorded: Recorded
    located: Located
    standing: Standing
    checks: tuple[str, ...] = ()
    after: Verdict = Verdict.SUPPORTED
    told: Opinions | None = None
    """What the judges say now, with what is read from the record of a language model."""

    def as_finding(self) -> dict[str, Any]:
        """As it is kept: no words of the claim."""
        needs = self.standing == "needs_judge"
        return {
            "claim_id": self.recorded.drafted.claim_id,
            "finding": "gate",
            "before": self.recorded.verdict,
            "after": "needs_judge" if needs else self.after.value,
            "checks": list(self.checks),
        }


def compare(
    claims: Sequence[Recorded],
    texts: Mapping[str, CitedText],
    verifier: Verifier | None = None,
) -> list[Compared]:
    """Every claim under the gate of today.

    Args:
        texts: the versions that the answer cites, by evidence key.
        verifier: reads claim and passage; the one that ships with the product if None.
    """
    located = [locate(one.drafted, texts) for one in claims]
    located = read(located, texts, verifier)
    digest = reader.digest() if any(one.reading for one in located) else None
    return [_compare(one, now, texts, digest) for one, now in zip(claims, located, strict=True)]


def _compare(
    one: Recorded, now: Located, texts: Mapping[str, CitedText], digest: str | None
) -> Compared:
    replies, told = one.replies, deciding.opinions(now, one.replies, digest)

    def falls(*checks: str) -> Compared:
        return Compared(one, now, "falls", checks, Verdict.UNSUPPORTED, told)

    def needs_judge(*checks: str) -> Compared:
        return Compared(one, now, "needs_judge", checks, told=told)

    if now.findings or now.place is None:
        return falls(*(now.findings or ("quotation",)))
    if now.text != one.drafted.text:  # marks of a quotation that stands nowhere
        return falls("quotation")
    if any(_speaks_against(one, key, quote, texts) for key, quote in one.drafted.also):
        return falls("other source")
    if one.keyless or not replies:
        plain = now if one.keyless else in_own_words(now, texts)
        compared = _by(one, now, deciding.without_model([plain], digest)[0])
        if compared.standing == "stands" or one.keyless:
            return compared
        return needs_judge("judge", *_doubts(now, ()))
    if deciding.denies(now):
        return falls("verifier")
    if open_ := _doubts(now, replies):
        return needs_judge(*open_)
    if len(replies) == 1 and deciding.disagree(now, replies[0]):
        return needs_judge("verifier")
    return judged(one, now, Judged({now.drafted.claim_id: replies}), digest)


def decided(one: Recorded) -> Verdict:
    """What this release decides by the scores, doubts and replies that are on record: nothing is
    looked for or read anew."""
    told, drafted = one.judged or Opinions(), one.drafted
    reading = None
    if told.supported is not None and told.contradicted is not None:
        rest = 1 - told.supported - told.contradicted
        reading = Reading(told.supported, told.contradicted, rest)
    now = Located(
        drafted,
        drafted.text,
        "verbatim",
        Span(0, len(drafted.quote)),
        drafted.quote,
        repeats=one.basis is Basis.WORDS,
        doubts=tuple(Doubt(kind, "") for kind in told.doubts),
        reading=reading,
    )
    if not one.replies:
        return deciding.without_model([now], told.digest)[0].verdict
    said = Judged({drafted.claim_id: one.replies})
    return deciding.with_model([now], said, told.digest)[0].verdict


def judged(one: Recorded, now: Located, said: Judged, digest: str | None) -> Compared:
    """What becomes of a claim by what a language model said of it, then or now."""
    (result,) = deciding.with_model([now], said, digest)
    return _by(one, now, result)


def _by(one: Recorded, now: Located, result: Checked) -> Compared:
    if result.passes:
        return Compared(one, now, "stands", told=result.judged)
    checks = tuple(stopped_by(result))
    return Compared(one, now, "falls", checks, result.verdict, result.judged)


def _doubts(now: Located, replies: Sequence[Reply]) -> tuple[str, ...]:
    """The doubts of today that the last reply does not answer."""
    answered = replies[-1].answered if replies else frozenset()
    return tuple(f"doubt {one.kind}" for one in now.doubts if one.kind not in answered)


def _speaks_against(one: Recorded, key: str, quote: str, texts: Mapping[str, CitedText]) -> bool:
    """Whether a hard fact speaks against a claim beside another passage that it cites."""
    beside = replace(one.drafted, evidence_id=key, quote=quote, also=())
    return bool(locate(beside, texts, doubting=lambda *_: ()).findings)


def outcome(found: Sequence[Compared]) -> Standing:
    """What becomes of an answer: it falls with any of its claims."""
    standings: set[Standing] = {one.standing for one in found}
    order: tuple[Standing, ...] = ("falls", "needs_judge", "stands")
    return next((one for one in order if one in standings), "stands")


def differences(found: Sequence[Compared]) -> list[str]:
    """What a recomputation finds otherwise than the record has it, in plain words."""
    return [
        f"claim {one.recorded.drafted.claim_id}: {what}" for one in found for what in _differs(one)
    ]


_SAME = 0.01
"""Probabilities closer than this are the same. Ours: processors differ in the last digits."""


def _differs(one: Compared) -> Iterator[str]:
    before, now = one.recorded.judged, one.located
    if before is None:
        yield "how it was judged was not kept then"
    elif before.supported is not None and now.reading is not None:
        digest, score = reader.digest(), now.reading.supported
        if before.digest != digest:
            yield f"the verifier's weights were {before.digest} then, they are {digest} now"
        if abs(before.supported - score) > _SAME:
            yield f"the verifier gave {before.supported:.2f} then, it gives {score:.2f} now"
    if before is not None:
        kinds = [doubt.kind for doubt in now.doubts]
        yield from (f"doubt {kind} is new" for kind in kinds if kind not in before.doubts)
        yield from (f"doubt {kind} is gone" for kind in before.doubts if kind not in kinds)
    by, verdict = ", ".join(one.checks), one.recorded.verdict
    if one.standing == "falls":
        yield f"{verdict} then, {one.after.value} under the gate of today, by {by}"
    elif one.standing == "needs_judge":
        yield f"{verdict} then; the record does not say what a judge answers now to: {by}"
