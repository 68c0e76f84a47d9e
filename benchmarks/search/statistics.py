"""What the synthetic index of `make bench-search` imitates: figures of a real corpus, no words.

`python -m benchmarks.search.statistics DIR` reads a BEIR folder (`corpus.jsonl`, `queries.jsonl`)
through the product's own chunks, encoder and terms and writes `statistics.json`:

- vectors, in the axes of the corpus's covariance: their mean, the variance between and within the
  clusters of a k-means, and where queries lie: their mean distance from the centre of the cluster
  that is nearest to them, and the variance around it;
- words: how many chunks each distinct term is in (as a curve over ranks), the lengths of chunks,
  and, for each of some queries, how common each of its terms is.

The committed file is of SciFact (Wadden et al. 2020, as BEIR lays it out).
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clinical_text.chunks import chunk
from clinical_text.structure import segment
from store.core.settings import Settings
from store.documents.records import SourceRecord
from store.index.terms import terms
from workers.encoder import encoder_for

STATISTICS = Path(__file__).with_name("statistics.json")
PER_CLUSTER = 20
QUERIES = 200
Matrix = NDArray[np.float32]


def vector_statistics(vectors: Matrix, queries: Matrix) -> dict[str, Any]:
    """Mean and variances of `vectors` (n, d) and `queries` (m, d), by axis of the covariance."""
    mean = vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(vectors - mean, full_matrices=False)
    turned, asked = vectors @ axes.T, queries @ axes.T
    centres, labels = _k_means(turned, len(turned) // PER_CLUSTER)
    # Of centres that are means of n vectors, 1/n of the inner variance is noise.
    sizes = np.bincount(labels, minlength=len(centres))
    filled = sizes > 1
    inner = turned - centres[labels]
    within = (inner**2).sum(axis=0) / (len(turned) - filled.sum())
    between = np.maximum(
        np.average((centres - turned.mean(axis=0)) ** 2, axis=0, weights=sizes)
        - within * filled.sum() / len(turned),
        0,
    )
    beside = asked - centres[np.argmax(asked @ centres.T, axis=1)]
    return {
        "mean": _short(turned.mean(axis=0)),
        "between": _short(between),
        "within": _short(within),
        "query_offset": _short(beside.mean(axis=0)),
        "query_within": _short(beside.var(axis=0)),
    }


def _k_means(vectors: Matrix, count: int) -> tuple[Matrix, NDArray[np.intp]]:
    rng = np.random.default_rng(7)
    centres = vectors[rng.choice(len(vectors), count, replace=False)]
    for _ in range(15):
        nearest = np.argmax(vectors @ centres.T - (centres**2).sum(axis=1) / 2, axis=1)
        sizes = np.bincount(nearest, minlength=count)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, vectors)
        centres = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
    return centres, nearest


def word_statistics(
    counted: Sequence[Counter[int]], asked: Sequence[Counter[int]]
) -> dict[str, Any]:
    """Shares of chunks by rank of the term, lengths of chunks, shares of each query's terms."""
    in_chunks = Counter(term for counts in counted for term in counts)
    shares = np.array(sorted(in_chunks.values(), reverse=True)) / len(counted)
    ranks = np.unique(np.geomspace(1, len(shares), 300).astype(int))
    lengths = np.array([counts.total() for counts in counted])
    frequencies = Counter(min(n, 8) for counts in counted for n in counts.values())
    return {
        "ranks": ranks.tolist(),
        "shares": _short(shares[ranks - 1]),
        "distinct_terms": round(float(np.mean([len(counts) for counts in counted])), 1),
        "length_quantiles": np.quantile(lengths, np.linspace(0, 1, 51)).round().tolist(),
        "frequencies": [
            round(frequencies[n] / frequencies.total(), 4) for n in range(1, 9)
        ],  # 1 to 7 times, and more often
        "queries": [
            _short([in_chunks[term] / len(counted) for term in counts])
            for counts in asked[:QUERIES]
        ],
    }


def _short(values: Any) -> list[float]:
    return [float(f"{value:.4g}") for value in values]


def read(directory: Path) -> dict[str, Any]:
    """The statistics of a BEIR folder."""
    encoder = encoder_for(Settings(encoder="minilm"))
    counted, windows = [], []
    for row in _rows(directory / "corpus.jsonl"):
        record = SourceRecord(source_type="document", title=row["title"], text=row["text"])
        for piece in chunk(record.text, segment(record.text)):
            words = f"{record.title}\n{record.text[piece.start : piece.end]}"
            counted.append(terms(words))
            windows += [window.of(words) for window in encoder.windows(words)]
    asked = [row["text"] for row in _rows(directory / "queries.jsonl")]
    windows.sort(key=len)
    vectors = np.concatenate(
        [encoder.encode(windows[i : i + 64]) for i in range(0, len(windows), 64)]
    )
    return {
        "chunks": len(counted),
        "windows": len(windows),
        "vectors": vector_statistics(vectors, encoder.encode(asked)),
        "words": word_statistics(counted, [terms(text) for text in asked]),
    }


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def main() -> None:
    """Measure a corpus and write the file that the benchmark reads."""
    parser = argparse.ArgumentParser(description="Measure what a synthetic index imitates.")
    parser.add_argument("corpus", type=Path, help="a folder as BEIR lays it out")
    STATISTICS.write_text(json.dumps(read(parser.parse_args().corpus)) + "\n", "utf-8")


if __name__ == "__main__":
    main()
