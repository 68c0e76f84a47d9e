"""Damage that keeps enough of a payload's shape to come past the first check of its parser."""

import copy
import json
from random import Random
from typing import Any
from xml.etree.ElementTree import Element, ParseError, fromstring, tostring

STRANGE: list[Any] = [
    None, True, 0, -1, 10**30, 1.5, "", " ", "x", "\x00", "\ud800", "2026-02-30", "N/A", "13/13/13",
    "10.5555/x", [], [None], [[None]], [None, 1, "a", {}], {}, {"a": 1}, {"a": {"b": []}},
    ["a", 5], [{"type": "Retraction in"}], "<h4>", "<table><tr><td>", "&lt;sup&gt;" * 50,
    "81000, 81001", "# A\n\n- b | c", "x" * 2000,
]  # fmt: skip
WORDS = ["", " ", "x", "20269999", "\u2028", "<script>", "0" * 5000, "https://[", "null", "É\x7f"]
NAMES = ["section", "text", "td", "list", "item", "footnote", "x", "guid", "link", "pubDate"]
PIECES = [
    "\n", "\n\n", "# ", "## ", "- ", "| ", "RESULTS: ", ". ", "<p>", "</p>", "<td>", "<br/>",
    "<li>", "<!--", "&amp;", "\u00ad", "\u200b", "\u2212", "–", "\ufb01", "\u0301", "5", " 5.2 %",
    "\u202e", "\x0c", "\u2029", "\x00", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
]  # fmt: skip


def mutated(value: Any, random: Random, strange: list[Any] | None = None) -> Any:
    """`value` with one of its fields dropped, doubled, renamed or of another type."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        name = random.choice(sorted(value))
        rest = {key: inner for key, inner in value.items() if key != name}
        chance = random.random()
        if chance < 0.1:
            return rest
        if chance < 0.15:
            return rest | {f"{name}s": value[name]}
        return value | {name: mutated(value[name], random, strange)}
    if isinstance(value, list) and value and random.random() < 0.9:
        place = random.randrange(len(value))
        if random.random() < 0.1:
            return [*value, value[place]]
        return [*value[:place], mutated(value[place], random, strange), *value[place + 1 :]]
    return random.choice(strange or STRANGE)


def mutate_tree(root: Element, random: Random) -> None:
    """Drop, double, rename, move or fill an element of the tree."""
    parents = [element for element in root.iter() if len(element)]
    parent = random.choice(parents) if parents else root
    if not len(parent):
        return
    child = random.choice(list(parent))
    what = random.randrange(6)
    if what == 0:
        parent.remove(child)
    elif what == 1:
        parent.append(copy.deepcopy(child))
    elif what == 2:
        uri, brace, _ = child.tag.rpartition("}")
        names = [*NAMES, *sorted({one.tag.rpartition("}")[2] for one in root.iter()})]
        child.tag = uri + brace + random.choice(names)
    elif what == 3:
        child.text = random.choice(WORDS)
    elif what == 4:
        child.attrib = {name: random.choice(WORDS[:8]) for name in child.attrib}
    else:
        child.append(copy.deepcopy(random.choice(parents)))


def damaged(payload: bytes, random: Random) -> bytes:
    """`payload` with some bytes cut out, doubled or replaced."""
    start = random.randrange(len(payload) or 1)
    end = start + random.choice([1, 2, 10, len(payload)])
    piece = payload[start:end]
    middle = random.choice([b"", piece * 2, random.randbytes(len(piece[:20])), b'"', b"\\ud800"])
    return payload[:start] + middle + payload[end:]


def damaged_json(payload: bytes, random: Random) -> bytes:
    """A JSON payload with up to three changes of fields, or of bytes where it is none."""
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        return damaged(payload, random)
    for _ in range(random.randrange(1, 4)):
        value = mutated(value, random)
    try:
        found = json.dumps(value).encode()
    except (ValueError, RecursionError):
        return damaged(payload, random)
    return damaged(found, random) if random.random() < 0.2 else found


def damaged_xml(payload: bytes, random: Random) -> bytes:
    """An XML payload with up to three changes of elements, or of bytes where it is none."""
    try:
        root = fromstring(payload)
        for _ in range(random.randrange(1, 4)):
            mutate_tree(root, random)
        found: bytes = tostring(root, encoding="utf-8")
    except (ParseError, ValueError, RecursionError, LookupError):
        return damaged(payload, random)
    return damaged(found, random) if random.random() < 0.2 else found


def damaged_text(payload: bytes, random: Random) -> bytes:
    """A text with pieces of structure and typography put in, moved or cut out."""
    text = payload.decode("utf-8", "replace")
    for _ in range(random.randrange(1, 5)):
        at = random.randrange(len(text) + 1)
        length = random.choice([0, 0, 1, 3, 30])
        source = random.randrange(len(text) + 1)
        new = random.choice([random.choice(PIECES), text[source : source + 20], ""])
        text = text[:at] + new + text[at + length :]
    return text.encode()
