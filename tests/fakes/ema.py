"""The EMA's file of medicines as it behaves (WIRE 6 and 10): all values strings or, in an older
form, lists; dates as dd/mm/yyyy; the whole file at once, with conditional requests; 403 from its
CDN for addresses that it does not like.
"""

import hashlib
import json
from datetime import UTC
from email.utils import format_datetime
from typing import Any

from tests.fakes.web import Clock, Reply, Request

PATH = "/en/documents/report/medicines-output-medicines_json-report_en.json"


class Ema:
    """Holds rows by product number. `blocked` refuses as CloudFront does; `lists` sends columns as
    lists; `forgets` leaves out ETag and Last-Modified and answers no condition."""

    origin = "https://www.ema.europa.eu"

    def __init__(self, clock: Clock) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        self.blocked = False
        self.lists = False
        self.forgets = False
        self._clock = clock
        self._made = clock()

    def put(self, number: str, name: str, **columns: Any) -> None:
        """A medicine, authorised unless `columns` say else; the file is made anew."""
        self.rows[number] = {
            "category": "Human",
            "name_of_medicine": name,
            "ema_product_number": number,
            "medicine_status": "Authorised",
            "international_non_proprietary_name_common_name": "madeupmab",
            "active_substance": "madeupmab",
            "therapeutic_area_mesh": "Colorectal Neoplasms",
            "therapeutic_indication": f"{name} is made up for tests.",
            "atc_code_human": "L01ZZ99",
            "marketing_authorisation_developer_applicant_holder": "Invented Pharma B.V.",
            "marketing_authorisation_date": "03/02/2021",
            "revision_number": "7",
            "conditional_approval": "No",
            "orphan_medicine": "Yes",
            "additional_monitoring": "No",
            "biosimilar": "No",
            "generic": "No",
            "medicine_url": f"{self.origin}/en/medicines/human/EPAR/{name.lower()}",
        }
        self.change(number, **columns)

    def change(self, number: str, **columns: Any) -> None:
        """Other values for some columns, updated today; the file is made anew."""
        today = f"{self._clock():%d/%m/%Y}"
        self.rows[number] |= {"last_updated_date": today, **columns}
        self._made = self._clock()

    def delete(self, number: str) -> None:
        """The row leaves the file."""
        del self.rows[number]
        self._made = self._clock()

    def answer(self, request: Request) -> Reply:
        """The file, 304 where the asker has it, 403 where the asker is blocked."""
        if self.blocked:
            return Reply(403, b"<html>Request blocked.</html>", {"Content-Type": "text/html"})
        if request.path != PATH:
            return Reply(404, b"<html>not found</html>", {"Content-Type": "text/html"})
        body = self.body()
        tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        if self.forgets:
            return Reply(200, body, {"Content-Type": "application/json"})
        headers = {
            "Content-Type": "application/json",
            "ETag": tag,
            "Last-Modified": format_datetime(self._made.astimezone(UTC), usegmt=True),
        }
        if request.headers.get("if-none-match") == tag:
            return Reply(304, b"", headers)
        return Reply(200, body, headers)

    def body(self) -> bytes:
        """The file."""
        rows = list(self.rows.values())
        if self.lists:
            rows = [
                {
                    name: value.split("; ") if name.startswith(("active", "thera")) else value
                    for name, value in row.items()
                }
                for row in rows
            ]
        meta = {
            "total_records": len(rows),
            "timestamp": f"{self._made.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        }
        return json.dumps({"meta": meta, "data": rows}).encode()
