"""Signatures of exports: Ed25519 as RFC 8032 has it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.audit import ed25519 as ed25519

VECTORS = [  # RFC 8032, section 7.1, tests 1 to 3: seed, public key, message, signature
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701c"
        "f9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0"
        "f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f76098"
        "4dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]
ORDER = 2**252 + 27742317777372353535851937790883648493
seeds = st.binary(min_size=32, max_size=32)
few = settings(max_examples=15)


@pytest.mark.parametrize(("seed", "key", "message", "signature"), VECTORS)
def test_rfc_8032_signs_and_verifies_its_own_examples(
    seed: str, key: str, message: str, signature: str
) -> None:
    secret, said = bytes.fromhex(seed), bytes.fromhex(message)
    assert ed25519.public_key(secret).hex() == key
    assert ed25519.sign(secret, said).hex() == signature
    assert ed25519.verifies(bytes.fromhex(key), said, bytes.fromhex(signature))


@few
@given(seed=seeds, message=st.binary(max_size=200), at=st.integers(0, 511))
def test_no_signature_with_one_bit_changed_verifies(seed: bytes, message: bytes, at: int) -> None:
    key, signature = ed25519.public_key(seed), ed25519.sign(seed, message)
    assert ed25519.verifies(key, message, signature)
    changed = bytearray(signature)
    changed[at // 8] ^= 1 << at % 8
    assert not ed25519.verifies(key, message, bytes(changed))


@few
@given(seed=seeds, other=seeds, message=st.binary(max_size=50), more=st.binary(min_size=1))
def test_another_message_or_another_key_does_not_verify(
    seed: bytes, other: bytes, message: bytes, more: bytes
) -> None:
    key, signature = ed25519.public_key(seed), ed25519.sign(seed, message)
    assert not ed25519.verifies(key, message + more, signature)
    if other != seed:
        assert not ed25519.verifies(ed25519.public_key(other), message, signature)


def test_rfc_8032_a_signature_has_one_form_only() -> None:
    """Adding the order to its second half keeps the equation true; section 5.1.7 refuses that."""
    seed = bytes(32)
    signature = ed25519.sign(seed, b"x")
    second = int.from_bytes(signature[32:], "little") + ORDER
    again = signature[:32] + second.to_bytes(32, "little")
    assert not ed25519.verifies(ed25519.public_key(seed), b"x", again)


@given(key=st.binary(max_size=40), signature=st.binary(max_size=70))
def test_whatever_is_no_key_or_signature_is_refused_and_never_an_error(
    key: bytes, signature: bytes
) -> None:
    assert not ed25519.verifies(key, b"x", signature)


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_seed_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        ed25519.sign(bytes(length), b"")
