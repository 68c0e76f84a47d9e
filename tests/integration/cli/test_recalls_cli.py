"""`attest recalls list` over a real database."""

import json
from uuid import UUID

from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.recalls import recalls
from store.recalls.recalls import Change
from tests.commands import Attest
from tests.integration.refreshes.test_recalls import answered, document_id
from tests.servers import TRIAL, ingest
from workers.inline import InlineWorker


def _affected(inline: InlineWorker) -> list[UUID]:
    ingest(inline.store, TRIAL)
    inline.run()
    ids = [answered(inline), answered(inline)]
    with inline.store.unit_of_work("test") as work:
        trial = document_id(inline.store, "test-trial")
        recalls.affect(work, [Change(trial, "corrected", {"notice": "correction"})])
    return ids


def test_recalls_are_listed_and_paged(
    settings: Settings, inline: InlineWorker, store: Store
) -> None:
    run = Attest.on(settings)
    ids = _affected(inline)
    listed = run.process("recalls", "list", "--json")
    assert listed.returncode == 0, listed.stderr
    rows = json.loads(listed.stdout)
    assert {row["question_id"] for row in rows} == {str(one) for one in ids}
    assert {row["state"] for row in rows} == {"affected"}
    first = run("recalls", "list", "--json", "--limit", "1")
    cursor = first.stderr.split()[-1]
    second = run("recalls", "list", "--json", "--limit", "1", "--cursor", cursor)
    both = json.loads(first.stdout) + json.loads(second.stdout)
    assert {row["question_id"] for row in both} == {str(one) for one in ids}
    assert "--cursor" not in second.stderr
    assert json.loads(run("recalls", "list", "--json", "--state", "reaffirmed").stdout) == []
    for shown in (run("recalls", "list", COLUMNS="80"), run("recalls", "list", FORCE_COLOR="1")):
        assert "corrected" in shown.stdout
        assert all(str(one) in shown.stdout for one in ids)
