"""Removes the hidden parts of an HTML page: text that no reader of the page sees.

Judged by attributes, inline styles and the plain rules of the page's own style elements (a class,
an id or a tag). External style sheets, scripts and media rules are not applied: text that only they
hide is read, and text that the page hides and only they show is not.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice

from bs4 import BeautifulSoup, Tag

MAX_STYLE_CHARS = 200_000
MAX_RULES = 2_000
MAX_DEPTH = 60  # ancestors searched for a background
_SMALLEST_FONT = 2.0  # CSS pixels, or points; unreadable up to this size
_OFF_PAGE = 400.0  # CSS pixels beyond the edge of the page; our choice

_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)")
"""An unclosed comment extends to the end of the text (CSS Syntax 3, 4.3.2)."""
_RULE = re.compile(r"(?P<selectors>[^{}@;]{1,500})\{(?P<body>[^{}]{0,2000})\}")
_AT_RULE = re.compile(r"@[^{};]{0,200}\{")
_BRACE = re.compile(r"[{}]")
_SELECTOR = re.compile(
    r"(?P<tag>[a-z][a-z0-9]*)?(?P<mark>[.#](?P<name>[\w-]{1,100}))?", re.IGNORECASE
)
_NUMBER = re.compile(
    r"^(?P<value>[+-]?(?:\d{1,40}+(?:\.\d{0,40})?|\.\d{1,40}))(?P<unit>px|pt|em|rem|%|vw|vh|ex|ch|cm|in)?$"
)
_RGB = re.compile(
    r"rgba?\(\s?(\d{1,3})\D{1,20}?(\d{1,3})\D{1,20}?(\d{1,3})(?:\D{1,20}?([\d.]{1,40}%?))?\s?\)"
)
_NAMED = {"white": "#ffffff", "snow": "#fffafa", "ivory": "#fffff0", "black": "#000000"}
_PIXELS = {
    "em": 16.0,
    "rem": 16.0,
    "vw": 13.0,
    "vh": 8.0,
    "ex": 8.0,
    "ch": 8.0,
    "cm": 38.0,
    "in": 96.0,
}
_WHITE_FROM = 250  # of 255 in each color

Style = Mapping[str, str]


def remove_hidden(soup: BeautifulSoup) -> None:
    """Remove the page's hidden elements. Call this before its style elements are removed."""
    rules = _Rules(soup)
    hidden = [tag for tag in soup.find_all(True) if _is_hidden(tag, rules)]
    for tag in hidden:
        if not tag.decomposed:
            tag.decompose()


def _is_hidden(tag: Tag, rules: "_Rules") -> bool:
    if tag.name in ("html", "body"):
        return False  # a page that hides itself is shown by a script
    if tag.has_attr("hidden") or (tag.name == "dialog" and not tag.has_attr("open")):
        return True
    style = rules.of(tag)
    return bool(style) and (
        _not_drawn(style) or _has_no_size(style) or _off_the_page(style) or _unseen_ink(tag, rules)
    )


def _not_drawn(style: Style) -> bool:
    return (
        style.get("display") == "none"
        or style.get("visibility") in ("hidden", "collapse")
        or style.get("content-visibility") == "hidden"
        or _length(style.get("opacity"), 1.0) <= 0.05
    )


def _has_no_size(style: Style) -> bool:
    if "font-size" in style and abs(_length(style["font-size"], 16.0)) <= _small(
        style["font-size"]
    ):
        return True
    clipped = style.get("overflow", style.get("overflow-y", "")) in ("hidden", "clip")
    tiny = any(_length(style.get(side), 99.0) <= 1.0 for side in ("width", "height", "max-height"))
    scaled = re.search(r"scale[xy]?\(\s?0?\.?0{0,40}\s?[),]", style.get("transform", ""))
    return (clipped and tiny) or scaled is not None


def _small(size: str) -> float:
    """The largest unreadable font size, in the unit of `_length`."""
    return 0.0 if size.endswith("%") else _SMALLEST_FONT


def _off_the_page(style: Style) -> bool:
    if _length(style.get("text-indent"), 0.0) <= -_OFF_PAGE:
        return True
    clip = style.get("clip", "") + style.get("clip-path", "")
    if re.search(r"rect\(\s?[01](?:px)?[\s,]{1,8}[01]|inset\(\s?(?:50|100)%|circle\(\s?0", clip):
        return True
    if style.get("position") not in ("absolute", "fixed", "relative"):
        return _length(style.get("margin-left"), 0.0) <= -_OFF_PAGE
    sides = ("left", "right", "top", "bottom")
    return any(_length(style.get(side), 0.0) <= -_OFF_PAGE for side in sides)


def _unseen_ink(tag: Tag, rules: "_Rules") -> bool:
    """Whether letters have the color of their background, which is white unless stated otherwise.
    On a background image, letters count as visible."""
    ink = _color(rules.of(tag).get("color"))
    if ink is None:
        return False
    if ink == "clear":
        return True
    for node in chain([tag], islice(tag.parents, MAX_DEPTH - 1)):
        ground = rules.of(node)
        stated = ground.get("background-color") or ground.get("background")
        if stated and stated not in ("inherit", "none", "transparent", "initial"):
            paper = _color(stated.split()[0]) if "url(" not in stated else None
            return _same(ink, paper)
        if ground.get("background-image", "none") != "none":
            return False
    return _same(ink, (255, 255, 255))


_Color = tuple[int, int, int]


def _same(ink: "_Color | str", paper: "_Color | str | None") -> bool:
    if not isinstance(ink, tuple) or not isinstance(paper, tuple):
        return False
    both_white = min(ink) >= _WHITE_FROM and min(paper) >= _WHITE_FROM
    return ink == paper or both_white


def _color(value: str | None) -> "_Color | str | None":
    """Red, green and blue; "clear" if it is transparent; None if it is unknown."""
    value = _NAMED.get(value or "", value or "")
    if value == "transparent" or re.fullmatch(r"#(?:[0-9a-f]{3}0|[0-9a-f]{6}00)", value):
        return "clear"
    if re.fullmatch(r"#[0-9a-f]{3,4}", value):
        value = "#" + "".join(digit * 2 for digit in value[1:4])
    if re.fullmatch(r"#[0-9a-f]{6}(?:[0-9a-f]{2})?", value):
        return int(value[1:3], 16), int(value[3:5], 16), int(value[5:7], 16)
    match = _RGB.match(value)
    if match is None:
        return None
    if match[4] is not None and float(match[4].rstrip("%.") or 0) <= 0.0:
        return "clear"
    return int(match[1]), int(match[2]), int(match[3])


def _length(value: str | None, otherwise: float) -> float:
    """CSS pixels, or the bare number; `otherwise` where it is not stated or not a length."""
    match = _NUMBER.match((value or "").split(" ")[0])
    if match is None:
        return otherwise
    return float(match["value"]) * _PIXELS.get(match["unit"] or "", 1.0)


class _Rules:
    """The styles that the page's own style elements and attributes give to a tag."""

    def __init__(self, soup: BeautifulSoup) -> None:
        self._rules: dict[str, dict[str, str]] = {}
        self._kept: dict[int, Style] = {}
        text = " ".join(tag.get_text() for tag in soup.find_all("style"))[:MAX_STYLE_CHARS]
        text = _without_at_rules(_COMMENT.sub(" ", text))
        for number, rule in enumerate(_RULE.finditer(text)):
            if number >= MAX_RULES:
                break
            for selector in rule["selectors"].split(","):
                simple = selector.strip()
                if simple and simple != "*" and _SELECTOR.fullmatch(simple):
                    self._rules.setdefault(simple.lower(), {}).update(_declared(rule["body"]))

    def of(self, tag: Tag) -> Style:
        """The declarations for a tag by property, lower case; its attributes override rules."""
        kept = self._kept.get(id(tag))
        if kept is None:
            kept = self._kept[id(tag)] = dict(self._collect(tag))
        return kept

    def _collect(self, tag: Tag) -> Iterator[tuple[str, str]]:
        if self._rules:
            names = [f".{name}".lower() for name in tag.get_attribute_list("class") if name]
            names += [f"#{tag['id']}".lower()] if tag.get("id") else []
            for selector in (tag.name, *names, *(tag.name + name for name in names)):
                yield from self._rules.get(selector, {}).items()
        if tag.get("bgcolor"):
            yield "background-color", str(tag["bgcolor"]).strip().lower()
        if tag.name == "font" and tag.get("color"):
            yield "color", str(tag["color"]).strip().lower()
        if tag.get("style"):
            yield from _declared(str(tag["style"])).items()


def _without_at_rules(text: str) -> str:
    """The style without at-rules, such as `@media print { p { … } }`, nested one level deep."""
    ends = _ends_of_blocks(text)
    kept, done = [], 0
    for rule in _AT_RULE.finditer(text):
        end = ends.get(rule.end() - 1, 0)
        if end and rule.start() >= done:
            kept.append(text[done : rule.start()])
            done = end
    return " ".join([*kept, text[done:]])


def _ends_of_blocks(text: str) -> dict[int, int]:
    """The end of each block that holds blocks at most one level deep, by its opening brace."""
    ends: dict[int, int] = {}
    open_blocks: list[list[int]] = []  # where each begins, and the depth of its contents
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            open_blocks.append([brace.start(), 0])
        elif open_blocks:
            start, depth = open_blocks.pop()
            if depth < 2:
                ends[start] = brace.end()
            if open_blocks:
                open_blocks[-1][1] = max(open_blocks[-1][1], depth + 1)
    return ends


def _declared(body: str) -> dict[str, str]:
    properties: dict[str, str] = {}
    for declaration in _COMMENT.sub(" ", body)[:2000].split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            plain = value.lower().replace("!important", " ").strip()
            properties[name.strip().lower()] = re.sub(r"\s+", " ", plain)
    return properties
