"""The result as Markdown tables, and where they go in the page. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from benchmarks.peers.figures import ahead

NAMES = {
    "attest": "Attest",
    "paperqa": "PaperQA",
    "paperqa-direct": "PaperQA, model called directly",
    "llamaindex": "LlamaIndex",
    "haystack": "Haystack",
}
NONE = "–"
_HELD = {
    "old": "the old advice",
    "new": "the new advice",
    "both": "both, side by side",
    "neither": "neither",
}
Figure = Callable[[Mapping[str, Any]], float | None]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first are set to the right."""
    lines = [f"| {' | '.join(head)} |", f"| --- |{' ---: |' * (len(head) - 1)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines)


def number(value: float | None) -> str:
    """Three digits are enough for what was measured on a shared machine."""
    if value is None:
        return NONE
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2g}" if value else "0"


def speeds(result: Mapping[str, Any]) -> str:
    """Ingest, questions and memory, a row each at each size; how far ahead Attest is in the end."""
    systems: Mapping[str, Any] = result["systems"]
    sizes = [str(size) for size in result["plan"]["sizes"]]
    rows = []
    for size in sizes:
        for label, name, more in (
            ("searchable, texts/s", "per_second", True),
            ("all done, texts/s", "finished_per_second", True),
            ("CPU ms a text", "cpu_ms", False),
        ):
            figure = _at(size, "ingest", name)
            rows.append(_row(f"{label}, to {_many(size)}", systems, figure, more))
    for name, label in (
        ("p50", "question p50 ms"),
        ("p95", "question p95 ms"),
        ("cpu_ms", "question CPU ms"),
    ):
        rows += [
            _row(f"{label}, {_many(size)} texts", systems, _at(size, "questions", name), False)
            for size in sizes
        ]
    rows += [
        _row(f"memory MB, {_many(size)} texts", systems, _at(size, "memory", "pss"), False)
        for size in sizes
    ]
    head = ["", *(NAMES[name] for name in systems), "Attest : best peer"]
    return table(head, rows)


def _at(size: str, *path: str) -> Figure:
    def found(system: Mapping[str, Any]) -> float | None:
        value: float | None = system[path[0]].get(size, {}).get(path[1])
        return value

    return found


def _row(label: str, systems: Mapping[str, Any], figure: Figure, more_is_better: bool) -> list[str]:
    values = {name: figure(system) for name, system in systems.items()}
    others = [value for name, value in values.items() if name != "attest" and value is not None]
    ours = values.get("attest")
    ratio = ahead(ours, others, more_is_better=more_is_better) if ours is not None else None
    return [label, *(number(value) for value in values.values()), _times(ratio)]


def _times(ratio: float | None) -> str:
    if ratio is None:
        return NONE
    return f"**{ratio:.2f} ×**" if ratio >= 1 else f"{ratio:.2f} ×"


def _many(size: str) -> str:
    return f"{int(size):,}"


def probes(result: Mapping[str, Any]) -> str:
    """What is true to the files, a column a system."""
    found: Mapping[str, Any] = {name: one for name, one in result["probes"].items() if one}
    rows = [
        ["chunks that are in their file to the letter", *map(_verbatim, found.values())],
        ["chunks that are where the system says they are", *map(_placed, found.values())],
        [
            "read again after the file changed: the answer rests on",
            *(_HELD[one["changed_file"]["after"]] for one in found.values()),
        ],
        ["the answer given before the change", *map(_earlier, found.values())],
        ["quotations with an altered number shown as cited", *map(_altered, found.values())],
        ["true quotations shown as cited", *map(_true, found.values())],
    ]
    return table(["", *(NAMES[name] for name in found)], rows)


def _verbatim(one: Mapping[str, Any]) -> str:
    return f"{one['chunks']['verbatim']} of {one['chunks']['chunks']}"


def _placed(one: Mapping[str, Any]) -> str:
    placed = one["chunks"]["placed"]
    return f"{one['chunks']['in_place']} of {placed}" if placed else "it does not say"


def _earlier(one: Mapping[str, Any]) -> str:
    state = one["changed_file"].get("earlier_answer")
    return f"says “{state}”" if state else "not kept"


def _altered(one: Mapping[str, Any]) -> str:
    return f"{one['quotations']['altered_shown']} of {one['quotations']['altered']}"


def _true(one: Mapping[str, Any]) -> str:
    return f"{one['quotations']['true_shown']} of {one['quotations']['true']}"


def encoders(found: Mapping[str, Any]) -> str:
    """Texts a second of both, and how many times as many Attest's are."""
    rows = [
        [kind, number(one["attest"]), number(one["torch"]), _times(one["ratio"])]
        for kind, one in found["texts_per_second"].items()
    ]
    return table(["texts/s", "Attest", "sentence-transformers on torch", "Attest : torch"], rows)


_HOPS = {
    "chain_ms": "one message from queue to queue, ms a hop",
    "chain_cpu_ms": "CPU ms a hop of these",
    "flood_ms": "many messages at once, ms each",
    "flood_cpu_ms": "CPU ms each of these",
}


def hops(found: Mapping[str, Any]) -> str:
    """A hop of both; the last column is what Attest's costs in hops of dramatiq."""
    rows = []
    for kind, label in _HOPS.items():
        ours, bare = found["attest"][kind], found["dramatiq"][kind]
        rows.append([label, number(ours), number(bare), f"{ours / bare:.2f} ×" if bare else NONE])
    return table(["", "Attest", "bare dramatiq", "Attest ÷ dramatiq"], rows)


def section(result: Mapping[str, Any]) -> str:
    """All that goes into the page."""
    machine, plan = result["machine"], result["plan"]
    loads = ", ".join(f"{_many(size)}: {load}" for size, load in result["load"].items())
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    parts = [
        f"Measured {result['when']} by `{result['command']}` on {machine['cores']} cores of "
        f"{machine['cpu']}, {machine['memory_gb']} GB, {machine['system']}, Python "
        f"{machine['python']}. Load of the machine while each size was measured: {loads}; of the "
        f"{machine['cores']} cores, this run itself keeps busy up to all. {versions}.",
        f"{plan['questions']} questions a size, texts of {plan['characters']:,} characters, the "
        "hash encoder in every system.",
        speeds(result),
        _cited(result),
    ]
    if result.get("probes"):
        parts += ["### True to its files", probes(result)]
    if result.get("encoder"):
        parts += ["### Encoder", encoders(result["encoder"]), _same_vectors(result["encoder"])]
    if result.get("hops"):
        parts += ["### Queues", hops(result["hops"])]
    return "\n\n".join(part for part in parts if part)


def _cited(result: Mapping[str, Any]) -> str:
    """How many questions were answered with a citation, over all sizes, and our time by stage."""
    told = [
        f"{NAMES[name]} {sum(one['cited'] for one in asked)} of "
        f"{sum(one['asked'] for one in asked)}"
        for name, system in result["systems"].items()
        for asked in [list(system["questions"].values())]
    ]
    sentence = f"Answers with a citation: {'; '.join(told)}."
    stages = [
        f"{_many(size)} texts: "
        + ", ".join(f"{stage} {number(ms)}" for stage, ms in one["stages_p50"].items())
        for size, one in result["systems"].get("attest", {}).get("questions", {}).items()
        if "stages_p50" in one
    ]
    return f"{sentence} Attest's time inside its stages, ms p50: {'; '.join(stages)}."


def _same_vectors(found: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    memory = found["memory_mb"]
    return (
        f"{found['threads']} threads each, {found['rounds']} rounds in turns, medians; {versions}. "
        f"The largest difference between components of the two vectors of a text is "
        f"{found['largest_difference']:.0e}. Memory of the process: {memory['attest']} MB against "
        f"{memory['torch']} MB."
    )


def replaced(page: str, name: str, text: str) -> str:
    """`page` with `text` between the marks of `name`.

    Raises:
        ValueError: the page lacks the marks, or has them twice or in the wrong order.
    """
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise ValueError(f"the page has no place for {name!r}: {begin} … {end}")
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}"
