"""Adverse event reports (FAERS) through openFDA (WIRE 3).

A watch keeps one document per query: counts of the matching reports. The connector sends several
requests for it and passes the responses on in one payload,
`{"faers": {"query": …, "reports": …, "reactions": …, …}}`. Single reports are read as well.
"""

from collections import Counter

from workers.http.errors import Malformed
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.json_payload import (
    Draft,
    Json,
    add_record,
    filled,
    load,
    number,
    one_line,
    rows,
    shorten,
    text,
    when,
)
from workers.ingest.parsers.openfda.report import add_report
from workers.ingest.parsers.openfda.shared import FDA, iso, parse_rows

COUNTS = {
    "reactions": "patient.reaction.reactionmeddrapt.exact",
    "seriousness": "serious",
    "death": "seriousnessdeath",
    "life_threatening": "seriousnesslifethreatening",
    "hospitalization": "seriousnesshospitalization",
    "disability": "seriousnessdisabling",
    "congenital_anomaly": "seriousnesscongenitalanomali",
    "other_serious": "seriousnessother",
    "days": "receivedate",
}
"""Part of the payload → the field whose values openFDA counts."""

TOP_REACTIONS = 50

CAVEAT = (
    "These numbers count reports that reached the FDA; they are no measure of how often a reaction "
    "happens. Anyone may report, many reactions are never reported, one case can be reported more "
    "than once, and how many people took the drug is not known. A report does not say that the "
    "drug caused the reaction."
)

_SERIOUSNESS = {
    "serious": "Reports that are serious",
    "not_serious": "Reports that are not serious",
}
_GRAVE = {
    "death": "Reports of a death",
    "life_threatening": "Reports of a life-threatening reaction",
    "hospitalization": "Reports of a stay in hospital",
    "disability": "Reports of a disability",
    "congenital_anomaly": "Reports of a congenital anomaly",
    "other_serious": "Reports serious for another reason",
}


def parse_event(payload: bytes) -> Parsed:
    """Read the counts for a query, or the reports on a page of results. Raises Malformed."""
    value = load(payload)
    if isinstance(value, dict) and isinstance(value.get("faers"), dict):
        return _of_query(value["faers"])
    return parse_rows(payload, add_report)


def _of_query(faers: Json) -> Parsed:
    """Read the counts for one query into a record."""
    parsed = Parsed()
    query = text(faers, "query")
    total = number(faers, "reports", "meta", "results", "total")
    if not query or total is None:
        raise Malformed("openFDA: counts without their query or their total")
    made = when(text(faers, "reports", "meta", "last_updated"))
    serious = dict(_counts(faers, "seriousness"))
    facts = filled(
        {
            "query": query,
            "reports": total,
            "serious": serious.get("1"),
            "not_serious": serious.get("2"),
            **{name: dict(_counts(faers, name)).get("1") for name in _GRAVE},
            "reactions": [
                {"term": shorten(term, 200), "reports": count}
                for term, count in _counts(faers, "reactions")[:TOP_REACTIONS]
            ],
            "years": _years(faers),
            "caveat": "reports, not incidence",
        }
    )
    add_record(
        parsed,
        f"regulator:faers:{query}",
        source_type="regulator",
        source_key=f"faers:{query}",
        title=one_line(f"FDA adverse event reports (FAERS): {query}"),
        text=_text(facts, iso(text(faers, "reports", "meta", "last_updated"))),
        published_at=made[0] if made else None,
        publisher=FDA,
        publication_type="Adverse Event Counts",
        evidence_level="Spontaneous reports: counts of reports, not incidence",
        facts=facts,
    )
    return parsed


def _text(facts: Json, made: str) -> str:
    draft = Draft()
    draft.section("What these numbers are")
    draft.paragraph(CAVEAT)
    draft.section("Reports received")
    draft.fact("Query", facts["query"])
    draft.fact("Reports that match", f"{facts['reports']:,}")
    draft.fact("Data set of", made)
    draft.section("Seriousness of the reports")
    for name, label in (*_SERIOUSNESS.items(), *_GRAVE.items()):
        if name in facts:
            draft.fact(label, f"{facts[name]:,}")
    draft.section("Reactions reported most")
    for reaction in facts.get("reactions", []):
        draft.fact(f"Reports of {reaction['term']}", f"{reaction['reports']:,}")
    draft.section("Reports by year received")
    for year, count in facts.get("years", {}).items():
        draft.fact(f"Reports received in {year}", f"{count:,}")
    return draft.text()


def _counts(faers: Json, part: str) -> list[tuple[str, int]]:
    """Pairs of value and number of reports, highest first; equal counts keep their order."""
    counts = [
        (term, count)
        for row in rows(faers, part, "results")
        if (term := text(row, "term")) and (count := number(row, "count")) is not None
    ]
    return sorted(counts, key=lambda row: -row[1])


def _years(faers: Json) -> dict[str, int]:
    """The number of reports per year, summed from openFDA's counts per day."""
    years: Counter[str] = Counter()
    for row in rows(faers, "days", "results"):
        day, count = text(row, "time"), number(row, "count")
        if when(day) and count is not None:
            years[day[:4]] += count
    return dict(sorted(years.items()))
