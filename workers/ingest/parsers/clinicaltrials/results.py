"""Writes the results of a ClinicalTrials.gov study as text: flow, baseline, outcomes, harms.

Every line names the measure and the group, so that no number stands without its meaning. Numbers
are written as in the registry.
"""

from collections.abc import Iterable
from typing import NamedTuple

from workers.ingest.parsers.clinicaltrials.protocol import yes_no
from workers.ingest.parsers.clinicaltrials.words import bracketed, counted, listed, plain, repeated
from workers.ingest.parsers.json_payload import Draft, Json, number, obj, rows, text, texts

MOST_FREQUENT = 20
"""The number of adverse event terms shown per kind; trials report up to thousands."""

_KINDS = {
    "PRIMARY": "Primary",
    "SECONDARY": "Secondary",
    "OTHER_PRE_SPECIFIED": "Other pre-specified",
    "POST_HOC": "Post hoc",
}
_COUNTS = frozenset({"number", "count of participants", "count of units", ""})


class _Groups:
    """The names of a module's groups by id; each description is written once in a record."""

    def __init__(self, groups: list[Json]) -> None:
        self._names = {text(group, "id"): repeated(text(group, "title")) for group in groups}

    def name(self, group_id: str) -> str:
        return self._names.get(group_id) or repeated(group_id)


def write_results(draft: Draft, study: Json) -> None:
    """Write the results with their limitations, and the registry's notes on missing results."""
    results = obj(study, "resultsSection")
    described: set[str] = set()
    _flow(draft, obj(results, "participantFlowModule"), described)
    _baseline(draft, obj(results, "baselineCharacteristicsModule"), described)
    for measure in rows(results, "outcomeMeasuresModule", "outcomeMeasures"):
        _outcome(draft, measure, described)
    _harms(draft, obj(results, "adverseEventsModule"), described)
    draft.section("Limitations of the results")
    draft.paragraph(text(results, "moreInfoModule", "limitationsAndCaveats", "description"))
    _annotations(draft, obj(study, "annotationSection", "annotationModule"))


def _introduced(draft: Draft, groups: list[Json], described: set[str]) -> _Groups:
    for group in groups:
        words = text(group, "description")
        if words and words not in described:
            described.add(words)
            draft.fact(f"Group {repeated(text(group, 'title'))}", words)
    return _Groups(groups)


def _flow(draft: Draft, module: Json, described: set[str]) -> None:
    draft.section("Participant flow")
    draft.paragraph(text(module, "recruitmentDetails"))
    draft.paragraph(text(module, "preAssignmentDetails"))
    units = text(module, "typeUnitsAnalyzed")
    draft.fact("Units analyzed besides participants", units)
    groups = _introduced(draft, rows(module, "groups"), described)
    for period in rows(module, "periods"):
        title = repeated(text(period, "title"))
        for milestone in rows(period, "milestones"):
            name = repeated(f"{title}, {plain(text(milestone, 'type'))}")
            _participants(draft, name, milestone, rows(milestone, "achievements"), groups)
        for reason in rows(period, "dropWithdraws"):
            name = repeated(f"{title}, not completed because of {text(reason, 'type')}")
            _participants(draft, name, reason, rows(reason, "reasons"), groups)


def _participants(
    draft: Draft, name: str, step: Json, counts: Iterable[Json], groups: _Groups
) -> None:
    parts = []
    for count in counts:
        units = text(count, "numUnits")
        value = listed((text(count, "numSubjects"), f"{units} units" if units else ""))
        parts.append(
            f"{groups.name(text(count, 'groupId'))} {bracketed(value, text(count, 'comment'))}"
        )
    draft.fact(name, listed(parts))
    draft.fact(f"Note on {name}", text(step, "comment"))


def _baseline(draft: Draft, module: Json, described: set[str]) -> None:
    draft.section("Baseline characteristics")
    draft.paragraph(text(module, "populationDescription"))
    draft.fact("Units analyzed besides participants", text(module, "typeUnitsAnalyzed"))
    groups = _introduced(draft, rows(module, "groups"), described)
    for denominators in rows(module, "denoms"):
        draft.fact(
            f"Baseline {repeated(text(denominators, 'units')).lower()}",
            listed(
                f"{groups.name(text(count, 'groupId'))} {text(count, 'value')}"
                for count in rows(denominators, "counts")
            ),
        )
    for measure in rows(module, "measures"):
        _values(draft, "Baseline ", measure, groups)
        draft.paragraph(text(measure, "description"))
        draft.paragraph(text(measure, "populationDescription"))


def _outcome(draft: Draft, measure: Json, described: set[str]) -> None:
    kind = text(measure, "type")
    title = text(measure, "title")
    short = repeated(title)
    draft.section(f"{_KINDS.get(kind, plain(kind).capitalize())} outcome result: {title}")
    draft.fact("Outcome measured", title)
    draft.fact(f"Time frame of {short}", text(measure, "timeFrame"))
    draft.paragraph(text(measure, "description"))
    draft.fact("Population analyzed", text(measure, "populationDescription"))
    reporting = text(measure, "reportingStatus")
    draft.fact("Reporting status", "" if reporting == "POSTED" else plain(reporting))
    draft.fact("Posting anticipated", text(measure, "anticipatedPostingDate"))
    draft.fact("Units analyzed besides participants", text(measure, "typeUnitsAnalyzed"))
    groups = _introduced(draft, rows(measure, "groups"), described)
    _values(draft, "", measure, groups)
    for analysis in rows(measure, "analyses"):
        _analysis(draft, short, analysis, groups)


def _values(draft: Draft, before: str, measure: Json, groups: _Groups) -> None:
    """Write one line per group, class and category for outcomes, one per category for baseline."""
    title = repeated(text(measure, "title"))
    scale = _scale(measure)
    whole = _sizes(rows(measure, "denoms"))
    for row in rows(measure, "classes"):
        part = _sizes(rows(row, "denoms"))
        class_name = repeated(text(row, "title"))
        for category in rows(row, "categories"):
            names = (title, class_name, repeated(text(category, "title")))
            name = before + ", ".join(word for word in names if word)
            lines = []
            for value in rows(category, "measurements"):
                group = text(value, "groupId")
                words = _value(scale, value)
                size = part.get(group) or whole.get(group)
                words += f", {size} analyzed" if size else ""
                lines.append(f"{groups.name(group)} {words}")
            if before:
                draft.fact(name, listed(lines))
                continue
            for line in lines:
                draft.fact(name, line)


def _sizes(denominators: list[Json]) -> dict[str, str]:
    """Group → number analyzed, such as `279 Participants`."""
    sizes: dict[str, str] = {}
    for denominator in denominators:
        units = repeated(text(denominator, "units"))
        for count in rows(denominator, "counts"):
            group = text(count, "groupId")
            size = f"{repeated(text(count, 'value'))} {units}".strip()
            sizes[group] = f"{sizes[group]}, {size}"[:200] if group in sizes else size
    return sizes


class _Scale(NamedTuple):
    """The properties that all values of a measure share."""

    kind: str
    unit: str
    dispersion: str


def _scale(measure: Json) -> _Scale:
    kind = repeated(plain(text(measure, "paramType"))).lower()
    dispersion = repeated(plain(text(measure, "dispersionType")))
    return _Scale(
        kind="" if kind.replace("_", " ") in _COUNTS else kind,
        unit=repeated(text(measure, "unitOfMeasure")),
        dispersion="" if dispersion == "not applicable" else dispersion,
    )


def _value(scale: _Scale, value: Json) -> str:
    """A value such as `median 18.9 Months (95% Confidence Interval 15.2 to 21.4)`."""
    words = [scale.kind, text(value, "value"), scale.unit]
    low, high = text(value, "lowerLimit"), text(value, "upperLimit")
    limits = f"{low} to {high}" if low and high else low or high
    around = " ".join(filter(None, (text(value, "spread"), limits)))
    if around:
        words.append(f"({scale.dispersion} {around})" if scale.dispersion else f"({around})")
    return bracketed(" ".join(word for word in words if word), text(value, "comment"))


def _analysis(draft: Draft, title: str, analysis: Json, groups: _Groups) -> None:
    compared = listed(groups.name(group) for group in texts(analysis, "groupIds"))
    name = f"Analysis of {title}"
    draft.fact(f"{name}, {compared}" if compared else name, _estimate(analysis))
    for label, field in (
        ("Analysis", "groupDescription"),
        ("Other analysis", "otherAnalysisDescription"),
        ("Note on the method", "statisticalComment"),
        ("Note on the p-value", "pValueComment"),
        ("Note on the estimate", "estimateComment"),
        ("Note on the lower limit", "ciLowerLimitComment"),
        ("Note on the upper limit", "ciUpperLimitComment"),
        ("Note on non-inferiority", "nonInferiorityComment"),
    ):
        draft.fact(f"{label}, {title}", text(analysis, field))


def _estimate(analysis: Json) -> str:
    """Such as `Hazard Ratio (HR) 0.46, 95% CI 0.37 to 0.57 (two sided), p <0.0001 (Log Rank)`."""
    value, p = text(analysis, "paramValue"), text(analysis, "pValue")
    low, high = text(analysis, "ciLowerLimit"), text(analysis, "ciUpperLimit")
    limits = f"{low} to {high}" if low and high else f"from {low}" if low else f"up to {high}"
    percent = text(analysis, "ciPctValue")
    interval = ""
    if low or high:
        interval = bracketed(
            f"{percent + '% ' if percent else ''}CI {limits}", plain(text(analysis, "ciNumSides"))
        )
    dispersion = f"{plain(text(analysis, 'dispersionType'))} {text(analysis, 'dispersionValue')}"
    if p and p[0] not in "<>=≤≥":
        p = f"= {p}"
    parts = (
        f"{text(analysis, 'paramType')} {value}".strip(),
        interval or (f"{percent}% CI without limits" if percent else ""),
        dispersion.strip(),
        f"p {p}" if p else "",
    )
    estimate = ", ".join(part for part in parts if part)
    estimate = bracketed(estimate, text(analysis, "statisticalMethod"))
    tested = yes_no(analysis, "testedNonInferiority")
    aim = plain(text(analysis, "nonInferiorityType"))
    return listed(
        (
            estimate,
            f"type of comparison: {aim}" if aim else "",
            f"non-inferiority tested: {tested}" if tested else "",
        )
    )


def _harms(draft: Draft, module: Json, described: set[str]) -> None:
    draft.section("Adverse events")
    draft.fact("Time frame of adverse events", text(module, "timeFrame"))
    threshold = text(module, "frequencyThreshold")
    draft.fact(
        "Other adverse events are reported above a frequency of",
        f"{threshold}%" if threshold else "",
    )
    draft.paragraph(text(module, "description"))
    eventful = rows(module, "eventGroups")
    groups = _introduced(draft, eventful, described)
    for name, field in (
        ("Deaths from any cause", "deaths"),
        ("Participants with serious adverse events", "serious"),
        ("Participants with other adverse events", "other"),
    ):
        for group in eventful:
            affected = counted(group, f"{field}NumAffected")
            at_risk = counted(group, f"{field}NumAtRisk")
            value = f"{affected or 'not stated'} of {at_risk}" if at_risk else affected
            if value:
                draft.fact(f"{name}, {groups.name(text(group, 'id'))}", value)
    draft.fact("Note on deaths", text(module, "allCauseMortalityComment"))
    _events(draft, "serious", rows(module, "seriousEvents"), groups)
    _events(draft, "other", rows(module, "otherEvents"), groups)


def _events(draft: Draft, kind: str, events: list[Json], groups: _Groups) -> None:
    """Write the most frequent terms, by participants affected in all groups."""
    affected = [
        sum(number(stat, "numAffected") or 0 for stat in rows(event, "stats")) for event in events
    ]
    order = sorted(range(len(events)), key=lambda place: (-affected[place], place))
    if len(events) > MOST_FREQUENT:
        draft.item(
            f"The {MOST_FREQUENT} most frequent {kind} adverse events of {len(events):,} follow"
        )
    for place in order[:MOST_FREQUENT]:
        event = events[place]
        term = repeated(bracketed(text(event, "term"), text(event, "organSystem")))
        counts = [
            f"{groups.name(text(stat, 'groupId'))} {_affected(stat)}"
            for stat in rows(event, "stats")
        ]
        draft.fact(f"{kind.capitalize()} adverse event {term}", listed(counts))
        draft.fact(f"Note on {term}", text(event, "notes"))


def _affected(stat: Json) -> str:
    affected, at_risk = counted(stat, "numAffected"), counted(stat, "numAtRisk")
    events = counted(stat, "numEvents")
    of = f"{affected or 'not stated'} of {at_risk}" if at_risk else affected
    of = f"{of} affected" if of else ""
    return bracketed(of, f"{events} {'event' if events == '1' else 'events'}" if events else "")


def _annotations(draft: Draft, module: Json) -> None:
    unposted = obj(module, "unpostedAnnotation")
    draft.section("Notes of the registry")
    draft.fact(
        "Results were submitted and are not posted, by", text(unposted, "unpostedResponsibleParty")
    )
    for event in rows(unposted, "unpostedEvents"):
        unknown = yes_no(event, "dateUnknown")
        date = listed((text(event, "date"), f"date unknown: {unknown}" if unknown else ""))
        draft.fact("Unposted results", bracketed(plain(text(event, "type")), date))
    for event in rows(module, "violationAnnotation", "violationEvents"):
        dates = [
            f"{name} {date}"
            for name in ("creation", "issued", "release", "posted")
            if (date := text(event, f"{name}Date"))
        ]
        kind = bracketed(plain(text(event, "type")), listed(dates))
        draft.fact("FDAAA 801 notice", listed((kind, text(event, "description"))))
