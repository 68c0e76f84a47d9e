"""Images beside an answer: a decision algorithm that fits, or none (EB-6)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.loader import load
from knowledge.works.images import image_policy
from knowledge.works.links import DirectUrl
from tests.grid import grid
from workers.retrieve.images.choice import Figure, Search, choose, fits, image_search
from workers.retrieve.understanding.model import Pico, Understanding

AF, CKD = "atrial_fibrillation", "chronic_kidney_disease"
TITLE = "Anticoagulation in atrial fibrillation"
CAPTION = "Algorithm for the choice of an anticoagulant."
VOCABULARY = load("subjects/vocabulary")


def understanding(
    diseases: tuple[str, ...] = (AF, CKD),
    decisions: tuple[str, ...] = ("anticoagulation",),
    modalities: tuple[str, ...] = (),
) -> Understanding:
    return Understanding(
        query_type="general",
        classification="x/y",
        pico=Pico(None, None, None, None, None),
        diseases=diseases,
        decisions=decisions,
        names=(),
        asks_for_today=False,
        modalities=modalities,
    )


def search(*args: Any, **fields: Any) -> Search | None:
    """For a question that itself names all of its tags."""
    one = understanding(*args, **fields)
    return image_search(one, {"diseases": one.diseases, "decisions": one.decisions})


def wanted(*args: Any, **fields: Any) -> Search:
    found = search(*args, **fields)
    assert found is not None
    return found


def figure(title: str = TITLE, caption: str = CAPTION, number: int = 1) -> Figure:
    url = DirectUrl(f"https://pmc.ncbi.nlm.nih.gov/articles/PMC{number}/")
    return Figure(title, caption, url, None, "Open-i (NLM)", None)


@pytest.mark.requirement("EB-6.1")
@pytest.mark.parametrize(
    "decision", ["drug_choice", "duration", "de_escalation", "anticoagulation"]
)
def test_eb_6_1_a_decision_question_without_a_modality_gets_an_algorithm_or_nothing(
    decision: str,
) -> None:
    asked = wanted(decisions=(decision,))
    assert (asked.modality, asked.image_type) == (None, "g")
    word = VOCABULARY["decisions"][decision]["words"][0]
    title = f"{word} in atrial fibrillation"
    assert fits(figure(title, "Flowchart of what to do."), asked)
    assert not fits(figure(title, "Kaplan-Meier curves of both arms."), asked)
    assert not fits(figure(f"An algorithm: {title}", "Electrocardiogram."), asked)


@pytest.mark.requirement("EB-6.1")
@pytest.mark.parametrize(
    ("modality", "kind"),
    [
        ("magnetic_resonance_imaging", "m"),
        ("radiography", "x"),
        ("scintigraphy", "xg"),
    ],
)
def test_eb_6_1_a_question_that_names_a_modality_gets_images_of_it(
    modality: str, kind: str
) -> None:
    asked = wanted(("pneumonia",), ("duration",), (modality,))
    assert asked.image_type == kind
    assert asked.query.endswith(modality.replace("_", " "))
    assert fits(figure("Duration of therapy of pneumonia", "Chest x-ray on day 3."), asked)
    assert not fits(figure("Pneumonia", "Chest x-ray on day 3."), asked)


@pytest.mark.requirement("EB-6.2")
def test_eb_6_2_the_query_is_made_of_the_disease_and_the_decision() -> None:
    assert wanted().query == (
        "atrial fibrillation chronic kidney disease anticoagulation algorithm"
    )


@pytest.mark.requirement("EB-6.2")
@pytest.mark.parametrize(("diseases", "decisions"), [((AF,), ()), ((), ("duration",)), ((), ())])
def test_eb_6_2_nothing_is_looked_for_by_a_disease_or_a_decision_alone(
    diseases: tuple[str, ...], decisions: tuple[str, ...]
) -> None:
    assert search(diseases, decisions) is None
    assert search(diseases, decisions, ("radiography",)) is None


DISEASES = st.lists(st.sampled_from(sorted(VOCABULARY["diseases"])), unique=True, max_size=5)
DECISIONS = st.lists(st.sampled_from(sorted(VOCABULARY["decisions"])), unique=True, max_size=5)


@given(DISEASES, DECISIONS, DISEASES, DECISIONS)
def test_invariant_11_what_only_the_patient_context_names_is_not_sent(
    diseases: list[str], decisions: list[str], asked_diseases: list[str], asked_decisions: list[str]
) -> None:
    one = understanding(tuple(diseases), tuple(decisions))
    asked = image_search(one, {"diseases": asked_diseases, "decisions": asked_decisions})
    both = set(diseases) & set(asked_diseases), set(decisions) & set(asked_decisions)
    assert (asked is None) == (not all(both))
    if asked is not None:
        assert (set(asked.diseases), set(asked.decisions)) == both
        of_us = {
            word
            for kind in ("diseases", "decisions")
            for tag in both[0] | both[1]
            if tag in VOCABULARY[kind]
            for phrase in (
                VOCABULARY[kind][tag]["label"],
                *VOCABULARY[kind][tag].get("search", ()),
            )
            for word in phrase.split()
        }
        assert set(asked.query.split()) <= of_us | {"algorithm"}


@pytest.mark.requirement("EB-6.3")
@pytest.mark.parametrize(
    ("title", "caption"),
    [
        (TITLE, "ECG of a patient, with the algorithm that reads it."),
        (TITLE, "Algorithm for reading a chest X-ray."),
        (TITLE, "Infographic: algorithm of care."),
        (f"{TITLE}: a teaching case", CAPTION),
        (TITLE, "Antibiotic spectrum chart and algorithm."),
        (TITLE, "Rates of stroke."),
        (TITLE, "Logarithmic scale."),
    ],
)
def test_eb_6_3_a_teaching_image_or_any_other_figure_is_not_shown(title: str, caption: str) -> None:
    assert fits(figure(), wanted())
    assert not fits(figure(title, caption), wanted())
    assert choose([figure(title, caption)], wanted()) == []


@pytest.mark.requirement("EB-6.4")
@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Anticoagulation in atrial fibrillation", True),
        ("CKD and apixaban", True),
        ("Atrial fibrillation: an overview", False),
        ("Anticoagulation: an overview", False),
        ("Anticoagulation in venous thromboembolism", False),
        ("Screening for atrial fibrillation", False),
        ("", False),
    ],
)
def test_eb_6_4_the_title_names_a_disease_and_a_decision_that_were_asked_about(
    title: str, shown: bool
) -> None:
    caption = f"{CAPTION} Anticoagulation in atrial fibrillation."
    assert fits(figure(title, caption), wanted()) is shown


@pytest.mark.requirement("EB-6.5")
@grid("decision", sorted(VOCABULARY["decisions"]))
def test_eb_6_5_the_rules_hold_for_every_disease_and_every_decision(decision: str) -> None:
    for disease, entry in VOCABULARY["diseases"].items():
        asked = wanted((disease,), (decision,))
        assert (asked.modality, asked.image_type) == (None, "g")
        title = f"{entry['words'][0]}, {VOCABULARY['decisions'][decision]['words'][0]}"
        assert fits(figure(title, "A flowchart."), asked)
        assert not fits(figure(title, "Electrocardiogram."), asked)
        assert not fits(figure(title, ""), asked)


@given(
    st.lists(
        st.builds(
            figure,
            st.sampled_from([TITLE, "Something else"]),
            st.sampled_from([CAPTION, "A curve"]),
            st.integers(1, 4),
        ),
        max_size=8,
    )
)
def test_of_fitting_figures_the_first_are_shown_one_an_article_and_not_many(
    figures: list[Figure],
) -> None:
    chosen = choose(figures, wanted())
    fitting = [one for one in figures if fits(one, wanted())]
    assert len(chosen) == min(image_policy().most, len({one.url for one in fitting}))
    assert len({one.url for one in chosen}) == len(chosen)
    assert chosen[:1] == fitting[:1]
    places = [fitting.index(one) for one in chosen]
    assert places == sorted(places)


def test_every_type_of_image_belongs_to_a_modality_of_the_vocabulary() -> None:
    assert set(image_policy().types) <= set(VOCABULARY["modalities"])
