"""How many sentences of articles the PDF reader gives whole, against the articles' own XML.

    python -m benchmarks.pdfs FOLDER

FOLDER holds pairs NAME.pdf and NAME.xml (JATS), such as those of PMC's open articles. A sentence of
8 to 60 words without a citation, formula or figure is whole if its words follow each other in the
text of the PDF. Prints a line for each pair, and the sum.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from workers.file_formats import UnreadableDocument, read

_PARAGRAPHS = "//*[local-name()='body' or local-name()='abstract']//*[local-name()='p']"
_LEFT_OUT = frozenset(
    ["xref", "fig", "table-wrap", "table", "disp-formula", "inline-formula", "graphic", "math"]
)
_GAP = "\u2588"
"""Stands for what is left out; a sentence with one is not counted."""
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_LEAST, _MOST = 8, 60
"""Words of a sentence that is counted."""


def main(folder: str) -> None:
    """Read all pairs of a folder and print how many of their sentences are whole."""
    total = whole = 0
    for path in sorted(Path(folder).glob("*.xml")):
        sentences = set(_sentences(path.read_bytes()))
        try:
            (record,) = read(path.with_suffix(".pdf").read_bytes(), filename=f"{path.stem}.pdf")
        except UnreadableDocument as error:
            print(f"{path.stem}: {error}")
            continue
        text = f" {_words(record.text)} "
        found = sum(f" {one} " in text for one in sentences)
        total, whole = total + len(sentences), whole + found
        print(f"{path.stem}: {found} of {len(sentences)}")
    print(f"{whole} of {total} sentences are whole")


def _sentences(xml: bytes) -> Iterator[str]:
    parser = etree.XMLParser(recover=True, load_dtd=False, no_network=True, resolve_entities=False)
    for paragraph in etree.fromstring(xml, parser).xpath(_PARAGRAPHS):
        for one in re.split(r"(?<=[.?!])\s+(?=[A-Z])", " ".join(_text(paragraph).split())):
            words = _words(one)
            if _GAP not in one and _LEAST <= words.count(" ") + 1 <= _MOST:
                yield words


def _text(element: Any) -> str:
    parts = [element.text or ""]
    for child in element:
        name = etree.QName(child).localname if isinstance(child.tag, str) else ""
        parts.append(_GAP if name in _LEFT_OUT else _text(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.translate(_RAISED).casefold()))


if __name__ == "__main__":
    main(sys.argv[1])
