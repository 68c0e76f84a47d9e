"""Rules for queries to any source, checked before those of its connector. Pure: no source is asked.

The connectors know their sources' languages and refuse more (`Connector.check_query`). These rules
apply to all sources, so that the gateway, which knows no connector, can refuse at once a query that
can never work.
"""

import re
import unicodedata

from knowledge.feeds.news import feeds
from knowledge.feeds.packs import written_out
from knowledge.feeds.sources import connector_policy

MAX_QUERY_CHARS = 4000
"""As for questions; the longest search strategies of systematic reviews are about as long."""

EVERYTHING = "*"
"""The query of a source that is asked about held works and cannot be searched."""

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
"""A range may end with another bracket than it began: `[1 TO 5}` excludes its end (Lucene)."""
_UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
"""Unicode categories of invisible characters: controls, formats, surrogates, line breaks, and
unassigned or private ones."""


class QueryRefused(ValueError):
    """The query cannot work at any source; the message says what to write instead."""


def plain_query(source: str, query: str) -> str:
    """Check a query; returns it in composed characters (NFC) with single spaces.

    Args:
        source: the name of the connector.
        query: as the user wrote it; the messages do not repeat it.

    Raises:
        LookupError: there is no such source.
        QueryRefused: it is blank, too long, has invisible characters or unpaired quotation marks or
            brackets, is the address of a page or file; is not `*` for a source that is asked about
            held works, or not a feed's name for the news.
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
    try:
        written_out(source, line)
    except LookupError as error:
        raise QueryRefused(str(error)) from None
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
    """Raise QueryRefused for unpaired quotation marks or brackets. Brackets inside quotation marks
    and characters after a backslash count as words."""
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
