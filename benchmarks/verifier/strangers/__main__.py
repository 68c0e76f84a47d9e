"""`python -m benchmarks.verifier.strangers OUT`: writes what `attest evaluate written OUT` reads.

`--claims` names another folder of such claims (`benchmarks/verifier/one_word`). The texts are taken
from `../shared`; one whose length has changed is refused.
"""

import argparse
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
SHARED = Path(__file__).resolve().parents[4] / "shared"
_KEYS = {"_id": "text", "pmid": "abstract"}
"""The key of a row, and the field that holds its text."""


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


@cache
def _texts(path: Path) -> dict[str, tuple[str, str]]:
    """Title and text of each row of a file by its key."""
    found = {}
    for row in _rows(path):
        name, text = next((name, text) for name, text in _KEYS.items() if name in row)
        found[str(row[name])] = row["title"], row[text]
    return found


def _edited(passage: str, edits: list[tuple[int, int, str]]) -> str:
    for start, end, new in reversed(edits):
        passage = passage[:start] + new + passage[end:]
    return passage


def write(folder: Path, out: Path) -> None:
    """Write `documents.jsonl` and `claims.jsonl` of `folder` into the folder `out`."""
    documents, claims, texts = [], [], {}
    for one in _rows(folder / "documents.jsonl"):
        file, _, key = one["source"].partition("#")
        title, text = _texts(SHARED / file)[key]
        if len(text) != one["characters"]:
            raise ValueError(f"{one['source']} is another text than the one that was read")
        texts[one["document"]] = text
        kept = {"set_id": one["document"], "kind": one["kind"], "question": title}
        documents.append(kept | {"title": title, "text": text})
    for one in _rows(folder / "claims.jsonl"):
        quote = texts[one["document"]][slice(*one["span"])]
        claim = {name: one[name] for name in ("id", "claim", "label", "kind")}
        claim |= {"set_id": one["document"], "quote": quote}
        claim["judge"] = "SUPPORTED" if one["label"] == "supported" else "UNSUPPORTED"
        if "edits" in one:
            claim["counter"] = _edited(quote, one["edits"])
        claims.append(claim)
    out.mkdir(parents=True, exist_ok=True)
    for name, rows in (("documents", documents), ("claims", claims)):
        lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        (out / f"{name}.jsonl").write_text(lines, encoding="utf-8")


def main() -> None:
    """Writes the folder that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--claims", type=Path, default=FOLDER)
    options = parser.parse_args()
    write(options.claims, options.out)


if __name__ == "__main__":
    main()
