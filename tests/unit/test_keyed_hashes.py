"""Hashes of words: with a key they tell nobody that a guess is right."""

from hypothesis import given
from hypothesis import strategies as st

from store.hashes import HASH_KEY_BYTES, json_hash, new_hash_key, text_hash


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


@given(text=st.text(), one=st.binary(min_size=32, max_size=32))
def test_another_key_gives_another_hash_and_the_same_key_the_same(text: str, one: bytes) -> None:
    other = bytes(byte ^ 1 for byte in one)
    assert text_hash(text, one) == text_hash(text, one)
    assert len({text_hash(text), text_hash(text, one), text_hash(text, other)}) == 3


@given(body=st.dictionaries(st.text(), st.integers(-(2**53), 2**53) | st.text()))
def test_json_is_hashed_under_a_key_whatever_the_order_of_its_fields(
    body: dict[str, object],
) -> None:
    key = bytes(range(32))
    assert json_hash(dict(reversed(body.items())), key) == json_hash(body, key)
    assert json_hash(body, key) != json_hash(body)
