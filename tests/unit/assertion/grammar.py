# ruff: noqa: E501
"""Sentences whose assertions are known, because they are made: finding, trigger, scope, list, form.

A frame holds findings in braces, each with what is said of it: "denies {negated} or {negated}".
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

FINDINGS = """chest pain|palpitations|syncope|fever|night sweats|shortness of breath|nausea|vomiting|rash|
cough|pleural effusion|pulmonary embolism|deep vein thrombosis|lymphadenopathy|metastasis|pneumonia|
atrial fibrillation|hypertension|stroke|sepsis|pneumothorax|hepatomegaly|ascites|jaundice|seizures|headache|
diarrhea|constipation|hematuria|dysuria|arthralgia|neuropathy|bleeding|thrombosis|pericardial effusion|
loss of consciousness|urinary tract infection|back pain|dizziness|anemia|neutropenia|hypoglycemia|wheezing|
hemoptysis|melena|cellulitis|osteomyelitis|angioedema|pancreatitis|acute kidney injury|blorptitis|
zenkoid dysplasia|vaxuria|hypotension|delirium|lower extremity edema|muscle weakness|tremor""".replace(
    "\n", ""
).split("|")

OUTCOMES = [
    "mortality",
    "survival",
    "blood pressure",
    "hospital stay",
    "quality of life",
    "HbA1c",
    "stroke",
    "pain",
    "bleeding",
]

SLOTS = {
    "lister": ["Denies", "He denies", "She denied", "The patient denies any", "No", "There is no", "She has no",
               "Negative for", "No evidence of", "There were no signs of", "No known", "Patient reports no",
               "He has no history of", "Free of", "No complaints of", "Absence of"],
    "inline": ["without", "with no", "with no evidence of", "without any", "and no", "in the absence of"],
    "unsure": ["Possible", "Probable", "Suspected", "Findings suspicious for", "Findings suggestive of", "Likely",
               "The picture may represent", "Concern for", "Cannot exclude", "? ", "Presumed"],
    "aim": ["to rule out", "to evaluate for", "to exclude", "to assess for", "in order to detect"],
    "study": ["We aimed to determine whether aspirin reduces", "To investigate the effect of exercise on",
              "The objective was to assess", "The study was designed to evaluate",
              "We sought to compare the two arms for", "To examine whether statins prevent"],
    "past": ["History of", "He has a history of", "Status post", "Past medical history significant for",
             "She has a past medical history of", "Prior", "Known history of"],
    "relative": ["His mother had", "Father has", "Family history of", "Family history: ", "Her sister was diagnosed with",
                 "Maternal grandmother died of", "Brother with", "Family history is positive for"],
    "if": ["Return if", "Call us if you develop", "Come back if there is", "Seek care in case of"],
    "no value": ["none", "no", "negative", "absent", "None.", "nil", "denied", "not present", "none seen", "not identified"],
    "yes value": ["yes", "present", "positive", "mild", "3 episodes"],
    "unread value": ["see text", "see below", "pending", "not assessed", "refer to report", "n/a", "unknown",
                     "to be determined", "as per outside notes"],
    "gone": ["was ruled out", "was not seen", "was not identified", "is absent", "was denied", "has been excluded",
             "was not found", "is unlikely", "were not observed", "is not present"],
    "open": ["cannot be excluded", "is possible", "is suspected", "could not be ruled out",
             "was not excluded", "cannot be ruled out"],
    "change": ["increase in", "reduction in", "difference in", "effect on", "improvement in", "change in"],
    "nochange": ["did not reduce", "did not improve", "did not affect", "failed to reduce", "does not increase"],
    "show": ["did not show", "failed to show", "does not reveal", "did not demonstrate", "shows no", "did not detect"],
    "turn": ["but", "however", "although", "but there is", "but he has"],
}  # fmt: skip

FRAMES = (
    "{lister} [negated].",
    "{lister} [negated] or [negated].",
    "{lister} [negated], [negated] or [negated].",
    "{lister} [negated], [negated], and [negated].",
    "{lister} [negated], [negated], [negated].",
    "{lister} [negated], {turn} [affirmed] persists.",
    "{lister} [negated] or [negated], but has [affirmed].",
    "{lister} [negated]; [affirmed] is present.",
    "{lister} [negated]. [affirmed] was noted.",
    "{lister} [negated] and reports [affirmed].",
    "Admitted with [affirmed] {inline} [negated].",
    "Admitted with [affirmed] {inline} [negated] or [negated].",
    "He presented with [affirmed] and [affirmed] {inline} [negated].",
    "In patients without [negated], the outcome was better; [affirmed] was common.",
    "{unsure} [possible].",
    "{unsure} [possible] in the left lung.",
    "[possible] {open}.",
    "[negated] {gone}.",
    "[negated], [negated] and [negated] were denied.",
    "[negated] or [negated] was not seen.",
    "CT was performed {aim} [hypothetical].",
    "{study} [hypothetical].",
    "{past} [historical].",
    "{past} [historical], [historical] and [historical].",
    "PMH: [historical], [historical].",
    "{past} [historical] and presents with [affirmed].",
    "{relative} [other].",
    "{relative} [other] and [other].",
    "{if} [conditional].",
    "{if} [conditional], [conditional] or [conditional].",
    "If [conditional] occurs, stop the drug.",
    "If [conditional] or [conditional] develops, call the ward.",
    "[negated]: {no value}",
    "[negated]: {no value}\n[negated]: {no value}\n[affirmed]: {yes value}",
    "[affirmed]: {yes value}",
    "[unknown]: {unread value}",
    "- [negated]: {no value}",
    "| [negated] | {no value} |",
    "There was no {change} <affirmed>.",
    "No significant {change} <affirmed> was observed.",
    "There was no {change} <affirmed> or <affirmed>.",
    "The drug {nochange} <affirmed>.",
    "There was no <affirmed> benefit.",
    "The scan {show} [negated].",
    "The scan {show} [negated] or [negated].",
    "Not only [affirmed] but also [affirmed] was seen.",
    "He was not without [affirmed].",
    "No patient developed [negated].",
    "None of the patients had [negated] or [negated].",
    "He does not have [negated].",
    "She has never had [negated].",
    "He did not experience [negated] or [negated].",
    "Neither [negated] nor [negated] was reported.",
    "She reports [affirmed], [affirmed] and [affirmed].",
    "Treated for [affirmed] with good effect.",
    "The incidence of [affirmed] was 12 % in the first arm.",
    "Patients with [affirmed] were enrolled.",
    "[affirmed] was observed in 12 of 80 patients.",
    "Gram negative [affirmed] was treated.",
    "Mother reports [affirmed] for three days.",
    "A two-week history of [affirmed].",
    "With or without [affirmed], the dose is the same.",
    "FAMILY HISTORY\n\n[other] and [other].",
    "PAST MEDICAL HISTORY\n\n[historical], [historical].",
    "REVIEW OF SYSTEMS\n\nNo [negated], [negated]. Positive for [affirmed].",
    "DIFFERENTIAL DIAGNOSIS\n\n[possible]",
    "Does the patient have [hypothetical]?",
    "[possible]?",
)


class Made(NamedTuple):
    """A sentence, and what is said of each finding in it: start, end, assertion."""

    text: str
    findings: Sequence[tuple[int, int, str]]


def made(
    rng: Random,
    frames: Sequence[str] = FRAMES,
    slots: Mapping[str, Sequence[str]] = SLOTS,
    findings: Sequence[str] = FINDINGS,
) -> Iterator[Made]:
    """Sentences without end."""
    while True:
        yield _fill(rng, rng.choice(frames), slots, findings)


def _fill(
    rng: Random, frame: str, slots: Mapping[str, Sequence[str]], findings: Sequence[str]
) -> Made:
    text, found = "", list[tuple[int, int, str]]()
    names = iter(rng.sample(findings, 8))
    outcomes = iter(rng.sample(OUTCOMES, 3))
    at = 0
    while at < len(frame):
        sign = frame[at]
        close = {"[": "]", "{": "}", "<": ">"}.get(sign)
        if close is None:
            text, at = text + sign, at + 1
            continue
        end = frame.index(close, at)
        name, at = frame[at + 1 : end], end + 1
        if sign == "{":
            text += rng.choice(slots[name])
            continue
        word = next(outcomes) if sign == "<" else next(names)
        if not text or text[-1] == "\n" or text.endswith((". ", "- ")):
            word = word[0].upper() + word[1:]
        found.append((len(text), len(text) + len(word), name))
        text += word
    return Made(text.replace("..", "."), found)
