"""The verdict on a claim (DESIGN 7.2 to 7.7). Pure; the numbers are
`knowledge/answering/judging.yaml`.

A claim without a passage, or with a hard fact against it, falls.

With a language model: it must say SUPPORTED and settle every doubt, and the verifier must not be
sure of a contradiction; a low score alone stops nothing. Where the two disagree the model is asked
once more, and must say it again.

Without one, or with one that passed a false control: the words are whole sentences of the source,
or the verifier is sure and no doubt stands, for nobody can answer it; and it is a wording of the
kind on which the verifier was measured.
"""

from collections.abc import Sequence

from knowledge.answering.judging import judging_policy
from workers.verify.claims import Basis, Checked, Located, Opinions, Verdict, checked
from workers.verify.entailment.reader import Reading
from workers.verify.judges.judging import Judged, Reply, Support
from workers.verify.passages.comparable import is_own_wording

_VERDICTS = {
    Support.SUPPORTED: Verdict.SUPPORTED,
    Support.PARTIAL: Verdict.PARTIAL,
    Support.UNSUPPORTED: Verdict.UNSUPPORTED,
}


def without_model(located: Sequence[Located], digest: str | None) -> list[Checked]:
    """Verdicts where there is no language model, or none to be believed."""
    return [_without_model(one, opinions(one, (), digest)) for one in located]


def _without_model(one: Located, told: Opinions) -> Checked:
    if not one.may_pass:
        return checked(one, Verdict.UNSUPPORTED, Basis.NONE, told)
    if one.repeats:
        return checked(one, Verdict.SUPPORTED, Basis.WORDS, told)
    if is_sure(one) and not one.doubts and is_own_wording(one.text, one.passage):
        return checked(one, Verdict.SUPPORTED, Basis.VERIFIER, told)
    return checked(one, Verdict.UNSUPPORTED, Basis.NONE, told)


def with_model(located: Sequence[Located], judged: Judged, digest: str | None) -> list[Checked]:
    """Verdicts by what a language model replied, in the order in which it was asked; a claim that
    it does not name stays unchecked."""
    return [
        _without_model(one, opinions(one, (), digest))
        if one.drafted.claim_id in judged.void
        else _with_model(one, judged.replies.get(one.drafted.claim_id, ()), digest)
        for one in located
    ]


def _with_model(one: Located, replies: Sequence[Reply], digest: str | None) -> Checked:
    told = opinions(one, replies, digest)
    if not one.may_pass:
        return checked(one, Verdict.UNSUPPORTED, Basis.NONE, told)
    if not replies:
        return checked(one, Verdict.UNCHECKED, Basis.NONE, told)
    last = replies[-1].verdict
    if last is Support.SUPPORTED and told.standing:
        return checked(one, Verdict.PARTIAL, Basis.MODEL, told)
    if last is Support.SUPPORTED and denies(one):
        return checked(one, Verdict.UNSUPPORTED, Basis.VERIFIER, told)
    if last is Support.SUPPORTED and replies[0].verdict is not last and not is_sure(one):
        return checked(one, _VERDICTS[replies[0].verdict], Basis.MODEL, told)
    return checked(one, _VERDICTS[last], Basis.MODEL, told)


def disagree(one: Located, reply: Reply | None) -> bool:
    """Whether model and verifier contradict each other, so that the model is asked once more."""
    if not one.may_pass or one.repeats or one.reading is None or reply is None:
        return False
    if reply.verdict is Support.SUPPORTED:
        return one.reading.supported < judging_policy().sure.disagrees and not denies(one)
    return is_sure(one)


def is_sure(one: Located) -> bool:
    """Whether the verifier is sure that the passage bears the claim out."""
    return one.reading is not None and sure_of(one.reading)


def sure_of(reading: Reading) -> bool:
    """The same of a reading."""
    return reading.supported >= judging_policy().sure.supported


def denies(one: Located) -> bool:
    """Whether it is sure that the passage says the contrary."""
    sure = judging_policy().sure.contradicted
    return one.reading is not None and one.reading.contradicted >= sure


def opinions(one: Located, replies: Sequence[Reply], digest: str | None) -> Opinions:
    """What is kept of how a claim was judged."""
    asked = tuple(doubt.kind for doubt in one.doubts)
    last = replies[-1] if replies else None
    settled = last.settled if last else frozenset()
    answered = last.answered if last else frozenset()
    read = one.reading
    return Opinions(
        supported=None if read is None else round(read.supported, 4),
        contradicted=None if read is None else round(read.contradicted, 4),
        digest=None if read is None else digest,
        doubts=asked,
        standing=tuple(kind for kind in asked if kind not in settled),
        replies=tuple(reply.verdict.value for reply in replies),
        answered=tuple(kind for kind in asked if kind in answered),
    )
