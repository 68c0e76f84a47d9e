"""Two sites of one source on the fake web, and a client for them."""

from collections.abc import Iterator

import pytest

from tests.contract.connectors.conftest import MakeClient
from tests.contract.connectors.http.servers import EUTILS, PMC, Site
from tests.fakes.web import Clock, FakeWeb
from workers.http.client import SourceClient


@pytest.fixture
def eutils(clock: Clock) -> Site:
    return Site(EUTILS, clock)


@pytest.fixture
def pmc(clock: Clock) -> Site:
    return Site(PMC, clock)


@pytest.fixture
def web(eutils: Site, pmc: Site) -> Iterator[FakeWeb]:
    with FakeWeb(eutils, pmc) as running:
        yield running


@pytest.fixture
def client(source_client: MakeClient, web: FakeWeb) -> SourceClient:
    return source_client("pubmed", web, origins=[EUTILS, PMC])
