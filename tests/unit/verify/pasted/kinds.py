"""Kinds of falsehood that were reported of systems like this, as grammars: a source, what it does
not say, and what it does.

Frames and words of each kind come twice, as `SEEN` and `UNSEEN`: the second were written down
beforehand and looked at only when the first were right.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

Slots = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Frame:
    """A source with slots, a claim that it does not bear out, and one that it does."""

    source: str
    false: str
    true: str | None = None


@dataclass(frozen=True)
class Kind:
    """The frames of one kind and the words for their slots."""

    frames: Sequence[Frame]
    slots: Slots


@dataclass(frozen=True)
class Case:
    """One member of a kind."""

    source: str
    false: str
    true: str | None


def cases(kind: Kind, many: int, seed: int = 7) -> Iterator[Case]:
    """So many members, drawn from every frame in turn."""
    chance = Random(seed)
    for number in range(many):
        frame = kind.frames[number % len(kind.frames)]
        words: dict[str, str] = {}
        for slot, some in kind.slots.items():
            left = [one for one in some if one not in words.values()]
            words[slot] = chance.choice(left or list(some))
        source, false = (_capital(one.format(**words)) for one in (frame.source, frame.false))
        true = _capital(frame.true.format(**words)) if frame.true else None
        yield Case(source, false, true)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _numbers(low: int, high: int) -> list[str]:
    return [str(one) for one in range(low, high)]


_DISEASES = ("ovarian torsion", "pulmonary embolism", "appendicitis", "aortic dissection")
_DISEASES_2 = ("intussusception", "endocarditis", "a scaphoid fracture", "biliary obstruction")
_TESTS = ("the ultrasound", "colonoscopy", "the CT scan", "bronchoscopy")
_TESTS_2 = ("the MRI", "echocardiography", "the biopsy", "cystoscopy")
_DRUGS = ("aspirin", "heparin", "metoprolol", "apixaban")
_DRUGS_2 = ("rifaximin", "levetiracetam", "colchicine", "omeprazole")
_SYMPTOMS = ("chest pain", "palpitations", "syncope", "cough", "fever", "nausea")
_SYMPTOMS_2 = ("dysuria", "night sweats", "vertigo", "headache", "haematuria", "rash")

ATTEMPTS = (
    Frame("{t} does not allow us to exclude {d}.", "{d} was excluded."),
    Frame("{t} is needed to exclude {d}.", "{d} was excluded by {t}."),
    Frame("We lack data to confirm {q}.", "{q} was confirmed."),
    Frame("The sample was too small to show {q}.", "{q} was shown."),
    Frame("{drug} was given to prevent {d}.", "{drug} prevented {d}."),
    Frame("{d} cannot be excluded.", "{d} was excluded."),
    Frame("{t} excluded {d}.", "{d} was found by {t}.", "{d} was excluded by {t}."),
)
ATTEMPTS_2 = (
    Frame("{t} was performed in order to rule out {d}.", "{d} was ruled out."),
    Frame("It was not possible to demonstrate {q}.", "{q} was demonstrated."),
    Frame("Surgeons attempted to relieve the {x}.", "The {x} was relieved."),
    Frame("We aimed to reduce {x} with {drug}.", "{drug} reduced {x}."),
    Frame("The study was powered to show {q}.", "{q} was shown."),
    Frame("Further trials must establish {q}.", "{q} was established."),
    Frame("{t} ruled out {d}.", "{d} could not be ruled out.", "{d} was ruled out by {t}."),
)

DENIED = (
    Frame("She denies {a}, {b}, {c} or {e}.", "She reports {b}.", "She denies {b}."),
    Frame("The patient denied {a}, {b}, {c} or {e}.", "The patient had {c}."),
    Frame("He denies {a}, {b} and {c}.", "He had {c}."),
    Frame("No {a}, {b} or {c}.", "The patient has {c}."),
)
DENIED_2 = (
    Frame("There was no history of {a}, {b}, {c} or {e}.", "There was a history of {c}."),
    Frame("She is without {a}, {b} or {c}.", "She has {b}."),
    Frame("Negative for {a}, {b}, {c} and {e}.", "The patient has {e}."),
    Frame("He reports neither {a} nor {b}.", "He reports {b}.", "He does not report {b}."),
)

_REPORT = "Surgical pathology report\n\nSpecimen: {s}.\nMargins: {m}.\n{f}: {no}.\n"
LABELS = (
    Frame(_REPORT, "{f} was found.", "{f}: {no}."),
    Frame(_REPORT, "{f} was present."),
    Frame("Findings\n\n{f}: {no}.\nSpecimen: {s}.\n", "The patient has {f}."),
)
LABELS_2 = (
    Frame("{f}: {no}. Margins: {m}.", "The specimen shows {f}."),
    Frame("Report\n\n- {f}: {no}\n- Specimen: {s}\n", "There is {f}.", "{f}: {no}"),
    Frame("Past history\n\n{f}: {no}\nSpecimen: {s}\n", "{f} was identified."),
)

INCREASES = (
    Frame("No increase in {o} was seen.", "There was no {o}.", "{o} did not increase."),
    Frame("No difference in {o} was seen between the groups.", "There was no {o}."),
    Frame("No significant rise in the rate of {o} was seen with {drug}.", "There was no {o}."),
    Frame("No decrease in {o} was reported.", "There was no {o}."),
    Frame("No grade 4 {o} occurred.", "No {o} occurred."),
    Frame("No {o} was observed.", "{o} was observed.", "There was no {o}."),
)
INCREASES_2 = (
    Frame("{drug} led to no further {o}.", "{drug} led to no {o}."),
    Frame("No excess of {o} was noted.", "No {o} was noted."),
    Frame("There was no change in {o} at 6 months.", "There was no {o} at 6 months."),
    Frame("No treatment-related {o} occurred.", "There was no {o}."),
    Frame("There was no {o}.", "There was {o}.", "No {o} was seen."),
)

GROUPS = (
    Frame("A total of {n} {k}00 patients were enrolled.", "A total of {n} patients were enrolled.",
          "A total of {n},{k}00 patients were enrolled."),
    Frame("The loading dose was 0,{n} mg in adults.", "The loading dose was {n} mg in adults.",
          "The loading dose was 0.{n} mg in adults."),
    Frame("Potassium was {k},{j} mmol/L.", "Potassium was {k}{j} mmol/L.",
          "Potassium was {k}.{j} mmol/L."),
    Frame("The dose was 0.{j} mg.", "The dose was {j} mg.", "The dose was .{j} mg."),
)  # fmt: skip
GROUPS_2 = (
    Frame("We screened {n}'{k}00 women.", "We screened {n} women.", "We screened {n} {k}00 women."),
    Frame("Creatinine was {j},{k} mg/dL.", "Creatinine was {j}{k} mg/dL.",
          "Creatinine was {j}.{k} mg/dL."),
    Frame("Median age was {n}.{j} years.", "Median age was {n}{j} years.",
          "Median age was {n},{j} years."),
)  # fmt: skip

SIGNS = (
    Frame("The mean change in {v} was minus {w} {u}.", "The mean change in {v} was {w} {u}.",
          "The mean change in {v} was -{w} {u}."),
    Frame("Base excess was minus {w}.", "Base excess was {w}.", "Base excess was \u2212{w}."),
)  # fmt: skip
SIGNS_2 = (
    Frame("The {v} changed by negative {w} {u}.", "The {v} changed by {w} {u}.",
          "The {v} changed by -{w} {u}."),
    Frame("The T-score was minus {w}.", "The T-score was {w}.", "The T-score was -{w}."),
)  # fmt: skip

SURVIVAL = (
    Frame("The 5-year survival was {p}%.", "The 5-year mortality was {p}%.",
          "Survival at 5 years was {p}%."),
    Frame("Mortality at 30 days was {p}%.", "Survival at 30 days was {p}%."),
    Frame("{w} patients died.", "{w} patients survived."),
    Frame("The case fatality rate was {p}%.", "The mortality rate was {p}%."),
)  # fmt: skip
SURVIVAL_2 = (
    Frame("After 2 years {p}% of patients were alive.", "After 2 years {p}% of patients had died."),
    Frame("In-hospital mortality was {p}%.", "Mortality in the community was {p}%."),
    Frame("Case fatality reached {p}%.", "Mortality reached {p}%."),
    Frame("Of the infants {p}% survived.", "Of the infants {p}% died.",
          "{p}% of the infants survived."),
)  # fmt: skip

UNITS = (
    Frame("The starting dose is {n} mcg once daily.", "The starting dose is {n} mg once daily.",
          "The starting dose is {n} µg once daily."),
    Frame("Insulin glargine {n} U is given at night.",
          "Insulin glargine {n}0 units is given at night.",
          "Insulin glargine {n} units is given at night."),
)  # fmt: skip
UNITS_2 = (
    Frame("Give fentanyl {n} µg intravenously.", "Give fentanyl {n} mg intravenously.",
          "Give fentanyl {n} mcg intravenously."),
    Frame("The bolus was {n} IU/kg.", "The bolus was {n} mg/kg.", "The bolus was {n} units/kg."),
)  # fmt: skip

CELLS = (
    Frame("In {l} cells {g} reduced viral RNA by {p}%.",
          "{g} reduced viral RNA by {p}% in patients."),
    Frame("In vitro, {g} blocked {p}% of binding.", "{g} blocked {p}% of binding in patients.",
          "{g} blocked {p}% of binding in vitro."),
    Frame("In organoids, {g} killed {p}% of tumour cells.",
          "{g} killed {p}% of tumour cells in patients."),
    Frame("In mutant mice, {g} improved cardiac function.",
          "{g} improved cardiac function in patients."),
)  # fmt: skip
CELLS_2 = (
    Frame("{g} lowered replication by {p}% in cultured {l} cells.",
          "{g} lowered replication by {p}% in patients."),
    Frame("Rats given {g} lost {p}% less bone.", "Patients given {g} lost {p}% less bone."),
    Frame("In a xenograft model {g} shrank tumours by {p}%.",
          "{g} shrank the tumours of patients by {p}%."),
    Frame("{g} prolonged survival by {p}% in zebrafish.",
          "{g} prolonged survival by {p}% in adults."),
)  # fmt: skip

BRACKETS = (
    Frame("Nystagmus was found in {n}/{h} [5, 8] of the series. The median age was 6 years.",
          "Nystagmus was found in 2{n}/{h} of the series.",
          "Nystagmus was found in {n}/{h} of the series."),
    Frame("{d} developed in {p}% (Table 2) of the children.",
          "{d} developed in 0.{p}% of the children.", "{d} developed in {p}% of the children."),
)  # fmt: skip
BRACKETS_2 = (
    Frame("Of the eyes [12] {p}% had glaucoma.", "Of the eyes 0.{p}% had glaucoma.",
          "Of the eyes {p}% had glaucoma."),
    Frame("{d} was seen in {n} [3-5] of {h} infants.", "{d} was seen in 2{n} of {h} infants.",
          "The authors write “{d} was seen in {n} of {h} infants.”"),
)  # fmt: skip

SCOPES = (
    Frame("The hand had a broad thumb, but no {y}, {z} and a single palmar crease.",
          "The hand had {y}."),
    Frame("{f}: No. Anticoagulation: none.", "The patient received anticoagulation."),
    Frame("The child had {y} but no {z}.", "The child had {z}.", "The child had {y}."),
)  # fmt: skip
SCOPES_2 = (
    Frame("There was {y} without {z}.", "There was {z}.", "There was {y}."),
    Frame("Neither {y} nor {z} was seen, but the ears were low.", "{z} was seen."),
    Frame("{y}: yes. {z}: no.", "The child had {z}."),
)

CREDITS = (
    Frame("{g} lowered admissions for heart failure by {p}%, {x} and colleagues report.",
          "{g} lowered admissions for heart failure by {p}% ({y} et al., 2011).",
          "{g} lowered admissions for heart failure by {p}% ({x} et al., 2011)."),
)  # fmt: skip
CREDITS_2 = (
    Frame("According to {x} et al., {g} shortened the stay in hospital by {p}%.",
          "{g} shortened the stay in hospital by {p}% [{y} and colleagues, 2016].",
          "{g} shortened the stay in hospital by {p}% [{x} et al., 2016]."),
)  # fmt: skip

_NEW = ("dulvaprost", "the siRNA", "the antibody", "velmorine")
_NEW_2 = ("tarquisib", "the aptamer", "ostrelimab", "the inhibitor")
_SHARES = _numbers(11, 49) + _numbers(51, 98)

SEEN: Mapping[str, Kind] = {
    "attempt": Kind(ATTEMPTS, {"t": _TESTS, "d": _DISEASES, "drug": _DRUGS,
                               "q": ("efficacy", "superiority", "benefit")}),
    "denied list": Kind(DENIED, dict.fromkeys("abce", _SYMPTOMS)),
    "label": Kind(LABELS, {"s": ("right hemicolectomy", "left mastectomy"),
                           "m": ("clear", "free of tumour"), "no": ("none", "no", "negative"),
                           "f": ("lymphovascular invasion", "perineural invasion")}),
    "no increase": Kind(INCREASES, {"o": ("mortality", "infection", "bleeding", "pain"),
                                    "drug": _DRUGS}),
    "grouping": Kind(GROUPS, {"n": _numbers(11, 98), "k": _numbers(3, 6), "j": _numbers(7, 10)}),
    "sign": Kind(SIGNS, {"v": ("systolic pressure", "body weight"), "w": ("9", "8", "12"),
                         "u": ("units", "points")}),
    "survival": Kind(SURVIVAL, {"p": _SHARES, "w": ("thirty", "twelve", "41")}),
    "unit": Kind(UNITS, {"n": _numbers(11, 60)}),
    "cells": Kind(CELLS, {"l": ("Huh7", "HepG2", "HeLa"), "g": _NEW, "p": _SHARES}),
    "bracket": Kind(BRACKETS, {"n": _numbers(3, 9), "h": _numbers(31, 40), "p": _SHARES,
                               "d": ("cataract", "nystagmus")}),
    "scope": Kind(SCOPES, {"y": ("syndactyly", "polydactyly"), "z": ("short nails", "cleft palate"),
                           "f": ("dialysis", "transfusion")}),
    "credit": Kind(CREDITS, {"g": _NEW[::3], "p": _SHARES, "x": ("Larsen", "Moreau"),
                             "y": ("Okafor", "Lindqvist")}),
}  # fmt: skip
UNSEEN: Mapping[str, Kind] = {
    "attempt": Kind(ATTEMPTS_2, {"t": _TESTS_2, "d": _DISEASES_2, "drug": _DRUGS_2,
                                 "q": ("non-inferiority", "safety", "a dose response"),
                                 "x": ("obstruction", "oedema", "swelling")}),
    "denied list": Kind(DENIED_2, dict.fromkeys("abce", _SYMPTOMS_2)),
    "label": Kind(LABELS_2, {"s": ("gastrectomy", "thyroid lobectomy"),
                             "m": ("uninvolved", "clear"), "no": ("absent", "not seen", "nil"),
                             "f": ("extranodal extension", "tumour necrosis")}),
    "no increase": Kind(INCREASES_2, {"o": ("toxicity", "stroke", "thrombosis", "vomiting"),
                                      "drug": _DRUGS_2}),
    "grouping": Kind(GROUPS_2, {"n": _numbers(11, 98), "k": _numbers(3, 6), "j": _numbers(7, 10)}),
    "sign": Kind(SIGNS_2, {"v": ("left ventricular mass", "bone density"),
                           "w": ("2", "7", "15"), "u": ("units", "points")}),
    "survival": Kind(SURVIVAL_2, {"p": _SHARES}),
    "unit": Kind(UNITS_2, {"n": _numbers(11, 60)}),
    "cells": Kind(CELLS_2, {"l": ("A549", "Vero", "K562"), "g": _NEW_2, "p": _SHARES}),
    "bracket": Kind(BRACKETS_2, {"n": _numbers(3, 9), "h": _numbers(31, 40), "p": _SHARES,
                                 "d": ("strabismus", "ptosis")}),
    "scope": Kind(SCOPES_2, {"y": ("micrognathia", "hypertelorism"),
                             "z": ("clinodactyly", "webbed toes")}),
    "credit": Kind(CREDITS_2, {"g": _NEW_2[::2], "p": _SHARES, "x": ("Petrov", "Nakamura"),
                               "y": ("Ferrari", "Osei")}),
}  # fmt: skip
