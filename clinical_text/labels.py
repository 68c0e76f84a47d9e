"""What stands before a sentence and is not said by it: a mark of a list, a name of a part. Pure.

"RESULTS: mortality fell" says that mortality fell. "MYTH: antibiotics cure colds" does not say that
they do, and "CHILDREN: 250 mg" is no dose for everybody: of words before a colon only the names of
the parts of an abstract say nothing of their own.
"""

import re
from functools import lru_cache

from clinical_text.headings import is_part_of_abstract

_LIST_MARK = re.compile(r"\A\s*+(?:[-*•]|\d{1,2}[.)])\s++")
_LABEL = re.compile(r"^\W{0,2}(?P<name>[A-Z][A-Z ,&/]{3,60})\W{0,2}:\W{0,2}\s+(?=[A-Z0-9])")


@lru_cache(maxsize=4096)  # one rule after the other asks it of a sentence
def body_of(sentence: str) -> str:
    """A sentence without the mark of the list and the name of the part it begins with; always the
    end of `sentence`, but for white space."""
    bare = _LIST_MARK.sub("", sentence).strip()
    label = _LABEL.match(bare)
    if label is None or not is_part_of_abstract(label["name"].strip()):
        return bare
    return bare[label.end() :]
