"""Characters that nobody sees are taken out of a text; what is seen stays."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from clinical_text.invisible import smuggles, visible

UNSEEN = "\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2064\u2066\ufeff\U000e0041\U000e007f"


@given(st.text(), st.lists(st.sampled_from(UNSEEN)))
def test_no_hidden_character_is_left_and_no_other_is_lost(text: str, unseen: list[str]) -> None:
    mixed = "".join(a + b for a, b in zip(text, unseen, strict=False)) + text[len(unseen) :]
    assert visible(mixed) == visible(text)
    assert not any(one in visible(mixed) for one in UNSEEN)
    assert visible(visible(text)) == visible(text)


def test_what_is_typography_is_left_alone() -> None:
    text = "soft\u00adhyphen, non\u00a0breaking, thin\u2009space, α−β, 5\u202f%, e\u0301, ❤\ufe0f"
    assert visible(text) == text
    assert not smuggles(text)


def test_only_format_and_unassigned_characters_are_taken_out() -> None:
    gone = [chr(code) for code in range(0x110000) if visible(chr(code)) == ""]
    assert {unicodedata.category(one) for one in gone} <= {"Cf", "Cn", "Mn"}
