"""DailyMed (WIRE 6): reads its listings of labels and the payloads of its connector."""

import re
from dataclasses import dataclass

from workers.http.errors import Malformed
from workers.ingest.parsers import json_payload as fields
from workers.ingest.parsers.base import Parsed, Problem
from workers.ingest.parsers.envelope import unwrap
from workers.ingest.parsers.spl.label import parse_spl

_SET_ID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_LABELER = re.compile(r"\s{0,40}\[[^\[\]]{0,400}\]\s{0,40}$")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Listing:
    """One page of a listing."""

    set_ids: tuple[str, ...]
    next_page: int | None
    total: int | None
    strange: int
    """The number of rows without a set id."""


def parse_dailymed(payload: bytes) -> Parsed:
    """Read a label, alone or in an envelope with its `set_id`, or a notice that one is gone.

    Raises Malformed for an unreadable label without a set id; with one, it becomes a Problem.
    """
    if payload.lstrip()[:1] != b"{":
        return parse_spl(payload)
    unwrapped = unwrap(payload)
    if isinstance(unwrapped, Parsed):
        return unwrapped
    facts, content = unwrapped
    set_id = fields.text(facts, "set_id")
    if not is_set_id(set_id):
        raise Malformed("neither a label nor a word about one")
    try:
        return parse_spl(content)
    except Malformed as error:
        return Parsed(problems=[Problem(f"set_id:{set_id.lower()}", str(error))])


def is_set_id(words: str) -> bool:
    """Return True if `words` have the form of a set id."""
    return _SET_ID.fullmatch(words) is not None


def parse_listing(payload: bytes, page: int, drug_name: str | None) -> Listing:
    """Read page `page` of `spls.json`.

    DailyMed's search by name matches inside words (SILIQ finds "SILIQUASTRUM"). With `drug_name`,
    only titles that contain it as whole words outside the labeler's name are kept. `next_page` may
    be the string "null"; an empty page is the last one, whatever `next_page` says.

    Raises Malformed.
    """
    value = fields.load(payload)
    data = fields.at(value, "data")
    if not isinstance(data, list):
        raise Malformed("a listing without data")
    set_ids: dict[str, None] = {}
    strange = 0
    for row in data:
        set_id = fields.text(row, "setid")
        if not is_set_id(set_id):
            strange += 1
        elif drug_name is None or _names(fields.text(row, "title"), drug_name):
            set_ids[set_id.lower()] = None
    following = fields.number(value, "metadata", "next_page")
    if not data or following is None or following <= page:
        following = None
    total = fields.number(value, "metadata", "total_elements")
    return Listing(tuple(set_ids), following, total, strange)


def _names(title: str, drug_name: str) -> bool:
    """Return True if the title names the drug, or if there is no title."""
    words = _words(_LABELER.sub("", title[-2000:]))
    return not title or f" {_words(drug_name).strip()} " in words


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "
