"""All stages, listed by hand: what a worker can do is what stands here."""

from importlib import import_module
from typing import Any

from messages import Stage
from workers.runtime.stage import StageSpec

MODULES = {
    # Fetching and reading are two queues and one folder: a slow source must not hold up an upload,
    # and both need the sources' parsers.
    Stage.REFRESH: "workers.ingest.refresh_stage",
    Stage.INGEST: "workers.ingest.stage",
    Stage.EMBED: "workers.embed.stage",
    Stage.ANCHOR: "workers.anchor.stage",
    Stage.RETRIEVE: "workers.retrieve.stage",
    Stage.GENERATE: "workers.generate.stage",
    Stage.VERIFY: "workers.verify.stage",
    Stage.AUDIT: "workers.audit.stage",
    # A pasted text goes through the same gate as an answer, in a queue of its own.
    Stage.CHECK: "workers.verify.text_stage",
    Stage.RECALL: "workers.recall.stage",
    Stage.SUMMARIZE: "workers.summarize.stage",
    Stage.EXTRACT: "workers.extract.stage",
}


def spec_of(stage: Stage) -> StageSpec[Any, Any]:
    """The spec of `stage`, imported when first asked for: a worker loads only what it runs."""
    spec: StageSpec[Any, Any] = import_module(MODULES[stage]).SPEC
    return spec
