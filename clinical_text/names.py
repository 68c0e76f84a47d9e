"""Names of drugs, diseases, genes and other things in a text, known to the tables or not. Pure.

`names(text)` finds them, `same(one, other)` says whether two mean one thing, `resolve(written)`
reads a whole string, such as a subject heading, as one name, and `forms(name).stand_in(text)` tells
whether a text has one. The reader stands beside its tables in `knowledge/names`, below the store,
which weighs the words of questions by it (ADR 0032).
"""

from knowledge.names.forms import Forms, forms
from knowledge.names.name import Name
from knowledge.names.reading import names, resolve, same

__all__ = ["Forms", "Name", "forms", "names", "resolve", "same"]
