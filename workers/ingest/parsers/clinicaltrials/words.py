"""Turns ClinicalTrials.gov's codes and numbers into words for a sentence."""

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
    """A registry code as words (`ACTIVE_COMPARATOR`: "active comparator"); other text unchanged."""
    if code in _CODES:
        return _CODES[code]
    if code in _ABBREVIATIONS or not code.isupper():
        return code
    return code.replace("_", " ").lower()


def phase(study_design: Json) -> str:
    """The study's phases, such as `Phase 2/Phase 3`, or ""."""
    return "/".join(plain(code) for code in texts(study_design, "phases"))


def dated(struct: Json) -> str:
    """A registry date with its type, such as `2024-03 (estimated)`."""
    return bracketed(text(struct, "date"), plain(text(struct, "type")))


def bracketed(words: str, note: str) -> str:
    """`words (note)`, or only one of them if the other is empty."""
    if words and note:
        return f"{words} ({note})"
    return words or note


def counted(value: Json, name: str) -> str:
    """The number `name` with thousands separators (1,234), or as written if it is not a number."""
    count = number(value, name)
    return text(value, name) if count is None else f"{count:,}"


def listed(words: Iterable[str]) -> str:
    """The non-empty words, joined by semicolons because they may contain commas."""
    return "; ".join(word for word in words if word)


def repeated(name: str) -> str:
    """A name for repeated use in sentences: without its full stop, and at most 200 characters, so
    that a text cannot outgrow its payload."""
    return shorten(name, 200).rstrip(". ")
