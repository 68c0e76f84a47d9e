"""Train the encoder's last layers to read documents (README.md).

    python -m benchmarks.span_reader.layers OUT [--epochs N] [--without 0|1]

Learned are the last layers of the packaged encoder, a vector a kind of name, a type of document and
a place in it, and the words of each field. OUT gets the weights as the product reads them. Wants
torch and transformers, which the product does not. The seed is fixed. `--without` leaves out every
second document, from the first or the second on, to read them as unseen ones.
"""

import argparse
import random
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import save_file
from torch import Tensor, nn

from benchmarks.layers import last_layers
from benchmarks.span_reader.changing import Changer
from benchmarks.span_reader.marking import Marked, every, tags_of
from benchmarks.upper_layers import WIDTH, UpperLayers
from workers.encoder.tokens import GAPS, SHAPES, Tokens, tokens_of
from workers.extract.rubrics import DOCUMENT_TYPES
from workers.extract.span_reader import LAYERS, LISTS, TAGS, place_of, stretches

_TOP, _EPOCHS, _BATCH = 6, 10, 8
_RATE, _HEADS, _DECAY, _WARM, _LEAST_RATE = 3e-4, 2e-3, 0.01, 60, 0.02
_DROPPED, _RARE = 0.2, -4.0
_STATED = 2.0
"""Weight of a token that states a field, beside one that does not."""
_CALM = 20
"""Tokens that a batch counts as stating a field beside its own."""
_LENGTHS_APART = 40
_KNOWN = ("kinds", "types", "places", "before", "behind", "shapes")
"""Vectors that are learned, by name."""


class Example(NamedTuple):
    """A stretch: `wanted` and `counted` (tokens, fields)."""

    tokens: Tokens
    wanted: NDArray[np.float32]
    counted: NDArray[np.float32]
    type: int
    place: int


def examples(one: Marked) -> Iterator[Example]:
    """The stretches of a document."""
    tokens = tokens_of(one.text)
    wanted = np.zeros((len(tokens.ids), len(TAGS) + len(LISTS)), np.float32)
    counted = np.zeros_like(wanted)
    asked = set(tags_of(one.type))
    for field in one.known & asked:
        counted[:, _columns(field)] = 1
    starts, ends = ([place[n] for place in tokens.places] for n in (0, 1))
    for span in sorted(one.spans, key=lambda span: not span.sure):
        if span.field not in asked:
            continue
        first, last = bisect_right(ends, span.start), bisect_left(starts, span.end)
        column = TAGS.index(span.field)
        if span.sure:
            wanted[first:last, column] = counted[first:last, column] = 1
            if span.field in LISTS and first < last:
                wanted[first, _columns(span.field)] = 1
        else:
            counted[first:last, column] *= wanted[first:last, column]
    for first, last in stretches(one.text, tokens):
        yield Example(
            tokens.stretch(first, last - first), wanted[first:last], counted[first:last],
            DOCUMENT_TYPES.index(one.type), place_of(first, last, len(tokens.ids)),
        )  # fmt: skip


def _columns(field: str) -> list[int]:
    """The tag of a field, and of a list's the tag of where an entry begins."""
    begins = [len(TAGS) + LISTS.index(field)] if field in LISTS else []
    return [TAGS.index(field), *begins]


class Net(UpperLayers):
    """The encoder, of which the last layers are trained, with fields upon it."""

    def __init__(self) -> None:
        super().__init__(LAYERS, _TOP)
        self.types = nn.Embedding(len(DOCUMENT_TYPES), WIDTH)
        self.places = nn.Embedding(3, WIDTH)
        self.before, self.behind = nn.Embedding(len(GAPS), WIDTH), nn.Embedding(len(GAPS), WIDTH)
        self.shapes = nn.Embedding(len(SHAPES), WIDTH)
        for known in (self.types, self.places, self.before, self.behind, self.shapes):
            nn.init.zeros_(known.weight)
        self.drop = nn.Dropout(_DROPPED)
        self.tags = nn.Linear(WIDTH, len(TAGS) + len(LISTS))
        nn.init.constant_(self.tags.bias, _RARE)

    def forward(self, batch: Sequence[Example]) -> Tensor:
        """Log odds (texts, tokens, fields)."""
        longest = max(len(one.wanted) for one in batch) + 2
        ids = torch.zeros(len(batch), longest, dtype=torch.long)
        kinds, there = torch.zeros_like(ids), torch.zeros(len(batch), longest)
        before, behind, shapes = (torch.zeros_like(ids) for _ in range(3))
        inside = torch.zeros(len(batch), longest)
        for row, one in enumerate(batch):
            size = len(one.wanted) + 2
            ids[row, :size] = torch.tensor(one.tokens.marked)
            kinds[row, 1 : size - 1] = torch.tensor(one.tokens.kinds)
            before[row, 1 : size - 1] = torch.tensor(one.tokens.gaps[:-1])
            behind[row, 1 : size - 1] = torch.tensor(one.tokens.gaps[1:])
            shapes[row, 1 : size - 1] = torch.tensor(one.tokens.shapes)
            inside[row, 1 : size - 1] = 1
            there[row, :size] = 1
        types = torch.tensor([one.type for one in batch])
        places = torch.tensor([one.place for one in batch])
        written = self.before(before) + self.behind(behind) + self.shapes(shapes)
        known = self.kinds(kinds) + (self.types(types) + self.places(places))[:, None]
        known = known + written * inside[..., None]
        x = self.above(self.below(ids, there) + known, there)
        odds: Tensor = self.tags(self.drop(x))[:, 1:-1].float()
        return odds


def train(documents: Sequence[Marked], epochs: int) -> Net:
    """The net after all epochs; in each, each document is changed anew."""
    torch.manual_seed(0)
    chance, changer, net = random.Random(0), Changer(documents), Net()
    upper = list(net.upper.parameters())
    known = (net.tags, net.kinds, net.types, net.places, net.before, net.behind, net.shapes)
    heads = [parameter for one in known for parameter in one.parameters()]
    groups = [{"params": upper, "lr": _RATE}, {"params": heads, "lr": _HEADS}]
    optimizer = torch.optim.AdamW(groups, weight_decay=_DECAY)
    done, step = 0.0, 0

    def share(_: int) -> float:
        return min(1.0, (step + 1) / _WARM) * max(_LEAST_RATE, 1 - done)

    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, share)
    net.train()
    for epoch in range(epochs):
        batches = _batches([s for one in documents for s in examples(changer.changed(one))], chance)
        losses = []
        for number, batch in enumerate(batches):
            done, step = (epoch + number / len(batches)) / epochs, step + 1
            with torch.autocast("cpu", dtype=torch.bfloat16):
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
    """Stretches of about one length together."""
    learned.sort(key=lambda one: len(one.wanted) + chance.random() * _LENGTHS_APART)
    found = [learned[n : n + _BATCH] for n in range(0, len(learned), _BATCH)]
    chance.shuffle(found)
    return found


def _loss(net: Net, batch: Sequence[Example]) -> Tensor:
    odds = net(batch)
    wanted, counted = torch.zeros_like(odds), torch.zeros_like(odds)
    for row, one in enumerate(batch):
        wanted[row, : len(one.wanted)] = torch.from_numpy(one.wanted)
        counted[row, : len(one.counted)] = torch.from_numpy(one.counted)
    loss = nn.functional.binary_cross_entropy_with_logits(odds, wanted, reduction="none")
    stating = (counted * wanted).sum() + _CALM
    return (loss * counted * (1 + (_STATED - 1) * wanted)).sum() / stating


def exported(net: Net) -> dict[str, Any]:
    """The weights as `SpanReader` wants them."""
    held = {name: value.numpy() for name, value in net.state_dict().items()}
    found = {name: held[f"{name}.weight"] for name in _KNOWN}
    found |= {f"tags.{part}": held[f"tags.{part}"] for part in ("weight", "bias")}
    found |= last_layers(held, LAYERS, _TOP)
    return {name: np.ascontiguousarray(value) for name, value in found.items()}


def main() -> None:
    """Train and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--epochs", type=int, default=_EPOCHS)
    parser.add_argument("--without", type=int, choices=(0, 1))
    options = parser.parse_args()
    torch.set_num_threads(1)  # beside others, threads wait for each other longer than they work
    documents = list(every(options.without))
    print(len(documents), sum(len(one.spans) for one in documents), flush=True)
    save_file(exported(train(documents, options.epochs)), options.out)


if __name__ == "__main__":
    main()
