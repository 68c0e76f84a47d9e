"""Whether words name a trial, a body or a work as it is called. Pure."""

import re
from functools import lru_cache


def mentions(words: str, name: str) -> bool:
    """Whether `name` stands in `words` as written, a space as good as a hyphen in it: DYNAMIC is
    neither "dynamic" nor DYNAMIC-III."""
    return _as_written(name).search(words) is not None


@lru_cache(maxsize=256)
def _as_written(name: str) -> re.Pattern[str]:
    written = re.escape(name).replace(r"\-", r"[-\s]")
    another = r"[-\s](?:II|III|IV|[2-9])(?![\w.-])"
    return re.compile(rf"(?<!\w){written}(?!\w)(?!{another})")
