"""Removes CPT codes and their descriptors from texts: they belong to the American Medical
Association, and CMS shows them only under its licence (WIRE 6).

A code is five digits (category I), or four digits and F, T, U or M (performance measures, emerging
technology, laboratory analyses). The following are replaced by a note in brackets:

- a table row whose first or second cell is a code, and a line that begins with a code and continues
  as a descriptor does: after a dash or a colon, or without the end of a sentence;
- two or more codes in a row: "81445, 81450 and 81455";
- a code directly after the words CPT or code: "CPT code 81445".

Any other five-digit number stays: it is more often a number of patients or a page than a code.
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
    """The text without the codes described in the module docstring, and the number removed."""
    if not _ANY.search(text):
        return text, 0
    taken = 0

    def leave_out(words: str, found: re.Match[str]) -> str:
        nonlocal taken
        taken += len(_ANY.findall(found[0]))
        return words

    text = _ROW.sub(lambda match: leave_out(ROW, match), text)
    text = _LIST.sub(lambda match: leave_out(CODES, match), text)
    text = _NAMED.sub(lambda match: leave_out(match["name"] + CODES, match), text)
    return text, taken
