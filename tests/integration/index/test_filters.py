"""Filters: a filtered search finds what a look at every chunk finds, however it goes about it."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sqlmodel import Session

from store.core.spans import Structure
from store.core.unit_of_work import Store
from store.documents import publication_status
from store.documents.documents import put_versions
from store.documents.records import Notice, SourceRecord
from store.index import dense, lexical
from store.index.filters import Filter, few, passing
from store.index.sizes import sizes

SAME_DATABASE = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
EMPTY = Structure(sections=(), paragraphs=(), sentences=())
KINDS = ("pubmed", "clinicaltrials", "label")
TAGS = ("breast", "colon", "lung")
FIRST_DAY = datetime(2020, 1, 1, tzinfo=UTC)
DAYS = 12
STEPS = 5
TERMS = range(1, 9)


@dataclass
class Version:
    """What the brute-force search knows of a version."""

    id: UUID
    work: int
    kind: str
    published: datetime | None
    tags: dict[str, list[str]]
    created: int
    superseded: int | None = None
    retracted: bool = False


@dataclass
class World:
    """Works that were stored, changed and retracted in steps, with chunks for each version.

    `moments[i]` lies between step i and step i + 1.
    """

    store: Store
    versions: list[Version] = field(default_factory=list)
    moments: list[datetime] = field(default_factory=list)
    ended: set[int] = field(default_factory=set)
    chunks: dict[int, Version] = field(default_factory=dict)
    windows: list[tuple[int, NDArray[np.float32]]] = field(default_factory=list)

    def passes(self, version: Version, only: Filter) -> bool:
        """Whether the version passes, as the documentation of `Filter` says."""
        step = len(self.moments) if only.as_of is None else self.moments.index(only.as_of)
        until = version.superseded
        if version.retracted or version.created > step or (until is not None and until <= step):
            return False
        if version.work in self.ended:
            return False
        dated = version.published
        return (
            (only.source_types is None or version.kind in only.source_types)
            and all(
                asked is None or bool(asked & set(version.tags[name]))
                for name in ("focus", "diseases", "decisions")
                if (asked := getattr(only, name)) is not None
            )
            and (
                only.published_from is None
                or (dated or datetime.min.replace(tzinfo=UTC)) >= only.published_from
            )
            and (only.published_to is None or (dated is not None and dated <= only.published_to))
            and (only.version_ids is None or version.id in only.version_ids)
        )

    def passing(self, only: Filter) -> set[int]:
        """The chunks that pass."""
        return {key for key, version in self.chunks.items() if self.passes(version, only)}


def unit(rng: np.random.Generator) -> NDArray[np.float32]:
    vector = rng.standard_normal(384).astype(np.float32)
    found: NDArray[np.float32] = vector / np.linalg.norm(vector)
    return found


@pytest.fixture
def world(store: Store) -> World:
    """40 works over five steps: stored, changed, retracted."""
    rng, numbers = random.Random(11), np.random.default_rng(11)
    world = World(store)
    latest: dict[int, Version] = {}
    for step in range(STEPS):
        for work in rng.sample(range(40), 25):
            if work not in world.ended:
                _change(world, latest, work, step, rng)
        for work in rng.sample(sorted(latest), 2):
            _retract(world, latest, work)
        with store.engine.connect() as db:
            world.moments.append(db.execute(sa.text("SELECT clock_timestamp()")).scalar_one())
    with store.unit_of_work("test") as unit_of_work:
        session = unit_of_work.session
        for version in world.versions:
            _index(world, session, version, rng, numbers)
    with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as db:
        db.execute(sa.text("ANALYZE"))
    return world


def _change(
    world: World, latest: dict[int, Version], work: int, step: int, rng: random.Random
) -> None:
    published = rng.choice([None, *(FIRST_DAY + timedelta(days=day) for day in range(DAYS))])
    record = SourceRecord(
        source_type=rng.choice(KINDS),
        title=f"Work {work}",
        text=f"Words of work {work} at step {step}.",
        source_key=f"work-{work}",
        published_at=published,
    )
    record = record.model_copy(update={"source_type": KINDS[work % 3]})
    with world.store.unit_of_work("test") as unit_of_work:
        (stored,) = put_versions(unit_of_work, [(record, EMPTY)])
    if work in latest:
        latest[work].superseded = step
    tags = {
        name: rng.sample(TAGS, rng.randint(0, 3)) for name in ("focus", "diseases", "decisions")
    }
    version = Version(stored.version_id, work, record.source_type, published, tags, step)
    latest[work] = version
    world.versions.append(version)


def _retract(world: World, latest: dict[int, Version], work: int) -> None:
    with world.store.unit_of_work("test") as unit_of_work:
        document_id = unit_of_work.session.execute(
            sa.text("SELECT document_id FROM document_version WHERE id = :id"),
            {"id": latest[work].id},
        ).scalar_one()
        notice = (Notice(kind="retraction", notice_id=f"n{work}"),)
        publication_status.lock(unit_of_work.session, [document_id])
        publication_status.put_notices(unit_of_work, "pubmed", {document_id: notice}, FIRST_DAY)
        publication_status.settle(unit_of_work, [document_id])
    latest[work].retracted = True
    world.ended.add(work)


def _index(
    world: World,
    session: Session,
    version: Version,
    rng: random.Random,
    numbers: np.random.Generator,
) -> None:
    tag_first = rng.random() < 0.5
    if tag_first:
        _tag(session, version)
    keys = (
        session.execute(
            sa.text(
                'INSERT INTO chunk (version_id, ordinal, section, start, "end") '
                "SELECT :id, n, '', n, n + 1 FROM generate_series(1, :count) AS n RETURNING id"
            ),
            {"id": version.id, "count": rng.randint(1, 3)},
        )
        .scalars()
        .all()
    )
    if not tag_first:
        _tag(session, version)
    counted = []
    for key in keys:
        world.chunks[key] = version
        for _ in range(rng.randint(1, 2)):
            world.windows.append((key, unit(numbers)))
        counted.append((key, Counter(rng.choices(TERMS, k=rng.randint(1, 12)))))
    mine = [(key, 0, 1, vector) for key, vector in world.windows if world.chunks[key] is version]
    dense.write_vectors(session, mine)
    lexical.write_segment(session, counted)


def _tag(session: Session, version: Version) -> None:
    session.execute(
        sa.text(
            "INSERT INTO version_tags (version_id, focus, diseases, decisions, vocabulary) "
            "VALUES (:id, :focus, :diseases, :decisions, 'test') ON CONFLICT (version_id) "
            "DO UPDATE SET focus = :focus, diseases = :diseases, decisions = :decisions"
        ),
        {"id": version.id, **version.tags},
    )


@st.composite
def filters(draw: st.DrawFn) -> dict[str, Any]:
    """The fields of a filter; versions and moments by their numbers."""
    some = st.none() | st.frozensets(st.sampled_from(TAGS), max_size=2)
    day = st.none() | st.integers(0, DAYS - 1).map(lambda n: FIRST_DAY + timedelta(days=n))
    return {
        "source_types": draw(st.none() | st.frozensets(st.sampled_from([*KINDS, "news"]))),
        "focus": draw(some),
        "diseases": draw(some),
        "decisions": draw(some),
        "published_from": draw(day),
        "published_to": draw(day),
        "versions": draw(st.none() | st.frozensets(st.integers(0, 200), max_size=60)),
        "moment": draw(st.none() | st.integers(0, STEPS - 1)),
    }


def made(world: World, fields: dict[str, Any]) -> Filter:
    """The filter of these fields in this world."""
    fields = dict(fields)
    versions, moment = fields.pop("versions"), fields.pop("moment")
    return Filter(
        version_ids=versions
        and frozenset(world.versions[n % len(world.versions)].id for n in versions),
        as_of=None if moment is None else world.moments[moment],
        **fields,
    )


@pytest.fixture(params=["listed", "many", "by HNSW"])
def way(request: pytest.FixtureRequest, world: World, monkeypatch: pytest.MonkeyPatch) -> str:
    """How the search goes about it: few matches listed, or taken for many, or HNSW besides."""
    if request.param != "listed":
        monkeypatch.setattr(dense, "few", lambda *_, **__: None)
        monkeypatch.setattr(lexical, "few", lambda *_, **__: None)
    if request.param == "by HNSW":
        with world.store.engine.connect() as db:
            db.execute(sa.text(dense.CREATE_INDEX.replace("CONCURRENTLY", "")))
            db.commit()
    return str(request.param)


def reading(world: World, way: str) -> Iterator[Session]:
    with world.store.reading() as session:
        if way == "by HNSW":
            session.execute(sa.text("SET LOCAL enable_seqscan = off"))
        yield session


@SAME_DATABASE
@given(fields=filters(), k=st.integers(1, 60), seed=st.integers(0, 2**32))
def test_filtered_dense_search_is_that_of_every_window(
    world: World, way: str, fields: dict[str, Any], k: int, seed: int
) -> None:
    only, query = made(world, fields), unit(np.random.default_rng(seed))
    right: dict[int, float] = {}
    for key, vector in world.windows:
        if world.passes(world.chunks[key], only):
            right[key] = max(right.get(key, -1.0), float(vector @ query))
    for session in reading(world, way):
        found = dense.search(session, query, k, only=only)
    assert len(found) == min(k, len(right)), "a filter leaves no fewer rows than exist"
    assert len({key for key, _ in found}) == len(found)
    for key, similarity in found:
        assert similarity == pytest.approx(right[key], abs=2e-3)
    best = sorted(right.values(), reverse=True)[:k]
    assert [similarity for _, similarity in found] == pytest.approx(best, abs=2e-3)


@SAME_DATABASE
@given(
    fields=filters(),
    k=st.integers(1, 60),
    query=st.frozensets(st.sampled_from([*TERMS, 99]), min_size=1),
)
def test_filtered_lexical_search_is_that_of_every_chunk(
    world: World, way: str, fields: dict[str, Any], k: int, query: frozenset[int]
) -> None:
    only = made(world, fields)
    passing = world.passing(only)
    for session in reading(world, way):
        everything = lexical.search(session, query, 10_000, {})
        found = lexical.search(session, query, k, {}, only=only)
    assert found == [one for one in everything if one[0] in passing][:k]


@SAME_DATABASE
@given(fields=filters())
def test_chunks_are_listed_and_checked_as_the_filter_says(
    world: World, fields: dict[str, Any]
) -> None:
    only = made(world, fields)
    everything = np.array(sorted(world.chunks), np.int64)
    right = world.passing(only)
    with world.store.reading() as session:
        listed = few(session, only, likely=True)
        checked = passing(session, only, everything)
    assert listed is not None
    assert listed.tolist() == sorted(set(listed.tolist()))
    assert set(listed.tolist()) >= right, "what passes is listed"
    assert set(everything[checked].tolist()) == right


def test_many_matches_are_not_listed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.index.filters.LEAST", 3)
    monkeypatch.setattr("store.index.filters.FACTOR", 0)
    everything = Filter(source_types=frozenset(KINDS))
    with world.store.reading() as session:
        listed = few(session, everything)
        assert listed is not None, "without an index of the vectors there is no other way"
        assert set(listed.tolist()) >= world.passing(everything)
    with world.store.reading() as session:
        session.info["sizes"] = sizes(session)._replace(indexed=True)
        assert few(session, everything, likely=True) is None
    one = frozenset(
        [next(v.id for v in world.versions if world.passing(Filter(version_ids=frozenset([v.id]))))]
    )
    with world.store.reading() as session:
        listed = few(session, Filter(version_ids=one))
    assert listed is not None
    assert set(listed.tolist()) == world.passing(Filter(version_ids=one)) != set()
