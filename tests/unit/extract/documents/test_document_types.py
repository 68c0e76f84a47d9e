"""The type of a document is learned from whole documents: what few words say is not enough."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.extract.document_types import UNKNOWN, features_of, type_of, type_reader

DOCUMENTS = {
    "pathology": "Sections show invasive lobular carcinoma of the breast, grade 2. "
    "Margins are clear "
    "by 4 mm. Two lymph nodes are negative. Oestrogen receptor positive. Microscopic description: "
    "tumour cells in single file; no lymphovascular invasion.",
    "radiology": "CT of the abdomen and pelvis with intravenous contrast. Findings: the "
    "liver is normal, "
    "there is no free fluid. A 9 mm nodule in the right lower lobe. Impression: no acute "
    "abnormality.",
    "genomics": "Tumor DNA was sequenced. Variants detected: KRAS G12C, variant allele "
    "frequency 21 %. "
    "Microsatellite status: stable. Tumor mutational burden 6 mutations per megabase.",
    "lab-report": "Haemoglobin 121 g/L (130 - 170), platelets 310 10^9/L (150 - 400), "
    "sodium 138 mmol/L "
    "(133 - 146), creatinine 88 umol/L (60 - 110). Reference ranges are those of adults.",
    "prescription": "Amoxicillin 500 mg capsules, one three times daily for seven days, "
    "21 capsules. "
    "Ramipril 5 mg tablets, take one daily, 28 tablets. Refills: 2. Prescriber signature.",
    "clinical-notes": "Seen in clinic today. Presenting complaint: cough for two weeks. "
    "On examination "
    "chest clear. Past medical history: asthma. Plan: stop smoking, review in four weeks.",
    "discharge-summary": "Admitted on 3 May and discharged on 7 May. Hospital course: "
    "treated for pneumonia "
    "and improved. Medications on discharge: doxycycline. Follow up with the family "
    "doctor in a week.",
    "surgical-notes": "Procedure: laparoscopic cholecystectomy under general "
    "anaesthesia. The gallbladder "
    "was dissected from the liver bed. Estimated blood loss 20 ml. The wounds were "
    "closed. Surgeon: Lee.",
}


def test_documents_of_every_type_in_words_of_their_own_are_known() -> None:
    read = {kind: type_of(type_reader().likeness(features_of(text)))[0]
            for kind, text in DOCUMENTS.items()}  # fmt: skip
    assert read == {kind: kind for kind in DOCUMENTS}


@pytest.mark.parametrize("text", ["", "1234 5678", "Dear all, lunch is at one on Friday."])
def test_what_nothing_is_known_of_is_of_no_type(text: str) -> None:
    assert type_of(type_reader().likeness(features_of(text))) == (UNKNOWN, 0.0)


@given(st.text(max_size=300))
def test_a_type_is_as_sure_as_a_share(text: str) -> None:
    kind, sure = type_of(type_reader().likeness(features_of(text)))
    assert kind in (*DOCUMENTS, UNKNOWN)
    assert 0.0 <= sure <= 1.0
