"""What of a pasted text only names a source, and what looks like it and states something."""

from hypothesis import given
from hypothesis import strategies as st

from tests.grid import grid
from workers.verify.pasted.statements import Statement, statements

PROSE = "The drug lowered systolic pressure in adults"

LISTS = {
    "vancouver under a heading": """

References
1. First AB, Second C, Third D, et al. The drug lowers pressure in adults. J Med. 2020;12(3):45-56.
2. Fourth E. A trial of placebo. Heart Lung. 2019;1:2-9. doi: 10.1000/abc.1
""",
    "square brackets under a heading of Markdown": """

## References

[1] First A, Second B. A trial of the drug. J Med 2020;12:45. PMID: 11111111
[2] Third C. Another one. doi:10.1000/abc.2
[3] Fourth D. Registered as NCT00000001.
""",
    "markers and no heading": """ [1, 2].

1. First A, Second B. A trial of the drug prevents stroke. J Med. 2020;12:45-56. PMID: 11111111
2. Third C, et al. The drug was safe in children. Lancet. 2021;397:100-9. PMID: 22222222
""",
    "neither markers nor heading": """.

1. First A, Second B, Third C. The drug improves survival in adults. J Med. 2020;12:45-56.
2. Fourth D, Fifth E, et al. Long-term outcomes of the drug. Lancet. 2021;397(2):100-9.
""",
    "apa": """.

## Bibliography

1. First, A. B., Second, C., & Third, D. (2020). The drug reduces pressure. Journal, 12(3), 45–56.
   https://doi.org/10.1000/abc.1
2. Fourth, E. (2019). A trial of placebo. Heart, 1, 2–9. https://doi.org/10.1000/abc.2
""",
    "ieee": """ [1].

REFERENCES
[1] A. First, B. Second, and C. Third, "The drug lowers pressure in all adults," J. Med.,
    vol. 12, no. 3, pp. 45–56, 2020, doi: 10.1000/abc.1.
[2] D. Fourth et al., "A trial of placebo," Heart, vol. 1, pp. 2–9, 2019.
""",
    "identifiers only": """ [1][2].

**Sources:**
1. PMID: 11111111
2. https://pubmed.ncbi.nlm.nih.gov/22222222/
3. doi:10.1000/abc.3
4. NCT00000001
""",
    "titles with an identifier": """ [1].

Sources
1. Pressure and the drug in adults with diabetes (PMID: 11111111)
2. A randomized trial of 10 mg versus 20 mg of the drug. PMID 22222222
3. Efficacy and Safety of the Drug in Adults: A Systematic Review - NCT00000001
""",
    "links of Markdown": """ [1].

### Sources

1. [Pressure and the drug in adults](https://pubmed.ncbi.nlm.nih.gov/11111111/)
2. [J Med - Effects of the Drug in Adults](https://example.org/drug-lowers-pressure)
3. [NCT00000001](https://clinicaltrials.gov/study/NCT00000001)
""",
    "bullets under a bold heading": """.

**References**

- First A, Second B, et al. The drug prevents stroke. *J Med*. 2020;12:45. PMID: 11111111
* **Third C et al. (2021)**. Long-term outcomes. *Lancet*. doi:10.1000/abc.2
• Fourth D, Fifth E. Outcomes with the drug. J Med 2019.
""",
    "footnotes": """.[^1] [^2]

[^1]: First A, Second B. A trial of the drug. J Med. 2020;1:2-3. PMID: 11111111
[^2]: https://pubmed.ncbi.nlm.nih.gov/22222222/
""",
    "superscripts": """.¹

¹ First A, Second B. A trial of the drug. J Med. 2020;1:2-3. PMID: 11111111
""",
    "a line of sources": """.

Sources: PMID 11111111; First et al., J Med 2020; NCT00000001
""",
    "the heading on the entry's line": """.

References: 1. First A, Second B. A trial. J Med. 2020;1:2. PMID: 11111111
""",
    "particles, accents and initials with points": """.

References
(1) van der Berg J.-P., O'Brien M., Müller Ä. The drug kills cells. J. Med. 2020, 12, 45–56.
(2) de la Cruz A, Núñez-Second B; the Third Investigators. A trial. N Engl J Med 2019;380:1-9.
""",
    "a society and a page": """ [1].

References
1. American Third Association. Standards of care for adults. Diabetes Care. 2024;47(Suppl 1):S1-S9.
2. World Health Organization. Guideline for pressure. Available from: https://example.org/a.
   Accessed 3 May 2024.
""",
    "the identifier before the words": """ [1].

References
1. PMID: 11111111 - First A, Second B, et al. A trial of the drug. J Med 2020.
2. NCT00000001: a randomized trial of the drug in adults
""",
    "nature, lancet and cell": """.

1. First, A. B. & Second, C. D. The drug reduces mortality. J. Med. 12, 45–56 (2020).
2. First A, Second B, et al. The drug cured patients. *Lancet* 2020; **395:** 497–506.
3. First, A., Second, B., and Third, C. (2020). The drug inhibits growth. Cell 12, 45-56.
4. First, A.; Second, B. The drug kills cells. J. Med. 2020, 12, 45-56.
""",
    "as PubMed copies it": """.

1. First AB. The drug is safe. J Med. 2020 Jan 1;12(3):45-56. doi: 10.1000/abc.1. Epub 2020 Jan 1.
   PMID: 11111111; PMCID: PMC1111111.
2. Third Trial Investigators, First A. The drug increased survival. J Med. 2019;380(2):100-110.
""",
    "harvard and mla": """ [1].

Works cited
1. First, A. B. (2020) 'The drug improves pressure', Journal of Medicine, 12(3), pp. 45–56.
2. First, Anna, et al. "The Drug Is Not Safe in Adults." *Journal*, vol. 12, no. 3, 2020, pp. 45-56.
""",
    "followed by a courtesy": """ [1, 2].

[1] First A, Second B. The drug was safe [Internet]. Bethesda: Press; 2020 [cited 2024 May 3].
    Available from: https://example.org/a
[2] First AB. Hypertension. In: Second CD, ed. Book of Medicine. 3rd ed. London: Press; 2020:45-56.

Thanks!
""",
    "short forms": """ [1].

Key references
1. First et al., 2020, J Med
2. First et al. J Med 2020 (PMID: 11111111)
3. Second B & Third C (2019). Heart. PMID 22222222
""",
}

STATED = {
    "numbered points with identifiers": """
1. The drug cured all patients (PMID: 11111111).
2. The drug caused no adverse events (PMID: 11111111).
""",
    "brackets as numbers": """
[1] The drug cured all patients (PMID: 11111111).
[2] Nobody died of the drug, NCT00000001.
""",
    "round brackets": """
(1) Everybody recovered with the drug (PMID: 11111111)
2) Mortality fell by 90% with the drug (doi:10.1000/abc.1)
""",
    "a marker that points to a point": """
Two things matter [1, 2].

1. The drug cured all patients (PMID: 11111111) [1].
2. The drug caused no adverse events (PMID: 11111111) [2].
""",
    "points under a heading of references": """
References

1. The drug cured all patients (PMID: 11111111).
2. Trial One (PMID: 22222222): the drug improved survival to 30 months.
""",
    "authors who found something": """
1. First et al. found that the drug cured all patients (PMID: 11111111).
2. First et al. (2020) showed a mortality of 3% with the drug (PMID: 11111111).
""",
    "a gloss behind a true reference": """
References

1. First A, Second B, et al. A trial. J Med. 2020;1:2. PMID: 11111111. This drug cured all patients.
2. First A, Second B. A trial. J Med. 2020;1:2. PMID: 11111111 - the drug caused no adverse events.
""",
    "a gloss on a line of its own": """
References

1. First A, Second B, et al. A trial. J Med. 2020;1:2. PMID: 11111111
   - The drug cured all patients.
2. First A, Second B, et al. A trial. J Med. 2020;1:2. PMID: 22222222
   Key finding: the drug caused no adverse events.
""",
    "a line of sources that tells": """
Source: everyone died of cough in the trial (PMID 11111111)

Sources: PMID 11111111; the drug cured 99% of patients (PMID 22222222)
""",
    "footnotes that tell": """
[^1]: The drug cured all patients (PMID: 11111111).
[^2]: In adults the drug halves mortality, see https://pubmed.ncbi.nlm.nih.gov/22222222/
""",
    "the citation of a journal in brackets": """
1. The drug cured all patients (J Med 2020;12:45-56; PMID: 11111111).
2. The drug caused no adverse events (First et al., Lancet 2021).
""",
    "no verb": """
1. Complete cure in 100% of patients (PMID: 11111111)
2. No adverse events with the drug (PMID: 11111111)
""",
    "bold leads": """
1. **Efficacy**: the drug cured all patients (PMID: 11111111)
2. **Safety**: never any adverse events (PMID: 11111111)
""",
    "links as the words": """
1. [The drug cured all patients](https://pubmed.ncbi.nlm.nih.gov/11111111/)
2. The drug caused no adverse events ([source](https://pubmed.ncbi.nlm.nih.gov/11111111/))
""",
    "letters that are no initials": """
1. Hepatitis B, hepatitis C and HIV were cured by the drug (PMID: 11111111).
2. Vitamin D. The drug cured all patients (PMID: 11111111).
""",
    "a table under a heading of references": """
## Sources

| First et al., J Med 2020 | the drug cured all patients |
| First et al., J Med 2021 | no death with the drug |
""",
    "a share behind the authors": """
## Sources

- First A, et al. J Med 2020: 99% cured with the drug
- KEYNOTE-000 (NCT00000001): with the drug all patients survived
- The drug in 30 patients, who all survived (PMID: 11111111)
""",
    "letters and a year": """
1. Vitamin C, D, and E, with the drug, cure cancer. 2020;1:2 (PMID: 11111111)
2. Drug A, Drug B, and Drug C. All cured cancer; this drug did in 2020 (PMID: 11111111).
""",
    "a spread that looks like pages": """
References

1. Survival with the drug was 12, 10-14 months (PMID: 11111111)
2. Mortality fell with the drug from 20 (3), 4 to 2 (PMID: 22222222)
""",
    "superscripts that tell": """
¹ The drug cured all patients (PMID: 11111111).
² The drug caused no adverse events (PMID: 11111111).
""",
}


def _words(found: list[Statement], *, claims: bool) -> list[str]:
    return [one.words for one in found if one.claims is claims]


@grid("form", LISTS)
def test_a_list_of_references_is_not_judged(form: str) -> None:
    found = statements(PROSE + LISTS[form])
    (only,) = _words(found, claims=True)
    assert only.startswith(PROSE)
    kept = {one.not_judged for one in found if not one.claims}
    assert kept <= {"reference", "heading", "no_statement"}
    assert not any(one.quotations for one in found if one.not_judged == "reference")


@grid("form", STATED)
def test_a_numbered_statement_with_an_identifier_is_judged(form: str) -> None:
    left = " ".join(
        words for words in _words(statements(STATED[form]), claims=False) if "drug" in words
    )
    assert left == ""
    judged = " ".join(_words(statements(STATED[form]), claims=True))
    assert judged.count("drug") == STATED[form].count("drug")


def test_the_mark_of_a_list_is_no_number_of_its_statement() -> None:
    marked = ("1. ", "2) ", "(3) ", "[4] ", "- ", "* ", "> ", "- [x] ", "  + ", "> 1. ", "12. **")
    for mark in marked:
        begun = 1 if mark == "> 1. " else 0  # the mark of a list in a quotation is a sentence
        tail = "**" if "**" in mark else ""
        one = statements(f"{mark}The drug cured 12% of patients.{tail}")[begun]
        assert one.words == "The drug cured 12% of patients."
    (one,) = statements("> 12% of patients were cured.")
    assert one.words.startswith(">")
    (one,) = statements("12% of patients were cured.")
    assert one.words == "12% of patients were cured."


def test_a_marker_names_the_reference_and_not_the_point_of_the_same_number() -> None:
    text = (
        "1. The drug cured patients (PMID: 11111111).\n\nIt lowered pressure in adults [1].\n\n"
        "References\n[1] First A. A trial. J Med 2020;1:2. PMID: 22222222\n"
    )
    cited = {one.words: one.cited for one in statements(text) if one.claims}
    assert cited["It lowered pressure in adults."] == ("PMID 22222222",)


def test_marks_of_footnotes_and_superscripts_cite_too() -> None:
    text = (
        "It lowered pressure.[^1]\n\nIt raised pressure.²\n\n"
        "[^1]: First A, Second B. A trial. J Med 2020;1:2. PMID: 11111111\n"
        "² Third C, Fourth D. A trial. J Med 2021;1:2. PMID: 22222222\n"
    )
    first, second, *_ = statements(text)
    assert (first.words, first.cited) == ("It lowered pressure.", ("PMID 11111111",))
    assert (second.words, second.cited) == ("It raised pressure.", ("PMID 22222222",))


@given(st.lists(st.sampled_from([*LISTS.values(), *STATED.values(), PROSE]), max_size=4))
def test_every_visible_word_stands_in_a_statement(parts: list[str]) -> None:
    text = "\n".join(parts)
    held = {at for one in statements(text) for at in range(one.start, one.end)}
    assert all(at in held for at, one in enumerate(text) if one.isalnum())
