"""A figure of survival is none of deaths."""

from hypothesis import given
from hypothesis import strategies as st

from tests.grid import grid
from workers.verify.facts.outcomes import guard
from workers.verify.guards.grounds import Grounds

LIVED = ("Survival at {time} was {figure}.", "After {time} {figure} of patients were alive.")
DIED = ("Mortality at {time} was {figure}.", "After {time} {figure} of patients had died.")
FIGURES = st.integers(1, 99).filter(lambda share: share != 50).map("{}%".format)
TIMES = st.sampled_from(["30 days", "1 year", "5 years"])


def found(claim: str, text: str) -> list[str]:
    return [one.code for one in guard(claim, Grounds(text, text=text))]


@given(st.sampled_from(LIVED), st.sampled_from(DIED), TIMES, FIGURES, st.booleans())
def test_it_is_not_told_of_the_other(
    lived: str, died: str, time: str, figure: str, turned: bool
) -> None:
    claim, text = (one.format(time=time, figure=figure) for one in (lived, died))
    said, told = (text, claim) if turned else (claim, text)
    assert "outcome" in found(said, told)
    assert found(said, said) == []


@grid(
    ("claim", "text"),
    [
        ("Mortality was 50%.", "Survival was 50%."),  # half is half on either side
        ("The hazard ratio for death was 0.61.", "Overall survival was longer (HR 0.61)."),
        ("Time to death was 12 months.", "Median survival was 12 months."),
        ("Mortality fell by 12%.", "Survival was 12% better."),
        ("Mortality was 12%.", "Survival was 88% and mortality 12%."),
        ("Mortality was 12%.", "Of the survivors 12% smoked; 12% had died."),
        ("Mortality was 12%.", "It was 12%. Survival was 88%."),
        ("12% of patients died.", "12% of patients did not survive."),
    ],
)
def test_what_may_be_the_same_is_not_told_apart(claim: str, text: str) -> None:
    assert found(claim, text) == []
