"""Keeps CPT codes and their descriptors out of texts: they belong to the American Medical
Association, and CMS shows them under its licence only (WIRE 6).

What counts as a code: five digits (category I), four digits and F, T, U or M (performance measures,
emerging technology, laboratory analyses). What is left out, each time marked by words in brackets:

- a table row whose first or second cell is a code, and a line that begins with a code and goes on
  as a descriptor does: behind a dash or a colon, or without an end of a sentence;
- two or more codes in a row: "81445, 81450 and 81455";
- a code directly behind the words CPT or code: "CPT code 81445".

A five-digit number anywhere else stays: it is a count of patients or a page more often than a code.
"""

import re

CODES = "[CPT codes left out]"
ROW = "[CPT code and descriptor left out]"

_CODE = r"\d{4}[\dFTUM](?![\w%]|[.,]\d)"
_ALONE = r"(?<![\w.,:;$/-])"
_BETWEEN = r"(?:[ ]?[,;/&–-][ ]?(?:and |or |through )?|[ ](?:and|or|to|through|thru)[ ])"
_ROW = re.compile(
    rf"^(?:[^|\n]{{0,80}}[ ][|][ ])?{_CODE}[ ][|].*$"
    rf"|^(?:- |\d{{1,3}}\. )?{_CODE}(?:[ ]?[:–-][ ].*$|$|[ ].*[^.!?:;\n]$)",
    re.MULTILINE,
)
_LIST = re.compile(rf"{_ALONE}{_CODE}(?:{_BETWEEN}{_CODE})+")
_NAMED = re.compile(
    r"\b(?P<name>(?:CPT[®™]?(?:/HCPCS)?|HCPCS/CPT[®™]?)[ ](?:(?i:codes?)[ ])?|(?i:codes?)[ ])"
    rf"{_CODE}"
)
_ANY = re.compile(_CODE)


def without_cpt(text: str) -> tuple[str, int]:
    """The text without what the head of this module lists, and how many codes that took."""
    if not _ANY.search(text):
        return text, 0
    taken = 0

    def leave_out(words: str, found: re.Match[str]) -> str:
        nonlocal taken
        taken += len(_ANY.findall(found[0]))
        return words

    text = _ROW.sub(lambda found: leave_out(ROW, found), text)
    text = _LIST.sub(lambda found: leave_out(CODES, found), text)
    text = _NAMED.sub(lambda found: leave_out(found["name"] + CODES, found), text)
    return text, taken
