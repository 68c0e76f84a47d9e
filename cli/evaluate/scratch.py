"""A temporary database for an evaluation, with every stage in this process."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from messages import Stage
from scheduler.jobs import index_vectors, look_at_tables, merge_segments
from store.core.database import connect
from store.core.schema import migrate
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.documents.submissions import submit_item
from store.embedded import embedded
from workers.inline import InlineWorker


@contextmanager
def scratch(settings: Settings) -> Iterator[InlineWorker]:
    """Yield a worker over an empty database that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="attest-evaluate-") as directory:
        data_dir = Path(directory) / "data"
        with embedded(data_dir) as servers:
            engine = connect(servers.database_url)
            migrate(engine)
            worker = InlineWorker(settings.model_copy(update={"data_dir": data_dir}), Store(engine))
            try:
                yield worker
            finally:
                worker.close()
                engine.dispose()


def take_in(
    worker: InlineWorker, content: bytes, progress: Callable[[Stage], None] | None = None
) -> None:
    """Ingest a packet of records, one JSON object a line, and work until it is indexed."""
    with worker.store.unit_of_work("evaluate") as work:
        submit_item(
            work,
            filename="corpus.jsonl",
            media_type=None,
            content=content,
            source_type=None,
            batch_id=uuid4(),
        )
    worker.run(progress)


def maintain(store: Store) -> None:
    """Compact the lexical index and build the vector index, as the scheduler would."""
    merge_segments(store)
    look_at_tables(store)
    index_vectors(store)
