"""Mutations, microsatellites, mutational burden. Pure."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache

from clinical_text.assertion.labels import answer
from clinical_text.sentences.tokens import tokens
from workers.extract.fields import Found
from workers.extract.rubrics import vocabulary
from workers.extract.rules.texts.negation import negated
from workers.extract.rules.texts.numbers import NO_RANGE, NUMBER, sure_number
from workers.extract.values import Amount, Mutation, Value

_THREE = {"ala": "A", "arg": "R", "asn": "N", "asp": "D", "cys": "C", "gln": "Q", "glu": "E",
          "gly": "G", "his": "H", "ile": "I", "leu": "L", "lys": "K", "met": "M", "phe": "F",
          "pro": "P", "ser": "S", "thr": "T", "trp": "W", "tyr": "Y",
          "val": "V", "ter": "*"}  # fmt: skip
_PROTEIN = (
    r"(?:p\.\s?\(?(?P<p>(?:[A-Z][a-z]{2}|[A-Z*])\d{1,5}[A-Za-z0-9_*=?]*)\)?|"
    r"(?<![A-Za-z0-9._])(?P<short>[ACDEFGHIKLMNPQRSTVWY]\d{1,4}(?:_[A-Z]\d{1,4})?"
    r"(?:[ACDEFGHIKLMNPQRSTVWY*]|fs\*?\d*|del(?:ins[A-Z]{1,9})?|dup|ins[A-Z]{1,9})"
    r"(?![a-z0-9])))"
)
_CODING = (
    r"c\.\s?(?P<c>[0-9*_+\-]+(?:[ACGT]+>\xa0{0,3}[ACGT]+|(?:del|dup|ins)[ACGTinsdel0-9]*|"
    r"\S*[A-Z])?)"
)
_ALSO = re.compile(rf"(?:,|and|;)\s*+{_PROTEIN}")
_ALONE = r"(?<!\d[-–])(?<!\d\s[-–]\s)(?<!\d\sto\s)"
"""Before a number that is not the second of two."""
_MOST_SHARE = 100.0
_VAF = re.compile(
    rf"(?i)(?<![A-Za-z_])(?:VAF|(?:variant\s*+)?allele\s*+(?:frequency|fraction)|AF|MAF)"
    rf"(?:\s*+(?:is|of|:|=|,|\|)?\s*+~?\s*+(?P<n>{NUMBER})\s*+%|"
    rf"(?:[ _]?(?:pct|percent))?\s*+[:=|]\s*+(?P<n3>{NUMBER})(?![\d.,]*\s*+%))|"
    rf"{_ALONE}(?P<n2>{NUMBER})\s*+%\s*+(?:VAF|variant allele)"
)
_SHARE = re.compile(rf"{_ALONE}(?P<n>{NUMBER})\s*+%(?P<n2>(?!))?(?P<n3>(?!))?")
_CELL = re.compile(
    rf"[ \t]{{0,60}}+(?:\||[ ]{{2}}|\t)[ \t]{{0,60}}+(?P<n3>{NUMBER})(?P<n>(?!))?(?P<n2>(?!))?"
    r"[ \t]{0,60}+(?=\||[ ]{2}|\t|$)"
)
_HEAD_OF_SHARES = re.compile(r"(?i)(?:\||[ ]{2}|\t)[ \t]{0,60}+(?:VAF|AF|MAF|allele (?:freq|frac))")
"""A cell with a number alone, and the head of a column of shares."""
_EVENTS = re.compile(
    r"(?i)\b(?:exon\s*+(?P<exon>\d{1,2})\s*+(?P<what>deletions?|insertions?|skipping|"
    r"in-frame\s++deletion|"
    r"mutations?|del|ins|frameshift)|(?P<amp>amplification|amplified|copy\s++number\s++gain)|"
    r"(?P<loss>homozygous(?:ly)?\s++(?:deletion|deleted|loss|lost)|deep\s++deletion|copy\s++number\s++loss|deletion|"
    r"biallelic\s++loss|loss)|"
    r"(?:(?P<called>C\d{3}T)\s++)?(?P<promoter>promoter)(?:\s++(?:region|mutations?|variants?|c\.))*+"
    r"(?:\s*+(?P<at>-\d{1,4}[ACGT]>[ACGT]|C\d{3}T))?|"
    r"(?P<splice>splice\s++site)(?:\s++(?:c\.)?(?P<spliced>\d[\d+-]{1,12}[ACGT]+>[ACGT]+))?|(?P<fusion>fusion|rearrangement|"
    r"rearranged|translocation)|"
    r"(?P<itd>ITD|internal\s++tandem\s++duplication)|(?P<vag>pathogenic\s++(?:variant|mutation)|"
    r"mutat(?:ed|ion)|mutant))"
)
_LINE_ENDS = re.compile(r"\n|\.(?=\s++[A-Z]|\s*+$)|;")
_UNCERTAIN = re.compile(
    r"(?i)(?<!no )(?:\b(?:variants?|alterations?|mutations?|findings?)\s++of\s++)?\b"
    r"(?:uncertain|unknown|undetermined)\s++(?:clinical\s++)?significance\b|\bVUS(?:es|s)?\b"
)
_OTHER_HEADING = re.compile(
    r"(?i)\bpathogenic|\bclinically\s++(?:significant|relevant)|\bactionable|\btherap|"
    r"(?-i:\n[ \t]*+[A-Z][A-Z ,/&-]{6,200}+[ \t]*+\n)|\n[ \t]*+[A-Za-z][A-Za-z ,/&-]{3,60}:"
)
_UNCERTAIN_REACH = 600
"""Characters below "uncertain significance" in which its variants stand (ours)."""
_TABLE = 1500
"""Characters above a row in which the head of its table stands (ours)."""
_LONGEST_LINE = 400
"""Characters behind a gene in which what is said of it ends (ours)."""
_NAMES = {
    "amp": "amplification",
    "loss": "loss",
    "promoter": "promoter mutation",
    "splice": "splice site mutation",
    "fusion": "fusion",
    "itd": "ITD",
}
_FUSION = r"(?P<left>[A-Z][A-Z0-9]{1,7})\s?(?:-|::|/|–)\s?(?P<right>[A-Z][A-Z0-9]{1,7})"
_SYMBOL = re.compile(
    r"(?<![A-Za-z0-9/.-])(?!(?:DNA|RNA|MSI|MSS|TMB|VAF|AF|NM|NP|IHC|FISH|NGS|PCR|GENE|EXON|TUMOU?R|COPY|"
    r"NUMBER|FOUND|WITH|VUS|LOH|HRD|HGVS|HER2)\b)"
    r"(?![ACDEFGHIKLMNPQRSTVWY]\d{2,4}[ACDEFGHIKLMNPQRSTVWY*]\b)[A-Z][A-Z0-9]{1,8}(?![A-Za-z0-9-])"
    r"(?=[ \t:|,(]{1,30}(?:NM_[\d.]{1,14}[ \t:|(]{1,10})?(?:\(?[pc]\.\s?[(A-Z0-9*-]|"
    r"[ACDEFGHIKLMNPQRSTVWY]\d{1,4}(?:[ACDEFGHIKLMNPQRSTVWY](?![A-Za-z0-9])|\*|fs|del|dup)|"
    r"(?:promoter|splice[ ]site|amplification|homozygous|deep[ ]deletion|biallelic)\b))"
)
"""Letters that a change of a gene follows: its symbol, whichever it is."""
_SYMBOL_END = re.compile(r"\w+")
_FUSED = re.compile(r"\s{0,40}+(?:gene\s++)?(?:fusion|rearrangement|translocation)")
_ANSWER = re.compile(r"(?:[^\S\n]|[:(|=–-]){1,40}")
"""What stands between what was looked for and the answer to it in its line."""
_OF_A_CELL = frozenset(["none", "no"])
_LONGEST_ANSWER = 60
"""Characters of an answer that are read (ours)."""
_NONE = re.compile(
    r"(?i)\bno\s++(?:(?:clinically|reportable|actionable|significant|relevant|somatic|"
    r"pathogenic|likely|"
    r"or|genomic|targetable|known|oncogenic|additional)\s++)*(?:mutations?|variants?|alterations?)"
    r"(?:\s++or\s++\w+)?(?:\s++\w+){0,2}?\s++(?:was|were|detected|identified|found|is|are|"
    r"of)[^.\n]{0,40}"
)
_TMB = re.compile(
    rf"(?i)(?<![A-Za-z])(?:TMB(?:-(?:H|L))?|(?:tumou?r\s++)?mutation(?:al)?\s++(?:burden|"
    rf"load))(?![A-Za-z])"
    rf"(?P<between>[^\d\n]{{0,45}}?)(?P<sign>[<>≤≥])?\s*+(?P<n>{NUMBER}){NO_RANGE}"
    r"\s*+(?P<unit>(?:mut(?:ation)?s?\.?|m|variants?)\s*+(?:/|per\s++)\s*+(?:mb|megabase)s?)?"
)


@cache
def gene_pattern() -> re.Pattern[str]:
    """Finds the symbols of genes that the rules know."""
    symbols = "|".join(sorted(vocabulary().genes, key=len, reverse=True))
    return re.compile(rf"(?<![A-Za-z0-9])(?:{symbols})(?![A-Za-z0-9])")


def mutations(text: str) -> Iterator[Found]:
    """Variants by gene, each with what changed; those not detected are none."""
    genes = sorted(
        {
            one.start(): one for one in (*_SYMBOL.finditer(text), *gene_pattern().finditer(text))
        }.values(),
        key=lambda one: one.start(),
    )
    uncertain = [one.end() for one in _UNCERTAIN.finditer(text)]
    fused: set[int] = set()
    for match in re.finditer(_FUSION, text):
        if gene_pattern().search(match["left"]) or gene_pattern().search(match["right"]):
            end = match.end()
            after = _FUSED.match(text, end)
            if after and not _denied(text, match.start(), after.end()):
                fused.update(range(match.start(), match.end()))
                name = f"{match['left']}-{match['right']}"
                value = Mutation(
                    gene=name, event="fusion", vaf=_vaf(text, end, _line_end(text, end))
                )
                yield Found(value, match.start(), after.end())
    for index, match in enumerate(genes):
        if match.start() in fused:
            continue
        limit = _line_end(text, match.end())
        if index + 1 < len(genes):
            limit = min(limit, genes[index + 1].start())
        found = _variant(text, match, limit)
        if found is not None and not _denied(text, match.start(), found.end):
            for one in (found, *_more(text, match, found, limit)):
                yield one._replace(value=_weighed(text, one, limit, uncertain))


def _weighed(text: str, found: Found, limit: int, uncertain: Sequence[int]) -> Value:
    """The variant, with its significance where the report calls that uncertain.

    Args:
        uncertain: where the words for that end.
    """
    if not isinstance(found.value, Mutation):
        return found.value
    behind = _UNCERTAIN.search(text, found.end, limit)
    at = bisect_right(uncertain, found.start) - 1
    near = at >= 0 and uncertain[at] > found.start - _UNCERTAIN_REACH
    over = near and _OTHER_HEADING.search(text, uncertain[at], found.start) is None
    if behind is None and not over:
        return found.value
    return found.value.model_copy(update={"significance": "uncertain"})


def _line_end(text: str, at: int) -> int:
    stop = _LINE_ENDS.search(text, at, at + _LONGEST_LINE)
    return stop.start() if stop else min(len(text), at + _LONGEST_LINE)


def _variant(text: str, gene: re.Match[str], limit: int) -> Found | None:
    """What is said to have changed in the gene, before `limit`."""
    words = text[gene.end() : limit]
    protein, coding = re.search(_PROTEIN, words), re.search(_CODING, words)
    event = _EVENTS.search(words[:60])
    if protein is None and coding is None:
        if event is None:
            return None
        name = _event(event)
        change = event["at"] or event["called"] or event["spliced"]
        share = _vaf(text, gene.end(), limit)
        if share is None and change is not None:
            behind = _SHARE.search(text, gene.end() + event.end(), limit)
            share = sure_number(behind["n"], _MOST_SHARE) if behind else None
        value = Mutation(gene=gene.group(), coding=change, event=name, vaf=share)
        return Found(value, gene.start(), gene.end() + event.end(), wide=name == "mutation")
    if protein is not None and protein.start() > 60 and coding is None:
        return None
    ends = [one.end() for one in (protein, coding) if one is not None]
    vaf = _VAF.search(words) or _SHARE.search(words[max(ends) :])
    if vaf is None and _HEAD_OF_SHARES.search(text, max(0, gene.start() - _TABLE), gene.start()):
        vaf = _CELL.match(words[max(ends) :])
    share = None
    if vaf is not None:
        share = _percent(vaf)
        ends.append(vaf.end() if vaf.re is _VAF else max(ends) + vaf.end())
    value = Mutation(
        gene=gene.group(),
        protein=one_letter(protein["p"] or protein["short"]) if protein else None,
        coding=coding["c"].rstrip(".,;)").replace("\xa0", "") if coding else None,
        vaf=share,
    )
    return Found(value, gene.start(), min(limit, gene.end() + max(ends)))


def _more(text: str, gene: re.Match[str], first: Found, limit: int) -> Iterator[Found]:
    """Further variants of the same gene in the same line ("TP53 R175H and R248Q")."""
    at = first.end
    while match := _ALSO.search(text, at, limit):
        protein = one_letter(match["p"] or match["short"])
        yield Found(Mutation(gene=gene.group(), protein=protein), gene.start(), match.end())
        at = match.end()


def _event(match: re.Match[str]) -> str:
    if match["exon"]:
        what = match["what"].lower()
        for name in ("skipping", "deletion", "insertion"):
            if what.startswith(name[:3]) or name in what:
                return f"exon {match['exon']} {name}"
        return f"exon {match['exon']} {what.removesuffix('s')}"
    for group, name in _NAMES.items():
        if match[group]:
            return name
    return "mutation"


def _vaf(text: str, start: int, limit: int) -> float | None:
    match = _VAF.search(text, start, limit)
    return _percent(match) if match else None


def _percent(match: re.Match[str]) -> float | None:
    """A share in percent; one that bears no such sign and is at most 1 is a fraction."""
    number = sure_number(match["n"] or match["n2"] or match["n3"], _MOST_SHARE)
    fraction = number is not None and match["n3"] is not None and number <= 1.0
    return round(number * 100, 6) if fraction and number is not None else number


def _denied(text: str, start: int, end: int) -> bool:
    """Whether the text says that it was not found: of the gene or of what changed in it, or in the
    answer behind them ("FGFR2 fusion (not detected)")."""
    gene = _SYMBOL_END.match(text, start)
    if negated(text, start, gene.end() if gene else start) or negated(text, end - 1, end):
        return True
    behind = _ANSWER.match(text, end)
    if behind is None:
        return False
    stop = min(_line_end(text, behind.end()), behind.end() + _LONGEST_ANSWER)
    said = [*tokens(text, behind.end(), stop)]
    if behind.group().isspace() and (not said or said[0].word in _OF_A_CELL):
        return False  # the next cell of a row: no drug, not no variant
    return answer(said) == "no"


def one_letter(protein: str) -> str:
    """A protein change with amino acids in one letter, such as L858R."""
    return re.sub(
        r"[A-Z][a-z]{2}", lambda one: _THREE.get(one.group().lower(), one.group()), protein
    )


def nothing_found(text: str) -> tuple[int, int] | None:
    """Where a document says that it found no variant at all."""
    match = _NONE.search(text)
    return match.span() if match else None


def burdens(text: str) -> Iterator[Found]:
    """Mutations per megabase."""
    for match in _TMB.finditer(text):
        if re.search(r"(?i)cutoff|cut-off|threshold|defined", match["between"]):
            continue
        number = sure_number(match["n"])
        if number is None:
            continue
        unit = "mut/Mb" if match["unit"] else None
        value = Amount(number=number, unit=unit, comparator=match["sign"])
        yield Found(
            value, match.start(), match.end() if unit else match.end("n"), wide=unit is None
        )
