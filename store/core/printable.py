"""What may reach a terminal, a log, a metric or a file for other programs: nothing that acts. Pure.

Texts, titles and names come from anybody. A control character in them moves the cursor, an escape
sequence recolours or repaints what stands there, an override of direction shows a verdict in
another order. Every printer passes what it prints through here; what is stored, hashed and sent as
JSON stays as it was written.
"""

import unicodedata
from collections.abc import Iterable
from typing import Any, Final, TextIO

REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
"""One for one, so that places and widths stay what they were."""

_KEPT_FORMATS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}\N{SOFT HYPHEN}"
"""Join_Control and Hyphen, properties that Python's tables lack: Persian, Indic scripts and emoji
are spelled with the joiners, and neither they nor the hyphen move anything."""


def acts(sign: str) -> bool:
    """Whether a character does something to what shows it, instead of being shown.

    By general category: controls (Cc), lone surrogates (Cs), separators of lines and paragraphs
    (Zl, Zp), and what formats unseen (Cf), which has every Bidi_Control; of the last, numbers'
    signs of Arabic (bidirectional class AN) are letters to be seen. By rule of Unicode 3.4 D14 the
    66 code points that never are characters.
    """
    category = unicodedata.category(sign)
    if category == "Cf":
        return sign not in _KEPT_FORMATS and unicodedata.bidirectional(sign) != "AN"
    if category == "Cn":
        code = ord(sign)
        return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    return category in ("Cc", "Cs", "Zl", "Zp")


def printable(text: str, *, lines: bool = False) -> str:
    """`text` with what would act shown as U+FFFD, as long as before.

    A line break or tab becomes a space: in words of others it would begin a line that looks like
    one of ours.

    Args:
        lines: keep line feeds and tabs: they are the printer's own.
    """
    if text.isprintable():
        return text
    table = {ord(sign): REPLACEMENT for sign in _acting(text)}
    for sign in "\n\t":
        table[ord(sign)] = sign if lines else " "
    return text.translate(table)


def printable_values(value: Any) -> Any:
    """The same for every string of a mapping or list, and of those within it."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable_values(name): printable_values(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [printable_values(one) for one in value]
    return value


def escaped(written: str) -> str:
    r"""JSON with what would act as its `\u` escape: another spelling of the same value.

    Outside its strings JSON has nothing of the kind but line ends and tabs, which stay.
    """
    if written.isprintable():
        return written
    found = [sign for sign in _acting(written) if sign not in "\n\t\r"]
    return written.translate({ord(sign): _escape(sign) for sign in found})


def _acting(text: str) -> Iterable[str]:
    return (sign for sign in set(text) if not sign.isprintable() and acts(sign))


def _escape(sign: str) -> str:
    code = ord(sign)
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


class Guarded:
    """A text stream through which nothing passes that would act: for what other code prints, such
    as tracebacks and warnings."""

    def __init__(self, stream: TextIO) -> None:
        self.rich_proxied_file = unguarded(stream)
        """The stream itself, for consoles that colour: rich takes it by this name."""

    def write(self, text: str) -> int:
        """Write `text`, shown."""
        return self.rich_proxied_file.write(printable(text, lines=True))

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each of `lines`, shown."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


def unguarded(stream: Any) -> TextIO:
    """The stream itself, for printers that clean what they print and colour it."""
    while (within := getattr(stream, "rich_proxied_file", None)) is not None:
        stream = within
    found: TextIO = stream
    return found
