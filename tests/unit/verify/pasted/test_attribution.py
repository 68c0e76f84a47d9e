"""A bracket that credits authors is held to the source's authors, journal and year."""

import pytest

from workers.verify.guards.grounds import Grounds
from workers.verify.pasted.attribution import guard, without_credits

SOURCE = Grounds(
    "Adjuvant chemotherapy was given to fewer patients.",
    origin={
        "authors": "Tie J; Cohen JD; van der Berg K",
        "publisher": "N Engl J Med",
        "published_on": "2022-06-16",
    },
)


@pytest.mark.parametrize(
    "credit",
    [
        "(Tie et al.)",
        "(Tie et al., 2022)",
        "(Tie et al., NEJM 2022)",
        "(Tie et al. N Engl J Med. 2022;)",
        "[Tie and Cohen, 2022]",
        "(van der Berg et al., 2022)",
    ],
)
def test_a_true_credit_is_no_content_and_stands(credit: str) -> None:
    words = f"Fewer patients were given chemotherapy {credit}."
    assert without_credits(words) == "Fewer patients were given chemotherapy."
    assert guard(words, SOURCE) == []


@pytest.mark.parametrize(
    ("credit", "told"),
    [
        ("(Smith et al., 2022)", "Smith"),
        ("(Tie and Smith, 2022)", "Smith"),
        ("(Tie et al., 2019)", "2019"),
        ("(Tie et al., Lancet Oncology 2022)", "Lancet"),
    ],
)
def test_a_false_credit_is_told(credit: str, told: str) -> None:
    (found,) = guard(f"Fewer patients were given chemotherapy {credit}.", SOURCE)
    assert told in found.detail


@pytest.mark.parametrize(
    "words",
    [
        "Fewer were given it (15% vs 28%).",
        "It was begun in Japan (Tokyo 2015).",
        "Both were given (oxaliplatin and capecitabine).",
        "The trial (DYNAMIC) was randomized.",
    ],
)
def test_other_brackets_are_content(words: str) -> None:
    assert without_credits(words) == words


def test_a_source_of_unknown_authors_must_name_them_itself() -> None:
    unknown = Grounds("Fewer were given it.", text="Fewer were given it. Tie et al., 2022.")
    assert guard("Fewer were given it (Tie et al., 2022).", unknown) == []
    assert len(guard("Fewer were given it (Smith et al., 2021).", unknown)) == 2
