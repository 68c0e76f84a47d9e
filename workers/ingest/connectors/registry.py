"""All connectors, listed by hand; each is imported when it is first used."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from knowledge.feeds.sources import connector_policy
from store.core.settings import Settings
from workers.ingest.connectors.base import Connector
from workers.ingest.enrichment import Enricher

_CONNECTORS: dict[str, Callable[[Any, Settings], Connector]] = {
    "pubmed": lambda module, _: module.PUBMED,
    "clinicaltrials": lambda module, _: module.CLINICALTRIALS,
    "openfda-label": lambda module, _: module.OPENFDA_LABEL,
    "openfda-drugsfda": lambda module, _: module.OPENFDA_DRUGSFDA,
    "openfda-enforcement": lambda module, _: module.OPENFDA_ENFORCEMENT,
    "openfda-event": lambda module, _: module.OPENFDA_EVENT,
    "europepmc": lambda module, _: module.EUROPEPMC,
    "dailymed": lambda module, _: module.DAILYMED,
    "ema": lambda module, _: module.EMA,
    "cms": lambda module, settings: module.Cms(accept_license=settings.cms_accept_license),
    "guidelines": lambda module, settings: module.Guidelines(settings.guidelines_dir),
    "news": lambda module, _: module.NEWS,
}
_ENRICHERS = {"crossref": "CROSSREF", "openalex": "OPENALEX"}


def _module(name: str) -> Any:
    return import_module(f"workers.ingest.connectors.{name.partition('-')[0]}")


def connector(name: str, settings: Settings) -> Connector:
    """The connector that brings documents from the source `name`.

    Raises:
        LookupError: there is no such source, or it brings no documents of its own.
    """
    connector_policy(name)
    if name not in _CONNECTORS:
        raise LookupError(f"{name} brings no documents: it completes those that are held")
    return _CONNECTORS[name](_module(name), settings)


def is_enricher(name: str) -> bool:
    """True if the source only adds statements about documents of other sources."""
    return name in _ENRICHERS


def enricher(name: str) -> Enricher:
    """The enricher `name`, which is asked about held works."""
    source: Enricher = getattr(_module(name), _ENRICHERS[name])
    return source
