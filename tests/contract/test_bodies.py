"""Bodies of every release open, and are the same JSON when they are written again.

`bodies/KIND.NAME.json` were written by the release before bodies had a `schema_version`.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contracts
from contracts import Body, UnknownForm
from knowledge.subjects.labs import Reading
from knowledge.works.links import DirectUrl
from store.core.hashes import json_hash
from tests.bodies import filled
from workers.retrieve.images.choice import Figure
from workers.retrieve.outside_leads import Lead
from workers.retrieve.ranking.reranking import Reranked
from workers.retrieve.understanding.model import ModelPart, Patient

FORMS: dict[str, type[Body]] = {
    "retrieval": contracts.Retrieval,
    "draft": contracts.Draft,
    "answer": contracts.Answer,
    "inputs": contracts.AnswerInputs,
    "note": contracts.Summary,
    "extraction": contracts.Extraction,
}
GOLDEN = sorted(Path(__file__).with_name("bodies").glob("*.json"))
Change = Callable[[dict[str, Any]], object]


def stored(name: str) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(Path(__file__).with_name("bodies").joinpath(name).read_text())
    return body


def form_of(name: str) -> type[Body]:
    return FORMS[name.partition(".")[0]]


def test_there_is_a_body_of_every_form() -> None:
    assert {path.name.partition(".")[0] for path in GOLDEN} == set(FORMS)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_stored_body_is_the_same_json_when_it_is_written_again(path: Path) -> None:
    body = stored(path.name)
    read = form_of(path.name).read(body)
    assert read.schema_version == 0
    assert read.as_body() == body
    assert json_hash(read.as_body()) == json_hash(body), "what is attested still verifies"


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_what_is_written_now_says_its_version_and_is_otherwise_the_same(path: Path) -> None:
    form, body = form_of(path.name), stored(path.name)
    written = form.model_validate(body).as_body()
    assert written == {**body, "schema_version": form.VERSION}
    assert form.read(written).as_body() == written
    assert form.read(written).in_form(0).as_body() == body, "as the replay of an older one needs it"


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(
    "unknown",
    [{"schema_version": 2}, {"schema_version": "1"}, {"schema_version": True}, {"novelty": 1}],
    ids=str,
)
def test_a_form_of_no_release_is_refused(form: type[Body], unknown: dict[str, object]) -> None:
    with pytest.raises(UnknownForm, match=form.__name__):
        form.read(filled(form).as_body() | unknown)


def test_a_refused_body_is_not_repeated() -> None:
    with pytest.raises(UnknownForm) as refused:
        contracts.Draft.read(filled(contracts.Draft).as_body() | {"claims": "Xyzzy coughs"})
    assert "claims" in str(refused.value)
    assert "Xyzzy" not in str(refused.value)


def _each(key: str, change: Change) -> Change:
    return lambda body: [change(one) for one in body[key]]


EARLIER: dict[str, tuple[str, Change]] = {
    "one score of evidence": (
        "retrieval.rules.json",
        _each("evidence", lambda one: [one.pop("merit"), one.pop("named")]),
    ),
    "nothing of language, names and terms": (
        "retrieval.rules.json",
        lambda body: [body.pop(key) for key in ("is_english", "read_as", "meant", "weights")],
    ),
    "the scope of a question": (
        "retrieval.rules.json",
        lambda body: body.update(in_scope=body.pop("is_clinical")),
    ),
    "passages that were explained one by one": (
        "retrieval.rules.json",
        _each(
            "explain",
            lambda one: (
                [
                    one.pop(key)
                    for key in ("document_id", "source_type", "relevance", "reasons", "passages")
                ]
                + [one.update(chunk_id="chunk_0", lexical=None, dense=0.5, coverage=0.25)]
            ),
        ),
    ),
    "claims that nobody measured": (
        "draft.extractive.json",
        _each("claims", lambda one: one.pop("covers")),
    ),
    "claims that were completed": (
        "answer.answered.json",
        _each(
            "claims",
            lambda one: one.update(
                completed_from={"text_hash": "0" * 64, "verdict": "supported", "findings": []}
            ),
        ),
    ),
    "claims and citations of the first chain": (
        "answer.answered.json",
        lambda body: [
            *(body.pop(key) for key in ("remarks", "quotations", "cure_refreshes")),
            body["provenance"].pop("fallback"),
            *(one.pop("basis") for one in body["claims"]),
            *(one.pop(key) for one in body["evidence"] for key in ("labels", "standing")),
        ],
    ),
    "inputs without a keyless draft or a time": (
        "inputs.checked.json",
        lambda body: [body.pop(key) for key in ("keyless", "undecided", "in_the_past")],
    ),
    "verdicts without opinions": (
        "inputs.checked.json",
        _each("checked", lambda one: [one.pop("judged"), one.pop("repaired_from")]),
    ),
}


@pytest.mark.parametrize(("name", "change"), EARLIER.values(), ids=EARLIER)
def test_forms_of_earlier_days_open_too(name: str, change: Change) -> None:
    body = stored(name)
    change(body)
    assert form_of(name).read(body).as_body() == body


_JSON_NUMBER = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)


@given(st.lists(st.text(), max_size=3), _JSON_NUMBER, st.dictionaries(st.text(), _JSON_NUMBER))
def test_any_words_and_numbers_stay_as_they_are(
    names: list[str], score: float, weights: dict[str, float]
) -> None:
    entry = {"score": score, "merit": score}
    body = filled(contracts.Retrieval, names=names, weights=[weights], evidence=[entry]).as_body()
    again = contracts.Retrieval.read(json.loads(json.dumps(body))).as_body()
    assert json_hash(again) == json_hash(body)


def test_what_services_outside_add_to_a_retrieval_fits_its_form() -> None:
    page = DirectUrl("https://pmc.ncbi.nlm.nih.gov/articles/PMC1/")
    figure = Figure("An algorithm", "A caption", page, None, "Open-i (NLM)", None)
    lead = Lead("pmid", "999")
    value = Reading("platelets", 250.0, "10^9/L", None, None, None, 0, 9)
    told = {
        "images": [figure.as_body()],
        "outside": {
            "asked": "colon cancer",
            "leads": [lead.as_body()],
            "dropped": 1,
            "cost_usd": None,
            "failure": None,
        },
        "reranked": Reranked("ordered", "a model", "rerank.v1", ignored=1).as_body(),
        "language_model": ModelPart("read", "a model", "read.v1", added=("colon",)).as_body(),
        "patient": Patient(age_years=82, values=(value,)).as_body(),
    }
    body = contracts.Retrieval.read(filled(contracts.Retrieval).as_body() | told).as_body()
    assert {name: body[name] for name in told} == told


def test_what_a_question_asks_for_has_its_place() -> None:
    asked = {
        "type": "number",
        "problem": "stroke",
        "names": ["apixaban"],
        "constraints": [{"kind": "age", "text": "82", "value": 82.0, "unit": "years"}],
    }
    answer = filled(contracts.Answer, asked=asked, lead={"kind": "number", "text": "1.6 %"})
    assert answer.as_body()["asked"] == asked
    assert contracts.Answer.read(answer.as_body()) == answer
