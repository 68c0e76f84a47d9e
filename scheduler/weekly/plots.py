"""Plots as SVG inside a page: no script, no external style sheet, no other host. Pure."""

import sys
from collections.abc import Sequence
from xml.etree import ElementTree

import pygal
from pygal.style import Style

from knowledge.quality import quality_metrics
from store.reports.week_report import WeekReport

# The library adds a finder for its plug-ins to Python's, of a kind that Python no longer supports,
# so that every later import warns. There are no plug-ins here, so it is removed.
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != "pygal"]

COLORS = ("#2f7fd1", "#d1662f", "#3a9d5d", "#9a5fc7", "#b8860b")
"""Our choice: legible on white and on black."""
TEXT = "currentColor"
"""The page's own text color, light or dark."""
GREY = "#8888"

_STYLE = Style(
    background="transparent",
    plot_background="transparent",
    foreground=TEXT,
    foreground_strong=TEXT,
    foreground_subtle=GREY,
    guide_stroke_color=GREY,
    major_guide_stroke_color=GREY,
    no_data_font_size=14,
    colors=COLORS,
    font_family="sans-serif",
    label_font_size=12,
    major_label_font_size=12,
    title_font_size=15,
    legend_font_size=12,
    transition="0s",
)


def plots(report: WeekReport) -> list[str]:
    """The report's plots, each as one SVG element."""
    days = [day.day[5:] for day in report.days]
    answers = _chart(pygal.StackedBar, "Answers a day", days)
    answers.add("answered", [day.answered for day in report.days])
    answers.add("abstained", [day.abstained for day in report.days])
    times = _chart(pygal.Line, "Milliseconds from question to sealed answer", days)
    times.add("half are faster", [day.response_ms_p50 for day in report.days])
    times.add("95% are faster", [day.response_ms_p95 for day in report.days])
    costs = _chart(pygal.Bar, "US dollars for language models a day", days)
    costs.add("known costs", [float(day.cost_usd) for day in report.days])
    shares = (
        "avg_nccn_share_trial_queries",
        "routing_compliance_rate",
        "supported_claim_rate",
        "unanchored_quote_rate",
    )
    gate = (
        "own_words_rate",
        "source_words_rate",
        "judges_disagree_rate",
        "judge_not_believed_rate",
    )
    loop = ("marc.final_score", "marc.threshold_met_rate", "marc.improvement_per_iteration")
    drawn = [
        answers,
        _of_metrics("Shares", days, report, shares),
        _of_metrics("Gate", days, report, gate),
        _of_metrics("Extraction", days, report, loop),
        times,
        costs,
    ]
    return [_svg(chart) for chart in drawn]


def _of_metrics(
    title: str, days: Sequence[str], report: WeekReport, names: Sequence[str]
) -> "pygal.Line":
    """A line chart of metrics, with gaps where one is unknown, and their targets in the legend."""
    chart = _chart(pygal.Line, title, days)
    for name in names:
        target = quality_metrics()[name].target
        wanted = f" ({target.words()})" if target else ""
        figures = [day.figures.get(name) for day in report.quality.trend]
        chart.add(name + wanted, [figure.value if figure else None for figure in figures])
    return chart


def _chart(kind: type["pygal.Line"], title: str, days: Sequence[str]) -> "pygal.Line":
    return kind(
        style=_STYLE,
        title=title,
        width=760,
        height=300,
        js=(),
        x_labels=days,
        legend_at_bottom=True,
        legend_at_bottom_columns=2,
        show_minor_x_labels=len(days) <= 15,
        truncate_label=-1,
        truncate_legend=-1,
        no_data_text="nothing was measured",
        include_x_axis=True,
        range=(0, None) if kind is not pygal.StackedBar else None,
        allow_interruptions=True,
        pretty_print=False,
        disable_xml_declaration=True,
    )


def _svg(chart: "pygal.Line") -> str:
    """The SVG without the library's scripts and comments, labelled for screen readers."""
    root = ElementTree.fromstring(chart.render())  # noqa: S314  our own drawing
    for parent in root.iter():
        for child in list(parent):
            if not isinstance(child.tag, str) or child.tag.endswith("}script"):
                parent.remove(child)
    root.set("role", "img")
    root.set("aria-label", str(chart.config.title))
    ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    return ElementTree.tostring(root, encoding="unicode")
