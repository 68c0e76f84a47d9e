"""What the prompts show a model as well drafted passes the gate as it stands there."""

from typing import Any

import pytest

from cli.evaluate.written import Stand
from clinical_text.quotes import Source
from clinical_text.structure import segment
from tests.unit.generate.test_prompting import EXAMPLES
from workers.generate.model import Written
from workers.verify.checking import check_claims
from workers.verify.claims import Drafted
from workers.verify.passages.locating import CitedText

CLAIMS = sum(len(answer.claims) for _, _, answer in EXAMPLES)


def cited(shown: dict[str, Any]) -> CitedText:
    text = "\n\n".join(shown["passages"])
    return CitedText(Source(text), segment(text).sentences, shown["title"])


def test_the_examples_have_thirteen_claims() -> None:
    assert CLAIMS == 13


@pytest.mark.parametrize(
    ("asked", "answer"), [(asked, answer) for _, asked, answer in EXAMPLES if answer.claims]
)
def test_every_claim_of_an_example_is_shown_in_its_own_words(
    asked: dict[str, Any], answer: Written
) -> None:
    drafted = [
        Drafted(f"c{number}", one.text, one.evidence_id, one.quote, one.heading)
        for number, one in enumerate(answer.claims, 1)
    ]
    texts = {one["key"]: cited(one) for one in asked["evidence"]}
    right = Stand("labels", dict.fromkeys([one.claim_id for one in drafted], True), {})
    results = check_claims(drafted, texts, judge=right).results
    assert [one.text for one in results if not one.passes] == []
    assert [one.text for one in results] == [one.text for one in drafted]
