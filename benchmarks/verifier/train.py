"""`python train.py FOLDER OUT JOB...`: trains readers of (claim, passage) on one accelerator.

Stands alone: wants torch, numpy, `figures.py` beside it and what `pack.py` wrote in FOLDER. JOB is
a JSON object, see `Job`; jobs run one after the other, and several processes may share a device. Of
each are written: `NAME.json` (figures), `NAME.npz` (log odds of pairs held out and of the
evaluation cases), `NAME.all.npz` (of all pairs, where it is a teacher) and, if asked for,
`NAME.weights.N.npz`. A training that was stopped goes on from `NAME.state.pt` when it is started
again. Without an accelerator one thread is used.

A reader is BERT (Devlin et al., NAACL 2019) with a pooler and three outputs. Words and positions
are never trained, so that they need not be shipped. MPNet (Song et al., NeurIPS 2020) is the same
with biases by relative position. Pairs of one unit are read in one batch, and the one whose passage
bears the claim out must score above the others (pairwise logistic loss). Where logits of teachers
are named, the loss is mixed with the divergence from them (Hinton et al., 2015).
"""

import json
import math
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import figures
import numpy as np
import torch
from torch import nn
from torch.nn import functional

CLS, SEP = 101, 102
LONGEST, CLAIM = 320, 100  # tokens of a pair, and of its claim
WIDTHS = 32  # widths of batches are multiples of it
EVERY = 8  # steps between two takings of the mean of the weights


@dataclass
class Job:
    """One training."""

    name: str
    model: str = "student"
    start: str = ""  # weights of an earlier job to go on from
    epochs: int = 4
    rate: float = 1e-4
    tokens: int = 16000  # a batch, padding counted in
    sources: dict[str, float] = field(
        default_factory=dict
    )  # share read in an epoch; 1 if not named
    dropout: float = 0.1
    smoothing: float = 0.0
    margin: float = 0.5
    teachers: list[str] = field(default_factory=list)
    mix: float = 0.7  # of the loss, what comes from the teachers
    heat: float = 2.0
    drop_fold: int = -2  # a fold of SciFact not trained on; -1: all of them, -2: none
    quarters: int = 4  # of the written texts
    seed: int = 1
    average: float = 0.998  # of the weights, over steps
    keep: float = 120  # seconds between two states kept, from which a stopped training goes on
    seconds: float = 0  # stop after so long, the rate falling with time; 0: after all epochs
    graphs: bool = True  # a step is recorded once a width and then replayed: launches cost most
    save: bool = False
    label_all: bool = False  # a teacher
    limit: int = 0  # pairs, to try things out
    frozen: int = 0  # layers from the first on that stay as they are, with what lies below them


WRITTEN = ("written", "written-other", "written-wider", "twins", "pool")


class Data:
    """The pairs on the device. After the last stands an empty one, to fill batches up."""

    def __init__(self, path: Path, device: str) -> None:
        raw = np.load(path)
        self.columns = {name: raw[name] for name in raw.files if name not in ("ids", "ends")}
        self.device = device
        self.ids = torch.from_numpy(raw["ids"].astype(np.int32)).to(device)
        ends = torch.from_numpy(raw["ends"].astype(np.int64)).to(device)
        self.begins = torch.cat([ends.new_zeros(1), ends[:-1]])
        self.sizes = ends - self.begins
        self.size_of = self.sizes.cpu().numpy()
        self.cases = [figures.Case(*json.loads(one)) for one in raw["cases"].tolist()]
        self.count = len(self.columns["claim"])
        self.claim, self.passage, self.label, self.unit = (
            torch.from_numpy(np.append(self.columns[name].astype(np.int64), last)).to(device)
            for name, last in (("claim", 0), ("passage", 0), ("label", -1), ("unit", -1))
        )

    def lengths(self, claims: np.ndarray, passages: np.ndarray) -> np.ndarray:
        """Tokens of each pair."""
        inside = np.minimum(self.size_of[claims], CLAIM) + self.size_of[passages]
        found: np.ndarray = np.minimum(inside + 3, LONGEST)
        return found

    def tokens(self, c: Any, p: Any, width: int) -> tuple[Any, Any, Any]:
        """Token numbers, segments and mask of pairs, `width` tokens each."""
        at = torch.arange(width, device=self.device)[None]
        first = self.sizes[c].clamp(max=CLAIM)[:, None]
        second = torch.minimum(self.sizes[p][:, None], LONGEST - 3 - first)
        end = first + second + 2
        in_claim, in_passage = (at >= 1) & (at <= first), (at > first + 1) & (at < end)
        place = torch.where(in_claim, self.begins[c][:, None] + at - 1, 0)
        place = torch.where(in_passage, self.begins[p][:, None] + at - 2 - first, place)
        ids = self.ids[place.clamp(0, len(self.ids) - 1)].long()
        ids = torch.where(in_claim | in_passage, ids, 0)
        ids = torch.where(at == 0, CLS, ids)
        ids = torch.where((at == first + 1) | (at == end), SEP, ids)
        return ids, ((at > first + 1) & (at <= end)).long(), at <= end


class Layer(nn.Module):
    """One layer of the encoder, normed after each half."""

    def __init__(self, hidden: int, heads: int, inner: int, epsilon: float, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.up, self.down = nn.Linear(hidden, inner), nn.Linear(inner, hidden)
        self.norm1, self.norm2 = nn.LayerNorm(hidden, epsilon), nn.LayerNorm(hidden, epsilon)
        self.drop = nn.Dropout(dropout)
        self.share = dropout

    def forward(self, x: Any, mask: Any) -> Any:
        """The layer's output; `mask` is added to the scores."""
        rows, width, hidden = x.shape
        q, k, v = self.qkv(x).view(rows, width, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        share = self.share if self.training else 0.0
        if x.device.type == "cuda":
            found = functional.scaled_dot_product_attention(q, k, v, mask, dropout_p=share)
        else:  # the fused one is slow there on the way back
            scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + mask
            found = functional.dropout(scores.softmax(-1), share, self.training).to(v.dtype) @ v
        found = found.transpose(1, 2).reshape(rows, width, hidden)
        x = self.norm1(x + self.drop(self.out(found)))
        return self.norm2(x + self.drop(self.down(functional.gelu(self.up(x)))))


def _bucket(width: int, device: Any) -> Any:
    """The bucket of each distance, as MPNet (and T5) count them: 32, of both directions."""
    at = torch.arange(width, device=device)
    n = at[:, None] - at[None]
    found = (n < 0).long() * 16
    n = n.abs()
    large = 8 + (n.clamp(min=1).float() / 8).log() / math.log(16) * 8
    return found + torch.where(n < 8, n, large.long().clamp(max=15))


class Reader(nn.Module):
    """Encoder, pooler and three outputs."""

    def __init__(self, weights: dict[str, Any], heads: int, epsilon: float, dropout: float) -> None:
        super().__init__()
        vocabulary, hidden = weights["words"].shape
        layers = [name for name in weights if name.startswith("layer.")]
        count = 1 + max(int(name.split(".")[1]) for name in layers)
        inner = weights["layer.0.up.weight"].shape[0]
        self.words = nn.Embedding(vocabulary, hidden)
        self.positions = nn.Embedding(len(weights["positions"]), hidden)
        self.types = nn.Embedding(2, hidden) if "types" in weights else None
        self.relative = nn.Embedding(32, heads) if "relative" in weights else None
        self.norm = nn.LayerNorm(hidden, epsilon)
        self.layer = nn.ModuleList(
            Layer(hidden, heads, inner, epsilon, dropout) for _ in range(count)
        )
        self.pooler, self.head = nn.Linear(hidden, hidden), nn.Linear(hidden, 3)
        self.drop = nn.Dropout(dropout)
        nn.init.normal_(self.pooler.weight, std=0.02)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)
        named = dict(self.named_parameters())
        for name, value in weights.items():
            own = named[name if name in named else name + ".weight"]
            own.data.copy_(torch.from_numpy(np.asarray(value, np.float32)))
        self.words.weight.requires_grad_(False)
        self.positions.weight.requires_grad_(False)
        if self.relative is not None:
            self.relative.weight.requires_grad_(False)

    def freeze(self, layers: int) -> None:
        """Keeps so many layers from the first on as they are, with what lies below them."""
        below = [self.norm, *self.layer[:layers]] + ([self.types] if self.types is not None else [])
        for module in below if layers else []:
            module.requires_grad_(False)

    def forward(self, ids: Any, types: Any, mask: Any) -> Any:
        """Three log odds a pair."""
        width = ids.shape[1]
        x = self.words(ids) + self.positions.weight[:width]
        if self.types is not None:
            x = x + self.types(types)
        x = self.drop(self.norm(x))
        added = torch.zeros(mask.shape, device=x.device).masked_fill(~mask, -1e4)[:, None, None]
        if self.relative is not None:
            bias = self.relative(_bucket(width, x.device)).permute(2, 0, 1)[None]
            added = added + bias
        if torch.is_autocast_enabled(x.device.type):
            added, x = added.to(torch.bfloat16), x.to(torch.bfloat16)
        if x.device.type == "cuda":
            added = added.expand(-1, 1 if self.relative is None else -1, width, width)
        for layer in self.layer:
            x = layer(x, added)
        return self.head(self.drop(torch.tanh(self.pooler(x[:, 0])))).float()


def write(out: Path, name: str, own: dict[str, Any]) -> None:
    """Weights in files of at most 15 MB each, `NAME.weights.N.npz`."""
    parts: list[dict[str, Any]] = [{}]
    for key, value in own.items():
        if sum(held.nbytes for held in parts[-1].values()) + value.nbytes > 15_000_000:
            parts.append({})
        parts[-1][key] = value
    for number, part in enumerate(parts):
        np.savez(out / f"{name}.weights.{number}.npz", **part)


def load(path: Path) -> dict[str, Any]:
    """The tensors of a file; matrices of eight bits are taken times their scales."""
    raw = np.load(path)
    found = {}
    for name in raw.files:
        if name.endswith(".int8"):
            name = name[:-5]
            found[name] = raw[name + ".int8"].astype(np.float32) * raw[name + ".scale"]
        elif not name.endswith(".scale"):
            found[name] = raw[name]
    return found


def reader(job: Job, folder: Path, out: Path, device: str) -> Reader:
    """The reader that a job starts from."""
    torch.manual_seed(job.seed)
    weights = load(folder / f"{job.model}.npz")
    if job.start:
        for part in sorted(out.glob(f"{job.start}.weights.*.npz")):
            weights |= load(part)
    epsilon = 1e-5 if job.model == "teacher" else 1e-12
    found: Reader = Reader(weights, 12, epsilon, job.dropout).to(device)
    found.freeze(job.frozen)
    return found


def chosen(job: Job, data: Data) -> np.ndarray:
    """Which pairs a job trains on."""
    columns = data.columns
    names = columns["sources"][columns["source"]]
    keep = ~columns["held"]
    if job.drop_fold == -1:
        keep &= columns["fold"] < 0
    elif job.drop_fold >= 0:
        keep &= columns["fold"] != job.drop_fold
    if job.quarters < 4:
        keep &= ~np.isin(names, WRITTEN) | (columns["quarter"] < job.quarters)
    if not job.teachers:
        keep &= columns["label"] >= 0
    zero = [source for source, share in job.sources.items() if share == 0]
    keep &= ~np.isin(names, zero)
    found = np.flatnonzero(keep)
    return found[: job.limit] if job.limit else found


def batches(job: Job, data: Data, pairs: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """The batches of one epoch: whole units of about equal length together."""
    columns = data.columns
    order = pairs[np.argsort(columns["unit"][pairs], kind="stable")]
    units = columns["unit"][order]
    begins = np.flatnonzero(np.r_[True, units[1:] != units[:-1]])
    share = np.array([job.sources.get(source, 1.0) for source in columns["sources"].tolist()])
    lengths = data.lengths(columns["claim"][order], columns["passage"][order])
    longest = np.maximum.reduceat(lengths, begins)
    keep = rng.random(len(begins)) < share[columns["source"][order[begins]]]
    ends = np.minimum(np.r_[begins[1:], len(order)], begins + 24)
    noisy = longest * rng.uniform(0.9, 1.1, len(begins))
    found: list[np.ndarray] = []
    batch: list[np.ndarray] = []
    width = count = 0
    for place in np.argsort(noisy)[keep[np.argsort(noisy)]].tolist():
        unit = order[begins[place] : ends[place]]
        own = rounded(int(longest[place]))
        wider = max(width, own)
        if batch and count + len(unit) > job.tokens // wider:
            found.append(np.concatenate(batch))
            batch, wider, count = [], own, 0
        batch.append(unit)
        width, count = wider, count + len(unit)
    if batch:
        found.append(np.concatenate(batch))
    rng.shuffle(found)
    return found


def rounded(length: int) -> int:
    """The width of a batch whose longest pair has so many tokens."""
    return -(-length // WIDTHS) * WIDTHS


def ranking(score: Any, label: Any, unit: Any) -> Any:
    """Pairwise logistic loss: within a unit what is supported above what is not."""
    apart = (unit[:, None] == unit[None]) & (label[:, None] == 0) & (label[None] > 0)
    losses = functional.softplus(score[None] - score[:, None])
    return (losses * apart).sum() / apart.sum().clamp(min=1)


def loss_of(job: Job, logits: Any, label: Any, unit: Any, taught: Any, real: Any) -> Any:
    """The loss of a batch; `real` says which of its rows are pairs."""
    known = label >= 0
    hard = functional.cross_entropy(
        logits, label.clamp(min=0), reduction="none", label_smoothing=job.smoothing
    )
    hard = (hard * known).sum() / known.sum().clamp(min=1)
    if job.margin:
        score = logits[:, 0] - logits[:, 1:].logsumexp(1)
        hard = hard + job.margin * ranking(score, label, unit)
    if taught is None:
        return hard
    soft = functional.kl_div(
        functional.log_softmax(logits / job.heat, 1), functional.log_softmax(taught / job.heat, 1),
        reduction="none", log_target=True,
    ).sum(1)  # fmt: skip
    soft = (soft * real).sum() / real.sum().clamp(min=1)
    return (1 - job.mix) * hard + job.mix * job.heat**2 * soft


@torch.no_grad()
def logits_of(model: Reader, data: Data, claims: np.ndarray, passages: np.ndarray) -> np.ndarray:
    """Log odds of pairs, in their order."""
    model.eval()
    lengths = data.lengths(claims, passages)
    order = np.argsort(lengths)
    found = np.zeros((len(claims), 3), np.float32)
    begin, most = 0, 200_000 if data.device == "cuda" else 4000
    while begin < len(order):
        size = 4096
        while size > 8 and size * lengths[order[min(begin + size, len(order)) - 1]] > most:
            size //= 2
        rows = order[begin : begin + size]
        claim, passage = (
            torch.from_numpy(side[rows].astype(np.int64)).to(data.device)
            for side in (claims, passages)
        )
        width = -(-int(lengths[rows].max()) // 8) * 8
        with torch.autocast(data.device, torch.bfloat16):
            found[rows] = model(*data.tokens(claim, passage, width)).cpu().numpy()
        begin += size
    return found


class Steps:
    """Runs training steps; on an accelerator each width of batch is recorded once, then
    replayed."""

    def __init__(self, job: Job, data: Data, model: Reader, taught: Any) -> None:
        self._job, self._data, self._model, self._taught = job, data, model, taught
        self.trained = [weight for weight in model.parameters() if weight.requires_grad]
        flat = [weight for weight in self.trained if weight.ndim < 2]
        deep = [weight for weight in self.trained if weight.ndim >= 2]
        self.total = torch.zeros((), device=data.device)
        self._rate = torch.zeros((), device=data.device)
        self._cuda = data.device == "cuda"
        self.optimizer = torch.optim.AdamW(
            [{"params": deep, "weight_decay": 0.01}, {"params": flat, "weight_decay": 0.0}],
            lr=self._rate, fused=self._cuda, capturable=self._cuda,
        )  # fmt: skip
        self._recorded: dict[int, tuple[Any, Any]] = {}
        self._pool: Any = None

    def step(self, rows: np.ndarray, width: int, rate: float) -> None:
        """Learns from one batch."""
        self._rate.fill_(rate)
        count = self._job.tokens // width
        if not (self._cuda and self._job.graphs):
            self._learn(torch.from_numpy(rows.astype(np.int64)).to(self._data.device), width)
            return
        full = np.full(max(count, len(rows)), self._data.count, np.int64)
        full[: len(rows)] = rows
        if width not in self._recorded:
            self._recorded[width] = self._record(width, count)
        graph, held = self._recorded[width]
        held.copy_(torch.from_numpy(full[:count]), non_blocking=True)
        graph.replay()

    def _gradients(self, rows: Any, width: int) -> Any:
        data = self._data
        with torch.autocast(data.device, torch.bfloat16, cache_enabled=not self._cuda):
            logits = self._model(*data.tokens(data.claim[rows], data.passage[rows], width))
        taught = None if self._taught is None else self._taught[rows]
        real = rows < data.count
        loss = loss_of(self._job, logits, data.label[rows], data.unit[rows], taught, real)
        loss.backward()
        return loss.detach()

    def _learn(self, rows: Any, width: int) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        self.total.add_(self._gradients(rows, width))
        nn.utils.clip_grad_norm_(self.trained, 1.0)
        self.optimizer.step()

    def _record(self, width: int, count: int) -> tuple[Any, Any]:
        """As the chapter on CUDA graphs of PyTorch's notes does a whole step."""
        held = torch.full((count,), self._data.count, device="cuda", dtype=torch.int64)
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            rate = self._rate.clone()
            self._rate.zero_()  # what follows only warms up and makes the optimizer's state
            for _ in range(2):
                self.optimizer.zero_grad(set_to_none=True)
                self._gradients(held, width)
                if not self._recorded:
                    for weight in self.trained:
                        weight.grad.zero_()
                    self.optimizer.step()
            self._rate.copy_(rate)
        torch.cuda.current_stream().wait_stream(aside)
        self.optimizer.zero_grad(set_to_none=True)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            self._learn(held, width)
        self._pool = self._pool or graph.pool()
        return graph, held


def keep(path: Path, model: Reader, steps: Steps, mean: list[Any], at: tuple[int, float]) -> None:
    """Writes all that a training needs to go on."""
    new = path.with_suffix(".new")
    state = {"model": model.state_dict(), "optimizer": steps.optimizer.state_dict()}
    torch.save({**state, "mean": mean, "at": at}, new)
    new.replace(path)


def restore(path: Path, model: Reader, steps: Steps, mean: list[Any]) -> tuple[int, float]:
    """Takes up a training that was stopped: its steps and seconds so far."""
    if not path.exists():
        return 0, 0.0
    held = torch.load(path, map_location=steps.total.device, weights_only=True)
    model.load_state_dict(held["model"])
    steps.optimizer.load_state_dict(held["optimizer"])
    for own, old in zip(mean, held["mean"], strict=True):
        own.copy_(old)
    at: tuple[int, float] = held["at"]
    return at


def train(job: Job, data: Data, folder: Path, out: Path) -> Reader:
    """Trains a reader."""
    device, columns = data.device, data.columns
    model = reader(job, folder, out, device)
    model.train()
    rng = np.random.default_rng(job.seed)
    pairs = chosen(job, data)
    plan = [batch for _ in range(job.epochs) for batch in batches(job, data, pairs, rng)]
    taught = None
    if job.teachers:
        every = [
            np.load(out / f"{name}.all.npz")["all"].astype(np.float32) for name in job.teachers
        ]
        taught = torch.from_numpy(np.pad(np.mean(every, 0), ((0, 1), (0, 0)))).to(device)
    steps = Steps(job, data, model, taught)
    warm = min(200, max(1, len(plan) // 16))
    mean = [weight.detach().clone() for weight in steps.trained]
    first, gone_before = restore(out / f"{job.name}.state.pt", model, steps, mean)
    print(f"{job.name}: {len(pairs)} pairs, {len(plan)} steps, from {first}", flush=True)
    began = kept = time.time()
    began -= gone_before
    for at, rows in enumerate(plan):
        if at < first:
            continue
        width = int(data.lengths(columns["claim"][rows], columns["passage"][rows]).max())
        width = rounded(width) if device == "cuda" else -(-width // 8) * 8
        gone = at / len(plan)
        if job.seconds:
            gone = (time.time() - began) / job.seconds
            if gone >= 1:
                break
        rate = min((at + 1) / warm, 1 - gone)
        steps.step(rows, width, job.rate * rate)
        if at % EVERY == EVERY - 1:
            share = min(job.average, at / (at + 10 * EVERY)) ** EVERY
            with torch.no_grad():
                now = [weight.detach() for weight in steps.trained]
                torch._foreach_lerp_(mean, now, 1 - share)
        if time.time() - kept > job.keep:
            keep(out / f"{job.name}.state.pt", model, steps, mean, (at + 1, time.time() - began))
            kept = time.time()
        if at % 400 == 399 or at + 1 == len(plan):
            spent = time.time() - began
            loss = steps.total.item() / (at % 400 + 1)
            print(f"  {job.name} {at + 1}/{len(plan)} {loss:.4f} {spent:.0f} s", flush=True)
            steps.total.zero_()
    (out / f"{job.name}.state.pt").unlink(missing_ok=True)
    with torch.no_grad():
        for own, smooth in zip(steps.trained, mean, strict=True):
            own.copy_(smooth)
    return model


def dev_figures(logits: np.ndarray, columns: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
    """What is told apart among pairs held out, by source."""
    names = columns["sources"][columns["source"][rows]]
    label = columns["label"][rows]
    shares = np.exp(logits - logits.max(1, keepdims=True))
    score = shares[:, 0] / shares.sum(1)
    found = {}
    groups = {source: [source] for source in dict.fromkeys(names.tolist())} | {
        "balanced": ["written", "written-other"]
    }
    for source, members in groups.items():
        here = np.isin(names, members) & (label >= 0)
        good, bad = score[here & (label == 0)], score[here & (label > 0)]
        if len(good) > 20 and len(bad) > 20:
            at = [round(figures.coverage(good, bad, most)[0], 3) for most in (0.02, 0.05)]
            found[source] = [round(figures.area(good, bad), 4), *at, len(good) + len(bad)]
    return found


def shown(report: dict[str, Any]) -> dict[str, Any]:
    """What is printed of a report."""
    told = ("written", "balanced", "twins", "scifact", "scifact-whole", "open-check_covid")
    found = {"dev": {name: report["dev"][name] for name in told if name in report["dev"]}}
    if "written" in report:
        figures_of = report["written"].items()
        found["written"] = {name: value for name, value in figures_of if name != "by_kind"}
        for name in ("scifact", "healthver", "nli4ct"):
            ways = report[name].items()
            found[name] = {way: [one["area"], one["at_5"]] for way, one in ways}
    return found


def run(job: Job, data: Data, folder: Path, out: Path) -> None:
    """Trains, measures and writes."""
    began = time.time()
    model = train(job, data, folder, out)
    columns = data.columns
    rows = np.flatnonzero(columns["held"])
    if job.limit:
        rows = rows[: job.limit]
    dev = logits_of(model, data, columns["claim"][rows], columns["passage"][rows])
    count = job.limit or len(data.cases)
    seen = logits_of(model, data, columns["case_claim"][:count], columns["case_passage"][:count])
    kept = {"dev_rows": rows, "dev": dev.astype(np.float16), "cases": seen.astype(np.float16)}
    if job.label_all:
        every = logits_of(model, data, columns["claim"], columns["passage"]).astype(np.float16)
        np.savez(out / f"{job.name}.all.npz", all=every)
    np.savez(out / f"{job.name}.npz", **kept)
    shares = np.exp(seen - seen.max(1, keepdims=True))
    report: dict[str, Any] = {"job": vars(job), "dev": dev_figures(dev, columns, rows)}
    if data.cases and not job.limit:
        report |= figures.figures(data.cases, shares[:, 0] / shares.sum(1))
    report["seconds"] = round(time.time() - began, 1)
    if job.save:
        own = {
            name: weight.detach().cpu().numpy().astype(np.float16)
            for name, weight in model.named_parameters()
            if weight.requires_grad
        }
        write(out, job.name, own)
    (out / f"{job.name}.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    print(job.name, json.dumps(shown(report)), f"{report['seconds']} s", flush=True)
    del model
    if data.device == "cuda":
        torch.cuda.empty_cache()


def main() -> None:
    """Runs the jobs."""
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        torch.set_num_threads(1)
    data = Data(folder / "data.npz", device)
    out.mkdir(parents=True, exist_ok=True)
    for text in sys.argv[3:]:
        run(Job(**json.loads(text)), data, folder, out)


if __name__ == "__main__":
    main()
