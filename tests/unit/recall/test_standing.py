"""When a quotation of an old version still stands in a new one."""

from hypothesis import given
from hypothesis import strategies as st

from clinical_text.structure import segment
from store.core.spans import Span
from tests.examples import examples
from workers.recall.standing import Doubt, Reading, stands

SENTENCES = (
    "Zorbinib is recommended as first-line treatment.",
    "Imaging is repeated every 3 months.",
    "Quuxinib was given to 12 of 40 patients.",
    "Median follow-up was 24 months.",
)
OLD = f"## Advice\n\n{SENTENCES[0]} {SENTENCES[1]}\n\n## Results\n\n{SENTENCES[2]} {SENTENCES[3]}\n"
SHARE = 0.5


def reading(text: str) -> Reading:
    return Reading(text, segment(text))


def place(quote: str, text: str = OLD) -> Span:
    start = text.index(quote)
    return Span(start, start + len(quote))


def after(new: str, quote: str = SENTENCES[0]) -> Span | Doubt:
    return stands(reading(OLD), place(quote), reading(new), SHARE)


def test_the_same_text_stands_where_it_stood() -> None:
    for sentence in SENTENCES:
        assert after(OLD, sentence) == place(sentence)


def test_what_stands_elsewhere_in_its_section_is_found_there() -> None:
    new = "## Status\n\nVersion two.\n\n" + OLD
    found = after(new)
    assert isinstance(found, Span)
    assert found.of(new) == SENTENCES[0]
    assert found.start > place(SENTENCES[0]).start


def test_a_word_or_a_number_changed_does_not_stand() -> None:
    assert after(OLD.replace("recommended", "contraindicated")) is Doubt.NOT_IN_SECTION
    assert after(OLD.replace("12 of 40", "13 of 40"), SENTENCES[2]) is Doubt.NOT_IN_SECTION


def test_the_same_words_under_another_heading_do_not_stand() -> None:
    assert after(OLD.replace("## Advice", "## Advice withdrawn in 2026")) is Doubt.NOT_IN_SECTION


def test_a_quoted_part_of_a_sentence_that_is_now_denied_does_not_stand() -> None:
    quote = "Zorbinib is recommended as first-line treatment"
    denied = OLD.replace(quote, f"It is no longer said that {quote}")
    assert isinstance(after(denied, quote), Doubt)


def test_a_neighbour_that_changed_is_a_doubt() -> None:
    new = OLD.replace(SENTENCES[1], "This was withdrawn.")
    assert after(new) is Doubt.NEIGHBOURS_CHANGED


def test_a_short_new_sentence_on_the_same_thing_elsewhere_is_a_doubt() -> None:
    new = OLD + "\n## Safety\n\nZorbinib is contraindicated.\n"
    assert after(new) is Doubt.NEW_WORDS_ON_IT


def test_news_on_something_else_is_no_doubt() -> None:
    new = OLD + "\n## Contact\n\nQuestions go to the secretary.\n"
    assert after(new) == place(SENTENCES[0])


@examples(150)
@given(
    before=st.lists(st.sampled_from(["Version two.", "Issued anew.", "Seen by nobody."])),
    which=st.sampled_from(SENTENCES),
)
def test_the_new_place_holds_the_very_words(before: list[str], which: str) -> None:
    head = "".join(f"{line}\n\n" for line in before)
    new = f"{head}{OLD}"
    found = after(new, which)
    assert isinstance(found, Span)
    assert found.of(new) == which


@examples(150)
@given(st.integers(0, len(OLD) - 1), st.sampled_from("xyz01<"))
def test_a_quotation_that_was_touched_never_stands(at: int, letter: str) -> None:
    quote = SENTENCES[2]
    span = place(quote)
    inside = span.start + at % len(quote)
    if OLD[inside] == letter:
        return
    new = OLD[:inside] + letter + OLD[inside + 1 :]
    assert isinstance(after(new, quote), Doubt)
