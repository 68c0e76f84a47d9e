"""DailyMed v2 as it behaves (WIRE 6 and 10): listings by name with matches inside words, the string
"null" for no next page, an empty page past the end, labels as SPL documents, 404 for unknown ones.
"""

import json
from dataclasses import dataclass, replace
from datetime import date
from xml.sax.saxutils import escape, quoteattr

from tests.fakes.web import Clock, Reply, Request

SERVICES = "/dailymed/services/v2"
_JSON = {"Content-Type": "application/json"}
_COMPARISONS = {
    "lt": date.__lt__,
    "lte": date.__le__,
    "gt": date.__gt__,
    "gte": date.__ge__,
    "eq": date.__eq__,
}


@dataclass(frozen=True)
class Label:
    """A label; `sections` are (LOINC code, title, paragraphs)."""

    set_id: str
    name: str
    substance: str
    labeler: str
    version: int
    published: date
    sections: tuple[tuple[str, str, tuple[str, ...]], ...]
    rxcui: str

    @property
    def title(self) -> str:
        """As listings have it."""
        return f"{self.name} ({self.substance}) INJECTION [{self.labeler}]".upper()


class DailyMed:
    """Holds labels by set id; `page_size` may be set below what a request asks for."""

    origin = "https://dailymed.nlm.nih.gov"

    def __init__(self, clock: Clock) -> None:
        self.labels: dict[str, Label] = {}
        self.largest_page = 100
        self._clock = clock

    def put(
        self,
        set_id: str,
        name: str,
        *,
        substance: str = "madeupmab",
        labeler: str = "Invented Labs, Inc.",
        sections: tuple[tuple[str, str, tuple[str, ...]], ...] = (
            ("34067-9", "1 INDICATIONS AND USAGE", ("It is made up for tests.",)),
        ),
        rxcui: str = "",
    ) -> None:
        """A new label, published today."""
        self.labels[set_id] = Label(
            set_id, name, substance, labeler, 1, self._clock().date(), sections, rxcui
        )

    def change(self, set_id: str, *paragraphs: str) -> None:
        """A new version, published today, whose only section has these paragraphs."""
        old = self.labels[set_id]
        self.labels[set_id] = replace(
            old,
            version=old.version + 1,
            published=self._clock().date(),
            sections=(("34067-9", "1 INDICATIONS AND USAGE", paragraphs),),
        )

    def delete(self, set_id: str) -> None:
        """The label is withdrawn from DailyMed."""
        del self.labels[set_id]

    def answer(self, request: Request) -> Reply:
        """Of the listing, or of one label."""
        if request.path == f"{SERVICES}/spls.json":
            return self._listing(request)
        name = request.path.removeprefix(f"{SERVICES}/spls/")
        label = self.labels.get(name.removesuffix(".xml"))
        if label is None or not name.endswith(".xml"):
            return Reply(404, b"<html><body>not found</body></html>", {"Content-Type": "text/html"})
        return Reply(200, spl(label), {"Content-Type": "text/xml"})

    def _listing(self, request: Request) -> Reply:
        asked = request.params
        page = int(asked.get("page", "1"))
        size = min(int(asked.get("pagesize", "100")), self.largest_page)
        found = [label for label in self.labels.values() if self._matches(label, request)]
        pages = -(-len(found) // size)
        body = {
            "data": [
                {
                    "setid": label.set_id,
                    "title": label.title,
                    "spl_version": label.version,
                    "published_date": f"{label.published:%b %d, %Y}",
                }
                for label in found[(page - 1) * size : page * size]
            ],
            "metadata": {
                "db_published_date": f"{self._clock():%b %d, %Y %I:%M:%S%p} EST",
                "elements_per_page": size,
                "total_elements": len(found),
                "total_pages": pages,
                "current_page": page,
                "next_page": page + 1 if page < pages else "null",
                "next_page_url": "null",
            },
        }
        return Reply(200, json.dumps(body).encode(), _JSON)

    def _matches(self, label: Label, request: Request) -> bool:
        asked = request.params  # unknown ones are ignored
        compare = _COMPARISONS[asked.get("published_date_comparison", "eq")]
        day = asked.get("published_date")
        return (
            asked.get("drug_name", "").upper() in label.title
            and asked.get("setid", label.set_id) == label.set_id
            and asked.get("rxcui", label.rxcui) == label.rxcui
            and (day is None or compare(label.published, date.fromisoformat(day)))
        )


def spl(label: Label) -> bytes:
    """The label as an SPL document, with what real ones have: data elements, nested sections, a
    list, a table with a footnote, a picture."""
    sections = "".join(
        f'<component><section><id root="s"/><code code={quoteattr(code)} '
        f'codeSystem="2.16.840.1.113883.6.1" displayName="SECTION"/><title>{escape(title)}</title>'
        f"<text>{''.join(f'<paragraph>{escape(words)}</paragraph>' for words in paragraphs)}</text>"
        "</section></component>"
        for code, title, paragraphs in label.sections
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<?xml-stylesheet href="http://www.accessdata.fda.gov/spl/stylesheet/spl.xsl" type="text/xsl"?>
<document xmlns="urn:hl7-org:v3" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<id root="0f1e2d3c-0000-4000-8000-{label.version:012d}"/>
<code code="34391-3" codeSystem="2.16.840.1.113883.6.1"
 displayName="HUMAN PRESCRIPTION DRUG LABEL"/>
<title>These highlights do not include all the information needed to use {escape(label.name)} safely
 and effectively. See full prescribing information for {escape(label.name)}.<br/>
{escape(label.name)} ({escape(label.substance)}) injection<br/>Initial U.S. Approval: 2031</title>
<effectiveTime value="{label.published:%Y%m%d}"/>
<setId root={quoteattr(label.set_id)}/>
<versionNumber value="{label.version}"/>
<author><time/><assignedEntity><representedOrganization><id extension="0" root="1.3.6.1.4.1.519.1"/>
<name>{escape(label.labeler)}</name></representedOrganization></assignedEntity></author>
<component><structuredBody>
<component><section><id root="p"/><code code="48780-1" displayName="SPL PRODUCT DATA ELEMENTS"/>
<subject><manufacturedProduct><manufacturedProduct>
<code code="00000-001" codeSystem="2.16.840.1.113883.6.69"/><name>{escape(label.name)}</name>
<formCode code="C1" displayName="INJECTION"/>
<asEntityWithGeneric><genericMedicine><name>{escape(label.substance)}</name></genericMedicine>
</asEntityWithGeneric>
<ingredient classCode="ACTIB"><ingredientSubstance><code code="U1"/>
<name>{escape(label.substance.upper())}</name><activeMoiety><activeMoiety><code code="U1"/>
<name>{escape(label.substance.upper())}</name></activeMoiety></activeMoiety></ingredientSubstance>
</ingredient>
<ingredient classCode="IACT"><ingredientSubstance><name>WATER</name></ingredientSubstance>
</ingredient>
<asContent><containerPackagedProduct>
<code code="00000-001-01" codeSystem="2.16.840.1.113883.6.69"/>
<formCode code="C2" displayName="VIAL"/></containerPackagedProduct></asContent>
</manufacturedProduct>
<subjectOf><approval><id extension="BLA000001" root="2.16.840.1.113883.3.150"/>
<code code="C3" displayName="BLA"/></approval></subjectOf>
<consumedIn><substanceAdministration><routeCode code="C4" displayName="SUBCUTANEOUS"/>
</substanceAdministration></consumedIn>
</manufacturedProduct></subject></section></component>
{sections}
</structuredBody></component></document>
""".encode()
