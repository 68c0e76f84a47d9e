"""All systems get the same texts, questions and vectors, on any machine and in any run."""

import hashlib
import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.peers import corpus, embedding, material
from tests.grid import grid
from workers.encoder.hashing import HashEncoder


def test_the_corpus_is_the_same_bytes_everywhere() -> None:
    digest = hashlib.sha256()
    for number in range(50):
        digest.update(corpus.text(number, 2000).encode())
    digest.update("\n".join(corpus.questions(50)).encode())
    assert digest.hexdigest() == DIGEST


DIGEST = "e5fe1fe12066335e334f711943e166530be6bf347215abcf15acf7df0fae6a6b"


def test_texts_have_the_asked_length_and_a_title_of_their_own() -> None:
    texts = [corpus.text(number, 2000) for number in range(200)]
    assert all(2000 <= len(text) <= 2800 for text in texts)
    assert len({text.partition("\n")[0] for text in texts}) == 200
    assert all(text.startswith(corpus.title(n) + "\n") for n, text in enumerate(texts))


def test_each_topic_comes_once_before_any_comes_twice() -> None:
    count = len(corpus.DRUGS) * len(corpus.DISEASES) * len(corpus.OUTCOMES)
    topics = [corpus.topic(number) for number in range(count)]
    assert len(set(topics)) == count
    assert corpus.topic(count) == topics[0]


def test_the_smallest_corpus_holds_what_every_question_is_about() -> None:
    held = {corpus.topic(number) for number in range(96)}
    for asked in corpus.questions(200):
        assert any(
            one.drug in asked and one.disease in asked and one.outcome in asked for one in held
        )


def test_nothing_made_up_bears_an_identifier() -> None:
    texts = [corpus.text(number, 4000) for number in range(30)] + [material.OLD, material.NEW]
    assert not re.search(r"\bPMID|\bdoi\b|10\.\d{4}/|NCT\d", "\n".join(texts), re.IGNORECASE)


def test_files_hold_the_texts_to_the_byte(tmp_path) -> None:
    for number, path in enumerate(corpus.write(tmp_path / "texts", range(3), 2000)):
        assert path.read_bytes().decode() == corpus.text(number, 2000)


@given(st.lists(st.text(max_size=80), min_size=1, max_size=5))
def test_peers_are_given_the_vectors_of_attests_hash_encoder(texts: list[str]) -> None:
    ours = HashEncoder().encode(texts)
    assert np.array_equal(np.array(embedding.vectors(texts), np.float32), ours)


@grid("case", material.quoted(20, 2000))
def test_a_quotation_is_a_sentence_of_its_text_or_differs_from_one_in_a_number(
    case: material.Quoted,
) -> None:
    texts = [corpus.text(number, 2000) for number in range(20)]
    assert sum(case.original in text for text in texts) == 1
    assert any(case.words in text for text in texts) is not case.altered
    without = [re.sub(r"\d\.\d\d", "#", words) for words in (case.words, case.original)]
    assert without[0] == without[1]


def test_half_of_the_quotations_are_altered() -> None:
    cases = material.quoted(20, 2000)
    assert [case.altered for case in cases] == [False, True] * 20


def test_long_texts_have_no_place_twice() -> None:
    for text in material.long_texts().values():
        assert len(text) >= material.LONG
        places = [text[start : start + 120] for start in range(0, len(text) - 120, 120)]
        assert len(set(places)) == len(places)
