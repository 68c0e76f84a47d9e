"""Open-i's image search, as its published answers look."""

import json
from typing import Any

from tests.fakes.web import Reply, Request

Record = dict[str, Any]

PAGE = 30
"""More records than that were never sent at once."""
TYPES = frozenset({"xg", "xm", "x", "u", "ph", "p", "mc", "m", "g", "c"})


class OpenI:
    """A little Open-i: every figure answers every query of its kind and collection."""

    origin = "https://openi.nlm.nih.gov"

    def __init__(self) -> None:
        self.figures: list[Record] = []

    def put(self, title: str, caption: str, /, *, kind: str = "g", **fields: Any) -> Record:
        """Add a figure; `fields` replace those of a made-up article."""
        number = 9_900_000 + len(self.figures)
        picture = f"/512/1/1/PMC{number}_made-up-{number}-F1.png"
        self.figures.append(
            {
                "uid": f"PMC{number}",
                "pmcid": str(number),
                "docSource": "PMC",
                "pmid": str(99_000_000 + len(self.figures)),
                "articleType": "ra",
                "title": title,
                "journal_title": "Journal of Made-up Results",
                "authors": "Made-up A",
                "MeSH": {"minor": [], "major": []},
                "ccLicense": "by",
                "licenseURL": "http://creativecommons.org/licenses/by/4.0/",
                "licenseType": "open-access",
                "abstract": "<p>Made up.</p>",
                "image": {"id": "F1", "caption": caption, "modalityMajor": kind, "mention": ""},
                "imgThumb": f"/imgs{picture}".replace("512", "100"),
                "imgLarge": f"/imgs{picture}",
                "detailedQueryURL": f"retrieve.php?img=PMC{number}_F1&query=&req=4",
            }
            | fields
        )
        return self.figures[-1]

    def answer(self, request: Request) -> Reply:
        """What Open-i would say."""
        if request.path != "/api/search":
            return Reply(404, b"<html>not found</html>")
        asked = request.params
        kind = asked.get("it", "")
        if not asked.get("query") or (kind and kind not in TYPES):
            return _json({"Query-Error": "Invalid request type."})
        first, last = int(asked.get("m", 1)), int(asked.get("n", 10))
        found = [
            record
            for record in self.figures
            if _is_of(record, kind) and _is_in(record, asked.get("coll", ""))
        ]
        if not found:
            return _json({"total": 0})
        sent = found[first - 1 : min(last, first - 1 + PAGE)]
        return _json(
            {
                "min": first,
                "max": first + len(sent) - 1,
                "count": len(sent),
                "total": len(found),
                "list": sent,
            }
        )


def _is_of(record: Record, kind: str) -> bool:
    is_graphic = record["image"]["modalityMajor"] == "g"
    return not kind or record["image"]["modalityMajor"] == kind or (kind == "xg" and not is_graphic)


def _is_in(record: Record, collection: str) -> bool:
    return not collection or record["docSource"].lower() == collection


def _json(value: Record) -> Reply:
    return Reply(200, json.dumps(value).encode(), {"Content-Type": "application/json"})
