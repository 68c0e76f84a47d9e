"""What may reach a terminal, a log, a metric or an export: nothing that acts."""

import io
import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from store.core.printable import (
    REPLACEMENT,
    Guarded,
    acts,
    escaped,
    printable,
    printable_values,
    unguarded,
)
from tests.grid import grid

ACTING = (
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    *"\u200b\u2028\u2029\u2060\ufeff\ufffe\U000e0041\U0010ffff\ud800",
)
"""Controls of both sets, Bidi_Control (PropList.txt), what hides, and no characters at all."""
SHOWN = "stage Ⅲ · 5 µg, ≥ 2‑fold — naïve 病 ß 👩‍⚕️ می‌خواهم क्‍ष co\u00adoperate ١٢٣ \u0600 𝛼"


@grid("sign", ACTING)
def test_a_character_that_acts_is_shown_as_one_that_does_not(sign: str) -> None:
    assert acts(sign)
    shown = printable(f"a{sign}b")
    assert shown == f"a{' ' if sign in chr(10) + chr(9) else REPLACEMENT}b"


def test_letters_signs_and_joiners_of_every_script_stay() -> None:
    assert printable(SHOWN) == SHOWN
    assert escaped(SHOWN) == SHOWN


def test_line_breaks_stay_where_they_are_the_printers_own() -> None:
    assert printable("a\n\tb\r\n", lines=True) == f"a\n\tb{REPLACEMENT}\n"
    assert printable("a\n\tb") == "a  b"


@given(st.text(st.characters(exclude_categories=[])))
def test_whatever_is_printed_acts_nowhere_keeps_its_length_and_its_letters(text: str) -> None:
    shown = printable(text)
    assert not any(map(acts, shown))
    assert "\n" not in shown
    assert len(shown) == len(text)
    assert printable(shown) == shown
    for before, after in zip(text, shown, strict=True):
        assert before == after or acts(before)


@given(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Cn", "Zl", "Zp"]))
def test_only_controls_formats_separators_and_non_characters_act(sign: str) -> None:
    assert not acts(sign), unicodedata.name(sign, "?")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(_JSON)
def test_json_means_the_same_and_is_written_with_nothing_that_acts(value: object) -> None:
    for indent in (None, 1):
        written = escaped(json.dumps(value, ensure_ascii=False, indent=indent))
        assert not any(acts(sign) for sign in written if sign != "\n")
        assert json.loads(written) == json.loads(json.dumps(value))


def test_values_within_values_are_shown_names_included() -> None:
    hostile = {"a\x1b": ["\u202eb", {"c": ("\x9b", 3, None)}]}
    assert printable_values(hostile) == {
        f"a{REPLACEMENT}": [f"{REPLACEMENT}b", {"c": [REPLACEMENT, 3, None]}]
    }


def test_a_guarded_stream_passes_lines_and_nothing_that_acts() -> None:
    raw = io.StringIO()
    stream = Guarded(Guarded(raw))  # type: ignore[arg-type]
    print("one\x1b[2J\rtwo", "three", sep="\n", file=stream)  # type: ignore[call-overload]
    stream.writelines(["\u202efour\n"])
    stream.flush()
    assert raw.getvalue() == f"one{REPLACEMENT}[2J{REPLACEMENT}two\nthree\n{REPLACEMENT}four\n"
    assert unguarded(stream) is raw
    assert not stream.isatty()
