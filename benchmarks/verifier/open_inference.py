"""Reader of Evidence Inference 2.0: what a treatment did to an outcome, put into sentences.

Doctors judged and marked the results; the claims are made of intervention, comparator and outcome.
Of each prompt two claims hold, two say another direction, and one stands beside a stretch of the
same article that tells no results. Passages come only from articles whose own file names a licence
that allows any use.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from benchmarks.verifier.open_files import SENTENCE_END, Files, Row, capital, flat, size

Prompt = Mapping[str, str]

MOST_WORDS = 240
_DIRECTION = {"1": "up", "-1": "down", "0": "none"}
_SAID = {
    "up": (
        "{O} was significantly higher with {I} than with {C}.",
        "Compared with {C}, {I} significantly increased {o}.",
        "{I} led to significantly higher {o} than {C}.",
        "{O} was significantly lower with {C} than with {I}.",
    ),
    "down": (
        "{O} was significantly lower with {I} than with {C}.",
        "Compared with {C}, {I} significantly reduced {o}.",
        "{I} led to significantly lower {o} than {C}.",
        "{O} was significantly higher with {C} than with {I}.",
    ),
    "none": (
        "There was no significant difference in {o} between {I} and {C}.",
        "{O} did not differ significantly between {I} and {C}.",
        "Compared with {C}, {I} had no significant effect on {o}.",
    ),
}
_FREE = (
    "creativecommons.org/licenses/by/", "creative commons attribution license", "publicdomain",
    "creative commons attribution 4.0",
)  # fmt: skip
_BOUND = re.compile(r"non-?\s?commercial|by-nc|by-nd|no-?deriv")
_RESULT = re.compile(
    r"signific|higher|lower|increas|decreas|reduc|differ|improv|greater|less|more |P ?[<=]|similar"
    r"|effect",
    re.IGNORECASE,
)


def evaluated(folder: Path) -> set[str]:
    """The articles (`PMC…`) that files below a folder are, or name."""
    found = set()
    for path in (path for path in folder.rglob("*") if path.is_file()):
        found.add(path.stem)
        found.update(re.findall(r"PMC\d+", path.read_text(encoding="utf-8", errors="replace")))
    return found


def evidence_inference(files: Files, left_out: set[str]) -> Iterator[Row]:
    """The pairs of all articles but those left out."""
    rng = Random(11)
    prompts = {row["PromptID"]: row for row in files.table("annotations/prompts_merged.csv")}
    articles: dict[str, str] = {}
    for number, judged in sorted(_judgments(files).items()):
        prompt = prompts.get(number)
        directions = {row["Label Code"] for row in judged}
        if prompt is None or len(directions) != 1 or not directions <= _DIRECTION.keys():
            continue
        article = "PMC" + prompt["PMCID"]
        if article in left_out:
            continue
        if article not in articles:
            articles[article] = _article(files, article)
        direction = _DIRECTION[directions.pop()]
        if articles[article]:
            marked = {row["Annotations"].strip() for row in judged}
            yield from _pairs(prompt, direction, articles[article], marked, rng)


def _judgments(files: Files) -> dict[str, list[dict[str, str]]]:
    """What doctors judged valid, by prompt."""
    found = defaultdict(list)
    for path in ("v2_annotations.csv", "additional_files/annotations_pilot_run.csv"):
        for row in files.table(f"annotations/{path}"):
            if {row["Valid Label"], row["Valid Reasoning"]} <= {"True", "1"}:
                found[row["PromptID"]].append(row)
    return found


def _article(files: Files, article: str) -> str:
    """The article's text, empty where its file names no free licence."""
    file = files.text(f"annotations/xml_files/{article}.nxml")[:60000]
    terms = re.findall(r"<(?:permissions|license)\b.*?</(?:permissions|license)>", file, re.DOTALL)
    said = " ".join(terms).lower()
    if _BOUND.search(said) or not any(name in said for name in _FREE):
        return ""
    return files.text(f"annotations/txt_files/{article}.txt")


def _pairs(
    prompt: Prompt, direction: str, text: str, marked: set[str], rng: Random
) -> Iterator[Row]:
    paragraphs = [flat(part) for part in text.split("\n") if part.strip()]
    quotes = [quote for quote in sorted(marked, key=len) if _readable(quote)]
    if not quotes:
        return
    quote = flat(quotes[-1] if rng.random() < 0.5 else quotes[0])
    passage = capital(_wider(quote, paragraphs, rng))
    tell = _teller(prompt)
    if tell is None:
        return
    article = "PMC" + prompt["PMCID"]
    true = [tell(form) for form in rng.sample(_SAID[direction], 2)]
    yield from (Row(claim, passage, "supported", article) for claim in true)
    for other, forms in _SAID.items():
        if other != direction:
            yield Row(tell(rng.choice(forms)), passage, "contradicted", article)
    silent = [part for part in paragraphs if 40 <= size(part) <= 200 and not _RESULT.search(part)]
    if silent:
        yield Row(true[0], rng.choice(silent), "not_enough", article)


def _readable(quote: str) -> bool:
    """Whether a marked stretch is prose of fitting length, not a table."""
    digits = sum(letter.isdigit() for letter in quote)
    return 6 <= size(quote) <= 120 and "\n" not in quote and digits < 0.3 * len(quote)


def _wider(quote: str, paragraphs: Sequence[str], rng: Random) -> str:
    """The sentences that a quote touches, and some beside them."""
    start, end = quote[:60], quote[-30:]
    paragraph = next((part for part in paragraphs if start in part and end in part), None)
    if paragraph is None:
        return quote
    begins = paragraph.find(start)
    ends = paragraph.find(end, begins) + 30
    sentences, touched, at = SENTENCE_END.split(paragraph), list[int](), 0
    for number, sentence in enumerate(sentences):
        at = paragraph.find(sentence, at)
        if at < ends and at + len(sentence) > begins:
            touched.append(number)
        at += len(sentence)
    if not touched:
        return quote
    most = rng.choice([0, 1, 1, 2, 3])
    first = max(0, touched[0] - most)
    last = min(len(sentences) - 1, touched[-1] + rng.choice([0, most]))
    while last > first and size(" ".join(sentences[first : last + 1])) > MOST_WORDS:
        if last > touched[-1]:
            last -= 1
        elif first < touched[0]:
            first += 1
        else:
            break
    return " ".join(sentences[first : last + 1])


def _teller(prompt: Prompt) -> Callable[[str], str] | None:
    """What fills a form with a prompt's words, none where they are too many."""
    treatment, control, outcome = (
        flat(prompt[name]).strip(" .") for name in ("Intervention", "Comparator", "Outcome")
    )
    if max(size(treatment), size(control)) > 18 or size(outcome) > 20:
        return None
    named = re.match(r"[A-Z]{2}|[A-Z]\w*[A-Z0-9]", outcome)
    low = outcome if named else outcome[:1].lower() + outcome[1:]
    return lambda form: capital(form.format(I=treatment, C=control, O=outcome, o=low))
