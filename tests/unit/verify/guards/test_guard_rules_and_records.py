"""Guards: what drug labels, coverage policies and registry records say.

They say what is to be done, what is excepted and what was only planned, in orders and in fields.
"""

import pytest

from clinical_text.quotes import Source
from clinical_text.structure import segment
from workers.verify.checking import check_claims
from workers.verify.claims import Drafted
from workers.verify.doubts import doubts
from workers.verify.guards.grounds import Grounds
from workers.verify.hard_facts import hard_facts
from workers.verify.passages.locating import CitedText


def codes(passage: str, claim: str, *, text: str = "", neighbours: str = "") -> set[str]:
    grounds = Grounds(passage, text=text or passage, neighbours=neighbours)
    return {one.code for one in hard_facts(claim, grounds)} | {
        one.kind for one in doubts(claim, grounds)
    }


def is_verified(passage: str, claim: str, *, text: str = "", neighbours: str = "") -> bool:
    """Whether a claim is verified where no model judges."""
    whole = f"{neighbours}\n\n{text or passage}" if neighbours else text or passage
    held = {"E1": CitedText(Source(whole), segment(whole).sentences)}
    (result,) = check_claims([Drafted("c1", claim, "E1", passage, "")], held).results
    return result.passes


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Suppliers must keep proof of delivery for seven years.",
         "Suppliers may keep proof of delivery for seven years."),
        ("Suppliers must keep proof of delivery for seven years.",
         "Suppliers should keep proof of delivery for seven years."),
        ("The vial has to be protected from light.", "The vial can be protected from light."),
        ("Orders for wheelchairs will be rejected without a signature.",
         "Orders for wheelchairs may be rejected without a signature."),
        ("Serum potassium should be measured weekly in patients with heart failure.",
         "In patients with heart failure serum potassium might be measured weekly."),
        ("Beneficiaries are required to repeat the sleep test.",
         "Beneficiaries may repeat the sleep test."),
        ("The capsule shall not be opened.", "The capsule should not be opened."),
    ],
)  # fmt: skip
def test_a_rule_does_not_become_a_permission(passage: str, claim: str) -> None:
    assert not is_verified(passage, claim)


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Any statin may be continued, except for simvastatin.",
         "Any statin may be continued, including simvastatin."),
        ("Use in cancers other than melanoma has not been studied.",
         "Use in cancers including melanoma has not been studied."),
        ("All wheelchairs excluding power wheelchairs need a written order.",
         "All wheelchairs and power wheelchairs need a written order."),
        ("Repeat testing is not covered unless the tumor has progressed.",
         "Repeat testing is not covered, and the tumor has progressed."),
    ],
)  # fmt: skip
def test_an_exception_is_not_told_as_a_part_of_the_rule(passage: str, claim: str) -> None:
    assert not is_verified(passage, claim)


def test_an_exception_in_other_words_is_one() -> None:
    passage = "Any statin may be continued, except for simvastatin."
    assert codes(passage, "Any statin may be continued apart from simvastatin.") <= {"connective"}


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("- Expanded access available: no.", "Expanded access is available."),
        ("- Results posted: none (study ongoing).", "The results were posted."),
        ("- Data monitoring committee appointed: no.",
         "A data monitoring committee has been appointed."),
    ],
)  # fmt: skip
def test_a_field_that_says_no_denies_what_it_is_about(passage: str, claim: str) -> None:
    assert not is_verified(passage, claim)


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("- Masking: none (open label).", "The study has no masking."),
        ("- Expanded access available: no.", "Expanded access is not available."),
    ],
)
def test_a_field_that_says_no_may_be_told_as_a_sentence(passage: str, claim: str) -> None:
    assert "negation" not in codes(passage, claim)


@pytest.mark.parametrize("word", ["estimated", "anticipated", "planned", "target"])
def test_what_was_only_planned_is_not_told_without_its_bracket(word: str) -> None:
    passage = f"- Enrollment: 640 participants ({word})."
    assert not is_verified(passage, "The study enrolled 640 participants.")


def test_the_role_of_a_dose_from_the_sentence_before_is_news() -> None:
    passage = "The dosage range is 5 to 40 mg once daily."
    neighbours = "Elderly patients may be started at 5 mg once daily."
    claim = "The starting dosage range is 5 to 40 mg once daily."
    assert not is_verified(passage, claim, neighbours=neighbours)


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Withhold X until the rash resolves.", "X should be withheld until the rash resolves."),
        ("Discontinue X if jaundice occurs.", "X should be discontinued if jaundice occurs."),
        ("Avoid grapefruit juice during treatment with X.",
         "Grapefruit juice should be avoided during treatment with X."),
        ("If the creatinine rises, promptly reduce the dose of X.",
         "If the creatinine rises, the dose of X should be promptly reduced."),
        ("Monitor liver enzymes before and during treatment with X.",
         "Liver enzymes should be monitored before and during treatment with X."),
        ("Exercise caution when using X in patients with asthma.",
         "Caution should be exercised when using X in patients with asthma."),
        ("Do not use X if the seal is broken.", "X should not be used if the seal is broken."),
    ],
)  # fmt: skip
def test_an_order_of_a_label_is_told_as_what_should_be_done(passage: str, claim: str) -> None:
    assert codes(passage, claim) <= {"connective"}


def test_a_contraindication_is_told_as_contraindicated() -> None:
    passage = "Severe asthma is a contraindication to the use of X."
    assert codes(passage, "X is contraindicated in severe asthma.") <= {"connective"}


@pytest.mark.parametrize("claim", [
    "X should not be given together with warfarin.",
    "X should not be combined with warfarin.",
])  # fmt: skip
def test_what_is_to_be_avoided_is_told_as_what_should_not_be_done(claim: str) -> None:
    assert "negation" not in codes("Concomitant use of X with warfarin should be avoided.", claim)


def test_what_is_not_to_be_avoided_is_not_denied() -> None:
    passage = "X may be used together with warfarin. Ethanol should be avoided."
    assert not is_verified(passage, "X should not be used together with warfarin.")


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Claims without a diagnosis code will be denied as incorrect.",
         "Claims without a diagnosis code are denied as incorrect."),
        ("Repairs of a rented pump will not be paid.", "Repairs of a rented pump are not paid."),
    ],
)  # fmt: skip
def test_what_a_payer_will_do_is_its_rule(passage: str, claim: str) -> None:
    assert codes(passage, claim) <= {"connective"}


def test_what_a_payer_will_do_was_not_done() -> None:
    passage = "Claims without a diagnosis code will be denied as incorrect."
    assert not is_verified(passage, "Claims without a diagnosis code were denied as incorrect.")


def test_a_reference_to_another_section_is_no_part_of_the_population() -> None:
    passage = "X is not recommended in patients with asthma [see Warnings and Precautions (5.2)]."
    assert codes(passage, "X is not recommended in patients with asthma.") <= {"connective"}


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("- Primary completion: 2019-03 (actual).",
         "Primary completion was in March 2019 (actual)."),
        ("- First posted: 2021-12.", "First posted in December 2021."),
    ],
)  # fmt: skip
def test_a_month_of_a_registry_is_told_by_its_name(passage: str, claim: str) -> None:
    assert "name" not in codes(passage, claim)


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Therapy should be limited to 40 mg of X.", "Therapy should be no more than 40 mg of X."),
        ("Do not exceed 3 tablets a day.", "No more than 3 tablets a day."),
        ("As many as 640 patients are planned.", "Up to 640 patients are planned."),
        ("Use beyond 2 years has not been studied.",
         "Use for more than 2 years has not been studied."),
    ],
)  # fmt: skip
def test_a_limit_is_a_comparator_in_whatever_words(passage: str, claim: str) -> None:
    assert "comparator" not in codes(passage, claim), codes(passage, claim)


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Therapy should be limited to 40 mg of X.", "Therapy should be at least 40 mg of X."),
        ("Do not exceed 3 tablets a day.", "Take at least 3 tablets a day."),
        ("Use beyond 2 years has not been studied.", "Use up to 2 years has not been studied."),
    ],
)  # fmt: skip
def test_a_limit_that_was_turned_is_told_apart(passage: str, claim: str) -> None:
    assert not is_verified(passage, claim)


def test_a_short_name_that_the_document_defines_is_its_drug() -> None:
    text = "Patients took methotrexate (MTX).\n\nMTX lowered the clearance of adalimumab."
    passage = "MTX lowered the clearance of adalimumab."
    claim = "Methotrexate lowered the clearance of adalimumab."
    assert "drug" not in codes(passage, claim, text=text)


def test_a_short_name_of_another_drug_is_not() -> None:
    text = "Patients took leflunomide (LEF) or methotrexate (MTX).\n\nLEF lowered the clearance."
    claim = "Methotrexate lowered the clearance."
    assert "treatment" in codes("LEF lowered the clearance.", claim, text=text)


def test_no_studies_were_done_says_that_studies_were_not_done() -> None:
    passage = "Adequate and well controlled studies of X have not been conducted in children."
    claim = "No adequate and well controlled studies of X have been conducted in children."
    assert "negation" not in codes(passage, claim)


def test_years_of_age_and_older_is_no_direction() -> None:
    passage = "X is indicated for reducing pain in adults 50 years of age and older."
    claim = "In adults 50 years of age and older X is indicated to reduce pain."
    assert "direction" not in codes(passage, claim)


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Dose adjustment in patients with hepatic impairment is not necessary.",
         "No dose adjustment is needed in patients with hepatic impairment."),
        ("Routine monitoring of drug levels during therapy is not required.",
         "No routine monitoring of drug levels is required during therapy."),
    ],
)  # fmt: skip
def test_what_is_not_necessary_is_not_needed(passage: str, claim: str) -> None:
    assert codes(passage, claim) <= {"connective"}


@pytest.mark.parametrize("claim", [
    "Dose adjustment is needed in patients with hepatic impairment.",
    "No dose adjustment is needed in patients with renal impairment.",
])  # fmt: skip
def test_what_is_not_necessary_is_not_necessary_for_whom_it_is_said(claim: str) -> None:
    passage = "Dose adjustment in patients with hepatic impairment is not necessary."
    assert not is_verified(passage, claim)


def test_a_finding_of_no_named_species_does_not_speak_of_people() -> None:
    text = "X lowered the count of cells.\n\nWe treated mice, and patients had been asked."
    assert codes("X lowered the count of cells.", "In patients X lowered the count of cells.",
                 text=text)  # fmt: skip


def test_the_population_is_the_nearest_one_of_several_phrases() -> None:
    passage = "Take care in considering the use of X in patients with recent stroke or sepsis."
    claim = "Take care when X is considered in patients with recent stroke or sepsis."
    assert "subgroup" not in codes(passage, claim)


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("X should only be administered to patients with a positive test.",
         "X should be administered only to patients with a positive test."),
        ("Only resume X in patients who have recovered.",
         "X should be resumed only in patients who have recovered."),
    ],
)  # fmt: skip
def test_only_before_a_verb_limits_what_follows(passage: str, claim: str) -> None:
    assert "modality" not in codes(passage, claim)


def test_only_before_a_noun_limits_that_noun() -> None:
    passage = "Only patients with a positive test received X."
    assert not is_verified(passage, "Patients with a positive test received only X.")


def test_the_heading_before_may_say_that_it_is_without() -> None:
    passage = "Renewal is limited to one order per 90 days."
    neighbours = "## Beneficiaries without active disease"
    claim = "In beneficiaries without active disease renewal is limited to one order per 90 days."
    assert codes(passage, claim, neighbours=neighbours) <= {"connective"}


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("A total of 640 women were included; 320 were then in the RCT.",
         "A total of 640 women were randomized; 320 were then in the RCT."),
        ("We screened 90 men, of whom 40 took part in the randomized trial.",
         "We enrolled 90 men, of whom 40 took part in the randomized trial."),
        ("Fourteen studies with 800 patients were pooled.",
         "Fourteen trials with 800 patients were pooled."),
        ("The panel weighed 21 studies and six trials.",
         "The panel weighed 21 trials and six trials."),
    ],
)  # fmt: skip
def test_what_was_counted_is_not_told_as_another_kind(passage: str, claim: str) -> None:
    assert not is_verified(passage, claim)


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("A total of 640 women were included.", "A total of 640 women were enrolled."),
        ("The study was stopped for futility.", "The trial was stopped for futility."),
    ],
)
def test_other_words_for_the_same_kind_pass(passage: str, claim: str) -> None:
    assert codes(passage, claim) <= {"connective"}


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Neuropathy has returned to ≤ grade 2 before re-treatment.",
         "Neuropathy has returned to ≥ grade 2 before re-treatment."),
        ("Withhold X for ≥ Grade 3 colitis.", "Withhold X for ≤ Grade 3 colitis."),
        ("Heart failure of at most class 2 is allowed.",
         "Heart failure of at least class 2 is allowed."),
    ],
)  # fmt: skip
def test_a_sign_before_a_grade_is_a_comparator(passage: str, claim: str) -> None:
    assert not is_verified(passage, claim)


def test_a_sign_may_stand_before_a_grade_or_behind_it() -> None:
    passage = "Neuropathy has returned to ≤ grade 2 before re-treatment."
    claim = "Neuropathy has returned to grade ≤ 2 before re-treatment."
    assert codes(passage, claim) <= {"connective"}


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Closure of the sites was expected in May 2027.",
         "Closure of the sites was reached in May 2027."),
        ("The drug might be approved.", "The drug was approved in May 2027."),
        ("Orders must be renewed in May 2027.", "Orders may be renewed in May 2027."),
        ("Results are expected by the end of 2028.", "Results were given by the end of 2028."),
    ],
)  # fmt: skip
def test_what_was_expected_is_not_told_as_done(passage: str, claim: str) -> None:
    assert not is_verified(passage, claim)


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Clearance is halved in class B cirrhosis [see Contraindications (4)].",
         "In class B cirrhosis clearance is halved."),
        ("Exposure rose with food [see Use in Mice (13.1) and Dosage (2.2)].",
         "With food exposure rose."),
    ],
)  # fmt: skip
def test_a_reference_to_another_section_says_nothing_of_what_is_told(
    passage: str, claim: str
) -> None:
    assert not codes(passage, claim)


def test_a_reference_of_the_claims_own_is_a_part_of_the_claim() -> None:
    passage = "Clearance is halved in class B cirrhosis [see Dosage (2.2)]."
    assert not is_verified(
        passage, "Clearance is halved in class B cirrhosis [see deaths in 40 patients]."
    )
    assert not is_verified(passage, "Clearance is halved by 2.2 in class B cirrhosis.")


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Give X every 6 weeks.", "Give X for 6 weeks."),
        ("Treatment is continued for 12 months.", "Treatment is continued every 12 months."),
        ("Repeat the scan within 8 weeks of surgery.", "Repeat the scan after 8 weeks of surgery."),
        ("Food raised the exposure by 40%.", "Food raised the exposure to 40%."),
        ("Lower the dose to 50 mg.", "Lower the dose by 50 mg."),
        ("The dose was raised from 50 mg.", "The dose was raised to 50 mg."),
    ],
)  # fmt: skip
def test_a_number_keeps_the_word_that_says_what_it_is_of(passage: str, claim: str) -> None:
    assert not is_verified(passage, claim)


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Infuse X over 90 minutes.", "X was infused for 90 minutes."),
        ("Pain fell from 60 to 40 mm, by 20 mm.", "Pain fell by 20 mm, from 60 to 40 mm."),
        ("X is given for 6 weeks and then every 6 weeks.", "X is given every 6 weeks."),
    ],
)  # fmt: skip
def test_words_for_the_same_role_of_a_number_pass(passage: str, claim: str) -> None:
    assert not hard_facts(claim, Grounds(passage, text=passage))


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Swallow capsules with water.", "Swallow capsules with or without water."),
        ("X is approved for tumors with a KRAS mutation.",
         "X is approved for tumors regardless of a KRAS mutation."),
        ("Stop X if creatinine rises with proteinuria.",
         "Stop X if creatinine rises or proteinuria."),
    ],
)  # fmt: skip
def test_a_condition_is_not_told_as_indifferent(passage: str, claim: str) -> None:
    assert not is_verified(passage, claim)


def test_what_is_to_be_avoided_should_not_be_used() -> None:
    passage = "Avoid concomitant use of moderate CYP2C8 inducers with X."
    claim = "X should not be used with moderate CYP2C8 inducers."
    assert codes(passage, claim) <= {"connective"}


def test_what_may_be_used_is_not_what_is_to_be_avoided_behind_it() -> None:
    passage = "X may be used with azoles; avoid it with rifampin."
    assert "negation" in codes(passage, "X should not be used with azoles.")


def test_an_inducer_is_no_inhibitor() -> None:
    passage = "Avoid concomitant use of moderate CYP2C8 inducers with X."
    assert "direction" in codes(passage, passage.replace("inducers", "inhibitors"))


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("The article was archived in May 2023 and superseded by A50001.",
         "The article was archived in May 2023 and superseded A50001."),
        ("The tablet was withdrawn and replaced a capsule.",
         "The tablet was withdrawn and replaced by a capsule."),
    ],
)  # fmt: skip
def test_what_is_done_by_something_is_not_done_to_it(passage: str, claim: str) -> None:
    assert not is_verified(passage, claim)


def test_a_grade_stays_with_what_it_is_the_grade_of() -> None:
    passage = (
        "Vomiting (40%) was the most common symptom; the most common Grade 4 event was anemia."
    )
    assert not is_verified(passage, "Vomiting (40%) was the most common Grade 4 symptom.")
    assert codes(passage, "The most common Grade 4 event was anemia.") <= {"connective"}


def test_a_grade_may_stand_before_or_behind_its_event() -> None:
    passage = "Adverse events of grade 3 occurred in 12% of patients."
    assert codes(passage, "Grade 3 adverse events occurred in 12% of patients.") <= {"connective"}


def test_limited_to_is_only() -> None:
    passage = "Coverage is limited to women who have had two prior fractures."
    claim = "Only women who have had two prior fractures are covered."
    assert "modality" not in codes(passage, claim)


@pytest.mark.parametrize("verb", ["Premedicate", "Hydrate", "Supplement"])
def test_an_order_in_other_verbs_is_one(verb: str) -> None:
    passage = f"{verb} patients before the infusion."
    claim = f"Patients should be {verb.lower().rstrip('e')}ed before the infusion."
    assert codes(passage, claim) <= {"connective"}
