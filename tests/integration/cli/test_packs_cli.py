"""`attest evaluate packs --online` makes its clients itself: over real HTTP, from the settings."""

from cli.evaluate.packs import evaluate_packs, source_clients
from knowledge.scenarios import pack_files
from store.core.settings import Settings
from store.models import now
from tests.fakes.clinicaltrials import ClinicalTrials
from tests.fakes.crossref import Crossref
from tests.fakes.eutils import Eutils
from tests.fakes.web import Clock, FakeWeb


def test_the_sources_of_the_settings_are_asked_about_a_shipped_pack(settings: Settings) -> None:
    clock = Clock(now())
    pubmed, crossref, registry = Eutils(clock), Crossref(clock), ClinicalTrials(clock)
    files = {name: text for name, text in pack_files().items() if name == "ahre.yaml"}
    (pack,) = evaluate_packs(files).packs
    absent = pack.usable()[-1]
    for one in pack.usable():
        if one.doi is not None:
            crossref.put(one.doi, title=[one.title], issued={"date-parts": [[one.year]]})
        if one.pmid is not None and one != absent:
            year = f"<Year>{one.year}</Year>"
            pubmed.put(int(one.pmid), title=one.title, pub_date=year)
    with FakeWeb(pubmed, crossref, registry) as web:
        asking = settings.model_copy(update={"source_mirrors": web.mirrors})
        with source_clients(asking) as clients:
            report = evaluate_packs(files, clients)
        asked = {request.origin for request in web.requests}
    assert [(fault.title, fault.problem) for fault in report.faults] == [
        (absent.title, f"pmid {absent.pmid}: pubmed has no such record")
    ]
    assert report.looked_up == sum(len(one.identifiers()) for one in pack.usable())
    assert asked == {pubmed.origin, crossref.origin}
