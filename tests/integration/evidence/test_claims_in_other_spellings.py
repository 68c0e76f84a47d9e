"""A number that only looks like a work's is refused, or is none: whoever writes PubMed's 123 with
leading zeros, wide digits or signs that nobody sees brings no document that is read as PubMed's."""

from pathlib import Path
from typing import Any

import pytest

from api_gateway.problems import Problem
from tests.integration.evidence.test_claims import (
    ALIEN,
    NUMBERS,
    SET_ID,
    bring,
    by_http,
    by_markdown,
    current,
    doubted,
    found,
    of,
    page,
)
from tests.integration.evidence.test_claims import worker as worker
from workers.inline import InlineWorker

ZERO_WIDTH, SOFT_HYPHEN, HARD_HYPHEN = "\u200b", "\u00ad", "\u2011"


def _wide(plain: str) -> str:
    """In the full-width forms of Unicode."""
    return "".join(chr(ord(sign) + 0xFEE0) for sign in plain)


OTHERS = {
    "pmid": ["0123", _wide("123"), f"1{ZERO_WIDTH}23", "\u0661\u0662\u0663", "PMID: 123", "1 23"],
    "pmcid": ["PMC077", "pmc77", "PMC77.1", _wide("PMC77"), "\u0420\u041c\u042177"],
    "doi": [
        "https://doi.org/10.5555/Made-Up",
        f"10.5555/made{ZERO_WIDTH}-up",
        f"10.5555/made{SOFT_HYPHEN}-up",
        f"10.5555/made{HARD_HYPHEN}up",
        "10.5555/m\u0430de-up",
        "10.5555/made-up.",
        "10.5555//made-up",
        "10.5555/made-up?x=1",
        "10.05555/made-up",
    ],
    "nct_id": ["nct01234567", f"NCT{_wide('01234567')}", "NCT 01234567", "NCT001234567"],
    "set_id": [
        f"{{{SET_ID}}}",
        SET_ID.replace("-", ""),
        f"urn:uuid:{SET_ID}",
        _wide(SET_ID),
        SET_ID.replace("-", HARD_HYPHEN),
        f"{SET_ID}/",
    ],
    "lcd_id": ["l38779", _wide("L38779"), "L038779", f"L38779{ZERO_WIDTH}"],
}
SAME = {"doi": ["10.5555/MADE-UP"], "set_id": [SET_ID.upper()], "pmid": ["123"]}


def _mine(kind: str, value: str) -> dict[str, Any]:
    _, theirs = of(kind)
    return {
        **theirs,
        "title": ALIEN,
        "text": "A caller's words.",
        "source_type": "document",
        "identifiers": {kind: value},
    }


@pytest.mark.parametrize("kind", OTHERS)
def test_a_number_in_another_spelling_is_refused_where_a_record_gives_it(
    worker: InlineWorker, tmp_path: Path, kind: str
) -> None:
    source, theirs = of(kind, text="The source's words.")
    (work,) = page(worker, source, 0, theirs)
    for value in OTHERS[kind]:
        with pytest.raises(Problem):
            by_http(worker, _mine(kind, value), tmp_path)
        line = f'{{"title": "{ALIEN}", "text": "Words.", "identifiers": {{"{kind}": "{value}"}}}}'
        with pytest.raises(ValueError, match="expected 1, got 0"):  # the file became no document
            bring(worker, "mine.jsonl", line.encode())
    assert current(worker.store, work)[1] == source
    assert found(worker.store, kind, NUMBERS[kind][2]) == {work}


@pytest.mark.parametrize("kind", OTHERS)
def test_a_number_in_another_spelling_is_none_in_a_texts_front_matter(
    worker: InlineWorker, tmp_path: Path, kind: str
) -> None:
    source, theirs = of(kind, text="The source's words.")
    (work,) = page(worker, source, 0, theirs)
    own = by_markdown(worker, _mine(kind, OTHERS[kind][-1]), tmp_path)
    assert (own != work, doubted(worker.store, own)) == (True, set())
    assert found(worker.store, kind, NUMBERS[kind][2]) == {work}


@pytest.mark.parametrize(("kind", "value"), [(kind, one) for kind in SAME for one in SAME[kind]])
def test_a_number_in_the_spelling_of_its_registrar_is_marked_in_whatever_case(
    worker: InlineWorker, tmp_path: Path, kind: str, value: str
) -> None:
    source, theirs = of(kind, text="The source's words.")
    (work,) = page(worker, source, 0, theirs)
    own = by_http(worker, _mine(kind, value), tmp_path)
    assert own != work
    assert doubted(worker.store, own) == {f"{kind}:{NUMBERS[kind][2]}".lower()}
