"""How a study was made, and where it stands, is what its source says of it."""

from tests.grid import grid
from workers.verify.guards.designs import guard
from workers.verify.guards.grounds import Grounds

SOURCE = Grounds(
    "COBRA is a randomized phase II/III trial of ctDNA testing.",
    title="COBRA",
    text="COBRA is a randomized phase II/III trial of ctDNA testing. It was open-label. "
    "An earlier cohort was completed in 2019.",
)


@grid(
    ("claim", "word"),
    [
        ("COBRA is a randomised trial of ctDNA testing.", None),
        ("COBRA is an open label trial.", None),
        ("COBRA is a single-arm trial of ctDNA testing.", "single-arm"),
        ("COBRA is an observational study of ctDNA testing.", "observational"),
        ("COBRA is a double-blind trial.", "double-blind"),
        ("COBRA is recruiting.", "recruiting"),
        ("COBRA has been completed.", "completed"),
        ("COBRA has been withdrawn.", "withdrawn"),
        ("COBRA was a prespecified analysis.", "prespecified"),
    ],
)
def test_a_design_is_the_sources_and_a_state_the_passages(claim: str, word: str | None) -> None:
    found = [one.detail for one in guard(claim, SOURCE)]
    assert found == ([] if word is None else [f"“{word}” is not in the passage"])


def test_what_is_not_randomized_needs_no_trial_that_is() -> None:
    assert guard("Patients are not randomized.", Grounds("Patients are not randomized.")) == []
