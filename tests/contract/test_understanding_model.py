"""What a language model may add to the understanding, through the real adapter over real HTTP."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge.loader import load
from tests.fakes.messages_api import MessagesApi, error, message, refusal
from tests.fakes.web import DROPPED, FakeWeb, Reply
from workers.language_model.anthropic import AnthropicModel
from workers.retrieve.understanding.proposal import prompt_text
from workers.retrieve.understanding.read import search_terms, understand

KEY = "made-up-key-4711"
QUESTION = (
    "She has a fibrillating heart, kidneys dialysed weekly and no history of a stomach tumour. "
    "Is thinning her blood with a coumarin right?"
)
NOTHING: dict[str, Any] = {
    "diseases": [],
    "decisions": [],
    "patient": None,
    "intervention": None,
    "comparison": None,
    "outcome": None,
}
TAGS = [
    *load("subjects/vocabulary")["diseases"],
    *load("subjects/vocabulary")["decisions"],
    "invented",
    "",
]


class Asked:
    """The adapter in front of the fake API, which answers what a test puts in `says`."""

    def __init__(self, api: MessagesApi, model: AnthropicModel) -> None:
        self.api = api
        self.model = model
        self.says(NOTHING)

    def says(self, proposal: dict[str, Any]) -> None:
        self.api.text = json.dumps(NOTHING | proposal)


@pytest.fixture(scope="module")
def server() -> Iterator[Asked]:
    api = MessagesApi({KEY})
    with FakeWeb(api) as web:
        model = AnthropicModel(
            KEY, "claude-sonnet-5-5", web.mirrors[api.origin], 10, lambda _: None
        )
        yield Asked(api, model)
        model.close()


@pytest.fixture
def asked(server: Asked) -> Asked:
    server.says(NOTHING)
    server.api.asked.clear()
    return server


def tag(name: str, words: str) -> dict[str, str]:
    """A proposed tag."""
    return {"tag": name, "words": words}


def test_a_tag_that_the_rules_missed_is_added_with_the_words_that_show_it(asked: Asked) -> None:
    before = understand(QUESTION)
    assert not {"chronic_kidney_disease", "atrial_fibrillation"} & set(before.diseases)
    asked.says(
        {
            "diseases": [
                tag("atrial_fibrillation", "fibrillating heart"),
                tag("chronic_kidney_disease", "kidneys dialysed weekly"),
            ],
            "intervention": "a coumarin",
        }
    )
    found = understand(QUESTION, model=asked.model)
    assert found.diseases == ("atrial_fibrillation", "chronic_kidney_disease")
    assert found.mesh == ("Atrial Fibrillation", "Renal Insufficiency, Chronic")
    assert found.pico.intervention == "a coumarin"
    part = found.language_model
    assert part is not None
    assert part.added == ("atrial_fibrillation", "chronic_kidney_disease", "pico.intervention")
    assert (part.model, part.refused) == ("claude-sonnet-5-5", 0)
    assert part.usage is not None
    assert found.as_body()["language_model"]["cost_usd"] == str(part.usage.cost_usd)
    assert search_terms(QUESTION) == {"diseases": [], "decisions": []}  # invariant 11


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        pytest.param("diseases", "broken_heart", "fibrillating heart", id="no tag at all"),
        pytest.param("diseases", "mrd_testing", "fibrillating heart", id="a tag of another kind"),
        pytest.param("diseases", "diabetes", "diabetes", id="words that are not there"),
        pytest.param("diseases", "diabetes", "fibrillating heart", id="words of something else"),
        pytest.param("diseases", "heart_failure", "heart", id="a word of several tags"),
        pytest.param("diseases", "device_detected_af", "fibrillating", id="a narrower kind"),
        pytest.param("diseases", "heart_failure", "failing", id="an unspecific word"),
        pytest.param("diseases", "gastric_cancer", "stomach tumour", id="denied"),
        pytest.param("diseases", "chronic_kidney_disease", "kidney", id="half a word"),
        pytest.param("diseases", "chronic_kidney_disease", "Failing Kidneys", id="not verbatim"),
        pytest.param("diseases", "chronic_kidney_disease", "", id="no words"),
        pytest.param("decisions", "coverage", "thinning her blood", id="an invented decision"),
    ],
)
def test_what_a_lying_model_claims_is_refused_and_counted(
    asked: Asked, kind: str, name: str, words: str
) -> None:
    asked.says({kind: [tag(name, words)]})
    found = understand(QUESTION, model=asked.model)
    assert found.language_model is not None
    assert (found.language_model.refused, found.language_model.added) == (1, ())
    assert replace(found, language_model=None) == understand(QUESTION)


def test_a_model_removes_and_reorders_nothing_that_the_rules_found(asked: Asked) -> None:
    question = "In AF with CKD, is apixaban better than warfarin for stroke?"
    rules = understand(question)
    asked.says(
        {
            "diseases": [tag("chronic_kidney_disease", "CKD")],
            "decisions": [tag("anticoagulation", "warfarin")],
            "comparison": "stroke",
            "patient": "an invented patient",
        }
    )
    found = understand(question, model=asked.model)
    assert replace(found, language_model=None) == rules


def test_pico_takes_only_words_of_the_question_and_only_where_it_was_open(asked: Asked) -> None:
    question = "Does ctDNA help?"
    assert understand(question).pico.outcome is None
    asked.says({"outcome": "longer life", "patient": "help", "intervention": "help"})
    found = understand(question, model=asked.model).pico
    assert (found.outcome, found.patient, found.intervention) == (None, "help", "ctDNA")


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (refusal("bio"), "ModelRefused"),
        (message("no JSON"), "ModelUnusable"),
        (message(json.dumps({"diseases": []})), "ModelUnusable"),
        (message(json.dumps(NOTHING | {"advice": "take it"})), "ModelUnusable"),
        (message(json.dumps(NOTHING), "max_tokens"), "ModelUnusable"),
        (error(402, "billing_error", "x"), "ModelMisconfigured"),
        (error(529, "overloaded_error", "x", {"retry-after": "60"}), "ModelUnavailable"),
        (DROPPED, "ModelUnavailable"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_where_the_model_fails_the_rules_stand_alone_and_the_body_says_so(
    asked: Asked, reply: Reply, kind: str
) -> None:
    asked.api.next.append(reply)
    found = understand(QUESTION, model=asked.model)
    assert replace(found, language_model=None) == understand(QUESTION)
    said = found.as_body()["language_model"]
    assert said["note"] == f"understood by rules alone: {kind}"
    assert (said["added"], said["cost_usd"]) == ([], None)


def test_the_request_holds_the_question_and_the_vocabulary_and_no_patient_context(
    asked: Asked,
) -> None:
    understand("Is ctDNA useful?", "Zebrafinch, born in Springfield, asthma", model=asked.model)
    (request,) = asked.api.asked
    assert request["messages"] == [{"role": "user", "content": "Is ctDNA useful?"}]
    assert "Zebrafinch" not in json.dumps(request)
    version, text = prompt_text()
    assert request["system"][0]["text"] == text
    assert version == "understand-1"
    for kind in ("diseases", "decisions"):
        assert all(f"- {name}: " in text for name in load("subjects/vocabulary")[kind])


def test_no_model_is_asked_where_none_is_given(asked: Asked) -> None:
    assert understand(QUESTION).language_model is None
    assert asked.api.asked == []


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    proposed=st.lists(
        st.builds(
            tag, st.sampled_from(TAGS), st.sampled_from([*QUESTION.split(), QUESTION, "diabetes"])
        ),
        max_size=6,
    )
)
def test_whatever_a_model_says_tags_are_of_the_vocabulary_and_the_rules_stay(
    asked: Asked, proposed: list[dict[str, str]]
) -> None:
    asked.says({"diseases": proposed, "decisions": proposed})
    rules, found = understand(QUESTION), understand(QUESTION, model=asked.model)
    assert (
        set(rules.diseases) <= set(found.diseases) <= set(load("subjects/vocabulary")["diseases"])
    )
    assert (
        set(rules.decisions)
        <= set(found.decisions)
        <= set(load("subjects/vocabulary")["decisions"])
    )
    assert found.language_model is not None
    added = set(found.diseases + found.decisions) - set(rules.diseases + rules.decisions)
    assert added == set(found.language_model.added)
    assert not {"diabetes", "gastric_cancer"} & added
