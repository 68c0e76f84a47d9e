"""How the little world writes into each fake."""

from dataclasses import dataclass, field
from typing import Any

from tests.chaos.world import Adapter, Skewed
from tests.fakes.clinicaltrials import ClinicalTrials
from tests.fakes.dailymed import DailyMed
from tests.fakes.europepmc import EuropePmc, abstract
from tests.fakes.eutils import Eutils
from tests.fakes.openfda import OpenFda
from tests.fakes.web import Clock


@dataclass
class PubMed:
    """Articles; a retraction comes with a notice of its own."""

    service: Eutils
    source: str = "pubmed"
    query: str = "invented"
    retracts: bool = True
    deletes: bool = True

    def put(self, number: int, words: str) -> None:
        self.service.put(number, title=f"Invented article {number}.", abstract=[("", "", words)])

    def change(self, number: int, words: str) -> None:
        self.service.change(number, abstract=[("", "", words)])

    def retract(self, number: int) -> None:
        self.service.retract(number, 500_000 + number)

    def delete(self, number: int) -> None:
        self.service.delete(number)

    def key(self, number: int) -> str:
        return f"pmid:{number}"


@dataclass
class EuropePreprints:
    """Preprints at Europe PMC: nobody else has them."""

    service: EuropePmc
    source: str = "europepmc"
    query: str = "invented"
    retracts: bool = True
    deletes: bool = False

    def put(self, number: int, words: str) -> None:
        title = f"Invented preprint {number}"
        self.service.put(f"PPR{number}", "PPR", title=title, abstractText=abstract(Results=words))

    def change(self, number: int, words: str) -> None:
        self.service.change(f"PPR{number}", "PPR", abstractText=abstract(Results=words))

    def retract(self, number: int) -> None:
        listed = {
            "commentCorrection": [
                {"id": f"PPR9{number}", "source": "PPR", "type": "Retraction in", "orderIn": 1}
            ]
        }
        self.service.change(f"PPR{number}", "PPR", commentCorrectionList=listed)

    def delete(self, number: int) -> None:
        raise AssertionError("not in this world")

    def key(self, number: int) -> str:
        return f"preprint:ppr:PPR{number}"


@dataclass
class Registry:
    """Trials."""

    service: ClinicalTrials
    source: str = "clinicaltrials"
    query: str = "made-up"
    retracts: bool = False
    deletes: bool = True

    def put(self, number: int, words: str) -> None:
        self.service.put(f"NCT{number:08}")
        self.change(number, words)

    def change(self, number: int, words: str) -> None:
        self.service.change(f"NCT{number:08}", descriptionModule={"briefSummary": words})

    def retract(self, number: int) -> None:
        raise AssertionError("not in this world")

    def delete(self, number: int) -> None:
        self.service.delete(f"NCT{number:08}")

    def key(self, number: int) -> str:
        return f"nct_id:nct{number:08}"


@dataclass
class Labels:
    """Labels at DailyMed."""

    service: DailyMed
    source: str = "dailymed"
    query: str = "madeupmab"
    retracts: bool = False
    deletes: bool = True

    def put(self, number: int, words: str) -> None:
        sections = (("34067-9", "1 INDICATIONS AND USAGE", (words,)),)
        self.service.put(self._set_id(number), "Madeupmab", sections=sections)

    def change(self, number: int, words: str) -> None:
        self.service.change(self._set_id(number), words)

    def retract(self, number: int) -> None:
        raise AssertionError("not in this world")

    def delete(self, number: int) -> None:
        self.service.delete(self._set_id(number))

    def key(self, number: int) -> str:
        return f"set_id:{self._set_id(number)}"

    @staticmethod
    def _set_id(number: int) -> str:
        return f"00000000-0000-4000-8000-{number:012}"


@dataclass
class Recalls:
    """FDA recalls; a changed one is reported anew."""

    service: OpenFda
    clock: Clock
    source: str = "openfda-enforcement"
    query: str = "reason_for_recall:invented"
    retracts: bool = False
    deletes: bool = False
    held: dict[int, dict[str, Any]] = field(default_factory=dict)

    def put(self, number: int, words: str) -> None:
        today = self.clock().strftime("%Y%m%d")
        record = {
            "recall_number": self._name(number),
            "event_id": str(number),
            "status": "Ongoing",
            "classification": "Class II",
            "product_type": "Drugs",
            "product_description": "Invented tablets, 10 mg",
            "reason_for_recall": words,
            "recalling_firm": "Invented Labs, Inc.",
            "recall_initiation_date": today,
            "report_date": today,
            "openfda": {},
        }
        self.service.put("enforcement", record)

    def change(self, number: int, words: str) -> None:
        today = self.clock().strftime("%Y%m%d")
        name = self._name(number)
        self.service.change("enforcement", name, reason_for_recall=words, report_date=today)

    def retract(self, number: int) -> None:
        raise AssertionError("not in this world")

    def delete(self, number: int) -> None:
        raise AssertionError("not in this world")

    def key(self, number: int) -> str:
        return f"regulator:recall:{self._name(number)}"

    @staticmethod
    def _name(number: int) -> str:
        return f"D-{number}-2026"


def adapters(clock: Clock) -> list[Adapter]:
    """All sources of the world; no two of their clocks agree."""
    behind, ahead = Skewed(clock, -5), Skewed(clock, 3)
    return [
        PubMed(Eutils(behind)),
        EuropePreprints(EuropePmc(clock)),
        Registry(ClinicalTrials(ahead)),
        Labels(DailyMed(behind)),
        Recalls(OpenFda(ahead), ahead),
    ]
