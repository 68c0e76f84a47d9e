"""A question that is asked on from another stands for itself, and says all that was said."""

import re

from hypothesis import given
from hypothesis import strategies as st

from api_gateway.questions.follow_up import asked_on

COMPARED = (
    "How does ctDNA-guided management compare with standard management in stage II colon cancer?"
)
STROKE = "Does apixaban reduce stroke in atrial fibrillation?"
COVERED = "Does Medicare cover Signatera for colorectal cancer?"
WHOLE = {
    (COMPARED, "What about stage III?"): COMPARED.replace("II", "III"),
    (COMPARED, "And in breast cancer?"): COMPARED.replace("colon", "breast"),
    (COMPARED, "In women?"): COMPARED.replace("?", " in women?"),
    (STROKE, "and rivaroxaban"): STROKE.replace("apixaban", "rivaroxaban"),
    (STROKE, "What about in CKD?"): STROKE.replace("atrial fibrillation", "CKD"),
    (STROKE, "And bleeding?"): "And bleeding? (apixaban, stroke, atrial fibrillation)",
    (
        STROKE,
        "Does it raise bleeding?",
    ): "Does it raise bleeding? (apixaban, stroke, atrial fibrillation)",
    (COVERED, "What about breast cancer?"): COVERED.replace("colorectal", "breast"),
    (
        COVERED,
        "When was that decided?",
    ): "When was that decided? (Medicare, Signatera, colorectal cancer)",
    (COVERED, "Is it safe to give statins in CKD?"): "Is it safe to give statins in CKD?",
    (
        COVERED,
        "and stage III breast cancer?",
    ): "and stage III breast cancer? (Medicare, Signatera, colorectal cancer)",
    (COMPARED, "and stage III breast cancer?"): COMPARED.replace("II colon", "III breast"),
    (COVERED, STROKE): STROKE,
    (COVERED, "?"): "?",
}


def test_what_is_left_to_the_question_before_is_written_out() -> None:
    assert {key: asked_on(*key) for key in WHOLE} == WHOLE


THINGS = st.sampled_from(
    ("stage IV", "CKD", "atrial fibrillation", "dabigatran", "nivolumab", "breast cancer", "NSCLC")
)
ASKED = st.sampled_from(
    (COMPARED, STROKE, COVERED, "What is the dose of metformin in CKD stage 4?")
)
FORMS = st.sampled_from(
    (
        "{}?",
        "And {}?",
        "what about {}",
        "In {}?",
        "and in {} too?",
        "Is it so in {}?",
        "Does {} matter?",
    )
)


@given(ASKED, FORMS, THINGS)
def test_all_that_was_said_is_in_what_is_asked_and_nothing_is_added_twice(
    before: str, form: str, thing: str
) -> None:
    asked = asked_on(before, form.format(thing))
    assert thing in asked
    assert asked_on(before, asked) == asked


DROPPED = set(
    re.findall(
        r"\w+",
        "and but or so then now also what how about if too as well instead the a an in for among "
        "after before during with without at by on under over within",
    )
)


@given(
    ASKED, st.text(max_size=300) | st.lists(THINGS | st.sampled_from(sorted(DROPPED))).map(" ".join)
)
def test_no_word_is_lost_but_those_that_only_lead_to_it(before: str, words: str) -> None:
    asked = set(re.findall(r"\w+", asked_on(before, words).casefold()))
    assert set(re.findall(r"\w+", words.casefold())) - asked <= DROPPED
