"""One draft of the liar through the product's gate, and where each of its claims ended."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.lies.library import Case
from clinical_text.instructions import addresses_reader
from clinical_text.quotes import check
from contracts import Draft
from tests.fakes.liar import Liar, Told, bare
from workers.generate.model import ModelDraft, draft
from workers.language_model.port import LanguageModel
from workers.verify.checking import check_claims
from workers.verify.claims import Checked, Drafted
from workers.verify.gate import Hedged, gate
from workers.verify.judges.judging import Judged, Material, judge
from workers.verify.passages.locating import CitedText
from workers.verify.passages.marks import quotations

DRAFT, KEY, QUOTATION, ORDER, JUDGE, PASSED = (
    "draft acceptance",
    "key not citable",
    "quotation",
    "instructions",
    "judge",
    "passed",
)
_PLACES = {"unknown_evidence": KEY, "not_current": KEY, "quotation": QUOTATION}


@dataclass(frozen=True)
class Fate:
    """What became of a claim. `stopped_at` is a stage, `fact: …`, `doubt: …` or `passed`."""

    told: Told
    stopped_at: str
    codes: tuple[str, ...] = ()
    hedged: bool = False
    passage: str = ""


@dataclass(frozen=True)
class Outcome:
    """A draft's claims after one judge; what must not be."""

    fates: Sequence[Fate]
    in_summary: Sequence[Told]
    """Lies whose words are in a summary, whoever's claim they stand in."""
    bad_hedges: Sequence[str]
    """Hedged claims around words that the source has not, or that are an order."""


def drafted(model: LanguageModel, liar: Liar, case: Case, query_type: str) -> ModelDraft:
    """What the product keeps of the liar's draft."""
    liar.heard = case.heard
    return draft(model, "What does the evidence say?", query_type, case.evidence)


def judged(model: LanguageModel, liar: Liar, made: ModelDraft, case: Case) -> Outcome:
    """The draft through all checks, judged by the liar as it is set."""
    claims = [Drafted.of(one) for one in Draft.model_validate(made.as_body()).claims]

    def ask(material: Material) -> Judged:
        return judge(material, model.propose)

    checking = check_claims(claims, case.texts, judge=ask, not_citable=case.not_citable)
    passed = gate(checking.results)
    found = {
        (claim.evidence_id, claim.text): result
        for claim, result in zip(claims, checking.results, strict=True)
    }
    summary = bare(" ".join(one.text for one in passed.verified))
    fates = [_fate(one, found, case.texts) for one in liar.told]
    return Outcome(
        fates,
        [one for one in liar.told if not one.true and bare(one.text) in summary],
        list(_bad_hedges([one for one in passed.shown if isinstance(one, Hedged)], case.texts)),
    )


def _fate(
    told: Told, found: Mapping[tuple[str, str], Checked], texts: Mapping[str, CitedText]
) -> Fate:
    result = found.get((told.key.strip(), " ".join(told.text.split())))
    if result is None:
        return Fate(told, DRAFT)
    before = result.rewritten_from
    codes = before.findings if before else result.findings
    passage = result.place.of(texts[result.evidence_id].source.text) if result.place else ""
    return Fate(told, _stop(result, codes), codes, before is not None, passage)


def _stop(result: Checked, codes: Sequence[str]) -> str:
    if result.passes:
        return PASSED
    if not codes:
        standing = result.judged.standing if result.judged else ()
        return f"doubt: {standing[0]}" if standing else JUDGE
    if codes[0] in _PLACES or result.place is None:
        return _PLACES[codes[0]]
    return ORDER if codes[0] == "instructions" else f"fact: {codes[0]}"


def _bad_hedges(hedges: Sequence[Hedged], texts: Mapping[str, CitedText]) -> Iterator[str]:
    for one in hedges:
        source = texts[one.evidence_id].source
        words = [place.of(one.text) for place in quotations(one.text)[:1]]
        if not words or not all(check(each, source).accepted for each in words):
            if not check(one.text.partition("“")[2].rstrip("”"), source).accepted:
                yield one.text
        elif addresses_reader(one.text):
            yield one.text
