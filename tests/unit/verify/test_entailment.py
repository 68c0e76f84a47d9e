"""What the learned verifier may and may not call supported (docs/verification.md)."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.verify.entailment.lexicon import lexicon
from workers.verify.entailment.model import LABELS, Judgement, judge_all
from workers.verify.entailment.states import TokenReader

# Sentences of our own in the wording of trial reports.
SENTENCES = (
    "Adjuvant chemotherapy significantly reduced the risk of recurrence in ctDNA-positive disease.",
    "Overall survival was longer with pembrolizumab than with chemotherapy (median 22.1 vs 14.3 "
    "months).",
    "Apixaban was associated with a lower rate of major bleeding than warfarin.",
    "At 24 months, 87% of ctDNA-negative patients were free of recurrence.",
    "The study drug did not increase the incidence of heart failure.",
    "Of 940 patients, 173 were positive for ctDNA four weeks after surgery.",
    "Loss of PTEN promotes resistance to BRAF inhibition in melanoma cells.",
    "Treatment with metformin improved glycemic control in adults with type 2 diabetes.",
)
ABSTRACT = " ".join(SENTENCES)

# (sentence, a claim that differs from it in one decisive place)
ALTERED = (
    (0, "Adjuvant chemotherapy significantly increased the risk of recurrence in ctDNA-positive "
        "disease."),
    (0, "Adjuvant chemotherapy did not significantly reduce the risk of recurrence in "
        "ctDNA-positive disease."),
    (0, "Adjuvant chemotherapy significantly reduced the risk of recurrence in ctDNA-negative "
        "disease."),
    (1, "Overall survival was shorter with pembrolizumab than with chemotherapy (median 22.1 vs "
        "14.3 months)."),
    (1, "Overall survival was longer with chemotherapy than with pembrolizumab (median 22.1 vs "
        "14.3 months)."),
    (1, "Overall survival was longer with pembrolizumab than with chemotherapy (median 14.3 vs "
        "22.1 months)."),
    (1, "Overall survival was longer with pembrolizumab than with chemotherapy (median 22.1 vs "
        "14.3 weeks)."),
    (2, "Apixaban was associated with a higher rate of major bleeding than warfarin."),
    (2, "Apixaban was not associated with a lower rate of major bleeding than warfarin."),
    (2, "Warfarin was associated with a lower rate of major bleeding than apixaban."),
    (3, "At 24 months, 78% of ctDNA-negative patients were free of recurrence."),
    (3, "At 12 months, 87% of ctDNA-negative patients were free of recurrence."),
    (3, "At 24 months, 87% of ctDNA-negative patients were not free of recurrence."),
    (4, "The study drug increased the incidence of heart failure."),
    (4, "The study drug did not decrease the incidence of heart failure."),
    (5, "Of 940 patients, 173 were negative for ctDNA four weeks after surgery."),
    (5, "Of 940 patients, 137 were positive for ctDNA four weeks after surgery."),
    (5, "Of 173 patients, 940 were positive for ctDNA four weeks after surgery."),
    (6, "Loss of PTEN prevents resistance to BRAF inhibition in melanoma cells."),
    (6, "Loss of PTEN does not promote resistance to BRAF inhibition in melanoma cells."),
    (6, "Gain of PTEN promotes resistance to BRAF inhibition in melanoma cells."),
    (7, "Treatment with metformin worsened glycemic control in adults with type 2 diabetes."),
    (7, "Treatment with metformin failed to improve glycemic control in adults with type 2 "
        "diabetes."),
    (7, "Treatment with metformin improved glycemic control in adults with type 1 diabetes."),
)  # fmt: skip


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> TokenReader:
    """The encoder on one thread."""
    return TokenReader(tmp_path_factory.mktemp("encoder"), threads=1)


def judge(claim: str, evidence: str, reader: TokenReader) -> Judgement:
    (judged,) = judge_all([(claim, evidence)], reader)
    return judged


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_of_the_evidence_is_supported_and_located(
    sentence: str, reader: TokenReader
) -> None:
    judged = judge(sentence, ABSTRACT, reader)

    assert judged.label == "supported"
    assert judged.sentence_span is not None
    assert ABSTRACT[judged.sentence_span.start : judged.sentence_span.end] == sentence


@pytest.mark.parametrize(
    "claim",
    [
        "  " + SENTENCES[2] + "  ",
        SENTENCES[2].rstrip("."),
        SENTENCES[2].replace(" ", "\u00a0", 1),
        SENTENCES[2] + " " + SENTENCES[3],
    ],
)
def test_spaces_and_the_final_stop_do_not_matter_to_a_verbatim_claim(
    claim: str, reader: TokenReader
) -> None:
    assert judge(claim, ABSTRACT, reader).label == "supported"


@pytest.mark.parametrize(("number", "claim"), ALTERED)
def test_a_claim_altered_in_one_place_is_not_supported_by_its_sentence(
    number: int, claim: str, reader: TokenReader
) -> None:
    assert judge(claim, SENTENCES[number], reader).label != "supported"


@pytest.mark.parametrize(("number", "claim"), ALTERED)
def test_nor_by_the_abstract_around_it(number: int, claim: str, reader: TokenReader) -> None:
    assert judge(claim, ABSTRACT, reader).label != "supported"


@settings(max_examples=30, deadline=None)
@given(st.integers(0, len(SENTENCES) - 1), st.integers(0, 3000), st.integers(0, 2))
def test_any_other_number_is_not_supported(
    reader: TokenReader, at: int, other: int, place: int
) -> None:
    parts = SENTENCES[at].split(" ")
    numbers = [i for i, part in enumerate(parts) if part.strip("(.,)%").isdigit()]
    if not numbers:
        return
    i = numbers[place % len(numbers)]
    plain = parts[i].strip("(.,)%")
    if other == int(plain):
        return
    parts[i] = parts[i].replace(plain, str(other))

    assert judge(" ".join(parts), ABSTRACT, reader).label != "supported"


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        (SENTENCES[0], ""),
        (SENTENCES[0], " \n\t "),
        (SENTENCES[0], "..."),
        ("", ABSTRACT),
        ("of the", ABSTRACT),
        ("?!", "?!"),
        ("\u200b", "\u200b"),
    ],
)
def test_without_words_there_is_not_enough(claim: str, evidence: str, reader: TokenReader) -> None:
    judged = judge(claim, evidence, reader)

    assert (judged.label, judged.sentence_span) == ("not_enough", None)


@pytest.mark.parametrize("claim", SENTENCES[:4])
def test_a_sentence_about_something_else_is_not_supported(claim: str, reader: TokenReader) -> None:
    others = " ".join(s for s in SENTENCES if s != claim)

    assert judge(claim, others, reader).label != "supported"


def test_the_same_texts_get_the_same_judgement_alone_and_in_company(reader: TokenReader) -> None:
    pairs = [(claim, ABSTRACT) for _, claim in ALTERED] + [(s, ABSTRACT) for s in SENTENCES]

    together = list(judge_all(pairs, reader))

    alone = [judge(claim, evidence, reader) for claim, evidence in pairs]
    assert [j.label for j in together] == [j.label for j in alone]
    # Texts of equal length share a run of the encoder, which moves the last digits.
    assert [j.p_supported for j in together] == pytest.approx(
        [j.p_supported for j in alone], abs=1e-4
    )
    assert together == list(judge_all(pairs, reader))


def test_judgements_come_in_the_order_of_the_pairs(reader: TokenReader) -> None:
    pairs = [(SENTENCES[0], SENTENCES[0]), ("", ""), (SENTENCES[1], SENTENCES[4])] * 8

    labels = [judgement.label for judgement in judge_all(pairs, reader)]

    assert labels == [judge(*pair, reader).label for pair in pairs]
    assert labels[0] == "supported"
    assert labels[1] == "not_enough"


def test_probabilities_are_probabilities(reader: TokenReader) -> None:
    for judged in judge_all([(claim, ABSTRACT) for _, claim in ALTERED], reader):
        assert 0 <= judged.p_supported <= 1
        assert 0 <= judged.p_contradicted <= 1
        assert judged.p_supported + judged.p_contradicted <= 1 + 1e-6
        assert judged.label in LABELS


def test_a_claim_longer_than_the_limit_is_never_supported(reader: TokenReader) -> None:
    claim = "Aspirin reduced stroke " * (lexicon().limits.claim_characters // 20)

    assert judge(claim, claim, reader).label == "not_enough"


def test_of_a_long_passage_only_so_many_sentences_are_read(tmp_path: Path) -> None:
    class Counting(TokenReader):
        texts = 0

        def read(self, texts):  # type: ignore[no-untyped-def]
            self.texts += len(texts)
            return super().read(texts)

    counting = Counting(tmp_path, threads=1)
    evidence = " ".join(f"In cohort {i}, aspirin was given to patients." for i in range(5000))

    judge("Aspirin was harmful to patients of cohort 7.", evidence, counting)

    assert counting.texts <= lexicon().limits.sentences + 1


@settings(max_examples=40, deadline=None)
@given(claim=st.text(max_size=80), evidence=st.text(max_size=300))
def test_any_text_gets_a_judgement_within_it(
    reader: TokenReader, claim: str, evidence: str
) -> None:
    judged = judge(claim, evidence, reader)

    if judged.sentence_span is not None:
        assert 0 <= judged.sentence_span.start < judged.sentence_span.end <= len(evidence)
