"""A report as Markdown, and as one self-contained page of HTML. Pure."""

from jinja2 import Environment, StrictUndefined

from scheduler.weekly.plots import plots
from store.core.printable import printable
from store.reports.week_report import WeekReport
from store.reports.week_tables import Table, summary, tables, title

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{{ title }}</title>
<style>
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; }
div.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
th { background: var(--soft); }
svg { max-width: 100%; height: auto; }
footer { margin-top: 3rem; color: GrayText; font-size: .85rem; }
</style>
</head>
<body>
<main>
<h1>{{ title }}</h1>
<p>{{ summary }}</p>
{% for table in tables %}
<h2>{{ table.title }}</h2>
{% if table.rows %}
<div class="wide"><table>
<thead><tr>{% for one in table.header %}<th scope="col">{{ one }}</th>{% endfor %}</tr></thead>
<tbody>
{% for row in table.rows %}
<tr>{% for one in row %}<td>{{ one }}</td>{% endfor %}</tr>
{% endfor %}
</tbody>
</table></div>
{% else %}
<p>{{ table.empty }}</p>
{% endif %}
{% if loop.index == 2 %}
<h2>How they moved</h2>
{% for plot in plots %}<figure>{{ plot | safe }}</figure>
{% endfor %}
{% endif %}
{% endfor %}
</main>
<footer>Written {{ made_at }} (UTC). Figures only: no question, answer or document.</footer>
</body>
</html>
"""


def html(report: WeekReport) -> str:
    """The report as a page without scripts or external parts, light or dark by preference."""
    page = Environment(autoescape=True, undefined=StrictUndefined).from_string(_PAGE)
    return page.render(
        title=title(report),
        summary=summary(report),
        tables=tables(report),
        plots=plots(report),
        made_at=f"{report.made_at:%Y-%m-%d %H:%M}",
    )


def markdown(report: WeekReport) -> str:
    """The report as Markdown, with the trend as a table."""
    parts = [f"# {title(report)}", summary(report)]
    for number, table in enumerate(tables(report), start=1):
        parts.append(f"## {table.title}")
        parts.append(_table(table) if table.rows else table.empty)
        if number == 2:
            parts += ["## Day by day", _table(_trend(report))]
    parts.append(
        f"Written {report.made_at:%Y-%m-%d %H:%M} (UTC). Figures only: no question, answer or "
        "document."
    )
    return printable("\n\n".join(parts) + "\n", lines=True)


def _trend(report: WeekReport) -> Table:
    names = [judged.name for judged in report.quality.metrics if not judged.metric.standing]
    shown = [name for name in names if any(name in day.figures for day in report.quality.trend)]
    return Table(
        "Day by day",
        ("day", "answered", "abstained", *shown),
        [
            (
                day.day,
                str(day.answered),
                str(day.abstained),
                *(f"{figures[name].value:.4g}" if name in figures else "-" for name in shown),
            )
            for day, figures in (
                (day, quality.figures)
                for day, quality in zip(report.days, report.quality.trend, strict=True)
            )
        ],
    )


def _table(one: Table) -> str:
    lines = [one.header, ["---"] * len(one.header), *one.rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in row)} |" for row in lines)


def _cell(text: str) -> str:
    """The text of a cell, escaped so that it cannot end its row or its column."""
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").split())
