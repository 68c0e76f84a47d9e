"""The drafts that are written down: their quotations stand in the records, and the judge knows its
own claims from planted ones."""

import json
from pathlib import Path

from benchmarks.drafts.writer import Writer, asked, told

RECORDS = Path(__file__).parents[3] / "samples/records"


def verdicts(*shown: tuple[str, str]) -> list[str]:
    """What the judge says of claims beside passages."""
    claims = [
        {"claim_id": f"c{number}", "claim": claim, "passage": passage, "doubts": []}
        for number, (claim, passage) in enumerate(shown)
    ]
    writer = Writer(told(RECORDS), asked(), seed=1)
    reply = writer({"messages": [{"content": json.dumps({"claims": claims})}]})
    assert isinstance(reply, str)
    return [one["verdict"] for one in json.loads(reply)["verdicts"]]


def test_every_claim_of_a_draft_is_written_down_with_its_quotation() -> None:
    claims = told(RECORDS)
    for one in asked():
        assert set(one.leading) <= set(one.claims) <= claims.keys()
    assert len(asked()) >= 90


def test_the_judge_supports_its_own_claims_beside_their_words_and_nothing_else() -> None:
    mine, other = told(RECORDS)["p46a"], told(RECORDS)["p64b"]
    changed = mine.text.replace("15%", "28%")
    assert verdicts((mine.text, mine.quote), (mine.text, other.quote), (changed, mine.quote)) == [
        "SUPPORTED",
        "UNSUPPORTED",
        "UNSUPPORTED",
    ]


def test_a_sentence_of_the_source_is_supported_and_its_denial_is_not() -> None:
    said = "There is no control arm."
    assert verdicts((said, f"{said} It is small."), ("There is a control arm.", said)) == [
        "SUPPORTED",
        "UNSUPPORTED",
    ]
