"""The modules of all stages: a worker can run exactly the stages listed here."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from messages import Stage

if TYPE_CHECKING:
    from workers.runtime.stage import StageSpec

MODULES = {
    # Fetching and reading have two queues, so that a slow source does not delay an upload, but one
    # folder, because both need the sources' parsers.
    Stage.REFRESH: "workers.ingest.refresh_stage",
    Stage.INGEST: "workers.ingest.stage",
    Stage.EMBED: "workers.embed.stage",
    Stage.ANCHOR: "workers.anchor.stage",
    Stage.RETRIEVE: "workers.retrieve.stage",
    Stage.GENERATE: "workers.generate.stage",
    Stage.VERIFY: "workers.verify.stage",
    Stage.AUDIT: "workers.audit.stage",
    # A pasted text passes the same gate as an answer, in its own queue.
    Stage.CHECK: "workers.verify.text_stage",
    Stage.RECALL: "workers.recall.stage",
    # Beside the gate that it asks about answers of earlier ones.
    Stage.RECHECK: "workers.verify.recheck_stage",
    Stage.SUMMARIZE: "workers.summarize.stage",
    Stage.EXTRACT: "workers.extract.stage",
}


def spec_of(stage: Stage) -> "StageSpec[Any, Any]":
    """The spec of `stage`, imported on first use: a worker loads only the stages it runs."""
    spec: StageSpec[Any, Any] = import_module(MODULES[stage]).SPEC
    return spec
