"""Which of two works is a newer edition of the other, and what only a person can tell."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from store.documents.editions import Held
from tests.grid import grid
from workers.ingest.editions import Edition, relation

TOPICS = st.sampled_from(
    [
        "the diagnosis and treatment of acute and chronic heart failure",
        "the management of made-up syndrome in adults",
        "prevention of stroke",
        "the evaluation and management of chronic kidney disease",
        "hypertension in pregnancy",
        "management of invasive fungal infections",
    ]
)
FORMS = st.sampled_from(
    [
        "{year} {body} Guidelines for {topic}",
        "{body} {year} Clinical Practice Guideline for {topic}",
        "{body} Guideline Update: {topic}",
        "{body} consensus statement on {topic} ({year})",
        "{year} {body} guideline for {topic}: a report of the {body} task force",
    ]
)
BODIES = st.sampled_from(["ESC", "AHA/ACC", "KDIGO", "ASCO", "BSH"])


def edition(title: str, year: int | None = None, **fields: Any) -> Edition:
    doi = fields.pop("doi", None)
    authors: Sequence[str] = fields.pop("authors", ())
    values: dict[str, Any] = {
        "key": f"guideline:{title}",
        "source": None,
        "opening": "",
        "source_type": "pubmed",
        "publisher": None,
        "version_label": None,
        "facts": {},
        **fields,
    }
    return Edition(
        Held(
            document_id=uuid4(),
            title=title,
            identifiers={"doi": doi} if doi else {},
            authors=authors,
            published_at=datetime(year, 6, 1, tzinfo=UTC) if year else None,
            **values,
        )
    )


def nice(title: str, year: int, opening: str = "", **fields: Any) -> Edition:
    values = {"source_type": "guideline", "publisher": "NICE", "opening": opening, **fields}
    return edition(title, year, **values)


@given(
    topic=TOPICS,
    forms=st.tuples(FORMS, FORMS),
    body=BODIES,
    years=st.tuples(*[st.integers(1990, 2030)] * 2),
)
def test_one_body_on_one_topic_is_a_line_and_the_later_year_is_newer(
    topic: str, forms: tuple[str, str], body: str, years: tuple[int, int]
) -> None:
    one, other = (
        edition(form.format(topic=topic, body=body, year=year), year)
        for form, year in zip(forms, years, strict=True)
    )
    found = (relation(one, other), relation(other, one))
    newer_first = {1: ("replaces", None), 0: (None, None), -1: (None, "replaces")}
    assert found == newer_first[(years[0] > years[1]) - (years[0] < years[1])]


@given(topics=st.tuples(TOPICS, TOPICS), bodies=st.tuples(BODIES, BODIES), form=FORMS)
def test_another_topic_or_another_body_is_another_line(
    topics: tuple[str, str], bodies: tuple[str, str], form: str
) -> None:
    if topics[0] == topics[1] and bodies[0] == bodies[1]:
        return
    newer = edition(form.format(topic=topics[0], body=bodies[0], year=2024), 2024)
    older = edition(form.format(topic=topics[1], body=bodies[1], year=2014), 2014)
    assert relation(newer, older) is None
    assert relation(older, newer) is None


COCHRANE = "10.1002/14651858.CD001234"


@grid(
    ("newer", "older"),
    [
        (
            nice(
                "Made-up fatigue/MF: diagnosis and management (2021)",
                2021,
                "This guideline replaces the guideline of 2007.",
            ),
            edition(
                "MF/made-up fatigue: diagnosis and management (2007)", 2007, source_type="guideline"
            ),
        ),
        (
            nice(
                "Atrial fibrillation: diagnosis and management",
                2021,
                "This guideline updates and replaces NICE guideline CG180 (June 2014).",
            ),
            nice("Atrial fibrillation: management", 2014, key="guideline:nice/cg180"),
        ),
        (
            nice(
                "Gout in adults",
                2021,
                "The present recommendations supersede the previous guideline.",
            ),
            nice("Gout in adults", 2014),
        ),
        (
            edition("One", 2020, doi=f"{COCHRANE}.pub4"),
            edition("Another", 2012, doi=f"{COCHRANE}.pub3"),
        ),
        (edition("One", 2020, doi=f"{COCHRANE}.pub2"), edition("Another", 2012, doi=COCHRANE)),
        (
            edition(
                "NCCN Guidelines: Bladder Cancer, Version 3.2024",
                source_type="nccn",
                publisher="NCCN",
            ),
            edition(
                "NCCN Guidelines: Bladder Cancer, Version 2.2024",
                source_type="nccn",
                publisher="NCCN",
            ),
        ),
        (
            edition(
                "American Society of Made-Up Oncology Guideline: Management of Neutropenia", 2020
            ),
            edition("ASMO Guideline: Management of Neutropenia", 2012),
        ),
    ],
)
def test_what_says_that_it_replaces_another_does(newer: Edition, older: Edition) -> None:
    assert relation(newer, older) == "replaces"
    assert relation(older, newer) is None


@grid(
    ("newer", "older", "found"),
    [
        (
            edition("2024 ESC Guidelines for the management of atrial fibrillation", 2024),
            edition(
                "2020 ESC Guidelines for the diagnosis and management of atrial fibrillation", 2020
            ),
            "perhaps",
        ),
        (
            edition("2018 AHA/ACC Guideline on the Management of Blood Cholesterol", 2018),
            edition("2013 ACC/AHA guideline on the treatment of blood cholesterol", 2014),
            "perhaps",
        ),
        (
            edition(
                "2019 AHA/ACC Focused Update of the 2014 AHA/ACC Guideline for Atrial Fibrillation",
                2019,
            ),
            edition("2014 AHA/ACC guideline for atrial fibrillation", 2014),
            "perhaps",
        ),
        (
            edition("Gout: diagnosis", 2020, source_type="guideline"),
            edition("Gout: diagnosis", 2012, source_type="guideline"),
            "perhaps",
        ),
        (
            nice("Asthma in adults: diagnosis", 2022),
            nice("Asthma in children: diagnosis", 2017),
            None,
        ),
        (
            nice(
                "Nutrition in adults", 2022, "Clinicians should replace vitamin B12 if deficient."
            ),
            nice("Vitamin B12 deficiency", 2017),
            None,
        ),
        (nice("Gout", 2022), nice("Gout", 2020, publisher="ACR"), None),
        (
            edition("2020 ESC Guidelines for stroke", 2021),
            edition("2020 ESC Guidelines for stroke", 2020),
            None,
        ),
    ],
)
def test_what_cannot_be_told_is_a_question_and_neighbours_are_none(
    newer: Edition, older: Edition, found: str | None
) -> None:
    assert relation(newer, older) == found
    assert relation(older, newer) is None
