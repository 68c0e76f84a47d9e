"""Finds what identifies a person in a clinical text (45 CFR 164.514(b)(2)): names, dates of birth,
numbers of records, phones, mail addresses and addresses. Pure.

By form and context: a label, a title, a degree, a signature, a letter's opening, and then every
further mention of a name found once. A disease, a drug or a sign that is called by somebody's name
identifies nobody; a date is one of birth only where the text says so.
"""

from clinical_text.identities.forms import Identifier, Kind
from clinical_text.identities.reading import hidden, identities

__all__ = ["Identifier", "Kind", "hidden", "identities"]
