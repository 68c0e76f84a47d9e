"""Where a quotation stands, however it is written; what stands nowhere is placed nowhere."""

from collections.abc import Mapping

from hypothesis import assume, given
from hypothesis import strategies as st

from clinical_text.quotes import Source, check
from clinical_text.sentences.splitting import sentence_spans
from store.core.spans import Span
from tests.examples import examples
from workers.verify.claims import Drafted
from workers.verify.passages.locating import CitedText, locate
from workers.verify.passages.placing import placed

FIRST = (
    "The trial enrolled 955 patients with stage II colon cancer in twelve centres. "
    "Recurrence-free survival at two years was 93.5% with guidance and 92.4% without it. "
    "Chemotherapy was given to 15% of patients in the guided group. "
    "No patient died of a treatment that the assay had led to."
)
SECOND = (
    "The panel regards the assay as prognostic and not as predictive. "
    "Its use outside of clinical trials is not recommended for surveillance. "
    "A newer version of the guideline may say something else."
)
TEXTS = {"E1": FIRST, "E2": SECOND}
SOURCES = {key: Source(text) for key, text in TEXTS.items()}
SENTENCES = {
    key: [Span(*one) for one in sentence_spans(text, 0, len(text), label_from=0)]
    for key, text in TEXTS.items()
}
ELLIPSES = ["...", "\u2026", "[...]", "(...)", " ... ", "[\u2026]", ". . .", " [...]\n"]
MARKS = [
    ("", ""), ('"', '"'), ("\u201c", "\u201d"), ("\u201e", "\u201c"),
    ("\u00ab", "\u00bb"), ("'", "'"), ("`", "`")
]  # fmt: skip


def found(quote: str, keys: tuple[str, ...] = ("E1",)) -> list[tuple[str, str]]:
    """By key the words of each piece as its source has them."""
    places = placed(quote, {key: SOURCES[key] for key in keys}, SENTENCES)
    return [(one.key, one.span.of(TEXTS[one.key])) for one in places]


@st.composite
def runs(draw: st.DrawFn, text: str) -> tuple[int, int]:
    """The words of some run of them, by number."""
    words = text.split()
    first = draw(st.integers(0, len(words) - 3))
    return first, draw(st.integers(first + 3, len(words)))


@examples(100)
@given(st.data(), st.sampled_from(["E1", "E2"]), st.sampled_from(MARKS))
def test_words_of_a_source_are_found_whatever_marks_stand_around_them(
    data: st.DataObject, key: str, marks: tuple[str, str]
) -> None:
    first, end = data.draw(runs(TEXTS[key]))
    words = " ".join(TEXTS[key].split()[first:end])
    ((where, stands),) = found(f"{marks[0]}{words}{marks[1]}", ("E1", "E2"))
    assert (where, stands) == (key, words)


@examples(100)
@given(
    st.data(),
    st.lists(st.integers(0, 3), min_size=2, max_size=4, unique=True),
    st.sampled_from(ELLIPSES),
    st.sampled_from(MARKS),
)
def test_whole_sentences_joined_by_an_ellipsis_are_found_in_order_and_in_no_other(
    data: st.DataObject, numbers: list[int], ellipsis: str, marks: tuple[str, str]
) -> None:
    pieces = [SENTENCES["E1"][n].of(FIRST) for n in numbers]
    quote = f"{marks[0]}{f' {ellipsis} '.join(pieces)}{marks[1]}"
    places = found(quote)
    if numbers == sorted(numbers):
        assert [stands.rstrip(".") for _, stands in places] == [one.rstrip(".") for one in pieces]
    else:
        assert places == []


@examples(60)
@given(st.data(), st.integers(0, 3), st.sampled_from(ELLIPSES))
def test_words_left_out_of_one_sentence_hide_nothing_because_the_whole_is_shown(
    data: st.DataObject, number: int, ellipsis: str
) -> None:
    sentence = SENTENCES["E1"][number].of(FIRST)
    words = sentence.split()
    end = data.draw(st.integers(3, len(words) - 5))
    begin = data.draw(st.integers(end + 1, len(words) - 3))
    quote = f"{' '.join(words[:end])} {ellipsis} {' '.join(words[begin:])}"
    drafted = Drafted("c1", "A claim.", "E1", quote, "H")
    located = locate(drafted, _held(), facts=lambda *_: (), doubting=lambda *_: ())
    assert located.passage == sentence
    assert [place.of(FIRST) for _, place in located.parts] == [sentence]


def test_half_a_sentence_joined_to_half_of_another_is_stitched_and_found_nowhere() -> None:
    assert found("Chemotherapy was given ... of a treatment that the assay had led to.") == []
    kept = "Chemotherapy was given to 15% of patients in the guided group. ... of a treatment that"
    assert len(found(kept)) == 2


@examples(60)
@given(st.data(), st.sampled_from(ELLIPSES))
def test_one_piece_that_stands_nowhere_fails_the_whole(data: st.DataObject, ellipsis: str) -> None:
    number = data.draw(st.integers(0, 2))
    good = SENTENCES["E1"][number].of(FIRST)
    other = SENTENCES["E1"][number + 1].of(FIRST)
    words = other.split()
    at = data.draw(st.integers(0, len(words) - 1))
    changed = data.draw(st.text(alphabet="abcdefgh", min_size=1, max_size=8))
    assume(changed != words[at])
    bad = " ".join([*words[:at], changed, *words[at + 1 :]])
    assume(not check(bad, SOURCES["E1"]).accepted)
    assert found(f"{good} {ellipsis} {bad}", ("E1", "E2")) == []


def test_pieces_of_a_word_or_two_are_no_pieces() -> None:
    assert found("No patient ... the assay had led to.") == []
    assert found("... No patient died of a treatment \u2026") == [
        ("E1", "No patient died of a treatment")
    ]


def _held(**more: str) -> Mapping[str, CitedText]:
    return {key: CitedText(SOURCES[key], SENTENCES[key], title=key) for key in TEXTS}


def claim(quote: str, further: tuple[str, ...] = ("E2",)) -> Drafted:
    text = "Guidance led to chemotherapy in 15% of patients, and the assay is prognostic."
    return Drafted("c1", text, "E1", quote, "H", further=further)


def _located(drafted: Drafted, without: str = "") -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    held = {key: one for key, one in _held().items() if key != without}
    one = locate(drafted, held, facts=lambda *_: (), doubting=lambda *_: ())
    return [(key, place.of(TEXTS[key])) for key, place in one.parts], one.findings


def test_a_claim_on_two_sources_leans_on_a_passage_of_each_and_falls_with_either() -> None:
    first, second = SENTENCES["E1"][2].of(FIRST), SENTENCES["E2"][0].of(SECOND)
    both = [("E1", first), ("E2", second)]
    assert _located(claim(f"{first} [...] {second}")) == (both, ())
    assert _located(claim(f"{second} [...] {first}")) == (both[::-1], ())
    for broken in (f"{first} [...] {second[:-9]}changed.", f"{first[:-9]}changed. ... {second}"):
        assert _located(claim(broken)) == ([], ("quotation",))
    assert _located(claim(f"{first} [...] {second}", further=())) == ([], ("quotation",))
    assert _located(claim(f"{first} ... {second}"), without="E2") == ([], ("not_current",))


def test_a_claim_on_two_sources_with_the_words_of_one_leans_on_that_one() -> None:
    second = SENTENCES["E2"][1].of(SECOND)
    assert _located(claim(second)) == ([("E2", second)], ())
