"""Drafted claims through all checks, in their order: place, facts and doubts, judges, hedging."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from store.core.hashes import text_hash
from workers.language_model.port import ModelError
from workers.verify.claims import Checked, Drafted, Echo, Located, Rewritten, Verdict
from workers.verify.entailment import reader
from workers.verify.entailment.reader import Reading
from workers.verify.judges import deciding
from workers.verify.judges.judging import Judged, Material, Reply, material
from workers.verify.judges.repairing import Mended, reasons
from workers.verify.passages.locating import CitedText, locate
from workers.verify.passages.own_words import own_words
from workers.verify.passages.rewriting import hedged

log = structlog.get_logger(__name__)

Judge = Callable[[Material], Judged]
"""Asks a language model; raises ModelError where it gives nothing usable."""
Repairer = Callable[
    [Mapping[str, Sequence[str]], Sequence[Located], Mapping[str, CitedText]], Mended
]
"""Asks the drafter to mend claims, given the reasons by claim id; raises ModelError likewise."""
Verifier = Callable[[Sequence[tuple[str, str]]], Sequence[Reading]]
"""Reads (claim, passage) pairs."""


@dataclass(frozen=True)
class Checking:
    """All drafted claims with their verdicts, and what a model had to do with them."""

    results: Sequence[Checked]
    judged: Judged = field(default_factory=Judged)


def check_claims(
    drafted: Sequence[Drafted],
    texts: Mapping[str, CitedText],
    *,
    judge: Judge | None = None,
    repairer: Repairer | None = None,
    not_citable: Collection[str] = (),
    verifier: Verifier | None = None,
) -> Checking:
    """Check every claim (MRD 3.1); what does not hold is hedged around its quotation or falls.

    Args:
        texts: the versions by evidence key.
        judge: where given, its word is needed for each claim against which no hard fact speaks.
            Where it has none to give, or is not to be believed, the decision without a model takes
            over, and the result says so.
        repairer: where given, what falls for a reason that can be named is drafted once more.
        not_citable: keys of versions that were retracted or replaced meanwhile.
        verifier: reads claim and passage; the one that ships with the product if None.
    """
    citable = {key: one for key, one in texts.items() if key not in not_citable}
    located = [
        locate(
            one,
            citable if one.evidence_id in citable else texts,
            citable=one.evidence_id not in not_citable,
        )
        for one in drafted
    ]
    located = read(located, texts, verifier)
    digest = reader.digest() if any(one.reading for one in located) else None
    judged, results = Judged(), None
    if judge is not None:
        try:
            located, judged = consulted(located, texts, judge, repairer, verifier)
            if judged.believed:
                results = deciding.with_model(located, judged, digest)
        except ModelError as error:
            log.warning("judge_failed", error=type(error).__name__, claims=len(located))
            judged = Judged(note=f"without a model: {type(error).__name__}")
        if results is None:
            located = [in_own_words(one, texts) for one in located]
    if results is None:
        results = deciding.without_model(located, digest)
    return Checking(hedged(located, results), judged)


def consulted(
    located: Sequence[Located],
    texts: Mapping[str, CitedText],
    judge: Judge,
    repairer: Repairer | None,
    verifier: Verifier | None,
) -> tuple[list[Located], Judged]:
    """The claims, some of them mended, and what a model says of them.

    It is asked once more where it passed a false control (of all claims), and where the verifier
    disagrees or a claim was mended (of these). A question costs four requests at most: draft,
    judge, repair, judge. So where it passed one the second time, or cannot be asked then, that
    counts not, and where it passed one the first time, it counts only if the verifier does not
    disagree.

    Raises:
        ModelError: it could not be asked the first time, or gave nothing usable.
    """
    first = judge(material(located, texts))
    if not first.believed:
        second = _once_more(judge, material(located, texts, look=2))
        doubted = [one for one in located if deciding.disagree(one, _reply(second, one))]
        void = [one.drafted.claim_id for one in doubted]
        return list(located), replace(first, replies={}).then(second, void)
    mended, first = _mended(located, texts, first, repairer, verifier)
    again = [
        new
        for old, new in zip(located, mended, strict=True)
        if new is not old or deciding.disagree(new, _reply(first, new))
    ]
    if not any(one.may_pass for one in again):
        return mended, first
    second = _once_more(judge, material(again, texts, look=2))
    void = [] if second.believed else [one.drafted.claim_id for one in again]
    return mended, first.then(second, void)


def _once_more(judge: Judge, asked: Material) -> Judged:
    """The second look; where the model fails, one that is not believed."""
    try:
        return judge(asked)
    except ModelError as error:
        log.warning("judge_failed", error=type(error).__name__, claims=len(asked.claims))
        return Judged(note=f"asked once: {type(error).__name__}", believed=False)


def _reply(judged: Judged, one: Located) -> Reply | None:
    return next(iter(judged.replies.get(one.drafted.claim_id, ())), None)


def _mended(
    located: Sequence[Located],
    texts: Mapping[str, CitedText],
    judged: Judged,
    repairer: Repairer | None,
    verifier: Verifier | None,
) -> tuple[list[Located], Judged]:
    """The claims, those that fell as their drafter mended them; what was said of these before no
    longer counts. A claim that no mending made fit for a judge stays as it was."""
    why = {one.drafted.claim_id: reasons(one, _reply(judged, one)) for one in located}
    fallen = {claim_id: told for claim_id, told in why.items() if told}
    if repairer is None or not fallen:
        return list(located), judged
    try:
        made = repairer(fallen, located, texts)
    except ModelError as error:
        log.warning("repair_failed", error=type(error).__name__, claims=len(fallen))
        return list(located), replace(judged, mended=len(fallen))
    anew = [
        replace(
            locate(made.claims[one.drafted.claim_id], texts),
            repaired_from=Rewritten(text_hash(one.text), Verdict.UNSUPPORTED.value, one.findings),
        )
        for one in located
        if one.drafted.claim_id in made.claims
    ]
    fit = {one.drafted.claim_id: one for one in read(anew, texts, verifier) if one.may_pass}
    replies = {key: said for key, said in judged.replies.items() if key not in fit}
    hashes = (*judged.prompt_hashes, *made.prompt_hashes)
    outputs = (*judged.output_hashes, *made.output_hashes)
    told = replace(
        judged,
        replies=replies,
        prompt_hashes=hashes,
        output_hashes=outputs,
        mended=len(fallen),
    )
    return [fit.get(one.drafted.claim_id, one) for one in located], told


def read(
    located: Sequence[Located], texts: Mapping[str, CitedText], verifier: Verifier | None = None
) -> list[Located]:
    """The claims that could still pass with what the verifier makes of them, and only those other
    sources of them of which it is sure. Whole sentences of a passage need no reading."""
    asked = [one for one in located if one.may_pass and not one.repeats]
    echoes = [(one, echo) for one in located for echo in one.also if not echo.needed]
    pairs = [(one.text, one.passage) for one in asked]
    pairs += [
        (one.text, echo.place.of(texts[echo.evidence_id].source.text)) for one, echo in echoes
    ]
    if not pairs:
        return list(located)
    unique = list(dict.fromkeys(pairs))
    known = dict(zip(unique, (verifier or reader.judge_all)(unique), strict=True))
    found = [known[pair] for pair in pairs]
    readings = {id(one): reading for one, reading in zip(asked, found, strict=False)}
    sure = {
        (id(one), echo)
        for (one, echo), reading in zip(echoes, found[len(asked) :], strict=True)
        if deciding.sure_of(reading) or _says_it(one, echo, texts)
    }
    return [
        replace(
            one,
            reading=readings.get(id(one)),
            also=tuple(echo for echo in one.also if echo.needed or (id(one), echo) in sure),
        )
        for one in located
    ]


def _says_it(one: Located, echo: Echo, texts: Mapping[str, CitedText]) -> bool:
    """Whether another source says it in the same words."""
    return own_words(one.text, texts[echo.evidence_id], echo.place) is not None


def in_own_words(one: Located, texts: Mapping[str, CitedText]) -> Located:
    """The claim as a model wrote it, which may be a line without what it stands under."""
    if len(one.parts) != 1:
        return one
    assert one.place is not None
    cited = texts[one.drafted.evidence_id]
    return replace(one, repeats=own_words(one.text, cited, one.place) is not None)
