"""Train the encoder's last layers to read what a sentence asserts of its findings (README.md).

    python -m benchmarks.assertions.layers FOLDER OUT [--fold 0|1]

FOLDER holds the open sets. OUT gets the weights as `AssertionReader` reads them. With `--fold`
every second sentence is kept apart, and OUT gets what was read of its findings, a line each, for
choosing from which share on the reader counts. Wants torch and transformers, which the product does
not. The seed is fixed.
"""

import argparse
import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.numpy import save_file
from torch import Tensor, nn

from benchmarks.assertions.data import INVENTED, LEARNED, UNSEEN, Mark, marks, sentences
from benchmarks.assertions.reader import ASSERTIONS, LAYERS, by_cues, tokens_at
from benchmarks.layers import last_layers
from benchmarks.upper_layers import WIDTH, UpperLayers
from clinical_text.assertion.lexicon import Word, lexicon
from clinical_text.doc import Doc
from tests.unit.assertion import held_out
from tests.unit.assertion.grammar import made
from workers.encoder.tokens import Tokens, tokens_of

_TOP, _EPOCHS, _BATCH, _POOL = 3, 4, 6, 96
_RATE, _HEADS, _DECAY, _WARM = 4e-4, 3e-3, 0.01, 40
_MARKED = 0.7
"""Of what is learned of a finding: its mark; the rest is what its reader accepts, the mark too."""
_BY_HEAD = 0.25
"""Share of findings that are learned by the word alone that heads them: checks ask of words."""
_MADE, _SEED = 600, 67
"""Sentences of each of two grammars that are learned, too, and their seed, which no test has."""
_DROPPED = 0.2
_NAMES = tuple(one.value for one in ASSERTIONS)


class Place(NamedTuple):
    """The tokens `[first, last)` of words, and what the cues say of them."""

    first: int
    last: int
    cued: Sequence[float]


class Finding(NamedTuple):
    """A finding, whole and by its head, and its mark."""

    whole: Place
    head: Place
    mark: Mark


class Example(NamedTuple):
    """A sentence and its findings."""

    tokens: Tokens
    findings: Sequence[Finding]


class Net(UpperLayers):
    """The encoder, of which the last layers are trained, with the assertions upon it."""

    def __init__(self) -> None:
        super().__init__(LAYERS, _TOP)
        self.drop = nn.Dropout(_DROPPED)
        self.means = nn.Linear(2 * WIDTH + len(_NAMES), len(_NAMES))
        self._known: dict[tuple[int, ...], Tensor] = {}

    def forward(self, batch: Sequence[Example], chance: random.Random | None = None) -> Tensor:
        """Log odds of the assertions of all findings (findings, assertions).

        Args:
            chance: says which findings are read by their head; none is without it.
        """
        longest = max(len(one.tokens.ids) for one in batch) + 2
        x = torch.zeros(len(batch), longest, WIDTH)
        there = torch.zeros(len(batch), longest)
        for row, one in enumerate(batch):
            size = len(one.tokens.ids) + 2
            x[row, :size], there[row, :size] = self._below(one.tokens), 1
        states = self.drop(self.above(x, there))
        asked = []
        for row, one in enumerate(batch):
            for finding in one.findings:
                by_head = chance is not None and chance.random() < _BY_HEAD
                first, last, cued = finding.head if by_head else finding.whole
                mean = states[row, first + 1 : last + 1].mean(0)
                asked.append(torch.cat([mean, states[row, 0], torch.tensor(cued)]))
        return self.means(torch.stack(asked)).float()

    def _below(self, tokens: Tokens) -> Tensor:
        """States under the layers that are trained, computed once."""
        key = tuple(tokens.marked)
        if key not in self._known:
            self._known[key] = self.below(torch.tensor([key]))[0].half()
        return self._known[key].float()


def examples(found: Iterable[Mark]) -> list[Example]:
    """The sentences with their findings."""
    by_sentence = defaultdict(list)
    for one in found:
        by_sentence[one.sentence].append(one)
    return [_example(sentence, some) for sentence, some in by_sentence.items()]


def _example(sentence: str, found: Sequence[Mark]) -> Example:
    tokens, read = tokens_of(sentence), Doc(sentence)
    some = []
    for one in found:
        whole = _place(read, tokens, one.start, one.end)
        if whole.first < whole.last:
            head = _place(read, tokens, *_head(read, one.start, one.end))
            some.append(Finding(whole, head if head.first < head.last else whole, one))
    return Example(tokens, some)


def _head(read: Doc, start: int, end: int) -> tuple[int, int]:
    """The last word before the first preposition; all words where none is one of letters."""
    classes, head = lexicon().word_classes, None
    for token in read.tokens_of((start, end)):
        if head and classes.get(token.word, Word.NONE) & Word.PREPOSITION:
            break
        if token.word[0].isalpha():
            head = (token.start, token.end)
    return head or (start, end)


def _place(read: Doc, tokens: Tokens, start: int, end: int) -> Place:
    cued = by_cues(read.reading(start, end))
    return Place(*tokens_at(tokens, start, end), cued)


def train(learned: Sequence[Example], apart: Mapping[str, Sequence[Example]]) -> Net:
    """The net after all epochs; after each, how it reads what is kept apart is printed."""
    torch.manual_seed(0)
    chance = random.Random(0)
    net = Net()
    heads, upper = list(net.means.parameters()), list(net.upper.parameters())
    groups = [{"params": upper, "lr": _RATE}, {"params": heads, "lr": _HEADS}]
    optimizer = torch.optim.AdamW(groups, weight_decay=_DECAY)
    steps = _EPOCHS * sum(1 for _ in _batches(learned, chance))
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / _WARM) * max(0.0, 1 - step / steps)
    )
    for epoch in range(_EPOCHS):
        losses = []
        net.train()
        for batch in _batches(learned, chance):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                odds = net(batch, chance)
            loss = -(_wanted(batch) * torch.log_softmax(odds, -1)).sum(-1).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([*upper, *heads], 1.0)
            optimizer.step()
            rate.step()
            losses.append(loss.item())
        net.eval()
        told = {name: figures(read(net, some)) for name, some in apart.items()}
        print(epoch, round(sum(losses) / len(losses), 3), json.dumps(told), flush=True)
    return net


def _batches(learned: Sequence[Example], chance: random.Random) -> Iterator[list[Example]]:
    """Sentences of about one length together."""
    mixed = list(learned)
    chance.shuffle(mixed)
    found = []
    for at in range(0, len(mixed), _POOL):
        some = sorted(mixed[at : at + _POOL], key=lambda one: len(one.tokens.ids))
        found += [some[n : n + _BATCH] for n in range(0, len(some), _BATCH)]
    chance.shuffle(found)
    return iter(found)


def _wanted(batch: Sequence[Example]) -> Tensor:
    found = [one.mark for some in batch for one in some.findings]
    wanted = torch.zeros(len(found), len(_NAMES))
    for row, mark in enumerate(found):
        wanted[row, _NAMES.index(mark.means)] += _MARKED
        for one in mark.accepted:
            wanted[row, _NAMES.index(one)] += (1 - _MARKED) / len(mark.accepted)
    return wanted


def read(net: Net, some: Iterable[Example]) -> list[tuple[Finding, list[float]]]:
    """The findings with the shares of their assertions."""
    with torch.no_grad():
        return [
            (finding, shares)
            for one in some
            for finding, shares in zip(
                one.findings, torch.softmax(net([one]), -1).tolist(), strict=True
            )
        ]


def figures(found: Iterable[tuple[Finding, list[float]]]) -> dict[str, float]:
    """Shares as marked, and as marked or accepted."""
    told = [(one.mark, _NAMES[int(np.argmax(shares))]) for one, shares in found]
    return {
        "as marked": round(float(np.mean([said == one.means for one, said in told])), 3),
        "accepted": round(float(np.mean([said in one.accepted for one, said in told])), 3),
    }


def exported(net: Net) -> dict[str, Any]:
    """The weights as `AssertionReader` wants them."""
    held = {name: value.numpy() for name, value in net.state_dict().items()}
    found = {"kinds": held["kinds.weight"]}
    found |= {f"means.{part}": held[f"means.{part}"] for part in ("weight", "bias")}
    found |= last_layers(held, LAYERS, _TOP)
    return {name: np.ascontiguousarray(value) for name, value in found.items()}


def _made() -> Iterator[Mark]:
    """Findings of sentences that grammars make: short ones, labels, cells."""
    first = made(random.Random(_SEED))
    second = made(random.Random(_SEED), held_out.FRAMES, held_out.SLOTS, held_out.FINDINGS)
    for one in (*islice(first, _MADE), *islice(second, _MADE)):
        for start, end, means in one.findings:
            if "\n" not in one.text:
                yield Mark(one.text, start, end, means, frozenset((means,)))


def _fold(sentence: str) -> int:
    return hashlib.sha256(sentence.encode()).digest()[0] % 2


def main() -> None:
    """Train, and write the weights or what was read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--fold", type=int, choices=(0, 1))
    options = parser.parse_args()
    torch.set_num_threads(1)  # beside others, threads wait for each other longer than they work
    held = sentences(options.folder)
    known = [one for name in (*LEARNED, INVENTED) for one in marks(name, held)]
    learned = [one for one in known if _fold(one.sentence) != options.fold]
    apart = {name: examples(marks(name, held)) for name in UNSEEN}
    if options.fold is not None:
        kept = (one for one in known if _fold(one.sentence) == options.fold)
        apart = {"kept apart": examples(kept)}
    print(len(learned), flush=True)
    net = train(examples([*learned, *_made()]), apart)
    if options.fold is None:
        save_file(exported(net), options.out)
        return
    with options.out.open("w") as file:
        for one, shares in read(net, apart["kept apart"]):
            row = [one.mark.means, sorted(one.mark.accepted), one.whole.cued, shares]
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
