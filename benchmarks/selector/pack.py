"""`python -m benchmarks.selector.pack GROUPS.jsonl OUT.npz`: the groups as tokens, for `train.py`."""

import json
import math
import sys
from collections import Counter
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from workers.encoder.minilm import model_folder


def main() -> None:
    """Writes the tokens of all texts, the rows, and words and rarities of the vocabulary."""
    folder = model_folder()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    groups = [json.loads(one) for one in Path(sys.argv[1]).read_text("utf-8").splitlines()]
    texts: dict[str, int] = {}
    rows = []
    for number, group in enumerate(groups):
        question = texts.setdefault(group["question"], len(texts))
        for line, title, grade in group["rows"]:
            said, called = texts.setdefault(line, len(texts)), texts.setdefault(title, len(texts))
            rows.append((number, question, said, called, round(grade * 100)))
    encoded = [one.ids for one in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]
    held = Counter(token for ids in encoded for token in set(ids))
    size = tokenizer.get_vocab_size()
    rarity = [math.log(1 + len(encoded) / (1 + held[token])) for token in range(size)]
    words = load_file(folder / "model.safetensors")["embeddings.word_embeddings.weight"]
    np.savez(
        sys.argv[2],
        ids=np.array([token for ids in encoded for token in ids], np.int32),
        ends=np.cumsum([len(ids) for ids in encoded]),
        rows=np.array(rows, np.int32),
        held=np.array([group["part"] == "held" for group in groups]),
        rarity=np.array(rarity, np.float32),
        words=words.astype(np.float16),
    )
    print(len(groups), "questions,", len(rows), "rows,", len(texts), "texts")


if __name__ == "__main__":
    main()
