"""What stands on record of a claim, and what the gate of today makes of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_text.quotes import Source
from clinical_text.structure import segment
from knowledge.answering.judging import judging_policy
from workers.verify.claims import Basis, Checked, Opinions, Rewritten, Verdict
from workers.verify.entailment import reader
from workers.verify.entailment.reader import Reading
from workers.verify.judges.judging import Judged, Support
from workers.verify.passages.locating import CitedText
from workers.verify.record.claims import recorded
from workers.verify.record.comparing import compare, decided, differences, outcome
from workers.verify.record.counts import count, stopped_by
from workers.verify.record.version import gate_version, name_of

TEXT = (
    "The trial enrolled 455 patients in 23 centres. Adjuvant chemotherapy was given to 15% of the "
    "guided patients and to 28% of the others. Median survival was longer with the new drug."
)
OTHER = "A second trial enrolled 455 patients in 23 centres and 12 countries."
QUOTE = "The trial enrolled 455 patients in 23 centres."
TRUE = "It included 455 patients in 23 centres."
SURVIVAL = "Median survival was longer with the new drug."
LONGER = "Patients who received the new drug had a longer median survival altogether."
"""Of words enough that the verifier alone may let it through."""
SURE, UNSURE, DENIES = Reading(0.95, 0.01, 0.04), Reading(0.4, 0.1, 0.5), Reading(0.05, 0.9, 0.05)


def cited(text: str) -> CitedText:
    return CitedText(Source(text), segment(text).sentences, "A title")


TEXTS = {"E1": cited(TEXT), "E2": cited(OTHER)}


def reads(reading: Reading) -> Any:
    """A verifier that reads every pair alike."""
    return lambda pairs: [reading for _ in pairs]


def answer(
    text: str,
    *,
    quote: str = QUOTE,
    basis: Basis = Basis.MODEL,
    generator: str = "anthropic",
    also: Sequence[tuple[str, str]] = (),
    **judged: Any,
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """An answer of one supported claim, and its inputs; without `judged` these were not kept."""
    citations = [{"evidence_id": key, "quote": words} for key, words in (("E1", quote), *also)]
    claim = {
        "claim_id": "c1",
        "text": text,
        "verdict": "supported",
        "basis": basis.value,
        "citations": citations,
    }
    hedged = {**claim, "claim_id": "c2", "verdict": "partial"}
    body = {"claims": [claim, hedged], "provenance": {"generator": generator}}
    opinions = Opinions(**judged).as_body() if judged else None
    return body, {"checked": [{"claim_id": "c1", "judged": opinions}]} if judged else None


def standing(
    kept: tuple[Mapping[str, Any], Mapping[str, Any] | None], reading: Reading = SURE
) -> tuple[str, tuple[str, ...]]:
    """What becomes of the only claim that the answer shows as held, and by which checks."""
    (one,) = compare(recorded(*kept), TEXTS, reads(reading))
    assert outcome([one]) == one.standing
    return one.standing, one.checks


def said(*replies: str, **more: Any) -> dict[str, Any]:
    return {"supported": 0.9, "contradicted": 0.01, "digest": "d", "replies": replies, **more}


def test_what_becomes_of_a_claim_by_what_is_on_record() -> None:
    exchanged = "Chemotherapy went to 15% of those whom nothing guided and to 28% of the others."
    shares = (
        "Adjuvant chemotherapy was given to 15% of the guided patients and to 28% of the others."
    )
    kinds = {
        check.removeprefix("doubt ")
        for check in standing(answer(exchanged, quote=shares, **said("SUPPORTED")))[1]
    }
    assert kinds, "the claim is one that today has doubts"
    settled = {"doubts": tuple(kinds), "answered": tuple(kinds)}
    rows: list[tuple[str, Any, Reading, str, tuple[str, ...] | None]] = [
        ("replied and settled", answer(TRUE, **said("SUPPORTED")), SURE, "stands", ()),
        ("a figure of no source", answer("It took in 977 patients.", **said("SUPPORTED")), SURE,
         "falls", ("number",)),
        ("the verifier denies it", answer(TRUE, **said("SUPPORTED")), DENIES, "falls",
         ("verifier",)),
        ("the judges would be asked twice today", answer(TRUE, **said("SUPPORTED")),
         Reading(0.2, 0.1, 0.7), "needs_judge", ("verifier",)),
        ("they were asked twice", answer(TRUE, **said("SUPPORTED", "SUPPORTED")),
         Reading(0.2, 0.1, 0.7), "stands", ()),
        ("a doubt that was not put", answer(exchanged, quote=shares, **said("SUPPORTED")), SURE,
         "needs_judge", None),
        ("the doubt was settled", answer(exchanged, quote=shares, **said("SUPPORTED"), **settled),
         SURE, "stands", ()),
        ("replies were not kept", answer(exchanged, quote=shares), SURE, "needs_judge", None),
        ("a judge was never asked", answer(LONGER, quote=SURVIVAL, basis=Basis.VERIFIER,
         supported=0.9, contradicted=0.0, digest="d"), UNSURE, "needs_judge", ("judge",)),
        ("nor had to be", answer(LONGER, quote=SURVIVAL, basis=Basis.VERIFIER, supported=0.9,
         contradicted=0.0, digest="d"), SURE, "stands", ()),
        ("its source's own words", answer(QUOTE, basis=Basis.WORDS, generator="extractive"), UNSURE,
         "stands", ()),
        ("no model drafted it", answer(LONGER, quote=SURVIVAL, basis=Basis.VERIFIER,
         generator="extractive"), UNSURE, "falls", ("verifier",)),
        ("its words are nowhere", answer(TRUE, quote="It enrolled nobody at all.",
         **said("SUPPORTED")), SURE, "falls", ("quotation",)),
        ("another source agrees", answer(TRUE, also=[("E2", OTHER)], **said("SUPPORTED")), SURE,
         "stands", ()),
        ("another source has other figures", answer(
            "It gave chemotherapy to 15% of the guided patients.", quote=shares,
            also=[("E2", OTHER)], **said("SUPPORTED")), SURE, "falls", ("other source",)),
    ]  # fmt: skip
    for name, kept, reading, wanted, checks in rows:
        found = standing(kept, reading)
        assert found[0] == wanted, (name, found)
        assert checks is None or found[1] == checks, (name, found)


def test_what_is_kept_of_a_finding_has_no_word_of_the_claim() -> None:
    kept = answer("The trial enrolled 977 patients.", **said("SUPPORTED"))
    (one,) = compare(recorded(*kept), TEXTS, reads(SURE))
    assert one.as_finding() == {
        "claim_id": "c1",
        "finding": "gate",
        "before": "supported",
        "after": "unsupported",
        "checks": ["number"],
    }


def test_an_answer_in_no_form_that_is_known_is_refused() -> None:
    for wrong in ({}, {"claims": []}, {"claims": [{"verdict": "supported"}], "provenance": {}}):
        with pytest.raises((KeyError, ValueError)):
            recorded(wrong, None)


def test_a_recomputation_says_in_words_what_differs() -> None:
    kept = answer(TRUE, supported=0.5, contradicted=0.1, digest="d",
                  replies=("SUPPORTED",), doubts=("arm",), answered=("arm",))  # fmt: skip
    told = differences(compare(recorded(*kept), TEXTS, reads(SURE)))
    assert told == [
        f"claim c1: the verifier's weights were d then, they are {reader.digest()} now",
        "claim c1: the verifier gave 0.50 then, it gives 0.95 now",
        "claim c1: doubt arm is gone",
    ]


@given(
    supported=st.floats(0, 1),
    doubts=st.sets(st.sampled_from(sorted(judging_policy().doubts))),
    standing=st.booleans(),
    first=st.sampled_from([one.value for one in Support]),
)
def test_a_record_is_decided_as_the_policy_has_it(
    supported: float, doubts: set[str], standing: bool, first: str
) -> None:
    kinds = tuple(sorted(doubts))
    kept = answer(
        TRUE,
        supported=supported,
        contradicted=0.0,
        digest="d",
        doubts=kinds,
        standing=kinds if standing else (),
        replies=(first, "SUPPORTED"),
    )
    (one,) = recorded(*kept)
    settled = not (standing and kinds)
    twice = first == "SUPPORTED" or supported >= judging_policy().sure.supported
    assert (decided(one) is Verdict.SUPPORTED) is (settled and twice)


def claim(verdict: Verdict, basis: Basis = Basis.MODEL, **other: Any) -> Checked:
    return Checked("c", "It works.", "E1", "EVIDENCE", verdict, "verbatim", None,
                   basis=basis, **other)  # fmt: skip


def told(supported: float, replies: tuple[str, ...], **other: Any) -> Opinions:
    return Opinions(supported, other.pop("contradicted", 0.0), "d", replies=replies, **other)


def test_a_draft_is_counted_by_what_became_of_its_claims() -> None:
    before = Rewritten("h", "unsupported", ("number",))
    one, two = ("SUPPORTED",), ("SUPPORTED", "SUPPORTED")
    arm, both = ("arm",), ("arm", "date")
    results = [
        claim(Verdict.SUPPORTED, judged=told(0.9, one, doubts=arm, answered=arm)),
        claim(Verdict.SUPPORTED, judged=told(0.2, two), repaired_from=before),
        claim(Verdict.PARTIAL, judged=told(0.5, one, doubts=both, standing=("date",),
                                           answered=both)),
        claim(Verdict.PARTIAL, Basis.NONE, rewritten_from=before),
        claim(Verdict.UNSUPPORTED, judged=told(0.95, ("UNSUPPORTED", "UNSUPPORTED"))),
        claim(Verdict.UNSUPPORTED, Basis.VERIFIER, judged=told(0.0, one, contradicted=0.9)),
        claim(Verdict.UNSUPPORTED, Basis.NONE, findings=("dose", "drug")),
    ]  # fmt: skip
    judged = Judged(controls=2, missed=1, mended=3)
    found = count(results, judged, by_model=True, set_aside=False)
    assert (found.drafted, found.own_words, found.source_words) == (7, 2, 1)
    assert (found.mended, found.repaired) == (3, 1)
    assert (found.doubts, found.doubts_answered, found.doubts_standing) == (3, 3, 1)
    assert (found.both_judged, found.disagreed) == (5, 3)
    assert (found.controls, found.controls_missed, found.believed) == (2, 1, True)
    assert found.stops == {
        "dose": 1,
        "doubt date": 1,
        "drug": 1,
        "judge": 1,
        "number": 1,
        "verifier": 1,
    }
    aside = count(results, judged, by_model=True, set_aside=True)
    assert (aside.own_words, aside.source_words, aside.repaired) == (0, 7, 0)
    keyless = count(results, Judged(), by_model=False, set_aside=False)
    assert (keyless.drafted, keyless.believed) == (0, None)
    assert keyless.stops == found.stops


def test_a_claim_that_nobody_judged_was_stopped_by_the_verifier() -> None:
    assert stopped_by(claim(Verdict.UNSUPPORTED, Basis.NONE)) == ["verifier"]


def test_a_gate_is_named_by_every_byte_of_its_files_and_by_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "gate"
    (folder / "facts").mkdir(parents=True)
    (folder / "facts" / "numbers.py").write_text("1")
    (folder / "judge.md").write_text("version: 1")
    first = name_of("p", {"gate": folder})
    names = {first, name_of("q", {"gate": folder}), name_of("p", {"other": folder})}
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "numbers.pyc").write_text("compiled")
    assert name_of("p", {"gate": folder}) == first
    (folder / "facts" / "numbers.py").write_text("2")
    names.add(name_of("p", {"gate": folder}))
    (folder / "facts" / "numbers.py").rename(folder / "facts" / "names.py")
    names.add(name_of("p", {"gate": folder}))
    assert len(names) == 5
    assert gate_version() == gate_version()
