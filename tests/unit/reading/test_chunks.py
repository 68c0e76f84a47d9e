"""Chunks: section, then paragraph, then sentence."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_text.chunks import Chunk, chunk
from clinical_text.structure import segment
from store.core.spans import citation
from tests.fuzz.properties import chunks_hold

_FRAGMENTS = st.sampled_from(
    [
        "# Title\n\n",
        "## Part\n",
        "RESULTS: ",
        "Of 130 patients, 5 relapsed. ",
        "It rose again, as it had before. ",
        "word " * 30,
        "unbroken" * 20,
        "- item\n",
        "\n\n",
        "\n",
        "  ",
    ]
)
TEXTS = st.lists(_FRAGMENTS | st.text(max_size=8), max_size=40).map("".join)
SIZES = st.tuples(st.integers(0, 30), st.integers(31, 120), st.integers(0, 120))


def _chunks(text: str, size: int = 100, overlap: int = 30, longest: int = 200) -> list[Chunk]:
    return chunk(text, segment(text), size=size, overlap=overlap, max_paragraph=longest)


@pytest.mark.requirement("CN-2")
@settings(max_examples=300, deadline=None)
@given(TEXTS, SIZES)
def test_cn_2_chunks_cover_in_order_overlap_at_words_and_keep_what_is_short_whole(
    text: str, sizes: tuple[int, int, int]
) -> None:
    overlap, size, more = sizes
    chunks_hold(text, overlap, size, size + more)


@pytest.mark.requirement("CN-2")
def test_cn_2_policy_sizes_are_those_of_the_retrieval_strategy() -> None:
    paragraph = "The count was stable over the whole of the second year of the study. " * 10
    text = "\n\n".join([paragraph.strip()] * 6)
    chunks = chunk(text, segment(text))
    assert [(c.end - c.start) <= 1500 for c in chunks] == [True] * len(chunks)
    assert chunks[0].end - chunks[0].start > 1300  # two paragraphs are merged
    assert 0 < chunks[0].end - chunks[1].start <= 200
    whole = ("The count was stable over the second year. " * 69).strip()
    assert 2900 < len(whole) <= 3000
    assert len(chunk(whole, segment(whole))) == 1
    assert len(chunk(whole + " " + whole, segment(whole + " " + whole))) > 3


def test_overlap_begins_at_a_sentence_where_one_begins_in_reach() -> None:
    text = "One two three four five six seven eight. Nine ten.\n\n" + "Eleven twelve. " * 6
    first, second, *_ = _chunks(text, size=80, overlap=30, longest=80)
    assert text[second.start :].startswith("Nine ten.")
    assert second.start < first.end


def test_a_heading_stays_with_the_paragraph_under_it() -> None:
    text = "# Findings of the study\n\n" + "Words follow. " * 12
    chunks = _chunks(text, size=100, overlap=10, longest=200)
    assert len(chunks) == 1
    assert chunks[0].start == 0


def test_a_heading_with_nothing_under_it_is_a_chunk() -> None:
    text = "# One\n\n# Two\n\nWords."
    assert [(c.section, text[c.start : c.end]) for c in _chunks(text)] == [
        ("One", "# One"),
        ("Two", "# Two\n\nWords."),
    ]


def test_the_title_over_an_abstract_is_no_chunk_of_its_own() -> None:
    text = "# Paper\n\n## Abstract\n\nWords."
    assert [c.start for c in _chunks(text)] == [0]


def test_a_word_is_cut_only_where_it_is_longer_than_the_limit() -> None:
    chunks = _chunks("x" * 450, size=100, overlap=30, longest=200)
    assert [(c.start, c.end) for c in chunks] == [(0, 200), (200, 400), (400, 450)]


@pytest.mark.parametrize("text", ["", " \n\n\t"])
def test_white_space_gives_no_chunk(text: str) -> None:
    assert _chunks(text) == []


@pytest.mark.parametrize("sizes", [(100, 100, 200), (100, -1, 200), (300, 10, 200)])
def test_sizes_that_contradict_each_other_are_refused(sizes: tuple[int, int, int]) -> None:
    size, overlap, longest = sizes
    with pytest.raises(ValueError, match="chunk sizes"):
        _chunks("Words.", size, overlap, longest)


@pytest.mark.requirement("CN-4.1")
def test_cn_4_1_citation_names_section_chunk_and_global_offsets() -> None:
    cited = Chunk(11, "MEDICAL DECISION MAKING", 2192, 2922)
    assert (
        citation(cited.section, cited.chunk_id, cited.start, cited.end)
        == "MEDICAL DECISION MAKING section, chunk_11:2192-2922"
    )


@pytest.mark.requirement("CN-4.1")
def test_cn_4_1_a_part_without_a_title_is_cited_as_body() -> None:
    assert citation("", "chunk_0", 0, 7) == "BODY section, chunk_0:0-7"


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(["It rose. ", "word ", "Of 130 patients, 5 relapsed. "]), max_size=60)
)
def test_a_chunk_repeats_at_most_half_of_the_one_before(parts: list[str]) -> None:
    found = _chunks("".join(parts), size=60, overlap=59)
    for before, after in pairwise(found):
        assert after.start >= before.start + (before.end - before.start) / 2
