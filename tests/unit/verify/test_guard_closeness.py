"""A claim that a language model wrote stays close to one sentence of its passage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.verify.guards.closeness import guard
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.statements import read
from workers.verify.guards.vetoes import vetoes, vetoes_of_model

FIRST = "Serial plasma sampling was completed by 91% of the enrolled adults."
SECOND = "Severe neuropathy occurred in 4% of the chemotherapy recipients."
BOTH = f"{FIRST} {SECOND}"


def strays(claim: str, passage: str, title: str = "") -> bool:
    codes = {one.code for one in guard(claim, Grounds(passage, title))}
    assert codes <= {"closeness", "addition"}
    return "closeness" in codes


@pytest.mark.parametrize(
    "claim",
    [
        "Serial plasma sampling occurred in 4% of the chemotherapy recipients.",
        "Severe neuropathy was completed by 91% of the enrolled adults.",
        "Chemotherapy was completed by 91% of the enrolled adults.",
    ],
)
def test_what_is_said_of_one_thing_is_not_said_of_another(claim: str) -> None:
    assert strays(claim, BOTH)


def test_a_figure_of_the_next_sentence_is_not_this_one_s() -> None:
    passage = (
        "Response was seen in 60% of positive patients. Survival was 97% in positive patients."
    )
    assert strays("Response was 97% in positive patients.", passage)
    assert not strays("Survival reached 97% in positive patients.", passage)


@pytest.mark.parametrize(
    "claim",
    [
        f"{FIRST.rstrip('.')}, and experts agree that further testing is unnecessary.",
        "Plasma doubles survival.",
        "Serial plasma sampling makes surgery unnecessary.",
    ],
)
def test_a_remark_that_the_sentence_has_not_is_vetoed(claim: str) -> None:
    assert strays(claim, FIRST)


def test_the_same_words_in_another_order_say_something_else() -> None:
    passage = "In adults, bleeding was more frequent with warfarin than growth delay with apixaban."
    moved = "Bleeding was more frequent with warfarin than growth delay with apixaban in adults."
    exchanged = (
        "In adults, bleeding was more frequent with apixaban than growth delay with warfarin."
    )
    assert not strays(moved, passage)
    assert strays(exchanged, passage)


@pytest.mark.parametrize(
    "claim",
    [
        FIRST,
        "The study found that serial plasma sampling was completed by 91 percent of the adults.",
        "In the words of the source: “Serial plasma sampling was completed by 91% of the enrolled"
        " adults.”",
        "91% of the enrolled adults completed serial plasma sampling.",
        "Serial plasma sampling was completed by 91% of the enrolled adults (PMID 99900001).",
        BOTH,
    ],
)
def test_a_close_paraphrase_stands(claim: str) -> None:
    assert not strays(claim, BOTH)


def test_a_claim_may_name_from_the_title_what_its_sentence_only_points_at() -> None:
    title = "The COBRA trial of chemotherapy"
    assert not strays("The COBRA trial enrolled 635 adults with colon cancer.",
                      "It enrolled 635 adults with colon cancer.", title)  # fmt: skip
    assert strays("The COBRA trial enrolled 635 adults with colon cancer.",
                  "Another registry enrolled 635 adults with colon cancer.", title)  # fmt: skip


def test_only_claims_that_a_model_wrote_are_asked_for_it() -> None:
    grounds = Grounds(BOTH)
    claim = "Serial plasma sampling occurred in 4% of the chemotherapy recipients."
    assert "closeness" not in {one.code for one in vetoes(claim, grounds)}
    assert "closeness" in {one.code for one in vetoes_of_model(claim, grounds)}


def test_a_subject_may_not_come_from_further_on_in_the_sentence() -> None:
    passage = "Prevalence of diabetes was lower among adults with SCT when defined by HbA1c values."
    claim = "HbA1c with SCT was lower among adults with SCT when defined by HbA1c values."
    assert strays(claim, passage)


@pytest.mark.parametrize("end", ["within 24 h", "in two cells (A and B)"])
def test_a_sentence_ends_behind_a_unit_and_behind_a_bracket(end: str) -> None:
    passage = (
        f"The outcome of interest was vomiting {end}. Estimates were derived by meta-analysis."
    )
    assert strays("The outcome of interest was derived by meta-analysis.", passage)


def test_a_negation_is_neither_added_nor_dropped() -> None:
    passage = "They were found in lesions with papillary tumors and in those that are not."
    assert strays(
        "They were found in lesions with papillary tumors and in those that are.", passage
    )


def test_one_word_of_direction_is_not_turned() -> None:
    passage = "The share of correct answers was 85.6%, which rose to 89.3% on the second test."
    assert strays(passage.replace("rose", "fell"), passage)
    assert not strays(passage.replace("rose", "increased"), passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (  # the words of two sentences, the subject replaced that the second one points at
            "Lymphoid transcripts were resolved upon lineage restriction.",
            "Lymphoid transcripts were primed in stem cells. Although this multilineage priming was"
            " resolved upon lineage restriction, it recurred.",
        ),
        (  # a subject that is the title's too
            "Auditory aura was detected in both families.",
            "Auditory aura was reported by most patients. New mutations were detected in both"
            " families.",
        ),
        (  # the end of the next sentence in other words for what the first one says
            "Cells treated with the peptide promoted tumor invasion and are elevated in tumor"
            " patients.",
            "Cells treated with the peptide promoted tumor invasion and increased fibronectin. The"
            " serum peptide is elevated in tumor patients.",
        ),
        (  # a subject of a sentence that says who found it
            "Recognition in these plants can be dominant, recessive or codominant.",
            "Recognition in these plants is controlled by one locus. Experimental studies show that"
            " alleles can be dominant, recessive or codominant.",
        ),
        (  # a word that points back for what the second one speaks of
            "Although this was completed to identify trials of many drugs in adults.",
            "Although this is often called a problem, reviews have not looked at its use. A search"
            " of registers was completed to identify trials of many drugs in adults.",
        ),
        (  # one word for two: the disease that "weight control" stands for
            "Overweight and obesity are important for weight control.",
            "Overweight and obesity are increasing. Changes in diet are important for weight"
            " control.",
        ),
    ],
)
def test_two_quoted_sentences_are_not_run_into_one(claim: str, passage: str) -> None:
    assert strays(claim, passage, "Auditory aura in two families")


def test_what_a_pronoun_points_at_is_named_by_what_comes_before() -> None:
    before = "Apixaban was compared with warfarin in adults with fibrillation."
    passage = f"{before} It lowered stroke, embolism and death within a year."
    assert not strays("Apixaban lowered stroke, embolism and death within a year.", passage)
    assert strays("Fibrillation lowered stroke, embolism and death within a year.", passage)


def test_what_is_said_first_of_a_pronoun_is_not_left_out() -> None:
    passage = (
        "Aspirin is used for pain. Its use is of concern to ophthalmologists when ocular surgery is"
        " being considered and also in the presence of macular degeneration."
    )
    claim = "Aspirin is being considered and also in the presence of macular degeneration."
    assert strays(claim, passage, "Aspirin and the eye")


def test_words_of_the_title_say_nothing_of_the_subject() -> None:
    passage = "Overweight and obesity are of growing importance for adults in many regions."
    claim = "Overweight and obesity are of growing importance for adults in weight control."
    assert strays(claim, passage, "Diet and physical activity in weight control")


@pytest.mark.parametrize("lead", ["The study found that", "The authors report that"])
@pytest.mark.parametrize("said", ["it lowers glucose in adults.", "Thus, glucose fell in adults."])
def test_a_claim_is_led_in_by_who_says_it(lead: str, said: str) -> None:
    assert not strays(f"{lead} {said}", f"{said[0].upper()}{said[1:]}")


def test_a_phrase_before_the_subject_does_not_make_it_a_pointer() -> None:
    passage = "Serial plasma sampling was feasible. In this cohort, mortality fell by a third."
    assert strays("Serial plasma sampling fell by a third.", passage)


def test_a_claim_has_words_of_its_sentence_and_not_only_other_names_of_them() -> None:
    passage = "The decline in mortality was related to the screening programme."
    assert strays("The programme improves survival.", passage)
    assert not strays("The decline in deaths was related to the screening programme.", passage)


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("stable", "unstable"),
        ("preoperative", "postoperative"),
        ("hypertensive", "hypotensive"),
        ("intravascular", "extravascular"),
        ("typical", "atypical"),
        ("poorer", "better"),
        ("raised", "lowered"),
        ("beneficial", "harmful"),
        ("predicted", "doubled"),
        ("induced", "suppressed"),
    ],
)
def test_no_word_stands_in_the_place_of_its_opposite(word: str, other: str) -> None:
    sentence = "In the older adults of the trial the course of the disease was {} in each arm."
    assert strays(sentence.format(word), sentence.format(other))
    assert strays(sentence.format(other), sentence.format(word))


@pytest.mark.parametrize(
    ("word", "other"),
    [("higher", "greater"), ("reduced", "decreased"), ("enhanced", "increased")],
)
def test_a_word_of_the_same_direction_stands(word: str, other: str) -> None:
    sentence = "In the older adults of the trial the level of the marker was {} in each arm."
    assert not strays(sentence.format(word), sentence.format(other))


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("rare", "common"),
        ("constant", "variable"),
        ("cheaper", "costlier"),
        ("degraded", "stabilized"),
        ("nephropathy", "retinopathy"),
    ],
)
def test_no_word_of_which_nothing_is_known_stands_in_another_s_place(word: str, other: str) -> None:
    sentence = "In the older adults of the trial it was {} in each arm after a year of follow-up."
    assert strays(sentence.format(word), sentence.format(other))


def test_another_number_in_a_name_is_another_thing() -> None:
    passage = (
        "Of the acids 12-hydroxy-17,18-epoxy acid (12-OH) lowered the number of cells in mice."
    )
    claim = "Of the acids 17-hydroxy-17,18-epoxy acid (12-OH) lowered the number of cells in mice."
    assert any("“17” stands" in one.detail for one in guard(claim, Grounds(passage)))
    same = "The dose was 1,000 mg or 0.50 mg in all of the mice."
    assert guard("The dose was 1000 mg or 0.5 mg in all of the mice.", Grounds(same)) == []


def test_a_bracket_that_ends_in_an_abbreviation_is_closed() -> None:
    passage = "Levels were reduced at 15 (mean +/- S.E.M.) and after treatment rose to 54."
    assert [token.word for token in read(passage).tokens if token.depth] == ["mean", "s", "e", "m"]
    assert strays(passage.replace("rose", "fell"), passage)
    unclosed = passage.replace(".)", ".")
    assert not any(token.depth for token in read(unclosed).tokens)
    assert strays(unclosed.replace("rose", "fell"), unclosed)


def test_a_direction_that_the_sentence_has_twice_is_not_turned_once() -> None:
    passage = "Osmolality decreased to 271 units, and copeptin decreased from 6 to 2 units."
    assert strays(passage.replace("Osmolality decreased", "Osmolality increased"), passage)
    assert strays(passage.replace("copeptin decreased", "copeptin increased"), passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "Kinase A activates kinase C in mice.",
            "Kinase A activates kinase B, which represses kinase C in mice.",
        ),
        (
            "Mortality was associated with smoking.",
            "Mortality was associated with age and diabetes, and recurrence with smoking.",
        ),
        (
            "Recurrence was associated with age.",
            "Mortality was associated with age and diabetes, and recurrence with smoking.",
        ),
        (
            "Adults with diabetes received insulin.",
            "Adults with diabetes received metformin, and those without received insulin.",
        ),
    ],
)
def test_two_clauses_are_not_joined_over_what_was_left_out(claim: str, passage: str) -> None:
    assert strays(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "Metformin lowered glucose in adults with obesity.",
            "Metformin, which costs little and is old, lowered glucose in adults with obesity.",
        ),
        (
            "Mortality was associated with diabetes and smoking.",
            "Mortality was associated with age, diabetes and smoking.",
        ),
        (
            "Metformin lowered glucose in adults with obesity.",
            "Metformin lowered glucose (by 2 units and more) in adults with obesity.",
        ),
    ],
)
def test_a_whole_clause_an_item_and_a_bracket_may_be_left_out(claim: str, passage: str) -> None:
    assert not strays(claim, passage)


def test_a_word_of_reporting_is_not_what_a_sentence_speaks_of() -> None:
    passage = (
        "The present study was designed to inform. Expression of the proteins was measured by"
        " immunohistochemistry in ductal carcinoma."
    )
    assert strays(
        "The present study was measured by immunohistochemistry in ductal carcinoma.", passage
    )
    assert not strays(
        "The study found that expression of the proteins was measured by immunohistochemistry in"
        " ductal carcinoma.",
        passage,
    )


WORDS = [
    "survival",
    "was",
    "not",
    "higher",
    "with",
    "aspirin",
    "than",
    "placebo",
    "12%",
    "in",
    "it",
]
sentences = st.lists(st.sampled_from(WORDS), min_size=3, max_size=12).map(
    lambda words: " ".join(words).capitalize() + "."
)


@given(sentences, sentences, sentences)
def test_a_whole_sentence_of_the_passage_never_strays(before: str, one: str, after: str) -> None:
    assert vetoes_of_model(one, Grounds(f"{before} {one} {after}")) == vetoes(
        one, Grounds(f"{before} {one} {after}")
    )
    assert not strays(one, one)


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        # another outcome
        ("In all analyses ctDNA status was associated with relapse after adjusting for risk.",
         "In all analyses ctDNA status was associated with survival after adjusting for risk."),
        ("Patients of the control group with disease progression could cross over to A.",
         "Patients of the control group with disease response could cross over to A."),
        ("Positive patients were more likely to have disease recurrence than negative ones.",
         "Positive patients were more likely to have disease progression than negative ones."),
        # a word of reporting for one that tells something
        ("After treatment, serial analysis identified 14 of 16 relapses (87.5%).",
         "After treatment, serial analysis identified 14 of 16 patients (87.5%)."),
        ("Of patients allocated to intervention, 72% (23/32) had metastases on staging.",
         "Of patients allocated to observation, 72% (23/32) had metastases on staging."),
        # the opposite, in a word of grammar
        ("Rash and edema were the most common effects in the guided group.",
         "Rash and edema were the least common effects in the guided group."),
        ("Samples drawn before surgery held more ctDNA in most patients.",
         "Samples drawn after surgery held more ctDNA in most patients."),
    ],
)  # fmt: skip
def test_one_word_for_another_may_tell_another_result(passage: str, claim: str) -> None:
    assert "closeness" in [one.code for one in guard(claim, Grounds(passage, text=passage))]


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Guided treatment lowered mortality in most of the patients studied.",
         "Guided treatment improved survival in most of the patients studied."),
        ("Relapse was seen in 14 of 16 patients with a positive test.",
         "Recurrence was seen in 14 of 16 patients with a positive test."),
        ("Plasma samples were collected from 40 patients enrolled in the trials.",
         "Plasma samples were collected from 40 patients included in the trials."),
        ("Levels in patients with infarction were similar to those of healthy controls.",
         "Levels in patients with infarction were comparable to those of healthy controls."),
    ],
)  # fmt: skip
def test_the_same_outcome_in_other_words_may(passage: str, claim: str) -> None:
    assert not strays(claim, passage)


def test_one_word_of_its_own_is_an_addition_and_two_stray() -> None:
    passage = "Shorter telomere length was associated with higher risk of pancreatic cancer in men."
    said = "Shorter telomere length was associated with higher risk of pancreatic cancer {} in men."
    one = guard(said.format("death"), Grounds(passage, text=passage))
    assert [each.code for each in one] == ["addition"]
    two = guard(said.format("death elsewhere"), Grounds(passage, text=passage))
    assert "closeness" in [each.code for each in two]


def test_the_labels_of_two_groups_do_not_change_places() -> None:
    passage = (
        "Among patients with diabetes, eGFR was unchanged in group B (P = 0.273), whereas it"
        " decreased significantly in group A (P = 0.005)."
    )
    swapped = passage.replace("group B", "group X").replace("group A", "group B")
    assert strays(swapped.replace("group X", "group A").replace("Among", "In"), passage)
    assert not strays(passage.replace("Among", "In"), passage)
