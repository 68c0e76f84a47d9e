"""Removes control characters from text for terminals, logs, metrics and other programs. Pure.

Texts, titles and names come from anybody. A control character in them moves the cursor, an escape
sequence recolours or repaints the screen, a direction override shows a verdict in another order.
Every printer passes its text through here; what is stored, hashed and sent as JSON is unchanged.
"""

import unicodedata
from collections.abc import Iterable
from typing import Any, Final, TextIO

REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
"""Replaces one character each, so that offsets and widths do not change."""

_KEPT_FORMATS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}\N{SOFT HYPHEN}"
"""Join_Control and Hyphen, properties that Python's tables lack: Persian, Indic scripts and emoji
are spelled with the joiners, and neither they nor the hyphen move anything."""


def acts(sign: str) -> bool:
    """True if a character controls the display instead of being shown.

    By general category: controls (Cc), lone surrogates (Cs), line and paragraph separators (Zl,
    Zp), and format characters (Cf), among them every Bidi_Control, but not the Arabic number signs
    (bidirectional class AN), which are visible. Also the 66 noncharacters (Unicode 3.4 D14).
    """
    category = unicodedata.category(sign)
    if category == "Cf":
        return sign not in _KEPT_FORMATS and unicodedata.bidirectional(sign) != "AN"
    if category == "Cn":
        code = ord(sign)
        return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    return category in ("Cc", "Cs", "Zl", "Zp")


def printable(text: str, *, lines: bool = False) -> str:
    """`text` with control characters replaced by U+FFFD; its length does not change.

    A line break or tab becomes a space: in foreign text it would begin a line that looks like ours.

    Args:
        lines: keep line feeds and tabs, where the caller wrote them.
    """
    if text.isprintable():
        return text
    table = {ord(sign): REPLACEMENT for sign in _acting(text)}
    for sign in "\n\t":
        table[ord(sign)] = sign if lines else " "
    return text.translate(table)


def printable_values(value: Any) -> Any:
    """Apply `printable` to every string of a mapping or list, nested ones included."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable_values(name): printable_values(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [printable_values(part) for part in value]
    return value


def escaped(written: str) -> str:
    r"""JSON with control characters written as `\u` escapes; the value stays the same.

    Outside of strings JSON has no control characters but line ends and tabs, which stay.
    """
    if written.isprintable():
        return written
    acting = [sign for sign in _acting(written) if sign not in "\n\t\r"]
    return written.translate({ord(sign): _escape(sign) for sign in acting})


def _acting(text: str) -> Iterable[str]:
    return (sign for sign in set(text) if not sign.isprintable() and acts(sign))


def _escape(sign: str) -> str:
    code = ord(sign)
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


class Guarded:
    """A text stream that replaces control characters: for the output of other code, such as
    tracebacks and warnings."""

    def __init__(self, stream: TextIO) -> None:
        self.rich_proxied_file = unguarded(stream)
        """The wrapped stream, for coloured consoles: rich looks for this attribute."""

    def write(self, text: str) -> int:
        """Write `text`, made printable."""
        return self.rich_proxied_file.write(printable(text, lines=True))

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each of `lines`, made printable."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


def unguarded(stream: Any) -> TextIO:
    """The wrapped stream, for printers that clean their own text and colour it."""
    while (within := getattr(stream, "rich_proxied_file", None)) is not None:
        stream = within
    innermost: TextIO = stream
    return innermost
