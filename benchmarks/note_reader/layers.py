"""Train the encoder's last layers to read notes (README.md).

    python -m benchmarks.note_reader.layers OUT [--all]

Learned are the last two layers of the packaged encoder, a vector a kind of name, the tag of a
problem's name and the acts of statements. OUT gets the weights as the product reads them; `--all`
learns the held-out notes, too. Wants torch and transformers, which the product does not. The seed
is fixed.
"""

import argparse
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file
from torch import Tensor, nn

from benchmarks.layers import last_layers
from benchmarks.note_reader.marking import Example, Forms, examples
from benchmarks.upper_layers import WIDTH, UpperLayers
from workers.summarize.acts import ACTS
from workers.summarize.note_reader import LAYERS

_TOP, _EPOCHS, _BATCH, _POOL = 2, 5, 8, 96
_RATE, _HEADS, _DECAY, _WARM = 5e-4, 3e-3, 0.01, 30
_OF_ACTS = 0.3
"""Weight of the acts beside the names."""
_DROPPED = 0.2
_SURE = 0.3
"""Share from which a token counts as one of a name in the report (workers.encoder.tagging)."""


class Net(UpperLayers):
    """The encoder, of which the last layers are trained, with names and acts upon it."""

    def __init__(self) -> None:
        super().__init__(LAYERS, _TOP)
        self.drop = nn.Dropout(_DROPPED)
        self.tags = nn.Linear(WIDTH, 1)
        self.acts = nn.Linear(WIDTH, len(ACTS))
        self._known: dict[tuple[int, ...], Tensor] = {}

    def forward(self, batch: Sequence[Example]) -> tuple[Tensor, Tensor]:
        """Log odds of the names' tokens (texts, tokens), and of the acts of all units."""
        longest = max(len(one.tags) for one in batch) + 2
        x = torch.zeros(len(batch), longest, WIDTH)
        there = torch.zeros(len(batch), longest)
        for row, one in enumerate(batch):
            size = len(one.tags) + 2
            x[row, :size] = self._below(one) + self.kinds(torch.tensor([0, *one.tokens.kinds, 0]))
            there[row, :size] = 1
        dropped = self.drop(self.above(x, there))
        means = [dropped[row, first + 1 : last + 1].mean(0)
                 for row, one in enumerate(batch) for first, last, _ in one.units]  # fmt: skip
        acts = self.acts(torch.stack(means)) if means else torch.zeros(0, len(ACTS))
        return self.tags(dropped)[..., 0].float(), acts.float()

    def _below(self, one: Example) -> Tensor:
        """States under the layers that are trained, computed once."""
        key = tuple(one.tokens.marked)
        if key not in self._known:
            self._known[key] = self.below(torch.tensor([key]))[0].half()
        return self._known[key].float()


def train(texts: Sequence[Forms], held_out: Sequence[Forms]) -> Net:
    """The net after all epochs."""
    torch.manual_seed(0)
    chance = random.Random(0)
    net = Net()
    heads = [*net.tags.parameters(), *net.acts.parameters(), *net.kinds.parameters()]
    upper = list(net.upper.parameters())
    groups = [{"params": upper, "lr": _RATE}, {"params": heads, "lr": _HEADS}]
    optimizer = torch.optim.AdamW(groups, weight_decay=_DECAY)
    steps = _EPOCHS * sum(1 for _ in _batches(_one_form(texts, chance), chance))
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / _WARM) * max(0.0, 1 - step / steps)
    )
    for epoch in range(_EPOCHS):
        losses = []
        net.train()
        for batch in _batches(_one_form(texts, chance), chance):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = _loss(net, batch)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([*upper, *heads], 1.0)
            optimizer.step()
            rate.step()
            losses.append(loss.item())
        net.eval()
        print(epoch, round(sum(losses) / len(losses), 3), report(net, held_out), flush=True)
    return net


def _one_form(texts: Iterable[Forms], chance: random.Random) -> list[Example]:
    return [one for forms in texts for one in chance.choice(forms)]


def _batches(learned: list[Example], chance: random.Random) -> Iterator[list[Example]]:
    """Stretches of about one length together."""
    chance.shuffle(learned)
    found = []
    for at in range(0, len(learned), _POOL):
        some = sorted(learned[at : at + _POOL], key=lambda one: len(one.tags))
        found += [some[n : n + _BATCH] for n in range(0, len(some), _BATCH)]
    chance.shuffle(found)
    return iter(found)


def _loss(net: Net, batch: Sequence[Example]) -> Tensor:
    odds, acts = net(batch)
    wanted, counted = torch.zeros(odds.shape), torch.zeros(odds.shape)
    for row, one in enumerate(batch):
        wanted[row, 1 : len(one.tags) + 1] = torch.tensor(one.tags)
        counted[row, 1 : len(one.tags) + 1] = torch.tensor(one.weights)
    of_tags = nn.functional.binary_cross_entropy_with_logits(odds, wanted, reduction="none")
    loss = (of_tags * counted).sum() / (counted.sum() + 1)
    target = [act for one in batch for _, _, act in one.units]
    if target:
        loss = loss + _OF_ACTS * nn.functional.cross_entropy(acts, torch.tensor(target))
    return loss


def report(net: Net, texts: Sequence[Forms]) -> str:
    """Precision and recall of tokens of names, and the share of acts that are right."""
    right = found = wanted = acts_right = units = 0
    with torch.no_grad():
        for one in (one for forms in texts for one in forms[0]):
            odds, acts = net([one])
            counts = torch.tensor(one.weights) > 0
            told = (torch.sigmoid(odds[0, 1:-1]) >= _SURE) & counts
            gold = (torch.tensor(one.tags) > 0) & counts
            right += int((told & gold).sum())
            found, wanted = found + int(told.sum()), wanted + int(gold.sum())
            target = torch.tensor([act for _, _, act in one.units])
            acts_right += int((acts.argmax(-1) == target).sum()) if len(target) else 0
            units += len(target)
    return json.dumps({
        "precision": round(right / max(1, found), 3), "recall": round(right / max(1, wanted), 3),
        "acts": round(acts_right / max(1, units), 3),
    })  # fmt: skip


def exported(net: Net) -> dict[str, Any]:
    """The weights as `NoteReader` wants them."""
    held = {name: value.numpy() for name, value in net.state_dict().items()}
    found = {"kinds": held["kinds.weight"]}
    for head in ("tags", "acts"):
        found |= {f"{head}.{part}": held[f"{head}.{part}"] for part in ("weight", "bias")}
    found |= last_layers(held, LAYERS, _TOP)
    return {name: np.ascontiguousarray(value) for name, value in found.items()}


def main() -> None:
    """Train and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)  # beside others, threads wait for each other longer than they work
    texts, held_out = list(examples()), list(examples(held_out=True))
    if options.all:
        texts += held_out
    print(len(texts), sum(len(one.tags) for forms in texts for one in forms[0]), flush=True)
    save_file(exported(train(texts, held_out)), options.out)


if __name__ == "__main__":
    main()
