"""Is what a system shows true to its files? The same material through every system."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers import corpus, material
from benchmarks.peers.children import Child
from benchmarks.peers.ours import Attest, Model, attest, shows

RECALL_SECONDS = 20.0


def theirs(running: Child, folder: Path, quotations: int, characters: int) -> dict[str, Any]:
    """All probes of a peer, each on a fresh instance of it."""
    files = _long_files(folder)
    running.do("ingest", files=list(map(str, files)))
    found: dict[str, Any] = {"chunks": running.do("pieces", files=list(map(str, files)))}
    running.do("new")
    cases = material.quoted(quotations, characters)
    texts = corpus.write(folder / "texts", range(quotations), characters)
    running.do("ingest", files=list(map(str, texts)))
    shown = running.do(
        "quote", cases=[{"question": one.question, "words": one.words} for one in cases]
    )["shown"]
    found["quotations"] = _counted(cases, shown)
    running.do("new")
    guideline = folder / "guideline"
    states = []
    for changed in (False, True):
        material.write_guideline(guideline, changed=changed)
        running.do("hold", folder=str(guideline))
        read = running.do("read", question=material.ABOUT_GUIDELINE)["read"]
        states.append(material.held(read))
    return found | {"changed_file": {"before": states[0], "after": states[1]}}


def ours(instance: Attest, folder: Path) -> dict[str, Any]:
    """Chunks and the changed file, on an instance that holds other texts already."""
    files = _long_files(folder)
    batch = instance.ingest_files(files, len(files))["batch"]
    texts = {path.name: path.read_bytes().decode() for path in files}
    found: dict[str, Any] = {"chunks": instance.pieces(texts, batch)}
    guideline, answers = folder / "guideline", []
    for changed in (False, True):
        material.write_guideline(guideline, changed=changed)
        instance.ingest_files([guideline / material.GUIDELINE], 1)
        answers.append(instance.answer(material.ABOUT_GUIDELINE))
    states = [material.held(list(_said(one))) for one in answers]
    return found | {
        "changed_file": {
            "before": states[0],
            "after": states[1],
            "earlier_answer": _recalled(instance, answers[0]["question_id"]),
        }
    }


def _said(answer: dict[str, Any]) -> list[str]:
    """The words of an answer and of all its quotations."""
    quotes = [cited["quote"] for one in answer["claims"] for cited in one["citations"]]
    return [one["text"] for one in answer["claims"]] + quotes


def _recalled(instance: Attest, question_id: str) -> str:
    """What the answer from before the change says of itself once that was followed up."""
    deadline = time.monotonic() + RECALL_SECONDS
    while (state := instance.recall_state(question_id)) == "current":
        if time.monotonic() > deadline:
            break
        time.sleep(0.2)
    return state


def our_quotations(quotations: int, characters: int) -> dict[str, Any]:
    """The quotations through an instance whose model says them, and supports them as a judge."""
    model, cases = Model(), material.quoted(quotations, characters)
    with model.served() as settings, attest(**settings) as instance:
        instance.ingest(range(quotations), characters)
        shown = []
        for case in cases:
            model.case = case
            shown.append(shows(instance.answer(case.question), case.words))
    return _counted(cases, shown)


def _counted(cases: Sequence[material.Quoted], shown: Sequence[bool]) -> dict[str, int]:
    """How many of each kind reached the caller under a citation."""
    both = list(zip(cases, shown, strict=True))
    return {
        "true": sum(not case.altered for case in cases),
        "true_shown": sum(seen for case, seen in both if not case.altered),
        "altered": sum(case.altered for case in cases),
        "altered_shown": sum(seen for case, seen in both if case.altered),
    }


def _long_files(folder: Path) -> list[Path]:
    (folder / "long").mkdir(parents=True, exist_ok=True)
    paths = []
    for name, text in material.long_texts().items():
        path = folder / "long" / name
        path.write_bytes(text.encode())
        paths.append(path)
    return paths
