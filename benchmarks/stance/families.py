"""Questions with sentences that say yes, no or neither to them, written for Attest.

`families.txt` holds them, names are drawn anew; every second one is only measured. What a sentence
says beside or narrower than what is asked says neither: its kind is kept with it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

FILE = Path(__file__).parent / "families.txt"
KINDS = {
    "+": "yes",
    "-": "no",
    "n": "narrower",
    "w": "wider",
    "b": "beside",
    "a": "aim",
    "u": "unclear",
}
_HELD = re.compile(r"\[([DEGHC])\]")
_CONDITIONS = """\
asthma|atopic eczema|bladder cancer|bronchiectasis|cluster headache|coeliac disease
Crohn's disease|cystic fibrosis|delirium|diverticulitis|endometriosis|epilepsy|fibromyalgia
gastroparesis|glaucoma|gout|Graves disease|heart failure|hepatic encephalopathy|hyperemesis
idiopathic pulmonary fibrosis|keloid|kidney stones|lichen planus|lupus nephritis
macular degeneration|Meniere disease|multiple sclerosis|myasthenia gravis|narcolepsy
osteoarthritis of the knee|pancreatitis|Parkinson's disease|pertussis|polymyalgia rheumatica
psoriatic arthritis|restless legs syndrome|rosacea|sarcoidosis|sciatica|scleroderma|shingles
sickle cell disease|sleep apnoea|tinnitus|trigeminal neuralgia|ulcerative colitis|urticaria
vitiligo|non-small cell lung cancer|ovarian cancer|glioblastoma|acute myeloid leukaemia
prostate cancer|melanoma|amyotrophic lateral sclerosis|Alzheimer's disease
acute ischemic stroke|type 2 diabetes|osteosarcoma"""
_DRUGS = """\
aspirin|metformin|colchicine|dapsone|lithium|rituximab|tocilizumab|sertraline|apixaban
warfarin|spironolactone|doxycycline|ibuprofen|bevacizumab|topiramate|semaglutide|celecoxib
minocycline|nivolumab|olaparib|ketamine|melatonin|azithromycin|prednisolone|hydroxychloroquine
allopurinol|dupilumab"""
_GENES = """\
BRCA2|TP53|KRAS|APOE|SATB1|HUWE1|MTHFR|PTEN|CFTR|LRRK2|TIAM1|NOTCH3|SMAD4|FOXP2|IL6|ACE2|TERT
PIM1|GRHL2|CADM2|SCN1A|MECP2|PCSK9|EGFR|HNF1A|RUNX2|ATM|TET2|COMT|SOD1"""
_BEGINS = ("zel", "mar", "quil", "lod", "ver", "tab", "os", "fen", "kor", "bri", "ul", "pav", "nes")
_MIDDLES = ("ova", "iru", "ota", "ani", "eci", "aro", "isu", "ume", "ali")
_ENDS = (
    "tride",
    "mab",
    "nib",
    "fen",
    "zole",
    "gliptin",
    "sartan",
    "stat",
    "pril",
    "oxin",
    "platin",
)
_BEFORE = (
    "CONCLUSIONS: ", "In conclusion, ", "We found that ", "In this study, ", "Our data show that ",
    "INTERPRETATION: ", "According to this review, ", "RESULTS: ",
)  # fmt: skip
_BEHIND = (
    ", and adverse events were mild", " (P = 0.03)", ", in line with earlier reports",
    ", although the study was small", ", as shown in Table 2",
)  # fmt: skip


@dataclass(frozen=True)
class Member:
    """A sentence beside a question, and the kind of what it says of it (see `KINDS`)."""

    family: int
    question: str
    sentence: str
    kind: str

    @property
    def label(self) -> str:
        """`yes`, `no` or `neither`."""
        return self.kind if self.kind in ("yes", "no") else "neither"

    @property
    def measured(self) -> bool:
        """Whether its family is kept for measuring."""
        return self.family % 2 == 1


def members(seed: int, draws: int = 1, *, dressed: float = 0.0) -> Iterator[Member]:
    """All sentences, each with so many draws of its names; a share of them is dressed up with words
    that change nothing."""
    rng = Random(seed)
    family, questions = -1, [""]
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        mark, _, words = line.partition(" ")
        if mark == "?":
            family, questions = family + 1, [one.strip() for one in words.split("|")]
            continue
        for _ in range(draws):
            drawn = _draw(rng)
            said, asked = _filled(words, drawn), _filled(rng.choice(questions), drawn)
            if rng.random() < dressed:
                said = _dressed(said, rng)
            yield Member(family, asked, said[0].upper() + said[1:], KINDS[mark])


def _filled(text: str, drawn: dict[str, str]) -> str:
    return _HELD.sub(lambda found: drawn[found[1]], text)


def _draw(rng: Random) -> dict[str, str]:
    drug, other = rng.sample(_listed(_DRUGS), 2)
    if rng.random() < 0.6:
        drug = _invented(rng)
    if rng.random() < 0.5:
        other = _invented(rng)
    gene, second = rng.sample(_listed(_GENES), 2)
    return {"D": drug, "E": other, "G": gene, "H": second, "C": rng.choice(_listed(_CONDITIONS))}


def _listed(words: str) -> list[str]:
    return re.split(r"[|\n]", words)


def _invented(rng: Random) -> str:
    return rng.choice(_BEGINS) + rng.choice(_MIDDLES) + rng.choice(_ENDS)


def _dressed(said: str, rng: Random) -> str:
    if rng.random() < 0.5 and said.endswith("."):
        return said[:-1] + rng.choice(_BEHIND) + "."
    before = rng.choice(_BEFORE)
    return before + (said if before[-2] == ":" else said[0].lower() + said[1:])
