"""Charts as SVG, without scripts, fonts or other external resources. Pure.

A chart shows nothing that the table beside it does not show.
"""

import base64
import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Literal

from fastapi import Response
from lxml import etree  # type: ignore[import-untyped]

from api_gateway.pages.clocks import number

MEDIA_TYPE = "image/svg+xml"
Theme = Literal["light", "dark"]
WIDTH, HEIGHT = 440, 190
_SVG = "{http://www.w3.org/2000/svg}"
_UNWANTED = {f"{_SVG}{name}" for name in ("script", "desc", "a", "title")}
_LABELS = 5
"""Our choice: the most days that are labelled below a chart."""


@dataclass(frozen=True)
class Palette:
    """The colors of a drawing: those of the pages, whose styles a drawing cannot use."""

    ink: str
    faint: str
    line: str
    target: str


LIGHT = Palette(ink="#4b5d68", faint="#d3dde0", line="#0b5a61", target="#744600")
DARK = Palette(ink="#a0b2b9", faint="#2b393f", line="#7fcfd1", target="#f1c670")


@dataclass(frozen=True)
class Drawing:
    """An SVG, and the content-security policy under which it displays correctly."""

    content: bytes
    policy: str

    def response(self) -> Response:
        """The drawing as a picture of a page."""
        return Response(
            self.content,
            media_type=MEDIA_TYPE,
            headers={"Content-Security-Policy": self.policy},
        )


@cache
def _pygal() -> ModuleType:
    """The library, imported for the first drawing, as the import takes a third of a second."""
    loaded = import_module("pygal")
    import_module("pygal.style")
    # pygal adds an obsolete import finder for maps, which we do not draw. Every later import would
    # warn about it.
    fixer = loaded.PluginImportFixer
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, fixer)]
    return loaded


def line_chart(
    title: str,
    days: Sequence[str],
    values: Sequence[float | None],
    *,
    target: float | None = None,
    dark: bool = False,
) -> Drawing:
    """A line chart of a metric by day; a day without a value is a gap.

    Args:
        days: ISO dates or, for hours, moments; one for each of `values`.
        target: a value drawn as a horizontal line.
    """
    chart = _pygal().Line(**_options(dark), allow_interruptions=True)
    _name_days(chart, days)
    chart.add(title, list(values))
    if target is not None:
        dashes = {"width": 1.5, "dasharray": "5, 4"}
        chart.add("target", [target] * len(days), show_dots=False, stroke_style=dashes)
    return _drawing(chart, title)


def bar_chart(
    title: str, days: Sequence[str], values: Sequence[float], *, dark: bool = False
) -> Drawing:
    """A bar chart of an amount by day."""
    chart = _pygal().Bar(**_options(dark), range=None if any(values) else (0, 1))
    _name_days(chart, days)
    chart.add(title, list(values))
    return _drawing(chart, title)


def _options(dark: bool) -> dict[str, Any]:
    colors = DARK if dark else LIGHT
    style = _pygal().style.Style(
        background="transparent",
        plot_background="transparent",
        foreground=colors.ink,
        foreground_strong=colors.ink,
        foreground_subtle=colors.ink,
        guide_stroke_color=colors.faint,
        major_guide_stroke_color=colors.faint,
        font_family="sans-serif",
        label_font_size=13,
        major_label_font_size=13,
        colors=(colors.line, colors.target),
        guide_stroke_dasharray="none",  # only the target is dashed
        major_guide_stroke_dasharray="none",
        opacity="1",
        stroke_opacity="1",
        transition="0s",
    )
    return {
        "js": [],
        "css": ["file://style.css", "file://graph.css"],  # `base.css` would animate
        "style": style,
        "no_prefix": True,
        "width": WIDTH,
        "height": HEIGHT,
        "margin": 8,
        "margin_right": 24,
        "show_legend": False,
        "dots_size": 3,
        "stroke_style": {"width": 2},
        "max_scale": 5,
        "value_formatter": number,
        "truncate_label": -1,
        "show_minor_x_labels": False,
    }


def _name_days(chart: Any, days: Sequence[str]) -> None:
    chart.x_labels = [_short(day) for day in days]
    step = max(1, -(-len(days) // _LABELS))
    chart.x_labels_major = chart.x_labels[::-1][::step]


def _short(written: str) -> str:
    at = datetime.fromisoformat(written)
    return f"{at:%H:%M}" if "T" in written else f"{at.day} {at:%b}"


def _drawing(chart: Any, title: str) -> Drawing:
    """The chart without scripts, links and other elements that are not wanted."""
    drawn = etree.fromstring(chart.render(disable_xml_declaration=True).encode())
    etree.strip_tags(drawn, etree.Comment)
    for element in list(drawn.iter(etree.Element)):
        if element.tag in _UNWANTED or "tooltip" in element.get("class", "").split():
            _remove(element)
    named = etree.Element(f"{_SVG}title")
    named.text = title
    drawn.insert(0, named)
    style = "".join(element.text or "" for element in drawn.iter(f"{_SVG}style"))
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return Drawing(
        etree.tostring(drawn, encoding="utf-8"),
        f"default-src 'none'; style-src 'sha256-{digest}'; frame-ancestors 'none'; sandbox",
    )


def _remove(one: Any) -> None:
    parent = one.getparent()
    if parent is not None:
        parent.remove(one)
