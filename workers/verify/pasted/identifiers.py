"""What the identifiers of a pasted text are. Pure."""

import re

from clinical_text.identifiers import identifiers

_FORMS = {
    "pmid": re.compile(r"[1-9][0-9]{0,7}"),
    "pmcid": re.compile(r"PMC[1-9][0-9]{0,8}"),
    "doi": re.compile(r"10\.\d{4,9}/\S+"),
    "nct_id": re.compile(r"NCT[0-9]{8}"),
    "isrctn": re.compile(r"ISRCTN[0-9]{8}"),
    "actrn": re.compile(r"ACTRN[0-9]{14}"),
    "umin": re.compile(r"UMIN[0-9]{9}"),
}
"""PubMed and PMC count upwards; ClinicalTrials.gov, ISRCTN, ANZCTR and UMIN give eight, eight,
fourteen and nine digits; DOI handbook 2.2."""


def kind_and_value(name: str) -> tuple[str, str]:
    """The kind of an identifier as `clinical_text.identifiers` spells it, and its value.

    DOIs are in lower case; a registry that is not known here has its own letters as kind.
    """
    if name.startswith("PMID "):
        return "pmid", name.removeprefix("PMID ")
    if name.startswith("DOI "):
        return "doi", name.removeprefix("DOI ")
    if name.startswith("PMC"):
        return "pmcid", name
    letters = re.match(r"[A-Za-z]*", name)
    registry = letters.group().lower() if letters else ""
    return ("nct_id" if registry == "nct" else registry), name


def is_malformed(name: str) -> bool:
    """Whether no such identifier can exist; False where the form is not known."""
    kind, value = kind_and_value(name)
    form = _FORMS.get(kind)
    return form is not None and form.fullmatch(value) is None


def in_one_form(kind: str, value: str) -> str:
    """An identifier that somebody wrote for a document, as `kind_and_value` gives those of a text.

    "PMID: 123", "https://pubmed.ncbi.nlm.nih.gov/123/" and "123" are one; what holds none of its
    kind, or several, stays as it is.
    """
    value = value.strip()
    written = f"PMID {value}" if value.isdecimal() and kind == "pmid" else value
    written = f"PMC{value}" if value.isdecimal() and kind == "pmcid" else written
    found = {number for known, number in map(kind_and_value, identifiers(written)) if known == kind}
    return found.pop() if len(found) == 1 else value
