"""Identifiers of articles and trials as texts print them."""

import re
from collections.abc import Iterator

# Any number of digits: a malformed identifier must be caught, not overlooked. Registries as in
# WHO ICTRP; DOI as in the DOI handbook 2.2.
_IDENTIFIER = re.compile(
    r"""
    (?P<registry> \b (?i:NCT|ACTRN|UMIN|ISRCTN|jRCT|ChiCTR|DRKS|NTR) [\s-]? [a-z]? \d[\da-z]* )
    | (?P<eudract> \b (?i:EudraCT|EUCTR) [\s:]* (?:(?i:number|no\.?) \s*)? \d{4}-\d+-\d+ )
    | (?P<pmc> \b (?i:PMC) \s? \d+ )
    | (?P<pmid> \b (?i:PMID|PubMed\s+ID) s? [\s:#]* \d+
        | (?i: \b (?:https?://)? (?:www\.)?
            (?:pubmed\.ncbi\.nlm\.nih\.gov | ncbi\.nlm\.nih\.gov/pubmed) / \d+ /? )
        | \b (?i:PubMed) [\s:#]+ \d{5,9} \b )
    | (?P<doi> (?<![\d.]) 10\.\d{4,9}/[^\s"'<>]+ )
    """,
    re.VERBOSE,
)
_HINTS = (
    *("nct", "actrn", "umin", "isrctn", "jrct", "chictr", "drks", "ntr", "eudract", "euctr"),
    *("pmc", "pmid", "pubmed", "10."),
)
"""Each identifier has one of these in it, in any case."""
# What ends the sentence or closes the bracket around a DOI is not part of it.
_DOI_TAIL = ".,;:)]}?!*'\"”’"


def identifiers(text: str) -> set[str]:
    """The identifiers in `text`, each in one spelling (`NCT01234567`, `PMID 1`, `DOI 10.1/x`)."""
    return {_canonical(match) for match in _found(text)}


def _found(text: str) -> Iterator[re.Match[str]]:
    folded = text.casefold()
    for hint in _HINTS:
        if hint in folded:
            return _IDENTIFIER.finditer(text)
    return iter(())


def spans_of_identifiers(text: str) -> list[tuple[int, int]]:
    """Where the identifiers of `text` stand, as half-open ranges."""
    return [(match.start(), match.start() + len(_bare(match))) for match in _found(text)]


def _bare(match: re.Match[str]) -> str:
    """An identifier without what ends the sentence or closes the bracket around it."""
    return match.group().rstrip(_DOI_TAIL) if match.lastgroup == "doi" else match.group()


def _canonical(match: re.Match[str]) -> str:
    found = match.group()
    digits = re.sub(r"\D", "", found)
    match match.lastgroup:
        case "pmid":
            return f"PMID {digits}"
        case "pmc":
            return f"PMC{digits}"
        case "doi":
            return f"DOI {_bare(match).lower()}"
        case "eudract":
            return f"EUDRACT {digits}"
        case _:
            return re.sub(r"[\s-]", "", found).upper()
