"""All stages, listed by hand: what a worker can do is what stands here."""

from importlib import import_module
from typing import Any

from messages import Stage
from workers.runtime.stage import StageSpec


def spec_of(stage: Stage) -> StageSpec[Any, Any]:
    """The spec of `stage`, imported when first asked for: a worker loads only what it runs."""
    module = import_module(f"workers.{stage.value}.stage")
    spec: StageSpec[Any, Any] = module.SPEC
    return spec
