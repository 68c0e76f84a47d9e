"""`python -m benchmarks.verifier.pack PAIRS OUT`: what training needs, in few small files.

`data.npz`: every text once, as token numbers of the packaged encoder (uint16), the training pairs
and the evaluation cases as numbers of texts. `student.npz`: the packaged MiniLM. `teacher.npz`,
where `--teacher` names the folder of all-mpnet-base-v2: the same of it, its words in the order of
the encoder's numbers. All tensors bear the names that `train.py` uses.
"""

import argparse
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from benchmarks.verifier import cases
from benchmarks.verifier.pairs import lines
from workers.encoder.minilm import model_folder

LABELS = ("supported", "contradicted", "not_enough")
HELD_OUT = 10  # one group in so many is kept for calibration and choices

Arrays = Mapping[str, NDArray[Any]]


class Texts:
    """Texts by number, each kept once."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}

    def add(self, text: str) -> int:
        """The number of `text`."""
        return self.number.setdefault(text, len(self.number))

    def tokens(self) -> dict[str, NDArray[Any]]:
        """All texts' token numbers in a row, and where each ends."""
        tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        encoded = tokenizer.encode_batch_fast(list(self.number), add_special_tokens=False)
        ids = [np.array(text.ids[:320], np.uint16) for text in encoded]
        return {"ids": np.concatenate(ids), "ends": np.cumsum([len(text) for text in ids])}


def spread(name: str, parts: int, salt: str = "") -> int:
    """A number below `parts` that follows from `name` alone."""
    return int.from_bytes(hashlib.sha256((salt + name).encode()).digest()[:4], "big") % parts


def packed_pairs(rows: Sequence[Mapping[str, Any]], texts: Texts) -> dict[str, NDArray[Any]]:
    """The training pairs as columns."""
    units = _numbered(row["unit"] for row in rows)
    sources = _numbered(row["source"] for row in rows)
    labels = [LABELS.index(row["label"]) if row["label"] else -1 for row in rows]
    return {
        "claim": np.array([texts.add(row["claim"]) for row in rows], np.int32),
        "passage": np.array([texts.add(row["passage"]) for row in rows], np.int32),
        "label": np.array(labels, np.int8),
        "unit": np.array([units[row["unit"]] for row in rows], np.int32),
        "source": np.array([sources[row["source"]] for row in rows], np.int8),
        "sources": np.array(list(sources)),
        "fold": np.array([row["fold"] for row in rows], np.int8),
        "held": np.array([spread(row["group"], HELD_OUT) == 0 for row in rows]),
        "quarter": np.array([spread(row["group"], 4, "quarter") for row in rows], np.int8),
    }


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def packed_cases(asked: Sequence[cases.Asked], texts: Texts) -> dict[str, NDArray[Any]]:
    """The evaluation cases as columns."""
    return {
        "case_claim": np.array([texts.add(one.claim) for one in asked], np.int32),
        "case_passage": np.array([texts.add(one.passage) for one in asked], np.int32),
        "cases": np.array([json.dumps(one.case) for one in asked]),
    }


def _layers(
    found: dict[str, NDArray[Any]], raw: Arrays, names: Mapping[str, str], count: int
) -> None:
    for layer in range(count):
        at = f"encoder.layer.{layer}."
        for part in ("weight", "bias"):
            three = [raw[f"{at}{names[own]}.{part}"] for own in ("q", "k", "v")]
            found[f"layer.{layer}.qkv.{part}"] = np.concatenate(three)
            for own in ("out", "norm1", "up", "down", "norm2"):
                found[f"layer.{layer}.{own}.{part}"] = raw[f"{at}{names[own]}.{part}"]


def student() -> dict[str, NDArray[Any]]:
    """The packaged MiniLM under our names."""
    raw = load_file(model_folder() / "model.safetensors")
    at = "embeddings."
    found = {
        "words": raw[at + "word_embeddings.weight"],
        "positions": raw[at + "position_embeddings.weight"],
        "types": raw[at + "token_type_embeddings.weight"],
        "norm.weight": raw[at + "LayerNorm.weight"],
        "norm.bias": raw[at + "LayerNorm.bias"],
        "pooler.weight": raw["pooler.dense.weight"],
        "pooler.bias": raw["pooler.dense.bias"],
    }
    names = {
        "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
        "out": "attention.output.dense", "norm1": "attention.output.LayerNorm",
        "up": "intermediate.dense", "down": "output.dense", "norm2": "output.LayerNorm",
    }  # fmt: skip
    _layers(found, raw, names, 6)
    fixed = {name: found.pop(name).astype(np.float16) for name in ("words", "positions", "types")}
    return fixed | _small(found)


def teacher(folder: Path) -> dict[str, NDArray[Any]]:
    """all-mpnet-base-v2 under our names, matrices as int8 with a scale a row."""
    raw = load_file(folder / "model.safetensors")
    at = "embeddings."
    found = {
        "words": raw[at + "word_embeddings.weight"],
        "positions": raw[at + "position_embeddings.weight"][2:],  # 0 and 1 are never used
        "norm.weight": raw[at + "LayerNorm.weight"],
        "norm.bias": raw[at + "LayerNorm.bias"],
        "relative": raw["encoder.relative_attention_bias.weight"],
    }
    names = {
        "q": "attention.attn.q", "k": "attention.attn.k", "v": "attention.attn.v",
        "out": "attention.attn.o", "norm1": "attention.LayerNorm",
        "up": "intermediate.dense", "down": "output.dense", "norm2": "output.LayerNorm",
    }  # fmt: skip
    _layers(found, raw, names, 12)
    vocabulary = Tokenizer.from_file(str(folder / "tokenizer.json")).get_vocab()
    own = Tokenizer.from_file(str(model_folder() / "tokenizer.json")).get_vocab()
    special = {"[CLS]": "<s>", "[SEP]": "</s>", "[PAD]": "<pad>"}
    unknown = vocabulary["[UNK]"]
    number = {at: vocabulary.get(special.get(word, word), unknown) for word, at in own.items()}
    order = np.array([number[at] for at in range(len(own))])
    found["words"] = found["words"][order]  # so that both readers take the same numbers
    return _small(found)


def _small(found: Arrays) -> dict[str, NDArray[Any]]:
    """Matrices as int8 with a scale a row: they are only where training starts."""
    packed: dict[str, NDArray[Any]] = {}
    for name, array in found.items():
        if array.ndim == 2 and name != "relative":
            scale = np.abs(array).max(1, keepdims=True) / 127 + 1e-12
            packed[name + ".int8"] = np.round(array / scale).astype(np.int8)
            packed[name + ".scale"] = scale.astype(np.float32)
        else:
            packed[name] = array.astype(np.float32)
    return packed


def _write(path: Path, arrays: dict[str, Any]) -> None:
    np.savez_compressed(path, **arrays)


def main() -> None:
    """Writes the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--teacher", type=Path)
    parser.add_argument("--only-data", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    texts = Texts()
    columns = packed_pairs(list(lines(options.pairs)), texts)
    columns |= packed_cases(cases.gather(options.shared), texts)
    _write(options.out / "data.npz", columns | texts.tokens())
    if not options.only_data:
        _write(options.out / "student.npz", student())
    if options.teacher:
        _write(options.out / "teacher.npz", teacher(options.teacher))


if __name__ == "__main__":
    main()
