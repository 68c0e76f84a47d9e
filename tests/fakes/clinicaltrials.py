"""ClinicalTrials.gov API v2 as it behaves (WIRE 2 and 10), over a few made-up studies.

Counts only on the first page, no token on the last, tokens that expire or belong to other
parameters, empty pages with a token, filters that a query of NCT ids switches off, ids that spoil a
batch, redirects of alias ids, errors in plain text.
"""

import base64
import copy
import json
import re
from datetime import date, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode

from tests.fakes.web import Clock, Reply, Request

Study = dict[str, Any]

_PARAMETERS = re.compile(
    r"format|markupFormat|fields|sort|countTotal|pageSize|pageToken|aggFilters|geoDecay|"
    r"query\.(cond|term|locn|titles|intr|outc|spons|lead|id|patient)|"
    r"(filter|postFilter)\.(overallStatus|geo|ids|advanced|synonyms)"
)
_ONLY_IDS = re.compile(r"NCT\d{8}([ ,]+(OR )?NCT\d{8})*", re.IGNORECASE)
_RANGE = re.compile(
    r"AREA\[LastUpdatePostDate\]RANGE\[(MIN|\d{4}-\d\d-\d\d),(MAX|\d{4}-\d\d-\d\d)\]"
)
_PAGED = ("countTotal", "pageSize", "pageToken")
_TEXT = {"Content-Type": "text/plain"}
_JSON = {"Content-Type": "application/json"}


class ClinicalTrials:
    """The registry. Days are those of `clock`; each change makes a new state of the data set."""

    origin = "https://clinicaltrials.gov"

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.studies: dict[str, Study] = {}
        self.aliases: dict[str, str] = {}
        self.empty_pages = 0
        """How many pages without studies come, with a token, before the second page."""
        self.token_lives = timedelta(hours=1)
        self.unknown_ids_spoil = True
        """Whether one id that is not there rejects all of `filter.ids` (WIRE 2, reported)."""
        self._stamp = clock()

    def put(self, nct_id: str, **fields: Any) -> Study:
        """Register a study; `fields` as of `made_up_study`."""
        study = made_up_study(nct_id, self.clock().date(), **fields)
        self.studies[nct_id] = study
        self._stamp = self.clock()
        return study

    def change(self, nct_id: str, **modules: dict[str, Any]) -> Study:
        """Update modules of the protocol section (`statusModule={…}`): posted today."""
        study = copy.deepcopy(self.studies[nct_id])
        for name, fields in modules.items():
            study["protocolSection"].setdefault(name, {}).update(fields)
        status = study["protocolSection"]["statusModule"]
        status["lastUpdatePostDateStruct"] = {"date": str(self.clock().date()), "type": "ACTUAL"}
        self.studies[nct_id] = study
        self._stamp = self.clock()
        return study

    def delete(self, nct_id: str) -> None:
        """Take a study out; there is no list of such."""
        del self.studies[nct_id]
        self._stamp = self.clock()

    def alias(self, old: str, nct_id: str) -> None:
        """Let `old` be an obsolete id of `nct_id`, which names it: its address redirects."""
        self.aliases[old] = nct_id
        if nct_id in self.studies:
            self.change(nct_id, identificationModule={"nctIdAliases": [old]})

    def answer(self, request: Request) -> Reply:
        """As the API."""
        path = request.path.removeprefix("/api/v2")
        if path == "/version":
            return _json(
                {"apiVersion": "2.0.5", "dataTimestamp": f"{self._stamp:%Y-%m-%dT%H:%M:%S}"}
            )
        for name in request.params:
            if not _PARAMETERS.fullmatch(name):
                return _refused(400, f"`{name}` is unknown parameter")
        if path == "/studies":
            return self._search(request.params)
        if path.startswith("/studies/"):
            return self._single(path.removeprefix("/studies/"), request)
        return _refused(404, "Not found")

    def _single(self, nct_id: str, request: Request) -> Reply:
        if not re.fullmatch(r"NCT\d{8}", nct_id):
            return _refused(400, "Invalid value in parameter `nctId`")
        if nct_id in self.aliases:
            query = f"?{urlencode(request.params)}" if request.params else ""
            place = f"{self.origin}/api/v2/studies/{self.aliases[nct_id]}{query}"
            return Reply(301, b"", {"Location": place})
        if nct_id not in self.studies:
            return _refused(404, f"Study {nct_id} is not there")
        return _json(self.studies[nct_id])

    def _search(self, params: Any) -> Reply:
        named = [part for part in re.split(r"[,|]", params.get("filter.ids", "")) if part]
        if self.unknown_ids_spoil and any(nct_id not in self.studies for nct_id in named):
            return _refused(400, "Invalid value in parameter `filter.ids`")
        advanced = params.get("filter.advanced", "")
        if advanced and not _RANGE.fullmatch(advanced):
            return _refused(400, "Invalid value in parameter `filter.advanced`")
        term = params.get("query.term", "")
        if term.count('"') % 2 or term.count("(") != term.count(")"):
            return _refused(400, "Invalid value in parameter `query.term`")
        found = [study for study in self.studies.values() if _matches(study, term)]
        if not _ONLY_IDS.fullmatch(term.strip()):  # which switches all filters off
            found = [study for study in found if not named or _nct_id(study) in named]
            found = [study for study in found if not advanced or _within(study, advanced)]
        newest_first = params.get("sort") == "LastUpdatePostDate:desc"
        found.sort(key=lambda study: (_updated(study), _nct_id(study)), reverse=newest_first)
        return self._page(found, params)

    def _page(self, found: list[Study], params: Any) -> Reply:
        kept = urlencode(sorted((k, v) for k, v in params.items() if k not in _PAGED))
        size = min(int(params.get("pageSize", 10)), 1000)
        begin, empties = 0, self.empty_pages
        if "pageToken" in params:
            try:
                token = dict(parse_qsl(base64.urlsafe_b64decode(params["pageToken"]).decode()))
                made, begin = datetime.fromisoformat(token["made"]), int(token["begin"])
            except (ValueError, KeyError):
                return _refused(400, "Invalid value in parameter `pageToken`")
            if token.get("params", "") != kept or self.clock() - made > self.token_lives:
                return _refused(400, "Invalid value in parameter `pageToken`")
            empties = int(token["empties"])
            if empties:
                return _json(
                    {"studies": [], "nextPageToken": self._token(begin, kept, empties - 1)}
                )
        page: dict[str, Any] = {}
        if params.get("countTotal") == "true" and "pageToken" not in params:
            page["totalCount"] = len(found)
        page["studies"] = found[begin : begin + size]
        if begin + size < len(found):
            page["nextPageToken"] = self._token(begin + size, kept, empties)
        return _json(page)

    def _token(self, begin: int, kept: str, empties: int) -> str:
        token = {
            "begin": begin,
            "params": kept,
            "empties": empties,
            "made": self.clock().isoformat(),
        }
        return base64.urlsafe_b64encode(urlencode(token).encode()).decode()


def made_up_study(
    nct_id: str,
    day: date,
    *,
    title: str = "A made-up study of nothing in particular",
    status: str = "RECRUITING",
    phases: tuple[str, ...] = ("PHASE2",),
    conditions: tuple[str, ...] = ("Imagined Disease",),
    results: bool = False,
    start: str = "2024-03",
) -> Study:
    """A study in the registry's form; every word of it is made up."""
    study: Study = {
        "protocolSection": {
            "identificationModule": {
                "nctId": nct_id,
                "orgStudyIdInfo": {"id": f"MADE-UP-{nct_id[-3:]}"},
                "briefTitle": title,
                "officialTitle": f"{title}: an invented protocol",
            },
            "statusModule": {
                "overallStatus": status,
                "startDateStruct": {"date": start, "type": "ACTUAL"},
                "completionDateStruct": {"date": "2029", "type": "ESTIMATED"},
                "lastUpdatePostDateStruct": {"date": str(day), "type": "ACTUAL"},
            },
            "sponsorCollaboratorsModule": {
                "leadSponsor": {"name": "Invented University", "class": "OTHER"}
            },
            "descriptionModule": {"briefSummary": "Nobody ever did this; it is for a test."},
            "conditionsModule": {"conditions": list(conditions)},
            "designModule": {
                "studyType": "INTERVENTIONAL",
                "phases": list(phases),
                "enrollmentInfo": {"count": 1234, "type": "ESTIMATED"},
            },
            "outcomesModule": {
                "primaryOutcomes": [{"measure": "Made-up endpoint", "timeFrame": "2 years"}]
            },
        },
        "derivedSection": {"miscInfoModule": {"versionHolder": str(day)}},
        "hasResults": results,
    }
    if results:
        study["resultsSection"] = _made_up_results()
    return study


def _made_up_results() -> dict[str, Any]:
    groups = [{"id": "OG000", "title": "Made-up arm"}, {"id": "OG001", "title": "Nothing"}]
    values = [
        {"groupId": "OG000", "value": "18.9", "lowerLimit": "15.2", "upperLimit": "21.4"},
        {"groupId": "OG001", "value": "NA", "comment": "Not reached"},
    ]
    analysis = {
        "groupIds": ["OG000", "OG001"],
        "paramType": "Hazard Ratio (HR)",
        "paramValue": "0.46",
        "ciPctValue": "95",
        "ciLowerLimit": "0.37",
        "ciUpperLimit": "0.57",
        "pValue": "<0.0001",
        "statisticalMethod": "Log Rank",
    }
    measure = {
        "type": "PRIMARY",
        "title": "Made-up endpoint",
        "paramType": "MEDIAN",
        "dispersionType": "95% Confidence Interval",
        "unitOfMeasure": "Months",
        "groups": groups,
        "classes": [{"categories": [{"measurements": values}]}],
        "analyses": [analysis],
    }
    return {"outcomeMeasuresModule": {"outcomeMeasures": [measure]}}


def _nct_id(study: Study) -> str:
    return str(study["protocolSection"]["identificationModule"]["nctId"])


def _updated(study: Study) -> str:
    return str(study["protocolSection"]["statusModule"]["lastUpdatePostDateStruct"]["date"])


def _within(study: Study, advanced: str) -> bool:
    bounds = _RANGE.fullmatch(advanced)
    assert bounds is not None
    low = "" if bounds[1] == "MIN" else bounds[1]
    high = "9999" if bounds[2] == "MAX" else bounds[2]
    return low <= _updated(study) <= high


def _matches(study: Study, term: str) -> bool:
    """Every word, or one of several that OR joins, stands in the study."""
    words = json.dumps(study).lower()
    asked = re.sub(r'["()]', " ", term)
    return any(all(word in words for word in part.lower().split()) for part in asked.split(" OR "))


def _json(value: Any) -> Reply:
    return Reply(200, json.dumps(value).encode(), _JSON)


def _refused(status: int, words: str) -> Reply:
    return Reply(status, words.encode(), _TEXT)
