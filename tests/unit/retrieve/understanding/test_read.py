"""How a question is understood, by the words of `knowledge/`."""

import pytest

from tests.grid import grid
from tests.unit.retrieve.understanding.notes import AF_NOTE
from workers.retrieve.understanding.read import query_type, search_terms, understand


@grid(
    ("question", "expected"),
    [
        (
            "What clinical trials are studying MRD-guided treatment de-escalation?",
            "clinical_trials",
        ),
        ("Tell me about the CIRCULATE and DYNAMIC trials", "clinical_trials"),
        ("Are there any Phase 3 trials for ctDNA in lung cancer?", "clinical_trials"),
        ("What does NCCN say about ctDNA in colorectal cancer?", "guidelines"),
        ("How do NCCN and ESMO guidelines differ on ctDNA?", "guidelines"),
        ("Is ctDNA testing covered by Medicare?", "coverage_policy"),
        ("How does Signatera compare to Guardant Reveal?", "comparison"),
        ("What is the sensitivity of MRD assays?", "general"),
    ],
)
def test_a_question_has_the_type_that_its_words_ask_for(question: str, expected: str) -> None:
    assert query_type(question) == expected


def test_a_named_disease_comes_before_cancer_in_general() -> None:
    found = understand("Does ctDNA in solid tumors such as breast cancer predict relapse?")
    assert found.diseases == ("breast_cancer",)
    assert found.classification == "oncology/mrd_testing"


def test_the_patient_context_adds_tags_but_does_not_decide_the_type() -> None:
    found = understand("Should ctDNA be tested?", "Enrolled in a trial; breast cancer in 2024.")
    assert found.query_type == "general"
    assert found.diseases == ("breast_cancer",)


@grid(
    ("question", "asks"),
    [
        ("Which trials are currently recruiting?", True),
        ("What is the latest NCCN position?", True),
        ("What was the primary endpoint of DYNAMIC?", False),
        ("Is the sabizabulin trial in prostate cancer recruiting?", True),
        ("Is the sabizabulin trial still open for enrollment?", True),
        ("Is the sabizabulin trial open for enrollment?", True),
        ("Is propylthiouracil still indicated in Graves disease?", True),
        ("Is propylthiouracil indicated in Graves disease?", True),
        ("Is rofecoxib approved for osteoarthritis?", True),
        ("Has the FDA approved belantamab mafodotin?", True),
        ("Which PARP inhibitors are approved in ovarian cancer?", True),
        ("Is a generic form of apixaban available?", True),
        ("What is the trial status of COBRA?", True),
        ("What is the status of the COBRA trial?", True),
        ("Status of NCT04068103?", True),
        ("What is the current treatment of sepsis?", True),
        ("Is ctDNA testing now recommended?", True),
        ("How does menopausal status affect bone loss?", False),
        ("Does vitamin D status affect cancer incidence?", False),
        ("What is the effect of mutation status of EGFR on survival?", False),
        ("Does current smoking lower hormone levels?", False),
        ("Does colchicine help patients currently taking aspirin?", False),
        ("Does aspirin help patients with infarction who now have a stent?", False),
        ("Does pain fall in women who still smoke?", False),
        ("What evidence is available on ctDNA?", False),
        ("Is the evidence available on ctDNA convincing?", False),
        ("Is open surgery better than laparoscopy?", False),
        ("Was rofecoxib approved in 1999?", False),
        ("Is metformin contraindicated in pregnancy?", False),
    ],
)
def test_sp_6_3_a_question_for_the_present_state_is_recognized(question: str, asks: bool) -> None:
    assert understand(question).asks_for_today is asks


@grid(
    ("question", "expected"),
    [
        ("Tell me about the CIRCULATE and DYNAMIC trials", ("CIRCULATE", "DYNAMIC")),
        ("Did c-TRAK TN or IMvigor011 meet its endpoint?", ("IMvigor011", "c-TRAK-TN")),
        ("What does NCCN say about ctDNA in NSCLC?", ("NCCN",)),
        ("clonoseq fda approved", ("clonoSEQ",)),
        ("Is clonoSEQ FDA approved?", ("clonoSEQ",)),
        ("Is Signatera FDA approved?", ("FDA",)),
        ("NCCN category of atezolizumab and FDA approval", ("NCCN", "FDA")),
        ("Compare Signatera and Guardant Reveal on FDA status and coverage", ()),
        ("how many patients in CIRCULATE US", ("CIRCULATE-US",)),
        ("does exercise improve it", ()),
        ("Which tests has the FDA approved?", ("FDA",)),
        ("Which SNPs, mRNAs and lincRNA tell GPU-accelerated tools apart?", ()),
        ("Which markers has the primitive endoderm (prEN)?", ()),
        ("Was the early apixaban trial (EAT) positive?", ("EAT",)),
        ("galleri sensitivity", ("Galleri",)),
        ("Is MRD-guided therapy in stage III CRC useful?", ()),
        ("Status of NCT04068103?", ("NCT04068103",)),
        ("DOACs at eGFR 24 mL/min, CHA2DS2-VASc 5, after a GI bleed (BP 150/90 mmHg)?", ()),
    ],
)
def test_names_of_trials_and_societies_are_told_from_the_vocabulary(
    question: str, expected: tuple[str, ...]
) -> None:
    assert understand(question).names == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which patients should NOT receive apixaban?", ()),
        ("Give ONLY the dose, WITHOUT the warnings", ()),
        ("CAN APIXABAN BE GIVEN IN PREGNANCY?", ()),
        ("METFORMIN DOSE", ()),
        ("WHAT DID DYNAMIC REALLY FIND?", ("DYNAMIC",)),
        ("NCT04264702", ("NCT04264702",)),
        ("DYNAMIC", ("DYNAMIC",)),
    ],
)
def test_capitals_that_stress_or_shout_name_nothing(
    question: str, expected: tuple[str, ...]
) -> None:
    assert understand(question).names == expected


@grid(
    ("question", "expected"),
    [
        ("What did DYNAMIC III find?", ("DYNAMIC-III",)),
        ("What did DYNAMIC-III find?", ("DYNAMIC-III",)),
        ("Is ctDNA useful in NSCLC III?", ()),
        ("dynamic iii trial results", ("DYNAMIC-III",)),
        ("results of the altair study", ("ALTAIR",)),
        ("dynamic trial results", ("DYNAMIC",)),
        ("Is the dynamic postural trial over?", ()),
        ("Are dynamic changes of ctDNA prognostic?", ()),
    ],
)
def test_a_trial_is_told_by_its_numeral_and_known_ones_in_lower_case(
    question: str, expected: tuple[str, ...]
) -> None:
    assert understand(question).names == expected


def test_a_long_question_takes_type_names_and_modalities_from_the_sentences_that_ask() -> None:
    found = understand(AF_NOTE)
    assert found.query_type == "general"  # its history names a trial
    assert found.names == ()
    assert found.modalities == ()
    assert not found.asks_for_today  # "current medications"
    asked = understand(f"{AF_NOTE} What did the EXAMPLE-HF trial find by MRI?")
    assert (asked.query_type, asked.names) == ("clinical_trials", ("EXAMPLE-HF",))
    assert asked.modalities == ("magnetic_resonance_imaging",)


@pytest.mark.requirement("EB-1.2")
@pytest.mark.requirement("EB-1.3")
@pytest.mark.requirement("EB-1.5")
@pytest.mark.requirement("EB-3.1")
@pytest.mark.requirement("EB-3.2")
@pytest.mark.requirement("EB-3.3")
@pytest.mark.requirement("EB-3.4")
def test_a_note_with_af_ckd_and_a_gi_bleed_is_understood_as_an_anticoagulation_decision() -> None:
    found = understand(AF_NOTE)
    assert found.classification == "cardiology/anticoagulation"
    assert found.primary_disease == "atrial_fibrillation"
    assert found.primary_decision == "anticoagulation"
    assert {"chronic_kidney_disease", "gastrointestinal_bleeding"} < set(found.diseases)
    assert {"drug_choice", "monitoring"} < set(found.decisions)
    assert not {"ischemic_stroke", "coronary_artery_disease", "breast_cancer"} & set(found.diseases)
    assert set(found.mesh) == {
        "Atrial Fibrillation",
        "Anticoagulants",
        "Stroke",
        "Hemorrhage",
        "Kidney Failure, Chronic",
        "Renal Insufficiency, Chronic",
    }


@pytest.mark.requirement("EB-1.3")
@pytest.mark.parametrize(
    ("question", "decision"),
    [
        ("When should ctDNA be tested?", "mrd_testing"),
        ("How long should DAPT be continued?", "antiplatelet_therapy"),
        ("He takes metformin. When should anticoagulation start?", "anticoagulation"),
        ("How often?", "timing"),
    ],
)
def test_eb_1_3_the_primary_decision_is_what_is_decided_before_when_and_how(
    question: str, decision: str
) -> None:
    assert understand(question).primary_decision == decision


@pytest.mark.requirement("EB-1.5")
@pytest.mark.parametrize(
    ("question", "disease"),
    [
        ("Given CKD, is anticoagulation right in AF?", "atrial_fibrillation"),
        ("CKD stage 4 and HFpEF: which SGLT2 inhibitor?", "heart_failure"),
        ("Asthma since 2001. Is aspirin right in CKD?", "chronic_kidney_disease"),
        ("AF and CKD, lung cancer: does ctDNA help?", "lung_cancer"),
        ("Hypertension in CKD?", "hypertension"),
    ],
)
def test_eb_1_5_the_primary_disease_is_what_the_decision_is_about(
    question: str, disease: str
) -> None:
    assert understand(question).primary_disease == disease


def test_eb_1_5_the_patient_context_may_name_what_the_decision_is_about() -> None:
    found = understand("Should anticoagulation start despite CKD?", "COPD, AF since 2021")
    assert found.diseases == ("atrial_fibrillation", "chronic_kidney_disease", "copd")
    assert search_terms("Should anticoagulation start despite CKD?")["diseases"] == [
        "chronic_kidney_disease"
    ]


def test_cancer_in_general_gives_way_to_a_cancer_and_to_nothing_else() -> None:
    assert understand("VTE in cancer?").diseases == ("venous_thromboembolism", "solid_tumors")
    assert understand("Cancers such as lung cancer?").diseases == ("lung_cancer",)


def test_invariant_11_search_terms_are_tags_that_the_question_itself_names() -> None:
    question = "Should AF without diabetes be anticoagulated at an eGFR of 20?"
    expected = {"diseases": ["atrial_fibrillation"], "decisions": ["anticoagulation"]}
    assert search_terms(question) == expected
    assert understand(question, "COPD, takes aspirin").diseases == (
        "atrial_fibrillation",
        "copd",
        "chronic_kidney_disease",
    )


@pytest.mark.requirement("EB-6.1")
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Is CT or MRI better?", ("computed_tomography", "magnetic_resonance_imaging")),
        ("Chest x-rays for CAP?", ("radiography",)),
        ("MRA in HFrEF: is a pet allowed?", ()),
        ("Which anticoagulant for AF?", ()),
    ],
)
def test_eb_6_1_imaging_modalities_are_known_where_the_question_names_them(
    question: str, expected: tuple[str, ...]
) -> None:
    assert understand(question).modalities == expected


@pytest.mark.requirement("EB-1.4")
def test_eb_1_4_the_body_hands_on_all_that_was_understood() -> None:
    body = understand(AF_NOTE).as_body()
    assert body["tags"]["primary_disease"] == body["tags"]["diseases"][0] == "atrial_fibrillation"
    assert body["patient"]["age_group"] == "aged"
    assert {one["category"] for one in body["patient"]["values"]} >= {"G4"}
    assert body["language_model"] is None
    assert body["sub_queries"][0]["role"] == "core_decision"
