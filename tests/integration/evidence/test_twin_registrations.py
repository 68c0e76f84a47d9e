"""Two registrations under one title: a question on one number is answered from that one alone, also
where the other names it in passing."""

import json
from typing import Any

from sqlmodel import Session

from store.models import Answer
from tests.servers import ask, ingest
from workers.inline import InlineWorker

TITLES = (
    "A made-up comparison of two inhalers in adults with asthma",
    "Imagined follow-up of children with anaemia who were given iron",
)
FIRST = {"enrolled": 112, "status": "Completed", "weeks": 12}
SECOND = {"enrolled": 37, "status": "Terminated", "weeks": 52}


def registration(number: int, title: str, told: dict[str, Any], names: str = "") -> dict[str, Any]:
    return {
        "source_type": "clinicaltrials",
        "source_key": f"made-up:{number}",
        "title": title,
        "text": (
            f"## Status\n{told['status']}. Enrollment: {told['enrolled']} participants.\n\n"
            f"## Design\nOpen-label comparison of {told['weeks']} weeks{names}."
        ),
        "identifiers": {"nct_id": f"NCT{number:08}"},
        "published_at": "2026-10-01T00:00:00Z",
    }


def as_told(told: dict[str, Any]) -> dict[str, str]:
    """What a registration says, by field: some of it is no sentence without its heading."""
    return {
        "enrolled": f"{told['enrolled']} part",
        "status": f"{told['status']}.",
        "weeks": f"{told['weeks']} weeks",
    }


def test_of_twin_registrations_the_one_asked_for_answers(inline: InlineWorker) -> None:
    """The second of each pair names the first one, or does not."""
    expected = {}
    for place, title in enumerate(TITLES):
        first, second = 10 + 2 * place, 11 + 2 * place
        names = f" after the first study NCT{first:08}" if place else ""
        ingest(
            inline.store,
            registration(first, title, FIRST),
            registration(second, title, SECOND, names),
        )
        expected |= {first: (FIRST, SECOND), second: (SECOND, FIRST)}
    inline.run()
    asked = {
        (number, field): ask(inline.store, f"What is the {words} of NCT{number:08}?")
        for number in expected
        for field, words in (("enrolled", "enrollment"), ("status", "status"), ("weeks", "design"))
    }
    inline.run()
    wrong = []
    with Session(inline.store.engine) as session:
        for (number, field), question_id in asked.items():
            body = session.get_one(Answer, question_id).body
            cited = {one["source"]["url"].rpartition("/")[2] for one in body["evidence"]}
            said = json.dumps(body["claims"])
            own, other = map(as_told, expected[number])
            strange = other.values()
            if (
                own[field] not in said
                or cited != {f"NCT{number:08}"}
                or any(words in said for words in strange)
            ):
                wrong.append((number, field, cited))
    assert wrong == []
