"""What a scrape of /metrics costs on a database that has answered many questions.

    python -m benchmarks.scrape [--questions 100000] [--days 30] [--backlog 0]

Rows are made up: questions, their stage runs, promises, measurements, requests to models and dead
letters, spread over the days. Milliseconds by the clock and of processor time, of this process and
of the one in PostgreSQL that serves it: on a busy machine only the latter say what a scrape costs.
"""

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

import psutil
import sqlalchemy as sa

from api_gateway.metrics.metrics import Metrics
from store.core.database import connect
from store.core.schema import migrate
from store.embedded import embedded

SCRAPES = 40

_QUESTIONS = """
    INSERT INTO question (id, text, text_hash, options, status, request_id, request_hash,
                          created_at, finished_at)
    SELECT gen_random_uuid(), 'q', 'h', '{}'::jsonb, 'answered', gen_random_uuid(), 'h', at, at
    FROM (SELECT now() - make_interval(secs => :seconds * (:n - i)::float8 / :n) AS at
          FROM generate_series(1, :n) AS i) AS made
"""
_REST = (
    """
    INSERT INTO answer_quality (question_id, sealed_at, query_type, sources, source_types, nccn,
        trials, trial_sources, guidelines, over_caps, first_section, routing_compliant, verified,
        partial, unverified, conflicting, citations, quotations, unanchored, abstain_reason,
        generator, cost_usd, response_ms, stage_ms)
    SELECT id, created_at,
           (ARRAY['clinical_trials', 'guidelines', 'general'])[1 + floor(random() * 3)::int], 8,
           jsonb_build_object('pubmed', 4, 'nccn', 2, 'clinicaltrials', 2), 2, 2, 6, 2, 0,
           'CLINICAL TRIALS', random() < 0.95, 9, 1, 0, 0, 12, 13, 0,
           CASE WHEN random() < 0.1 THEN 'no_evidence' END, 'extractive', 0.01,
           100 + random() * 300, jsonb_build_object('retrieve', 20, 'verify', 30)
    FROM question ORDER BY created_at
    """,
    """
    INSERT INTO stage_run (stage, subject, input_hash, status, attempts, token, worker, outbox_id,
                           started_at, finished_at)
    SELECT name, id::text, md5(id::text || name), 'done', 1, 1, 'w', gen_random_uuid(),
           created_at - interval '20 milliseconds', created_at
    FROM question, unnest(ARRAY['retrieve', 'generate', 'verify', 'audit']) AS made (name)
    ORDER BY created_at
    """,
    """
    INSERT INTO outbox (id, stage, payload, request_id, status, not_before, publish_count,
                        published_at, created_at, done_at)
    SELECT gen_random_uuid(), name, jsonb_build_object('question_id', id), request_id, 'done',
           created_at, 1, created_at, created_at, created_at
    FROM question, unnest(ARRAY['retrieve', 'generate', 'verify', 'audit']) AS made (name)
    """,
    """
    INSERT INTO model_usage (at, subject, purpose, model, outcome, cost_usd)
    SELECT created_at, id::text, purpose, 'm', 'proposed', 0.01
    FROM question, unnest(ARRAY['draft', 'judge']) AS purpose ORDER BY created_at
    """,
    """
    INSERT INTO dead_letter (id, stage, payload, error_type, cause, traceback, fingerprint,
                             attempts, code_version, first_failed_at, died_at, status, replays)
    SELECT gen_random_uuid(), 'verify', '{}'::jsonb, 'E', 'c', 't', 'f', 5, '1', at, at,
           CASE WHEN random() < 0.2 THEN 'open' ELSE 'replayed' END, 0
    FROM (SELECT now() - random() * interval '30 days' AS at FROM generate_series(1, 5000)) AS made
    """,
)
_BACKLOG = """
    INSERT INTO outbox (id, stage, payload, request_id, status, not_before, publish_count,
                        published_at, created_at)
    SELECT gen_random_uuid(), 'retrieve', '{}'::jsonb, gen_random_uuid(),
           CASE WHEN i % 2 = 0 THEN 'pending' ELSE 'published' END, now() - interval '1 minute', 1,
           now(), now() - interval '1 minute'
    FROM generate_series(1, :n) AS i
"""


def fill(engine: sa.Engine, questions: int, days: float, backlog: int) -> None:
    """Make the rows up."""
    with engine.begin() as connection:
        connection.execute(sa.text(_QUESTIONS), {"n": questions, "seconds": days * 86_400})
        for statement in _REST:
            connection.execute(sa.text(statement))
        connection.execute(sa.text(_BACKLOG), {"n": backlog})
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text("VACUUM ANALYZE"))


def measure(engine: sa.Engine) -> dict[str, float]:
    """Scrape so often; the engine has one connection, whose process is asked for its times."""
    metrics = Metrics(engine)
    assert b"attest_database_up 1.0" in metrics.exposition()
    with engine.connect() as connection:
        server = psutil.Process(connection.execute(sa.text("SELECT pg_backend_pid()")).scalar_one())
    before, own, clock = server.cpu_times(), time.process_time(), []
    for _ in range(SCRAPES):
        began = time.perf_counter()
        metrics.exposition()
        clock.append((time.perf_counter() - began) * 1000)
    own, after = time.process_time() - own, server.cpu_times()
    used = after.user + after.system - before.user - before.system
    return {
        "ms_p50": round(statistics.median(clock), 1),
        "ms_min": round(min(clock), 1),
        "processor_ms_gateway": round(own * 1000 / SCRAPES, 1),
        "processor_ms_postgres": round(used * 1000 / SCRAPES, 1),
    }


def main() -> None:
    """Fill a database, scrape it, print the figures as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument("--days", type=float, default=30.0)
    parser.add_argument("--backlog", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, embedded(Path(folder)) as servers:
        engine = connect(servers.database_url, pool_size=1)
        migrate(engine)
        fill(engine, given.questions, given.days, given.backlog)
        print(json.dumps({**vars(given), **measure(engine)}))
        engine.dispose()


if __name__ == "__main__":
    main()
