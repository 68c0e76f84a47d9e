"""Hashes of words: with a key they tell nobody that a guess is right."""

from hypothesis import given
from hypothesis import strategies as st

from contracts.retrieval import Request
from store.audit.payloads import judge_asked, models_asked
from store.core.hashes import (
    HASH_KEY_BYTES,
    is_json_hash,
    is_text_hash,
    json_hash,
    keyed,
    new_hash_key,
    text_hash,
)

KEYS = st.binary(min_size=HASH_KEY_BYTES, max_size=HASH_KEY_BYTES)
BODIES = st.dictionaries(st.text(), st.integers(-(2**53), 2**53) | st.text())


def test_rfc_4231_its_first_example() -> None:
    expected = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    assert text_hash("Hi There", b"\x0b" * 20) == expected


def test_without_a_key_it_is_plain_sha_256_of_the_utf_8() -> None:
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert text_hash("") == empty


def test_every_key_is_new_and_as_long_as_the_hash() -> None:
    keys = {new_hash_key() for _ in range(100)}
    assert len(keys) == 100
    assert {len(key) for key in keys} == {HASH_KEY_BYTES}


@given(text=st.text(), one=KEYS)
def test_another_key_gives_another_hash_and_the_same_key_the_same(text: str, one: bytes) -> None:
    other = bytes(byte ^ 1 for byte in one)
    assert text_hash(text, one) == text_hash(text, one)
    assert len({text_hash(text), text_hash(text, one), text_hash(text, other)}) == 3


@given(body=BODIES)
def test_json_is_hashed_under_a_key_whatever_the_order_of_its_fields(
    body: dict[str, object],
) -> None:
    key = bytes(range(32))
    assert json_hash(dict(reversed(body.items())), key) == json_hash(body, key)
    assert json_hash(body, key) != json_hash(body)


@given(body=BODIES, other=BODIES, key=KEYS)
def test_a_hash_is_known_under_its_key_and_as_it_was_before_there_were_keys(
    body: dict[str, object], other: dict[str, object], key: bytes
) -> None:
    assert is_json_hash(json_hash(body, key), body, key)
    assert is_json_hash(json_hash(body), body, key)
    assert is_json_hash(json_hash(body), body, None)
    assert not is_json_hash(json_hash(body, key), body, None)
    assert not is_json_hash(json_hash(body, bytes(byte ^ 1 for byte in key)), body, key)
    for digest in (json_hash(other, key), json_hash(other)):
        assert is_json_hash(digest, body, key) is (other == body)


@given(given_instead=st.none() | st.text(), key=st.none() | KEYS)
def test_what_is_no_digest_is_no_hash_of_anything(
    given_instead: str | None, key: bytes | None
) -> None:
    assert not is_text_hash(given_instead, "words", key)
    assert not is_json_hash(given_instead, {"words": 1}, key)


@given(text=st.text(), key=KEYS)
def test_a_plain_hash_of_words_is_kept_as_its_own_hash_under_their_key(
    text: str, key: bytes
) -> None:
    plain = text_hash(text)
    assert keyed(plain, key) == text_hash(plain, key) != plain
    assert keyed(plain, None) == plain  # a row from before there were keys
    assert keyed(None, key) is None


def test_events_have_no_plain_hash_of_a_prompt_or_of_what_a_model_said() -> None:
    key, hashes = new_hash_key(), {"prompt_hash": "a" * 64, "output_hash": None}
    said = {"model": "m", "prompt_version": "v1", "note": "n", "cost_usd": "1"}
    nobody = Request(note="n", model=None, prompt_version=None)
    asked_of = Request.model_validate({**said, **hashes})
    (asked,) = models_asked(key, draft=asked_of, rerank=None, judge=nobody)
    assert asked == {
        "purpose": "draft",
        "model": "m",
        "prompt_version": "v1",
        "prompt_hash": text_hash("a" * 64, key),
        "output_hash": None,
    }
    judged = {**said, "prompt_hashes": ["a" * 64], "output_hashes": ["b" * 64]}
    assert judge_asked(key, judged) == {
        **said,
        "prompt_hashes": [text_hash("a" * 64, key)],
        "output_hashes": [text_hash("b" * 64, key)],
    }
