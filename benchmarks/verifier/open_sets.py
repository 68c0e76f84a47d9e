"""`python -m benchmarks.verifier.open_sets CLONES OUT [SET…]`: openly licensed pairs, a file a set.

CLONES is a folder of bare clones, each named `OWNER+NAME`; read is the commit that `SETS` names.
Each line of `OUT/SET.jsonl` has `claim`, `passage`, `label`, `group` (the claim, article or table,
or all pairs that share a text: what is held out is held out by it) and `source`. What the sets are,
and which were looked at and left out: OPEN_SETS.md.

Left out are pairs with another label elsewhere, passages of more than 250 words, and what shares
thirteen words in a row with an evaluation text or is one.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.verifier import open_clinical as clinical
from benchmarks.verifier import open_general as general
from benchmarks.verifier.open_files import LABELS, Files, Row, flat, size
from benchmarks.verifier.open_inference import evaluated, evidence_inference
from benchmarks.verifier.texts import Kept

SHORTEST = 8  # characters of a claim or passage
LONGEST_CLAIM = 90  # words


@dataclass(frozen=True)
class OpenSet:
    """A set: where it lies, under which licence, and who reads it.

    `sources` are `OWNER/NAME@COMMIT`, of which `paths` are read. `articles` says that the reader
    also wants the articles of evaluation sets.
    """

    sources: tuple[str, ...]
    paths: str
    licence: str
    read: Callable[..., Iterator[Row]]
    articles: bool = False


SETS = {
    "evidence_inference": OpenSet(
        ("jayded/evidence-inference@b9831b6c59b52ac2d277f757d413ececf0949a8d",),
        "annotations/",
        "MIT; articles CC BY or public domain",
        evidence_inference,
        articles=True,
    ),
    "check_covid": OpenSet(
        ("posuer/Check-COVID@3ae70f8cac4df13a3ce56878e20d8e76790e422d",),
        "Check-COVID/",
        "MIT",
        clinical.check_covid,
    ),
    "medec": OpenSet(
        ("abachaa/MEDEC@70268d24e3ce0cd6d0e099ff7bfd4966f2bbcc28",),
        "MEDEC-MS/",
        "CC BY 4.0",
        clinical.medec,
    ),
    "clinifact": OpenSet(
        ("ds4dh/CliniFact@77f8c19844fd4113aa051f867b4d7a8ce5c3a879",),
        "data/processed/primary_outcome_publication_dataset/",
        "MIT",
        clinical.clinifact,
    ),
    "citint": OpenSet(
        (
            "jedick/MLE-capstone-project@667a81990e0613998e8c3856603487269f21e91d",
            "ScienceNLP-Lab/Citation-Integrity@e9823957bb263db9ae402351b76d88ff1a723712",
        ),
        "data/citint/; Data/multivers-format/",
        "MIT",
        clinical.citint,
    ),
    "expertqa": OpenSet(
        ("chaitanyamalaviya/ExpertQA@1aa7ba81bd4c083c12ef1aa2fee338f6cb60fa87",),
        "data/lfqa/",
        "MIT",
        general.expertqa,
    ),
    "fm2": OpenSet(
        ("google-research/fool-me-twice@d9db753e5acf91c0d9bf543db327ab655661eb94",),
        "dataset/",
        "Apache-2.0; passages CC BY-SA",
        general.fm2,
    ),
    "wice": OpenSet(
        ("ryokamoi/wice@ddeb6c183665e2a20c5f03c5aa07f03888b9870f",),
        "code_and_resources/entailment_inputs/; data/non_supported_tokens/",
        "ODC-BY; claims CC BY-SA",
        general.wice,
    ),
    "condaqa": OpenSet(
        ("AbhilashaRavichander/CondaQA@bd4857f1f2819937f1505925ad8c809544e8e5ef",),
        "data/",
        "Apache-2.0; passages CC BY-SA",
        general.condaqa,
    ),
    "scitab": OpenSet(
        ("XinyuanLu00/SciTab@217cfbd71ebf39ba26a0938f0d87a9fce560e0fe",),
        "dataset/sci_tab.json",
        "MIT",
        general.scitab,
    ),
    "summedits": OpenSet(
        ("salesforce/factualNLG@0da1dfa62c783218d26208c1796d3a2605bec745",),
        "data/summedits/",
        "Apache-2.0",
        general.summedits,
    ),
    "scone": OpenSet(
        ("selenashe/ScoNe@b02532a2f4185c6118a57a148455e0750592d8c8",),
        "scone_nli/",
        "CC0; built on SNLI",
        general.scone,
    ),
    "conjnli": OpenSet(
        ("swarnaHub/ConjNLI@10e0515c0d1777651b5084d9cca4664ead8162a4",),
        "data/NLI/",
        "MIT; sentences CC BY-SA",
        general.conjnli,
    ),
    "neg_nli": OpenSet(
        ("mosharafhossain/negation-and-nli@e7848fb621c32ec43511a5bfc406fc9208baf4f8",),
        "data/new_benchmarks/clean_data/",
        "MIT; half of it CC BY-SA 4.0",
        general.neg_nli,
    ),
    "cad_nli": OpenSet(
        ("dkaushik96/counterfactually-augmented-data@6f232a1d2a11462a30ce08fb4825b734ab30828e",),
        "NLI/all_combined/",
        "Apache-2.0; base texts CC BY-SA 4.0",
        general.cad_nli,
    ),
    "entailmentbank": OpenSet(
        ("allenai/entailment_bank@daac2fdb7ab52ec3ef8f2953f59288c1edd7c2f0",),
        "data/processed_data/angles/task_2/",
        "Apache-2.0",
        general.entailmentbank,
    ),
    "mnli_dev": OpenSet(
        ("felipessalvatore/NLI_datasets@9551b739a830fafb2ec4b98d49a9ecd4bf3dcbd0",),
        "nli_datasets/mnli/dev.csv",
        "MIT (copy); parts CC BY, CC BY-SA",
        general.mnli_dev,
    ),
    "scitail_dev": OpenSet(
        ("felipessalvatore/NLI_datasets@9551b739a830fafb2ec4b98d49a9ecd4bf3dcbd0",),
        "nli_datasets/scitail/dev.csv",
        "MIT (copy); Apache-2.0",
        general.scitail_dev,
    ),
}


def usable(rows: Iterable[Row], kept: Kept) -> list[Row]:
    """The pairs that may be trained on, each once, none with two labels."""
    found: dict[tuple[str, str], Row] = {}
    doubtful = set()
    for row in rows:
        claim, passage = flat(row.claim), flat(row.passage)
        pair = claim.lower(), passage.lower()
        if pair in found:
            if found[pair].label != row.label:
                doubtful.add(pair)
        elif _fits(claim, passage, row.label) and not _evaluated(claim, passage, kept):
            found[pair] = Row(claim, passage, row.label, row.group)
    return [row for pair, row in found.items() if pair not in doubtful]


def _fits(claim: str, passage: str, label: str) -> bool:
    short_enough = size(passage) <= general.MOST and size(claim) <= LONGEST_CLAIM
    return label in LABELS and min(len(claim), len(passage)) >= SHORTEST and short_enough


def _evaluated(claim: str, passage: str, kept: Kept) -> bool:
    return any(kept.shares(text) or kept.has(text) for text in (claim, passage))


def grouped(rows: Sequence[Row]) -> list[Row]:
    """The pairs with their groups; where a set names none, those that share a text are together."""
    if all(row.group is not None for row in rows):
        return list(rows)
    above: dict[str, str] = {}

    def top(text: str) -> str:
        while above.setdefault(text, text) != text:
            above[text] = text = above[above[text]]
        return text

    for row in rows:
        above[top(row.claim.lower())] = top(row.passage.lower())
    numbers: dict[str, int] = {}
    return [
        row._replace(group=str(numbers.setdefault(top(row.claim.lower()), len(numbers))))
        for row in rows
    ]


def build(name: str, clones: Path, evaluation: Path, kept: Kept) -> Iterator[dict[str, str]]:
    """The lines of a set."""
    one = SETS[name]
    wanted = [Files(clones, source) for source in one.sources]
    rows = one.read(*wanted, evaluated(evaluation)) if one.articles else one.read(*wanted)
    for row in grouped(usable(rows, kept)):
        yield {**row._asdict(), "group": f"{name}-{row.group}", "source": name}


def main() -> None:
    """Writes the files and prints the labels of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    evaluation = options.shared / "eval"
    kept = Kept(evaluation)
    for name in options.sets:
        rows = list(build(name, options.clones, evaluation, kept))
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (options.out / f"{name}.jsonl").write_text(text, encoding="utf-8")
        print(name, dict(Counter(row["label"] for row in rows)), flush=True)


if __name__ == "__main__":
    main()
