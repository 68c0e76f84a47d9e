"""What the correctness probes ask, and how what comes back is judged. No system is named here."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.peers import corpus

LONG = 30_000
"""Characters of a text whose chunks are compared with its file."""
_SENTENCES = {
    "plain": "The hazard ratio was 0.62 (95% CI 0.51-0.75; P<0.001) in arm A. ",
    "signs": "The β-blocker lowered HbA1c by ≥0.5% (0.3–0.7; P ≤ 0.001) at 10 µg·kg⁻¹ in arm B. ",
    "chinese": "在一项虚构的试验中，治疗组的无进展生存期更长（风险比 0.46；0.37–0.57）。",
    "accents": "La fre\u0301quence e\u0301tait de 12 % (≤ 3 mois) chez 41 œde\u0301mes. ",
    "lines": "Table 2.\tGrade ≥3\r\nNausea\t 12%\t 8%\r\n\r\nFatigue \t9%\t7%  \r\nNo deaths.\r\n",
}
"""Made-up sentences; repeated with a number so that no two places of a text are alike."""

Held = Literal["old", "new", "both", "neither"]


def long_texts() -> dict[str, str]:
    """Texts by file name, each at least `LONG` characters, in scripts that tokenizers cut up."""
    made = {}
    for name, sentence in _SENTENCES.items():
        parts, number, length = [], 0, 0
        while length < LONG:
            number += 1
            parts.append(f"{number}. {sentence}")
            length += len(parts[-1])
        made[f"{name}.txt"] = "".join(parts)
    return made


def compared(pieces: Iterable[tuple[str, str, int | None]]) -> dict[str, int]:
    """How many chunks are in their file to the letter, and how many are where they say they are.

    Ends of lines may be written otherwise: a system may hold the file with `\\n` for `\\r\\n`.

    Args:
        pieces: the file's text, the chunk's, and where the system says that it begins, if it does.
    """
    counted = dict.fromkeys(("chunks", "verbatim", "placed", "in_place"), 0)
    for whole, text, start in pieces:
        readings = (whole, whole.replace("\r\n", "\n"))
        counted["chunks"] += 1
        counted["verbatim"] += any(text in one for one in readings)
        counted["placed"] += start is not None
        counted["in_place"] += start is not None and any(
            one.startswith(text, start) for one in readings
        )
    return counted


@dataclass(frozen=True)
class Quoted:
    """Words for the model to quote in its answer to a question. `original` stands in a text."""

    question: str
    original: str
    words: str

    @property
    def altered(self) -> bool:
        """Whether the words are not those of the text."""
        return self.words != self.original


_RATIO = re.compile(r"(?<= of )\d\.\d\d(?= \()")


def quoted(count: int, characters: int) -> list[Quoted]:
    """A sentence of each of the first `count` texts as it is, and with another hazard ratio."""
    cases = []
    for number in range(count):
        about = corpus.topic(number)
        question = (
            f"What is the effect of {about.drug} on {about.outcome} in patients with "
            f"{about.disease}?"
        )
        sentence = next(
            one
            for one in re.split(r"(?<=\.)\s+", corpus.text(number, characters))
            if one.startswith("In cohort 1,")
        )
        found = _RATIO.search(sentence)
        assert found is not None
        other = f"{(float(found[0]) + 0.37):.2f}"
        cases.append(Quoted(question, sentence, sentence))
        changed = sentence[: found.start()] + other + sentence[found.end() :]
        cases.append(Quoted(question, sentence, changed))
    return cases


OLD = "Apixaban is recommended as first-line treatment in adults with stage II colon cancer."
NEW = "Apixaban is contraindicated as first-line treatment in adults with stage II colon cancer."
ABOUT_GUIDELINE = (
    "What does the guideline recommend on apixaban in adults with stage II colon cancer?"
)
GUIDELINE = "guideline.txt"
_REST = (
    "Follow-up visits take place every three months in the first two years. "
    "A second opinion is offered to every patient. "
    "Blood counts are taken before each cycle."
)


def write_guideline(folder: Path, *, changed: bool) -> None:
    """A made-up guideline in a file, before or after its advice was turned around in place."""
    advice = NEW if changed else OLD
    title = "Made-up guideline on apixaban in stage II colon cancer"
    text = f"{title}\n\nRecommendation\n\n{advice} {_REST}\n"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / GUIDELINE).write_text(text, "utf-8")


def held(read: Sequence[str]) -> Held:
    """Which advice is in what a system read, or said."""
    together = " ".join(" ".join(read).split())
    old, new = OLD in together, NEW in together
    if old and new:
        return "both"
    return "old" if old else "new" if new else "neither"
