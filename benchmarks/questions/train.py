"""Train the reader of what a question asks (docs/questions.md).

    python -m benchmarks.questions.train OUT [--writers first second third]

Learned are the last two layers of the packaged encoder, a vector a kind of name, five tags a token
and the form of the answer: on the marked questions (`marked/README.md`) and, for the form alone, on
the plain ones of `clinical_first.tsv`. OUT gets the weights as the product reads them. Wants torch
and transformers, which the product does not; some ten minutes on one core. The seed is fixed.
"""

import argparse
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file
from torch import Tensor, nn

from benchmarks.layers import last_layers
from benchmarks.questions import HERE, WRITERS
from benchmarks.upper_layers import WIDTH, UpperLayers
from workers.encoder.tokens import Tokens, tokens_of
from workers.retrieve.understanding.asked.model import ANSWER_TYPES
from workers.retrieve.understanding.asked.reader import ROLES

_LAYERS, _TOP, _EPOCHS, _BATCH, _POOL = 6, 2, 8, 8, 64
_RATE, _HEADS, _DECAY, _WARM = 1e-3, 3e-3, 0.01, 20
_FORM = 0.3
"""Weight of the form of the answer beside the tags."""
_DROPPED = 0.2


@dataclass(frozen=True)
class Example:
    """A question: its tokens, their tags (tokens, roles) or None where only its form is known, and
    the number of its form."""

    tokens: Tokens
    tags: Tensor | None
    form: int


def examples(writers: Sequence[str]) -> Iterator[Example]:
    """The marked questions of `writers`, and the plain ones."""
    for writer in writers:
        for line in (HERE / "marked" / f"{writer}.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            tokens = tokens_of(row["question"])
            yield Example(tokens, _tags(tokens, row), ANSWER_TYPES.index(row["type"]))
    for line in (HERE / "clinical_first.tsv").read_text("utf-8").splitlines():
        form, question = line.split("\t")
        yield Example(tokens_of(question), None, ANSWER_TYPES.index(form))


def _tags(tokens: Tokens, row: dict[str, Any]) -> Tensor:
    tags = torch.zeros(len(tokens.ids), len(ROLES))
    for n, role in enumerate(ROLES):
        for words in row[role]:
            for match in re.finditer(rf"(?<!\w){re.escape(words)}(?!\w)", row["question"]):
                for at, (first, last) in enumerate(tokens.places):
                    if first < match.end() and match.start() < last:
                        tags[at, n] = 1.0
    return tags


class Net(UpperLayers):
    """The encoder, of which the last layers are trained, with tags and form upon it."""

    def __init__(self) -> None:
        super().__init__(_LAYERS, _TOP)
        self.drop = nn.Dropout(_DROPPED)
        self.tags = nn.Linear(WIDTH, len(ROLES))
        self.types = nn.Linear(2 * WIDTH, len(ANSWER_TYPES))
        self._known: dict[tuple[int, ...], Tensor] = {}

    def forward(self, batch: Sequence[Tokens]) -> tuple[Tensor, Tensor, Tensor]:
        """Log odds of tags (questions, tokens, roles) and forms, and which tokens there are; the
        first and the last token of each are the encoder's marks."""
        longest = max(len(one.ids) for one in batch) + 2
        x = torch.zeros(len(batch), longest, WIDTH)
        there = torch.zeros(len(batch), longest)
        for row, one in enumerate(batch):
            size = len(one.ids) + 2
            x[row, :size] = self._below(one) + self.kinds(torch.tensor([0, *one.kinds, 0]))
            there[row, :size] = 1
        x = self.drop(self.above(x, there))
        tags = self.tags(x)
        asking = torch.sigmoid(tags[..., ROLES.index("asking")]) * there
        whole = (x * there[..., None]).sum(1) / there.sum(1, keepdim=True)
        asked = (x * asking[..., None]).sum(1) / (asking.sum(1, keepdim=True) + 1e-3)
        return tags, self.types(torch.cat([whole, asked], 1)), there

    def _below(self, tokens: Tokens) -> Tensor:
        """States under the layers that are trained, computed once."""
        key = tuple(tokens.marked)
        if key not in self._known:
            self._known[key] = self.below(torch.tensor([key]))[0]
        return self._known[key]


def train(learned: list[Example]) -> Net:
    """The net after all epochs."""
    torch.manual_seed(0)
    chance = random.Random(0)
    net = Net()
    heads = [*net.tags.parameters(), *net.types.parameters(), *net.kinds.parameters()]
    upper = list(net.upper.parameters())
    groups = [{"params": upper, "lr": _RATE}, {"params": heads, "lr": _HEADS}]
    optimizer = torch.optim.AdamW(groups, weight_decay=_DECAY)
    steps = _EPOCHS * (-(-len(learned) // _BATCH) + _BATCH)
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / _WARM) * max(0.0, 1 - step / steps)
    )
    for epoch in range(_EPOCHS):
        losses = []
        for batch in _batches(learned, chance):
            loss = _loss(net, batch)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([*upper, *heads], 1.0)
            optimizer.step()
            rate.step()
            losses.append(loss.item())
        print(epoch, round(sum(losses) / len(losses), 3), flush=True)
    net.eval()
    return net


def _batches(learned: list[Example], chance: random.Random) -> list[list[Example]]:
    """Questions of about one length together."""
    chance.shuffle(learned)
    found = []
    for at in range(0, len(learned), _POOL):
        some = sorted(learned[at : at + _POOL], key=lambda one: len(one.tokens.ids))
        found += [some[n : n + _BATCH] for n in range(0, len(some), _BATCH)]
    chance.shuffle(found)
    return found


def _loss(net: Net, batch: Sequence[Example]) -> Tensor:
    odds, forms, there = net([one.tokens for one in batch])
    wanted, counted = torch.zeros(odds.shape), there.clone()
    for row, one in enumerate(batch):
        if one.tags is None:
            counted[row] = 0
        else:
            wanted[row, 1 : len(one.tags) + 1] = one.tags
    of_tags = nn.functional.binary_cross_entropy_with_logits(odds, wanted, reduction="none")
    of_form = nn.functional.cross_entropy(forms, torch.tensor([one.form for one in batch]))
    return (of_tags * counted[..., None]).sum() / (counted.sum() + 1) + _FORM * of_form


def exported(net: Net) -> dict[str, Any]:
    """The weights as `QuestionReader` wants them."""
    held = {name: value.numpy() for name, value in net.state_dict().items()}
    found = {"kinds": held["kinds.weight"]}
    for head in ("tags", "types"):
        found |= {f"{head}.{part}": held[f"{head}.{part}"] for part in ("weight", "bias")}
    found |= last_layers(held, _LAYERS, _TOP)
    return {name: np.ascontiguousarray(value) for name, value in found.items()}


def main() -> None:
    """Train and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--writers", nargs="+", default=WRITERS)
    options = parser.parse_args()
    save_file(exported(train(list(examples(options.writers)))), options.out)


if __name__ == "__main__":
    main()
