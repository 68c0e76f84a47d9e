"""`python -m benchmarks.regression_with_model [--corpus DIR] [--with PATH ...]`: `attest evaluate
regression` with a language model that drafts and judges, at no cost.

The model is a fake Messages API on loopback, asked through the product's own adapter over HTTP. As
drafter it writes true claims only, word for word and in the light paraphrases of
`tests/fakes/honesty.py`; as judge it finds them supported. The exit code is the evaluation's.
Printed on top of its report: how often the model was asked, and which claims it wrote.
"""

import argparse
import json
import logging
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import structlog

from cli.commands.demo import SAMPLES
from cli.evaluate.regression import evaluate_regression
from store.core.settings import Settings
from tests.fakes.liar import NOTHING, Liar
from tests.fakes.messages_api import MessagesApi
from tests.fakes.web import FakeWeb

_KEY = "made-up-key-4711"
TRUTHS = 8
"""Claims of a draft, where the sources give so many."""


def honest(seed: int) -> Liar:
    """A model that plants no lies."""
    model = Liar(seed, truths=TRUTHS, lies=0)
    model.honest_judge = True
    return model


def measured(corpus: Path, more: list[Path], seed: int) -> dict[str, Any]:
    """The report of the evaluation, with what the model was asked and wrote."""
    model, api = honest(seed), MessagesApi({_KEY})
    asked: Counter[str] = Counter()

    def write(body: Mapping[str, Any]) -> str:
        task = _task(body)
        asked[task] += 1
        # the understanding of a question is the product's own: the model adds nothing to it
        return json.dumps(NOTHING) if task == "decisions" else model.writer(body)

    api.writer = write
    with FakeWeb(api) as web, tempfile.TemporaryDirectory(prefix="attest-bench-") as directory:
        settings = Settings(
            data_dir=Path(directory) / "data",
            anthropic_api_key=_KEY,
            anthropic_url=web.mirrors[api.origin],
        )
        body = evaluate_regression(corpus, settings, _quiet, more)
    return body | {"model": {"requests": dict(asked), "claims_written": dict(model.written)}}


def _task(body: Mapping[str, Any]) -> str:
    """What a request asks for, by the fields of its answer."""
    fields = body["output_config"]["format"]["schema"]["properties"]
    return next((one for one in ("claims", "verdicts", "decisions") if one in fields), "other")


def _quiet(name: str, done: int, total: int) -> None:
    """The evaluation's progress, which is not shown."""


def main() -> int:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--corpus", type=Path, default=SAMPLES)
    arguments.add_argument("--with", dest="more", type=Path, action="append", default=[])
    arguments.add_argument("--seed", type=int, default=7)
    options = arguments.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    body = measured(options.corpus, options.more, options.seed)
    print(json.dumps(body, indent=1))
    return 0 if body["passed"] else 1


if __name__ == "__main__":
    sys.exit(main())
