"""Names of drugs, diseases, genes and other things in a text, known to the tables or not. Pure.

`names(text)` finds them, `same(one, other)` says whether two mean one thing, and `resolve(written)`
reads a whole string, such as a subject heading, as one name. The tables are in `knowledge/names`.
"""

from clinical_text.names.name import Name
from clinical_text.names.reading import names, resolve, same

__all__ = ["Name", "names", "resolve", "same"]
