"""The learned verifier as claims are given to it. It reads with the packaged weights of MiniLM,
whatever encoder the index has: it was trained on these."""

import threading
from collections.abc import Sequence
from pathlib import Path

from store.settings import Settings
from workers.verify.entailment.model import judge_all
from workers.verify.entailment.states import TokenReader
from workers.verify.verdicts import Support, Verifier

_SUPPORT = {
    "supported": Support.SUPPORTED,
    "contradicted": Support.UNSUPPORTED,
    "not_enough": Support.UNSUPPORTED,
}

_LOADING = threading.Lock()
_readers: dict[tuple[Path, int], TokenReader] = {}


def verifier_of(settings: Settings) -> Verifier:
    """The verifier of this process; the weights are loaded when the first rewording is judged."""

    def judged(pairs: Sequence[tuple[str, str]]) -> Sequence[Support]:
        return [_SUPPORT[one.label] for one in judge_all(pairs, _reader(settings))]

    return judged


def _reader(settings: Settings) -> TokenReader:
    key = (settings.data_dir / "encoder", settings.encoder_threads or 2)
    with _LOADING:  # threads share one
        if key not in _readers:
            _readers[key] = TokenReader(key[0], threads=key[1])
        return _readers[key]
