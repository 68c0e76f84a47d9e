"""What any query to a source must be, before its connector looks at it. Pure: no source is asked.

The connectors know their sources' languages and refuse more (`Connector.check_query`). These rules
are the ones that hold everywhere, so that whoever takes a query can refuse at once what can never
work: the gateway does, which knows no connector.
"""

import re
import unicodedata

from knowledge.news import feeds
from knowledge.sources import connector_policy

MAX_QUERY_CHARS = 4000
"""As for questions; the longest search strategy of a systematic review has about as many."""

EVERYTHING = "*"
"""The query of a source that is asked about what is held, and not searched."""

_ADDRESS = re.compile(
    r"""
      \b[a-z][a-z0-9+.-]{0,19}://                            # scheme://
    | (?<![\w.-])(?:https?|ftps?|sftp|file|jar|gopher|ldaps?|javascript|data|blob|wss?|about):[^\s"]
    | \A\s*+(?://|\\\\|~/|\.{0,2}/)                            # a host or a path
    | \A\s*+[a-z]:\\                                           # a drive
    | \A\s*+(?:localhost|\d{1,3}(?:\.\d{1,3}){3})(?:[:/]|\s*$)   # this machine, an IPv4 address
    """,
    re.IGNORECASE | re.VERBOSE,
)
_OPENING = {")": "(", "]": "[{", "}": "[{"}
"""A range may close otherwise than it opened: `[1 TO 5}` leaves out its end (Lucene)."""
_UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
"""Unicode categories of what nobody sees: controls, formats, surrogates, line breaks, and what is
not assigned or private."""


class QueryRefused(ValueError):
    """The query can work at no source; the message says what to write instead."""


def plain_query(source: str, query: str) -> str:
    """The query in composed characters (NFC) with single spaces, once it is found to be one.

    Args:
        source: the connector that is to be asked.
        query: as the user wrote it; the messages do not repeat it.

    Raises:
        LookupError: there is no such source.
        QueryRefused: blank, too long, with characters nobody sees, with quotation marks or brackets
            that do not pair, an address of a page or file; anything but `*` for a source that is
            asked about held works, and anything but a feed's name for the news.
    """
    searched = connector_policy(source).source_type is not None
    line = _one_line(query)
    if not searched and line != EVERYTHING:
        raise QueryRefused(
            f"{source} is asked about the works that are held and cannot be searched: write "
            f"{EVERYTHING} for all of them"
        )
    if _ADDRESS.search(line):
        raise QueryRefused(
            "an address is no query: sources are searched by words, and only at their own places; "
            "documents of your own come in with `attest ingest` or POST /v1/documents"
        )
    _require_pairs(line)
    return _feed_name(line) if source == "news" else line


def _feed_name(line: str) -> str:
    if line.lower() not in feeds():
        raise QueryRefused(f"there is no such feed: name one of {', '.join(sorted(feeds()))}")
    return line.lower()


def _one_line(query: str) -> str:
    if not query.strip():
        raise QueryRefused("the query is blank: write what to look for")
    if len(query) > MAX_QUERY_CHARS:
        raise QueryRefused(
            f"the query has {len(query):,} characters and may have {MAX_QUERY_CHARS:,}: "
            "split it into several"
        )
    for place, sign in enumerate(query.strip(), start=1):
        if unicodedata.category(sign) in _UNSEEN:
            raise QueryRefused(
                f"the query has a control or invisible character (U+{ord(sign):04X}) at place "
                f"{place}: write it as one line of visible characters"
            )
    return " ".join(unicodedata.normalize("NFC", query).split())


def _require_pairs(line: str) -> None:
    """Quotation marks and brackets pair; brackets inside quotation marks are words, and what
    stands behind a backslash is a word too."""
    opened: list[str] = []
    quoted = escaped = False
    for sign in line:
        if escaped:
            escaped = False
        elif sign == "\\":
            escaped = True
        elif sign == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif sign in "([{":
            opened.append(sign)
        elif sign in _OPENING and (not opened or opened.pop() not in _OPENING[sign]):
            raise QueryRefused(f"the query closes a bracket {sign} that is not open")
    if quoted:
        raise QueryRefused('the query opens a quotation mark " and does not close it')
    if opened:
        raise QueryRefused(f"the query opens a bracket {opened[-1]} and does not close it")
