"""Train the reader of what a question asks (docs/questions.md).

    python -m benchmarks.questions.train OUT [--without second]

The last two layers of the packaged encoder, a vector a kind of name, five tags a token and the form
of the answer, on the marked questions beside this file (`marked/README.md`) and, for the form
alone, the plain ones of `clinical_first.tsv`. OUT gets the weights as the product reads them.
`--without` leaves out a writer. Wants torch and transformers, which the product does not; some ten
minutes on one core. Seeds are fixed.
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from workers.encoder.int8_graph import quantized
from workers.encoder.minilm import model_folder
from workers.retrieve.understanding.asked.model import ANSWER_TYPES
from workers.retrieve.understanding.asked.reader import KINDS, ROLES, WEIGHTS, tokenized

HERE = Path(__file__).parent
WRITERS = ("first", "second")
"""Whose questions are learned; the third writer's are measured on."""
_TOP, _EPOCHS, _RATE, _HEADS, _BATCH = 2, 8, 1e-3, 3e-3, 8
_FORM = 0.3
"""Weight of the form of the answer beside the tags."""
_WIDTH = 384


@dataclass(frozen=True)
class Example:
    """A question as numbers: ids and kinds of its tokens with the marks around them, tags (tokens,
    roles) or None where only its form is known, and the number of its form."""

    ids: list[int]
    kinds: list[int]
    tags: Tensor | None
    form: int


def examples(writers: Sequence[str]) -> Iterator[Example]:
    """The marked questions of `writers`, and the plain ones."""
    for writer in writers:
        for line in (HERE / "marked" / f"{writer}.jsonl").read_text().splitlines():
            row = json.loads(line)
            yield _example(row["question"], row["type"], row)
    for line in (HERE / "clinical_first.tsv").read_text().splitlines():
        form, question = line.split("\t")
        yield _example(question, form, None)


def _example(question: str, form: str, row: dict[str, Any] | None) -> Example:
    ids, kinds, offsets = tokenized(question)
    tags = None
    if row is not None:
        tags = torch.zeros(len(ids) + 2, len(ROLES))
        for n, role in enumerate(ROLES):
            for words in row[role]:
                start = question.index(words)
                for at, (first, last) in enumerate(offsets, start=1):
                    if first < start + len(words) and start < last:
                        tags[at, n] = 1.0
    return Example(ids, kinds, tags, ANSWER_TYPES.index(form))


class Net(nn.Module):
    """The encoder with its last layers to be trained, tags and form upon them."""

    def __init__(self) -> None:
        super().__init__()
        folder = model_folder()
        self.bert = BertModel(
            BertConfig.from_json_file(folder / "config.json"), add_pooling_layer=False
        )
        own = load_file(folder / "model.safetensors")
        self.bert.load_state_dict({name: own[name] for name in self.bert.state_dict()})
        self.bert.requires_grad_(requires_grad=False)
        self.upper = self.bert.encoder.layer[-_TOP:]
        self.upper.requires_grad_(requires_grad=True)
        self.kinds = nn.Embedding(len(KINDS), _WIDTH)
        nn.init.zeros_(self.kinds.weight)
        self.drop = nn.Dropout(0.2)
        self.tags = nn.Linear(_WIDTH, len(ROLES))
        self.form = nn.Linear(2 * _WIDTH, len(ANSWER_TYPES))
        self._tokenizer_marks = tokenized.marks
        self._below: dict[tuple[int, ...], Tensor] = {}

    def below(self, ids: Sequence[int]) -> Tensor:
        """States under the layers that are trained, computed once."""
        key = tuple(ids)
        if key not in self._below:
            with torch.no_grad():
                x = self.bert.embeddings(torch.tensor([[101, *ids, 102]]))
                for layer in self.bert.encoder.layer[:-_TOP]:
                    x = layer(x)[0]
            self._below[key] = x[0]
        return self._below[key]
