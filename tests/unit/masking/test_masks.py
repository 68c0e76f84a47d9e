"""Masks hide identifiers from a model, follow from the text alone, and are put back unchanged."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from tests.unit.masking.grammar import document
from workers.extract.loop.proposing import prompt_for
from workers.extract.parts import Parts
from workers.extract.rubrics import DOCUMENT_TYPES, rubric
from workers.language_model.masking import TOLD, Masks, through_masks
from workers.language_model.port import ModelUnusable, Prompt, Proposal, Usage

NOTE = "Patient: John SMITH, MRN 4471823.\nMr Smith coughs. SMITH, John was seen by Dr A. Okafor."


class Said(BaseModel):
    model_config = ConfigDict(extra="forbid")

    words: str = Field(max_length=60)
    others: list[dict[str, str]] = []


def prompt(user: str) -> Prompt[Said]:
    return Prompt("test", "test-1", "Do.", user, Said)


def saying(seen: list[Prompt[Any]], **said: Any) -> Any:
    def ask(asked: Prompt[Said]) -> Proposal[Said]:
        seen.append(asked)
        return Proposal(Said(**said), "m", Usage(1, 2), "p", "o")

    return ask


def test_the_same_person_has_the_same_mask_and_each_spelling_its_own() -> None:
    masks = Masks(NOTE)

    assert masks.text == (
        "Patient: [NAME-1], MRN [NUMBER-1].\nMr [NAME-1.2] coughs. [NAME-1.3], [NAME-1.4] was "
        "seen by Dr [NAME-2]."
    )
    assert masks.put_back("[NAME-2], [NAME-1.2] (NUMBER-1) [NAME-9]") == (
        "A. Okafor, Smith (4471823) [NAME-9]"
    )


def test_what_a_text_calls_so_already_is_no_mask() -> None:
    masks = Masks("[NAME-4] was seen by Dr Okafor")

    assert masks.text == "[NAME-4] was seen by Dr [NAME-5]"
    assert masks.put_back("[NAME-4] and [NAME-5]") == "[NAME-4] and Okafor"


@given(st.text(max_size=200), st.integers(0, 400), st.booleans())
def test_put_back_every_text_is_as_it_was(before: str, seed: int, as_json: bool) -> None:
    text = before + "\n" + document(seed).text
    user = json.dumps({"document": text}, ensure_ascii=False) if as_json else text
    masks = Masks(user)

    assert masks.put_back(masks.text) == user
    assert Masks(user).text == masks.text
    if as_json:
        assert masks.put_back(json.loads(masks.text)) == {"document": text}


def test_a_model_sees_masks_and_is_told_what_they_are() -> None:
    seen: list[Prompt[Any]] = []
    ask = saying(seen, words="[NAME-1.2] coughs", others=[{"NAME-1": "[NUMBER-1]"}])
    made = through_masks(ask, prompt(NOTE))

    assert made.value == Said(words="Smith coughs", others=[{"NAME-1": "4471823"}])
    assert made.prompt_hash == "p"
    assert TOLD in seen[0].system
    assert not any(one in seen[0].user for one in ("Smith", "SMITH", "Okafor", "4471823"))


def test_a_request_without_identifiers_goes_as_it_is() -> None:
    seen: list[Prompt[Any]] = []
    through_masks(saying(seen, words=""), prompt("Cough for 3 weeks; CRP 40 mg/L."))

    assert seen == [prompt("Cough for 3 weeks; CRP 40 mg/L.")]


def test_a_reply_that_is_too_long_with_what_is_put_back_is_of_no_use_and_its_cost_is_known() -> (
    None
):
    with pytest.raises(ModelUnusable) as raised:
        through_masks(saying([], words="[NAME-1] " * 6), prompt(NOTE))

    assert raised.value.usage == Usage(1, 2)
    assert raised.value.__cause__ is None
    assert "John" not in str(raised.value)


def test_what_we_say_ourselves_in_a_request_is_never_masked() -> None:
    wrong = {}
    for kind in DOCUMENT_TYPES:
        user = prompt_for(Parts("Nothing of note."), rubric(kind)).user
        if masks := Masks(user):
            wrong[kind] = masks.text

    assert not wrong
