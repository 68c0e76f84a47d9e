"""`attest evaluate written DIR`: claims in people's own words go the way of a drafted claim.

What is measured is the gate: how much of the truth comes through as it was written, and how much
that is false. A judge stands in for the language model; it sees what a language model would see and
is asked the same way, planted controls included.
"""

import math
import random
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from cli.evaluate.lines import read_lines
from clinical_text.quotes import Source
from clinical_text.structure import segment
from workers.language_model.port import Prompt, Proposal, Usage
from workers.verify.checking import check_claims
from workers.verify.claims import Checked, Drafted, Located
from workers.verify.entailment import reader
from workers.verify.judges.controls import Control
from workers.verify.judges.judging import Judged, Judgement, Material, Support, judge
from workers.verify.passages.locating import CitedText
from workers.verify.record.counts import stopped_by

JUDGES = ("none", "labels", "recorded", "agreeing", "erring")
ERRS = 0.1
"""The share of its verdicts in which the erring judge says the contrary."""
_KEY = "E1"


class Document(BaseModel):
    """A line of `documents.jsonl`. Other fields are ignored."""

    model_config = ConfigDict(frozen=True)

    set_id: str
    title: str = ""
    text: str


class Claim(BaseModel):
    """A line of `claims.jsonl`: `counter` is a passage in which a false claim would be true."""

    model_config = ConfigDict(frozen=True)

    id: str
    set_id: str
    claim: str
    quote: str
    label: Literal["supported", "contradicted", "not_enough"]
    kind: str
    judge: Support | None = None
    counter: str | None = None

    @property
    def true(self) -> bool:
        """Whether its document bears it out."""
        return self.label == "supported"


@dataclass(frozen=True)
class Stand:
    """Stands in for a language model: `truth` and `recorded` by claim id."""

    name: str
    truth: Mapping[str, bool]
    recorded: Mapping[str, Support | None]
    chance: random.Random = field(default_factory=lambda: random.Random(20261126))  # noqa: S311

    def __call__(self, material: Material) -> Judged:
        """Its verdicts, given as a language model gives them."""
        return judge(material, lambda prompt: self._proposal(prompt, material))

    def _proposal(self, _: Prompt[Judgement], material: Material) -> Proposal[Judgement]:
        verdicts = []
        for name, one in material.shown().items():
            said = self._says(one)
            holds = said is Support.SUPPORTED
            claim = one.claim if isinstance(one, Control) else one
            answers = [{"doubt": doubt.kind, "holds": holds} for doubt in claim.doubts]
            verdicts.append({"claim_id": name, "doubts": answers, "verdict": said.value})
        value = Judgement.model_validate({"verdicts": verdicts})
        return Proposal(value, self.name, Usage(0, 0), "0" * 64, "0" * 64)

    def _says(self, one: Located | Control) -> Support:
        if self.name == "agreeing":
            return Support.SUPPORTED
        if isinstance(one, Located) and self.name == "recorded":
            return self.recorded[one.drafted.claim_id] or Support.UNSUPPORTED
        true = one.true if isinstance(one, Control) else self.truth[one.drafted.claim_id]
        if self.name == "erring" and self.chance.random() < ERRS:
            true = not true
        return Support.SUPPORTED if true else Support.UNSUPPORTED


def evaluate_written(
    directory: Path, judge_name: str, progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """Check every claim of `directory` and count what became of it (DESIGN section 5).

    `true` and `false` count claims shown as they are (`own_words`, of false ones `accepted`), shown
    as whole sentences of the source (`source_words`, none since ADR 0031), `hedged` and `dropped`.
    With the judge `none` also: `balanced`, where each claim is put beside its quotation and beside
    another passage, and `contrast`, what the verifier alone makes of these pairs.

    Raises ValueError, in one line, for a missing file, an unreadable line or an unknown judge.
    """
    if judge_name not in JUDGES:
        raise ValueError(f"there is no judge “{judge_name}”; there are {', '.join(JUDGES)}")
    documents = {one.set_id: one for _, one in read_lines(directory / "documents.jsonl", Document)}
    claims = [claim for _, claim in read_lines(directory / "claims.jsonl", Claim)]
    strange = next((one for one in claims if one.set_id not in documents), None)
    if strange is not None:
        raise ValueError(f"claim {strange.id} is of “{strange.set_id}”, which no document is")
    of_set: defaultdict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        of_set[claim.set_id].append(claim)
    truth = {one.id: one.true for one in claims}
    stand = Stand(judge_name, truth, {one.id: one.judge for one in claims})
    results: dict[str, Checked] = {}
    for set_id, some in of_set.items():
        document = documents[set_id]
        found = _checked(document, [(one.id, one.claim, one.quote) for one in some], stand)
        results |= {one.claim_id: one for one in found}
        if progress is not None:
            progress(len(results), len(claims))
    report = _report(judge_name, claims, results)
    if judge_name == "none":
        pairs = list(_pairs(claims))
        report["balanced"] = _balanced(pairs)
        report["contrast"] = _contrast(pairs)
    return report


def _checked(
    document: Document, claims: Sequence[tuple[str, str, str]], stand: Stand
) -> Sequence[Checked]:
    """The claims of one document (id, words, quotation), as one draft."""
    text = CitedText(Source(document.text), segment(document.text).sentences, document.title)
    drafted = [Drafted(name, words, _KEY, quote, "EVIDENCE") for name, words, quote in claims]
    asked = None if stand.name == "none" else stand
    return check_claims(drafted, {_KEY: text}, judge=asked).results


def _report(
    judge_name: str, claims: Sequence[Claim], results: Mapping[str, Checked]
) -> dict[str, Any]:
    ends: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    stopped: Counter[str] = Counter()
    for claim in claims:
        one = results[claim.id]
        end = _end(one)
        ends[claim.true][end] += 1
        kinds[claim.kind][end] += 1
        if claim.true and end != "own_words":
            stopped.update(stopped_by(one))
    ways = ("own_words", "source_words", "hedged", "dropped")
    total = {true: max(1, sum(counted.values())) for true, counted in ends.items()}
    names = {True: "own_words", False: "accepted"}
    return {
        "judge": judge_name,
        **{
            word: {names[true] if way == "own_words" else way: ends[true][way] for way in ways}
            | {"total": sum(ends[true].values())}
            for true, word in ((True, "true"), (False, "false"))
        },
        "true_rate": round(ends[True]["own_words"] / total[True], 4),
        "false_rate": round(ends[False]["own_words"] / total[False], 4),
        "by_kind": {kind: dict(counted) for kind, counted in sorted(kinds.items())},
        "stopped_true_by": dict(stopped.most_common()),
    }


def _end(one: Checked) -> str:
    if one.passes:
        return "own_words"
    return "hedged" if one.rewritten_from is not None else "dropped"


@dataclass(frozen=True)
class _Pair:
    """A claim beside a passage that bears it out, or does not; `form` says what passage it is."""

    claim: Claim
    passage: str
    bears: bool
    form: Literal["own", "quote", "counter", "other"]


def _pairs(claims: Sequence[Claim]) -> Iterator[_Pair]:
    """The balanced set: each true claim beside its quotation and beside another true claim's of the
    same text, each false one beside its quotation and its counter."""
    true = [one for one in claims if one.true]
    for claim in claims:
        if not claim.true:
            yield _Pair(claim, claim.quote, False, "quote")
            if claim.counter is not None:
                yield _Pair(claim, claim.counter, True, "counter")
            continue
        yield _Pair(claim, claim.quote, True, "own")
        others = [
            one.quote
            for one in true
            if one.set_id == claim.set_id
            and one.quote not in claim.quote
            and claim.quote not in one.quote
        ]
        if others:
            other = random.Random(claim.id).choice(others)  # noqa: S311  no secret
            yield _Pair(claim, other, False, "other")


def _balanced(pairs: Sequence[_Pair]) -> dict[str, Any]:
    """What the gate lets through of the balanced set, each passage a document of its own."""
    passed: Counter[bool] = Counter()
    total: Counter[bool] = Counter()
    stand = Stand("none", {}, {})
    for pair in pairs:
        document = Document(set_id=pair.claim.set_id, text=pair.passage)
        (one,) = _checked(document, [(pair.claim.id, pair.claim.claim, pair.passage)], stand)
        total[pair.bears] += 1
        passed[pair.bears] += one.passes
    return {
        "true_rate": round(passed[True] / max(1, total[True]), 4),
        "false_rate": round(passed[False] / max(1, total[False]), 4),
        "true_total": total[True],
        "false_total": total[False],
    }


def _contrast(pairs: Sequence[_Pair]) -> dict[str, float]:
    """What the verifier alone makes of it.

    `area` and `at_2` are of the balanced set (`at_2`: of the supported, the share above what 2 % of
    the others pass); `empty_auc` without any passage; `other_quote` and `counter` are the shares of
    true and of false claims whose bearing passage scores above the other; `paired` is of both.
    """
    scores = [one.supported for one in reader.judge_all((p.claim.claim, p.passage) for p in pairs)]
    by_form: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for pair, score in zip(pairs, scores, strict=True):
        by_form[pair.form][pair.claim.id] = score
    own, other, quote, counter = (by_form[form] for form in ("own", "other", "quote", "counter"))
    claims = {pair.claim.id: pair.claim for pair in pairs}
    empty = [one.supported for one in reader.judge_all((c.claim, "") for c in claims.values())]
    bare: dict[bool, list[float]] = {True: [], False: []}
    for claim, score in zip(claims.values(), empty, strict=True):
        bare[claim.true].append(score)
    apart = [own[name] > score for name, score in other.items()]
    turned = [counter[name] > quote[name] for name in counter]
    good = [*own.values(), *counter.values()]
    bad = sorted([*other.values(), *quote.values()])
    threshold = bad[-1 - math.floor(0.02 * len(bad))] if bad else 1.0
    return {
        "paired": _share(apart + turned),
        "empty_auc": _area(bare[True], bare[False]),
        "other_quote": _share(apart),
        "counter": _share(turned),
        "area": _area(good, bad),
        "at_2": _share([score > threshold for score in good]),
    }


def _share(found: Sequence[bool]) -> float:
    return round(sum(found) / len(found), 4) if found else 0.0


def _area(good: Iterable[float], bad: Iterable[float]) -> float:
    """The share of (good, bad) pairs in the right order, ties by half; 0.5 where there are none."""
    high, low = list(good), sorted(bad)
    if not high or not low:
        return 0.5
    below = sum(bisect_left(low, one) + bisect_right(low, one) for one in high)
    return round(below / 2 / len(high) / len(low), 4)
