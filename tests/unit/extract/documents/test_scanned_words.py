"""What a scan mistook is read as it was meant, in its place; codes and names stay."""

import pytest

from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field
from workers.extract.scanned import unscanned


@pytest.mark.parametrize(
    ("printed", "meant"),
    [
        ("D1agnosis", "Diagnosis"),
        ("H0SPITAL", "HOSPITAL"),
        ("CHlLDREN'S", "CHILDREN'S"),
        ("lndication", "Indication"),
        ("Omepraz0le", "Omeprazole"),
        ("9O%", "90%"),
        ("lOO mg", "100 mg"),
        ("O3/12/2O24", "03/12/2024"),
        ("16 / O2 / 2024", "16 / 02 / 2024"),
    ],
)
def test_a_word_that_is_none_is_the_one_that_was_meant(printed: str, meant: str) -> None:
    assert unscanned(printed) == meant
    assert len(unscanned(printed)) == len(printed)


@pytest.mark.parametrize(
    "words",
    ["ROS1", "CD10", "MLH1", "SOX10", "pT1c N0", "L5-S1", "O2 sats", "HbA1c", "p16", "BRCA1",
     "CYP2C19", "SLCO1B1", "IL-6", "COL1A1", "H5N1", "vitamin B12", "lumbar", "llama", "IgG1"],
)  # fmt: skip
def test_codes_genes_and_words_that_are_words_stay(words: str) -> None:
    assert unscanned(words) == words


def test_a_value_is_shown_as_it_is_printed() -> None:
    parts = Parts("D1agnos1s:  Acute malar1a\nBlood l0ss:  15O ml\n")
    diagnosis = extract_field("diagnosis", parts).items[0]
    assert diagnosis.value.model_dump()["text"] == "Acute malar1a"
    assert parts.whole[diagnosis.start : diagnosis.end] == "Acute malar1a"
    assert extract_field("blood_loss", parts).items[0].value.model_dump()["number"] == 150
