"""Names of drugs, diseases, genes and other things in a text, known to the tables or not. Pure.

`names(text)` finds them, `same(one, other)` says whether two mean one thing, and `resolve(written)`
reads a whole string, such as a subject heading, as one name. The reader stands beside its tables in
`knowledge/names`, below the store, which weighs the words of questions by it (ADR 0032).
"""

from knowledge.names.name import Name
from knowledge.names.reading import names, resolve, same

__all__ = ["Name", "names", "resolve", "same"]
