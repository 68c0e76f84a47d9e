"""What the one reading of a text promises, whatever the words are."""

from collections import Counter
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from clinical_text.assertion.lexicon import lexicon
from clinical_text.assertion.marks import Assertion, Cue
from clinical_text.doc import Doc, doc
from tests.grid import grid
from tests.unit.assertion.grammar import FINDINGS

findings = st.sampled_from([one for one in FINDINGS if " of " not in one])
lists = st.lists(findings, min_size=2, max_size=6, unique=True).filter(
    lambda items: not any(one in other for one, other in permutations(items, 2))
)  # each is found by its words
texts = st.text(max_size=300) | st.lists(
    st.sampled_from(
        ["no", "not", "denies", "fever", "cough", ",", "or", "and", "but", ":", "none", "\n", "(",
         ")", "was", "seen", "if", "?", "-", "history of", "mother", "“", ";", "|",
         "without", "didn't", "n't", "cannot"]
    ),
    max_size=40,
).map(" ".join)  # fmt: skip


def said(text: str, words: str) -> Assertion:
    start = text.index(words)
    return doc(text).reading(start, start + len(words)).assertion


@given(texts)
def test_words_and_cues_are_places_of_the_text(text: str) -> None:
    reading = Doc(text)
    for one in reading.words:
        written = text[one.token.start : one.token.end]
        assert written.lower().replace("’", "'").replace("ʼ", "'") == one.token.word
    for cue in reading.cues(0, len(text)):
        assert 0 <= cue.start <= cue.end <= len(text)


@grid(
    ("text", "relatives"),
    [
        ("Breast cancer (mother), asthma.", True),
        ("Breast cancer in her mother, asthma.", True),
        ("Breast cancer, mother) and sister.", False),
        ("Breast cancer (mother is here), asthma.", False),
    ],
)
def test_what_stands_before_a_relative_in_brackets_is_the_relatives(
    text: str, relatives: bool
) -> None:
    assert (said(text, "Breast cancer") is Assertion.OTHER) is relatives
    if "asthma" in text:
        assert said(text, "asthma") is Assertion.AFFIRMED


@grid(
    ("text", "words"),
    [
        ("On review negative for fever, cough, chills.", "chills"),
        ("In the morning he denies fever, cough, chills.", "chills"),
        ("No fever, cough, chills.", "chills"),
        ("We have not noted him to have fevers.", "fevers"),
        ("We did not note her to be febrile.", "febrile"),
    ],
)
def test_a_denial_reaches_what_it_lists_and_what_a_person_was_not_noted_to_have(
    text: str, words: str
) -> None:
    assert said(text, words) is Assertion.NEGATED


@grid(
    ("text", "words"),
    [
        ("Pain was 6.4 versus 4.7, P = 0.01.", "Pain"),
        ("Mortality fell, p = 0.04, and bleeding did not.", "Mortality"),
        ("Stiffness improved; SMD = 0.47.", "Stiffness"),
    ],
)
def test_the_nought_of_a_decimal_denies_nothing(text: str, words: str) -> None:
    assert said(text, words) is not Assertion.NEGATED


@grid(
    ("text", "possible"),
    [
        ("He may develop pneumonia.", True),
        ("This may represent pneumonia.", True),
        ("In May pneumonia was found.", False),
        ("Since May pneumonia persists.", False),
        ("May 5: pneumonia.", False),
        ("On 5 May pneumonia was found.", False),
    ],
)
def test_may_is_a_month_where_a_day_or_a_word_of_time_stands_beside_it(
    text: str, possible: bool
) -> None:
    assert (said(text, "pneumonia") is Assertion.POSSIBLE) is possible


def every_denial(text: str) -> list[Cue]:
    whole = Doc(text)
    return [
        cue
        for number in range(len(whole.sentences))
        for cue, _ in whole.marks_of(number).cues
        if cue.means is Assertion.NEGATED
    ]


@given(texts)
def test_denials_are_those_of_all_sentences_though_few_are_read_for_them(text: str) -> None:
    assert list(Doc(text).denials) == every_denial(text)


def test_no_phrase_that_denies_is_passed_over() -> None:
    groups = [one for one in lexicon().triggers if one.means is Assertion.NEGATED]
    phrases = [*(word for one in groups for word in one.words), *lexicon().grammar.holding]
    denying = 0
    for phrase in phrases:
        for text in (f"It was {phrase} fever or rash.", f"Fever was {phrase.upper()} in May."):
            denials = every_denial(text)
            assert list(Doc(text).denials) == denials, text
            denying += bool(denials)
    assert denying > len(phrases)


@given(texts)
def test_every_place_has_one_assertion(text: str) -> None:
    reading = Doc(text)
    for start in range(0, len(text), 7):
        assert reading.reading(start, min(len(text), start + 3)).assertion in Assertion


@given(lists, findings)
def test_an_item_more_leaves_the_others_as_they_are(items: list[str], more: str) -> None:
    if more in items:
        return
    for opening in ("He denies", "No", "There is no evidence of"):
        short = f"{opening} {', '.join(items[:-1])} or {items[-1]}."
        longer = f"{opening} {', '.join([more, *items[:-1]])} or {items[-1]}."
        for item in items:
            assert said(short, item) is said(longer, item) is Assertion.NEGATED, longer


@given(lists)
def test_what_is_denied_in_quotes_is_denied_there_only(items: list[str]) -> None:
    first, second = items[:2]
    text = f"The report says “no {first}” and {second} was seen."
    assert (said(text, first), said(text, second)) == (Assertion.NEGATED, Assertion.AFFIRMED)


@given(findings)
def test_two_denials_are_none(finding: str) -> None:
    assert said(f"He was not without {finding}.", finding) is Assertion.AFFIRMED


@given(findings, st.sampled_from(["see text", "pending", "zorp vellum", "as discussed"]))
def test_a_label_with_a_value_that_cannot_be_read_is_unknown(finding: str, value: str) -> None:
    assert said(f"{finding.capitalize()}: {value}", finding.capitalize()) is Assertion.UNKNOWN


def test_every_phrase_of_the_lexicon_stands_once() -> None:
    lists = lexicon()
    phrases = Counter([*(word for one in lists.triggers for word in one.words), *lists.nothing])
    assert [phrase for phrase, count in phrases.items() if count > 1] == []


def test_rows_of_the_reviews() -> None:
    wrong = []
    for text, words, means in (
        ("He denies chest pain, palpitations or syncope.", "syncope", "negated"),
        ("There was no increase in mortality.", "mortality", "affirmed"),
        ("There was no increase in mortality.", "increase", "negated"),
        ("Metastases: none.", "Metastases", "negated"),
        ("Metastases: see text", "Metastases", "unknown"),
        ("CT performed to rule out embolism.", "embolism", "hypothetical"),
        ("Metastasis cannot be excluded.", "Metastasis", "possible"),
        ("The scan failed to show metastases.", "metastases", "negated"),
        ("No evidence of relapse, but edema persists.", "edema", "affirmed"),
        ("HER2: Not amplified", "amplified", "negated"),
        ("Chest pain was denied.", "Chest pain", "negated"),
        ("Gram negative sepsis was treated.", "sepsis", "affirmed"),
        ("If fever occurs, stop.", "fever", "conditional"),
        ("We aimed to determine whether it lowers mortality.", "mortality", "hypothetical"),
        ("How is pulmonary embolism ruled out?", "pulmonary embolism", "hypothetical"),
        ("Fever, chills, and cough were denied.", "Fever", "negated"),
        ("HER2-negative cancer progressed.", "cancer", "affirmed"),
        ("Linked to stroke but not to bleeding.", "bleeding", "affirmed"),
        ("A two-week history of cough.", "cough", "affirmed"),
        ("The previous biopsy showed carcinoma.", "carcinoma", "historical"),
    ):
        if said(text, words) != means:
            wrong.append((text, words, said(text, words).value))
    assert wrong == []


@grid(
    ("text", "finding", "means"),
    [
        ("There was no grade 3 toxicity.", "toxicity", Assertion.NEGATED),
        ("No grade 3-4 adverse events occurred.", "adverse events", Assertion.NEGATED),
        ("MET: no exon 14 skipping", "skipping", Assertion.NEGATED),
        ("There was no stage 3 disease.", "disease", Assertion.NEGATED),
        ("No red flags (no cough or fever).", "fever", Assertion.NEGATED),
        ("No red flags (no cough, no fever).", "cough", Assertion.NEGATED),
        ("No nodules (solid or cystic).", "cystic", Assertion.NEGATED),
        ("ALK rearrangement: immunohistochemically negative", "ALK", Assertion.NEGATED),
        ("There was no fever 24 hours later with rash.", "rash", Assertion.AFFIRMED),
    ],
)
def test_a_number_of_a_noun_ends_no_denial_and_a_bracket_that_denies_tells_on_its_own(
    text: str, finding: str, means: Assertion
) -> None:
    start = text.index(finding)
    assert Doc(text).reading(start, start + len(finding)).assertion is means
