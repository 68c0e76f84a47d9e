"""Which questions are not in English."""

from knowledge.reading.languages import seems_english
from tests.grid import grid


@grid(
    "question",
    [
        "¿Cuál es la dosis de apixaban?",
        "La metformina es segura en el embarazo?",
        "Wie genau ist ctDNA bei der Erkennung von Rezidiven?",
        "Was sagt die NCCN-Leitlinie zu ctDNA?",
        "Quelle est la place de l'ADN tumoral circulant ?",
        "Qual è il ruolo del ctDNA nel carcinoma del colon?",
        "ctDNA bij darmkanker: wat is de waarde?",
        "Какова роль циркулирующей опухолевой ДНК?",
        "ctDNA 在结直肠癌中的作用是什么？",
        "ctDNA陽性の患者の予後は？",
    ],
)
def test_a_question_in_another_language_is_known(question: str) -> None:
    assert not seems_english(question)


@grid(
    "question",
    [
        "",
        "signatera medicare colon stage 2 covered?",
        "Is de novo AML treated with DES stents per os?",
        "What is the effect of TNFα and IFN-γ on β-cells?",
        "Does der(22) t(9;22) matter in CML?",
        "Hoffmann-La Roche: what does IMvigor011 show?",
        "Guillain-Barré and Sjögren: is IVIG effective?",
        "apixaban",
    ],
)
def test_english_with_foreign_names_and_greek_letters_is_english(question: str) -> None:
    assert seems_english(question)
