"""Writes figures into docs/load.md, between marks, and their plots beside it."""

import os
import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import psutil
import pygal
from pygal.style import Style

# The library puts a finder of a kind that Python no longer asks among Python's own. There are no
# plug-ins here.
sys.meta_path[:] = [one for one in sys.meta_path if type(one).__module__ != "pygal"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "load.md"
IMAGES = PAGE.parent / "images"
GREY = "#808080"
"""Ours: read well on white and on black, for a picture cannot ask which it stands on."""
_STYLE = Style(
    background="transparent",
    plot_background="transparent",
    foreground=GREY,
    foreground_strong=GREY,
    foreground_subtle=GREY,
    guide_stroke_color="#80808066",
    major_guide_stroke_color="#80808066",
    colors=("#2f7fd1", "#d1662f", "#3a9d5d", "#9a5fc7", "#b8860b", "#c74a6b", "#3a9d9d"),
    font_family="sans-serif",
    label_font_size=12,
    major_label_font_size=12,
    title_font_size=15,
    legend_font_size=12,
    transition="0s",
)

MOST_DOTS = 50
"""Points of a line beyond which none is drawn by itself: each takes a thousand characters."""


def lines(
    title: str,
    x_title: str,
    series: Mapping[str, Sequence[tuple[float, float | None]]],
    *,
    logarithmic: bool = False,
) -> bytes:
    """Points joined by lines, one colour for each series, as SVG without script."""
    chart = pygal.XY(
        style=_STYLE,
        title=title,
        x_title=x_title,
        width=760,
        height=340,
        js=(),
        legend_at_bottom=True,
        legend_at_bottom_columns=3,
        truncate_legend=-1,
        logarithmic=logarithmic,
        dots_size=2.5,
        show_dots=max(map(len, series.values()), default=0) <= MOST_DOTS,
        range=None if logarithmic else (0, None),
        include_x_axis=not logarithmic,
        disable_xml_declaration=True,
    )
    if logarithmic:
        known = [(x, y) for points in series.values() for x, y in points if y is not None]
        chart.x_labels = _steps([x for x, _ in known])
        chart.y_labels = _steps([y for _, y in known])
    for name, points in series.items():
        chart.add(name, [(x, y) for x, y in points if y is not None])
    root = ElementTree.fromstring(chart.render())
    for parent in root.iter():
        for child in list(parent):
            if not isinstance(child.tag, str) or child.tag.endswith("}script"):
                parent.remove(child)
    root.set("role", "img")
    root.set("aria-label", title)
    ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    written: bytes = ElementTree.tostring(root, encoding="utf-8")
    return written


def _steps(values: Sequence[float]) -> list[float]:
    """1, 2 and 5 times powers of ten that `values` reach over."""
    steps = [one * 10.0**power for power in range(-3, 7) for one in (1, 2, 5)]
    return [one for one in steps if min(values) / 2 < one < max(values) * 2]


def machine() -> str:
    """The machine in one line; no name of it."""
    memory = psutil.virtual_memory().total / 2**30
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    python = ".".join(map(str, sys.version_info[:3]))
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), {memory:.0f} GiB, Python {python}; "
        f"load of the machine over 1, 5 and 15 minutes when it began: {load}"
    )


def write_part(name: str, text: str, page: Path = PAGE) -> None:
    """Put `text` between the marks `<!-- NAME -->` and `<!-- /NAME -->` of the page.

    Raises:
        ValueError: the page has no such marks.
    """
    before, begin, rest = page.read_text("utf-8").partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"<!-- /{name} -->")
    if not begin or not end:
        raise ValueError(f"{page.name} has no marks for {name}")
    page.write_text(f"{before}{begin}{text.rstrip()}\n{end}{after}", "utf-8")


def write_plot(name: str, svg: bytes, images: Path = IMAGES) -> None:
    """Put a plot beside the page."""
    images.mkdir(parents=True, exist_ok=True)
    (images / f"{name}.svg").write_bytes(svg + b"\n")


def body(figures: Any) -> dict[str, Any]:
    """A dataclass of figures for programs, rounded."""
    return {
        name: round(value, 3) if isinstance(value, float) else value
        for name, value in vars(figures).items()
    }
