"""Scenario packs (EB-4.1): works named with an identity that was seen, for tags that exist."""

import json
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from knowledge import scenarios as module
from knowledge.loader import load
from knowledge.scenarios import Entry, Scenario, scenario_for, scenarios
from knowledge.subjects.breadth import narrow_first
from knowledge.subjects.tags import tags
from knowledge.works.anchors import entry_of
from knowledge.works.links import is_search_page
from tests.grid import grid

FILES = sorted(
    (
        path
        for path in files("knowledge").joinpath("scenarios").iterdir()
        if not path.name.startswith("__")
    ),
    key=lambda path: path.name,
)
SAMPLES = Path(__file__).parents[3] / "samples"
EXPECTED = {
    "af_ckd": {"atrial_fibrillation", "chronic_kidney_disease"},
    "heart_failure_ckd": {"heart_failure", "chronic_kidney_disease"},
    "pneumonia_sepsis": {"pneumonia", "sepsis"},
    "ctdna_mrd_colorectal": {"colorectal_cancer"},
    "ctdna_mrd_lung": {"lung_cancer"},
    "ctdna_mrd_breast": {"breast_cancer"},
    "ctdna_mrd_bladder": {"bladder_cancer"},
    "dapt_hbr": {"coronary_artery_disease"},
    "ahre": {"device_detected_af"},
    "atrial_fibrillation_anticoagulation": {"atrial_fibrillation"},
    "atrial_fibrillation_rhythm": {"atrial_fibrillation"},
    "venous_thromboembolism": {"venous_thromboembolism"},
    "ischemic_stroke": {"ischemic_stroke"},
    "hypertension": {"hypertension"},
    "hypercholesterolemia": {"hypercholesterolemia"},
    "diabetes_ckd": {"diabetes", "chronic_kidney_disease"},
    "copd": {"copd"},
    "community_acquired_pneumonia": {"pneumonia"},
    "clostridioides_difficile": {"clostridioides_difficile"},
    "urinary_tract_infection": {"urinary_tract_infection"},
    "rheumatoid_arthritis": {"rheumatoid_arthritis"},
    "asthma": {"asthma"},
    "osteoporosis": {"osteoporosis"},
    "depression": {"depression"},
    "migraine_prevention": {"migraine"},
    "early_breast_cancer": {"breast_cancer"},
    "preeclampsia_prevention": {"preeclampsia"},
    "helicobacter_pylori": {"helicobacter_pylori"},
    "obesity": {"obesity"},
    "bronchiolitis": {"bronchiolitis"},
}
ALL = [pytest.param(pack, id=pack.name) for pack in scenarios()]


def entry(**fields: object) -> dict[str, object]:
    """The fields of a confirmed work, with some replaced."""
    return {
        "kind": "guideline",
        "title": "A guideline",
        "year": 2024,
        "pmid": "123",
        "confirmed": True,
        "basis": "title and PMID on one page",
    } | fields


def pack(name: str, diseases: list[str], decisions: list[str], *works: object) -> Scenario:
    """A pack made for a test."""
    return Scenario.model_validate(
        {
            "name": name,
            "label": name,
            "diseases": diseases,
            "decisions": decisions,
            "reviewed_on": "2026-11-22",
            "entries": list(works),
        }
    )


def test_eb_4_1_every_named_scenario_has_its_pack() -> None:
    assert {one.name: set(one.diseases) for one in scenarios()} == EXPECTED
    assert {path.name for path in FILES} == {f"{name}.yaml" for name in EXPECTED}


@grid("path", FILES)
def test_every_file_is_a_valid_pack_named_like_its_file(path: Path) -> None:
    read = Scenario.model_validate(yaml.safe_load(path.read_text("utf-8")))
    assert f"{read.name}.yaml" == path.name
    assert read.usable()


@grid("one", ALL)
def test_every_tag_of_a_pack_is_in_the_vocabulary(one: Scenario) -> None:
    assert set(one.diseases) <= set(load("subjects/vocabulary")["diseases"])
    assert set(one.decisions) <= set(load("subjects/vocabulary")["decisions"])


@grid("one", ALL)
def test_every_confirmed_entry_leads_to_a_work(one: Scenario) -> None:
    assert [work.title for work in one.usable() if not (work.identifiers() or work.url)] == []


@grid("one", ALL)
def test_an_unconfirmed_entry_claims_no_identifier_and_says_why(one: Scenario) -> None:
    doubtful = [work for work in one.entries if not work.confirmed]
    assert [work.title for work in doubtful if work.identifiers()] == []
    assert all(work.basis.startswith("not confirmed: ") for work in doubtful)


@grid("one", ALL)
def test_no_identifier_occurs_twice_within_a_pack(one: Scenario) -> None:
    named = Counter(
        (kind, value.lower()) for work in one.entries for kind, value in work.identifiers().items()
    )
    assert [key for key, count in named.items() if count > 1] == []


def test_an_identifier_is_of_one_work_across_packs() -> None:
    works: dict[tuple[str, str], set[tuple[str, int, str]]] = {}
    for one in scenarios():
        for work in one.entries:
            for kind, value in work.identifiers().items():
                works.setdefault((kind, value.lower()), set()).add(
                    (work.title, work.year, work.kind)
                )
    assert {key: found for key, found in works.items() if len(found) > 1} == {}
    assert works


@pytest.mark.requirement("EB-4.1")
@grid("one", ALL)
def test_eb_4_1_every_pack_has_a_guideline_a_review_and_a_trial_or_cohort(one: Scenario) -> None:
    kinds = {work.kind for work in one.usable()}
    assert {"guideline", "systematic_review"} <= kinds
    assert kinds & {"pivotal_trial", "cohort"}


@pytest.mark.requirement("EB-4.2")
@grid("one", [one for one in scenarios() if one.decisions != ("mrd_testing",)])
def test_eb_4_2_a_pack_outside_oncology_has_three_guidelines_to_anchor_on(one: Scenario) -> None:
    assert sum(work.kind == "guideline" for work in one.usable()) >= 3


@grid("one", ALL)
def test_eb_8_2_no_address_is_a_search_page(one: Scenario) -> None:
    assert [work.url for work in one.entries if work.url and is_search_page(work.url)] == []


@pytest.mark.parametrize("one", [one for one in scenarios() if one.decisions == ("mrd_testing",)])
def test_what_rests_on_the_samples_has_their_titles_and_identifiers(one: Scenario) -> None:
    paths = sorted((SAMPLES / "records").glob("*.jsonl"))
    lines = [line for path in paths for line in path.read_text("utf-8").splitlines()]
    titles = {json.loads(line)["title"] for line in lines}
    seen = "\n".join(lines)
    resting = [work for work in one.entries if "samples/" in work.basis]
    assert [work.title for work in resting if work.title not in titles] == []
    assert [
        value
        for work in resting
        for value in work.identifiers().values()
        if f'"{value}"' not in seen and not (value.startswith("NCT") and value in seen)
    ] == []
    assert {work.kind for work in one.entries if work not in resting} <= {
        "guideline",
        "systematic_review",
    }


def test_a_question_finds_its_scenario_by_all_its_diseases_and_one_decision() -> None:
    both = ["chronic_kidney_disease", "atrial_fibrillation"]
    found = scenario_for(both, ["timing", "drug_choice"])
    assert found is not None
    assert found.name == "af_ckd"
    assert scenario_for(both[:1], ["drug_choice"]) is None
    assert scenario_for(both, ["screening"]) is None
    assert scenario_for([], []) is None


@grid(
    ("question", "name"),
    [
        (
            "How long should dual antiplatelet therapy last after PCI at high bleeding risk?",
            "dapt_hbr",
        ),
        ("Should AHRE found by a pacemaker be treated with apixaban?", "ahre"),
        ("Apixaban or warfarin in atrial fibrillation?", "atrial_fibrillation_anticoagulation"),
        ("Apixaban in atrial fibrillation with CKD?", "af_ckd"),
        ("Is rhythm control better than rate control in AF?", "atrial_fibrillation_rhythm"),
        ("How long to anticoagulate after a pulmonary embolism?", "venous_thromboembolism"),
        ("Aspirin with clopidogrel after ischemic stroke?", "ischemic_stroke"),
        ("What is the blood pressure target in hypertension?", "hypertension"),
        ("Which statin for hypercholesterolemia?", "hypercholesterolemia"),
        ("Do SGLT2 inhibitors help in type 2 diabetes with CKD?", "diabetes_ckd"),
        ("Should inhaled corticosteroids be added in COPD?", "copd"),
        ("How long should antibiotics be given for CAP?", "community_acquired_pneumonia"),
        ("Which antibiotic for pneumonia?", "community_acquired_pneumonia"),
        ("How long to treat pneumonia with sepsis?", "pneumonia_sepsis"),
        ("Do steroids help in pneumonia with septic shock?", "pneumonia_sepsis"),
        ("Finerenone in HFpEF with CKD?", "heart_failure_ckd"),
        ("Fidaxomicin or vancomycin, which antibiotic for CDI?", "clostridioides_difficile"),
        ("How many days of antibiotics for a urinary tract infection?", "urinary_tract_infection"),
        ("Does ctDNA guide treatment after cystectomy for bladder cancer?", "ctdna_mrd_bladder"),
        ("Can ctDNA-MRD be used in resected lung cancer?", "ctdna_mrd_lung"),
        ("Are JAK inhibitors safe in rheumatoid arthritis?", "rheumatoid_arthritis"),
        ("Which drug is first-line in rheumatoid arthritis?", "rheumatoid_arthritis"),
        ("Does mepolizumab reduce exacerbations of severe asthma?", "asthma"),
        ("As-needed budesonide-formoterol in mild asthma?", "asthma"),
        ("How long should bisphosphonates be taken for osteoporosis?", "osteoporosis"),
        ("Denosumab or alendronate in osteoporotic women?", "osteoporosis"),
        ("Which antidepressant is best for major depression?", "depression"),
        ("When can SSRIs be stopped after a depressive episode?", "depression"),
        ("Is erenumab effective for the prevention of migraine?", "migraine_prevention"),
        ("Which adjuvant therapy for HER2-positive breast cancer?", "early_breast_cancer"),
        ("Should low-dose aspirin be given to prevent preeclampsia?", "preeclampsia_prevention"),
        ("How long should H. pylori be treated?", "helicobacter_pylori"),
        ("Is bismuth quadruple therapy first-line for Helicobacter pylori?", "helicobacter_pylori"),
        ("Does semaglutide lower weight in obesity?", "obesity"),
        ("Do bronchodilators help infants with bronchiolitis?", "bronchiolitis"),
        ("Does ctDNA guide adjuvant therapy in breast cancer?", "ctdna_mrd_breast"),
        ("Is semaglutide of use in obesity with type 2 diabetes and CKD?", "diabetes_ckd"),
        ("Should antibiotics be given for COPD with asthma?", "copd"),
        ("Which drug is best for depression in COPD?", "depression"),
        ("Which drug is best for COPD with depression?", "copd"),
    ],
)
def test_a_question_in_words_finds_its_scenario(question: str, name: str) -> None:
    found = scenario_for(tags("diseases", question), tags("decisions", question))
    assert found is not None
    assert found.name == name


@grid(
    "question",
    [
        "Does smoking raise the risk of rheumatoid arthritis?",
        "Methotrexate in juvenile rheumatoid arthritis?",
        "How common is asthma after preterm birth?",
        "Who should have bone density measured for osteoporosis?",
        "Is depression a risk factor for stroke?",
        "Which drug for bipolar depression?",
        "What does ST depression in V2 mean?",
        "Is naloxone first-line for respiratory depression?",
        "Does a triptan stop an acute migraine attack?",
        "When should women be screened for breast cancer?",
        "When should labour be induced in preeclampsia?",
        "Does Helicobacter pylori cause gastric ulcers?",
        "Is bariatric surgery safe in obesity?",
        "Are steroids of use in bronchiolitis obliterans after transplantation?",
    ],
)
def test_a_question_on_something_else_of_the_disease_finds_none(question: str) -> None:
    assert scenario_for(tags("diseases", question), tags("decisions", question)) is None


def test_of_packs_that_are_alike_that_of_the_disease_named_first_is_taken() -> None:
    for diseases in (["copd", "asthma"], ["asthma", "copd"]):
        found = scenario_for(diseases, ["inhaled_therapy"])
        assert found is not None
        assert found.name == diseases[0]


def test_of_packs_with_as_many_diseases_that_with_more_of_the_decisions_is_taken() -> None:
    both = ["atrial_fibrillation", "coronary_artery_disease"]
    asked = ["anticoagulation", "antiplatelet_therapy", "bleeding_risk"]
    for decisions, name in (
        (asked, "dapt_hbr"),
        (asked[:1], "atrial_fibrillation_anticoagulation"),
        (asked[:2], "atrial_fibrillation_anticoagulation"),
    ):
        found = scenario_for(both, decisions)
        assert found is not None
        assert found.name == name
    device = scenario_for(
        narrow_first(["atrial_fibrillation", "device_detected_af"]), ["anticoagulation"]
    )
    assert device is not None
    assert device.name == "ahre"


def test_a_scenario_without_decisions_takes_any() -> None:
    for decisions in ([], ["drug_choice"]):
        found = scenario_for(["sepsis", "pneumonia"], decisions)
        assert found is not None
        assert found.name == "pneumonia_sepsis"


def test_the_pack_that_asks_for_most_tags_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    found = scenario_for(["colorectal_cancer", "pneumonia", "sepsis"], ["mrd_testing"])
    assert found is not None
    assert found.name == "pneumonia_sepsis"
    counts = [len(one.diseases) for one in scenarios()]
    assert counts == sorted(counts, reverse=True)
    assert len(set(counts)) > 1
    general, special = pack("a", ["sepsis"], []), pack("b", ["sepsis", "pneumonia"], [])
    monkeypatch.setattr(module, "scenarios", lambda: (special, general))
    assert scenario_for(["pneumonia", "sepsis"], []) == special
    assert scenario_for(["sepsis"], []) == general


@pytest.mark.requirement("EB-7.1")
def test_eb_7_1_an_entry_is_found_by_any_of_its_identifiers_and_only_if_confirmed() -> None:
    known = entry(pmid="111", doi="10.1000/AbC", nct_id="NCT00000001")
    doubtful = entry(title="In doubt", pmid="222", confirmed=False, basis="not confirmed: unseen")
    one = pack("made", ["sepsis"], [], doubtful, known)
    by_case = {"pmid": "111"}, {"doi": "10.1000/aBc"}, {"nct_id": "nct00000001"}
    for record in by_case:
        found = entry_of(one, record)
        assert found is not None
        assert found.title == "A guideline"
    assert entry_of(one, {"pmid": "222"}) is None
    assert entry_of(one, {"doi": "111"}) is None
    assert entry_of(one, {}) is None


@pytest.mark.requirement("EB-7.1")
def test_eb_7_1_another_article_on_the_trial_is_not_the_work_of_the_pack_by_its_number() -> None:
    known = entry(kind="pivotal_trial", pmid="111", nct_id="NCT00000001")
    one = pack("made", ["sepsis"], [], known)
    assert entry_of(one, {"pmid": "333", "nct_id": "NCT00000001"}) is None
    assert entry_of(one, {"pmcid": "PMC1", "nct_id": "NCT00000001"}) is None
    registration = entry_of(one, {"nct_id": "NCT00000001"})
    assert registration is not None
    assert registration.pmid == "111"


@grid("one", ALL)
def test_every_identifier_of_a_confirmed_entry_leads_back_to_it(one: Scenario) -> None:
    for work in one.usable():
        for kind, value in work.identifiers().items():
            assert entry_of(one, {kind: value}) == work


@pytest.mark.parametrize(
    "wrong",
    [
        {"pmid": "0123"},
        {"doi": "https://doi.org/10.1000/x"},
        {"nct_id": "NCT123"},
        {"url": "http://example.org/page"},
        {"kind": "editorial"},
        {"basis": ""},
        {"rank": 1},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_malformed_entry_is_refused(wrong: dict[str, object]) -> None:
    Entry.model_validate(entry())
    with pytest.raises(ValidationError):
        Entry.model_validate(entry(**wrong))
