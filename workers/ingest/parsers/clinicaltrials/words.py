"""How ClinicalTrials.gov's codes and numbers read in a sentence."""

from collections.abc import Iterable

from workers.ingest.parsers.json_payload import Json, number, shorten, text, texts

_CODES = {
    "NA": "not applicable",
    "ECT": "educational, counseling or training",
    "EARLY_PHASE1": "Early Phase 1",
    "PHASE1": "Phase 1",
    "PHASE2": "Phase 2",
    "PHASE3": "Phase 3",
    "PHASE4": "Phase 4",
    "NONE": "none (open label)",
    "FED": "US federal agency",
    "INDIV": "individual",
    "AMBIG": "ambiguous",
    "SAP": "statistical analysis plan",
    "ICF": "informed consent form",
    "CSR": "clinical study report",
    "NUMBER": "number",
    "CONFIDENCE_80": "80% confidence interval",
    "CONFIDENCE_90": "90% confidence interval",
    "CONFIDENCE_95": "95% confidence interval",
    "CONFIDENCE_975": "97.5% confidence interval",
    "CONFIDENCE_99": "99% confidence interval",
    "CONFIDENCE_OTHER": "confidence interval",
    "INTER_QUARTILE_RANGE": "inter-quartile range",
}
_ABBREVIATIONS = frozenset({"NIH", "FDA", "VA", "CDC", "AHRQ", "SAMHSA"})


def plain(code: str) -> str:
    """A code of the registry as words, `ACTIVE_COMPARATOR` as "active comparator"; words as is."""
    if code in _CODES:
        return _CODES[code]
    if code in _ABBREVIATIONS or not code.isupper():
        return code
    return code.replace("_", " ").lower()


def phase(study_design: Json) -> str:
    """`Phase 2/Phase 3`, or ""."""
    return "/".join(plain(code) for code in texts(study_design, "phases"))


def dated(struct: Json) -> str:
    """A date of the registry with its standing: `2024-03 (estimated)`."""
    return bracketed(text(struct, "date"), plain(text(struct, "type")))


def bracketed(words: str, note: str) -> str:
    """`words (note)`, or whichever there is."""
    if words and note:
        return f"{words} ({note})"
    return words or note


def counted(value: Json, name: str) -> str:
    """The number `name` with its thousands marked: 1,234; as it is written, if it is no number."""
    count = number(value, name)
    return text(value, name) if count is None else f"{count:,}"


def listed(words: Iterable[str]) -> str:
    """The words that there are, with semicolons: they may hold commas."""
    return "; ".join(word for word in words if word)


def repeated(name: str) -> str:
    """A name as other sentences repeat it: bounded, or a text could outgrow its payload, and
    without its full stop."""
    return shorten(name, 200).rstrip(". ")
