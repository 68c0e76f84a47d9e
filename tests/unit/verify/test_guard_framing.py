"""What a passage tells only as a belief, a doubt, a question or a condition is not stated by it."""

import pytest

from workers.verify.guards.framing import guard
from workers.verify.guards.grounds import Grounds

SAID = [
    "aspirin reduces mortality in adults with sepsis",
    "patients treated with the drug had fewer strokes, infections and falls",
    "testing after surgery finds relapse months before imaging",
]
FRAMES = [
    "Critics doubt that {}.",
    "Some authors believe that {}.",
    "Manufacturers allege that {}.",
    "It was once thought that {}.",
    "It is unlikely that {}.",
    "It cannot be concluded that {}.",
    "Nobody has proved that {}.",
    "We could not confirm that {}.",
    "The data do not show that {}.",
    "We found no support for the idea that {}.",
    "The hypothesis that {} was rejected.",
    "Contrary to the belief that {}, this was not seen.",
    "Whether {} is unknown.",
    "If {}, further trials are needed.",
    "Future studies should look at whether {}.",
]
STATED = [
    "We found that {}.",
    "These results demonstrate that {}.",
    "The panel recommends that {}.",
    "It is well known that {}.",
    "The fact that {} was confirmed in two trials.",
]


def vetoed(claim: str, passage: str) -> bool:
    return bool(guard(claim, Grounds(passage, "", passage, "")))


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("frame", FRAMES)
def test_what_is_framed_is_no_statement(frame: str, said: str) -> None:
    assert vetoed(f"{said.capitalize()}.", frame.format(said))


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("frame", STATED)
def test_a_frame_that_states_need_not_be_kept(frame: str, said: str) -> None:
    assert not vetoed(f"{said.capitalize()}.", frame.format(said))


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("frame", FRAMES)
def test_a_claim_that_keeps_the_frame_may_pass(frame: str, said: str) -> None:
    assert not vetoed(frame.format(said), frame.format(said))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Peptides that protect the skin are made of one family of peptides.",
         "Peptides that protect the skin are made of one family of peptides of frogs."),
        ("Drugs that inhibit the enzyme lower blood pressure.",
         "In adults, drugs that inhibit the enzyme lower blood pressure."),
        ("We made a site that shows profiles of cells.",
         "We made a site (www.example.invalid/cells.html) that shows profiles of cells."),
        ("Mortality was lower than that of placebo.",
         "In both trials mortality was lower than that of placebo."),
        ("Aspirin may reduce mortality in adults with sepsis.",
         "Some authors believe that aspirin reduces mortality in adults with sepsis."),
        ("Metformin is recommended for adults whose glucose is high.",
         "If glucose is high, metformin is recommended for adults."),
    ],
)  # fmt: skip
def test_a_noun_that_is_described_and_a_careful_claim_pass(claim: str, passage: str) -> None:
    assert not vetoed(claim, passage)
