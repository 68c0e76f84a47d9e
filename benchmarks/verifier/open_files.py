"""Files of public repositories at a fixed commit, and what cleans the texts of the open sets."""

import csv
import io
import json
import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

LABELS = {
    "supported": ("entailment", "SUPPORTS", "SUPPORT", "supports", "True"),
    "contradicted": ("contradiction", "REFUTES", "REFUTE", "refutes"),
    "not_enough": (
        "neutral",
        "not_entailment",
        "non-entailment",
        "NOT ENOUGH INFO",
        "NOTENOUGHINFO",
        "not enough info",
    ),
}
OURS = {name: label for label, names in LABELS.items() for name in names}

SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z(\[\"0-9])")

_WORD = re.compile(r"[a-z0-9]+")
_ESCAPED = {
    "\u00a0": " ", "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{",
    "-RCB-": "}", "-COLON-": ":", "``": '"', "''": '"', "\\/": "/",
}  # fmt: skip


class Row(NamedTuple):
    """A pair as a set has it. The label is empty where it is none of ours, the group none where a
    set names none."""

    claim: str
    passage: str
    label: str
    group: str | None = None


class Files:
    """The files of one repository, read from a bare clone."""

    def __init__(self, clones: Path, source: str) -> None:
        """Reads nothing yet.

        Args:
            clones: the folder of bare clones, each named `OWNER+NAME`.
            source: `OWNER/NAME@COMMIT`.
        """
        repository, _, self._commit = source.partition("@")
        self._clone = clones / repository.replace("/", "+")

    def text(self, path: str) -> str:
        """The file's text.

        Raises:
            CalledProcessError: the commit, or the file in it, is not in the clone.
        """
        command = ["git", f"--git-dir={self._clone}", "show", f"{self._commit}:{path}"]
        found = subprocess.run(command, capture_output=True, check=True).stdout
        return found.decode("utf-8", "replace").lstrip("\ufeff")

    def lines(self, path: str) -> list[dict[str, Any]]:
        """The objects of a JSON lines file."""
        return [json.loads(line) for line in self.text(path).split("\n") if line.strip()]

    def table(self, path: str) -> list[dict[str, str]]:
        """The rows of a file of comma-separated values."""
        csv.field_size_limit(10**9)
        return list(csv.DictReader(io.StringIO(self.text(path))))

    def tabs(self, path: str) -> list[dict[str, str]]:
        """The rows of a file of values with tabs between, which are never quoted."""
        file = io.StringIO(self.text(path))
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def words(text: str) -> list[str]:
    """Runs of plain letters and digits, in lower case."""
    return _WORD.findall(text.lower())


def size(text: str) -> int:
    """The number of words between blanks."""
    return len(text.split())


def flat(text: str) -> str:
    """The text in one line, with single blanks."""
    return re.sub(r"\s+", " ", text.replace("\u00a0", " ")).strip()


def capital(text: str) -> str:
    """The text with a capital letter first."""
    return text[:1].upper() + text[1:]


def ended(text: str) -> str:
    """The text in one line, with a full stop where it has no end."""
    found = flat(text)
    return found if not found or found[-1] in '.!?"' else found + "."


def joined(text: str) -> str:
    """A text that was cut into tokens, put together again: brackets, quotes, contractions."""
    for escaped, plain in _ESCAPED.items():
        text = text.replace(escaped, plain)
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r" -- (?=[A-Za-z0-9])", " – ", text)
    text = re.sub(r" ([,.;:?!%)\]}])", r"\1", text)
    text = re.sub(r"([(\[{$£€#]) ", r"\1", text)
    text = re.sub(r" (n't|'s|'re|'ve|'ll|'d|'m)(?=[\s,.;:?!)]|$)", r"\1", text, flags=re.IGNORECASE)
    if text.count("'") == 1:
        text = re.sub(r"(?<=s) '(?= [a-z])", "'", text)
    else:
        text = re.sub(r"(^| )' (.+?)(?: '|')(?= |$|[.,;!?])", r"\1'\2'", text)
    return re.sub(r'" ([^"]*?) "', r'"\1"', text).strip()
