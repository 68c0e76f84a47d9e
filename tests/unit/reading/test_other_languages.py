"""Texts in other languages than English are told as such at every door; English is English."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_text.language import other_language
from store.documents.records import NOT_ENGLISH, SourceRecord
from tests.unit.retrieve.ranking_examples import candidate, question
from workers.extract.intake.readability import Unreadable, require_readable
from workers.ingest.languages import with_its_language
from workers.retrieve.ranking.assessment import assess
from workers.summarize.cautions import cautions
from workers.verify.pasted.statements import statements

WRITTEN = {
    "de": ["Die Patienten erhielten zweimal täglich fünf Milligramm.",
           "Im Verlauf kam es zu keiner schweren Blutung, und die Nierenfunktion blieb gleich."],
    "fr": ["Les patients ont reçu le traitement pendant douze semaines sans effet grave.",
           "La mortalité était plus faible dans le groupe traité que dans le groupe témoin."],
    "es": ["Los pacientes recibieron el tratamiento durante doce semanas sin efectos graves.",
           "La mortalidad fue menor en el grupo tratado que en el grupo de control."],
    "it": ["I pazienti hanno ricevuto il farmaco per dodici settimane senza eventi avversi gravi.",
           "La mortalità era più bassa nel gruppo trattato rispetto al gruppo di controllo."],
    "nl": ["De patiënten kregen het middel gedurende twaalf weken zonder ernstige bijwerkingen.",
           "De sterfte was lager in de behandelde groep dan in de controlegroep."],
    "pl": ["Pacjenci otrzymywali lek przez dwanaście tygodni bez ciężkich działań niepożądanych.",
           "Śmiertelność była mniejsza w grupie leczonej niż w grupie kontrolnej."],
    "sv": ["Patienterna fick läkemedlet i tolv veckor utan allvarliga biverkningar.",
           "Dödligheten var lägre i den behandlade gruppen än i kontrollgruppen."],
    "ru": ["Пациенты получали препарат в течение двенадцати недель без тяжёлых побочных эффектов.",
           "Смертность была ниже в группе лечения, чем в контрольной группе."],
    "zh": ["患者连续十二周接受该药物治疗，未出现严重不良反应，肾功能保持稳定。",
           "治疗组的死亡率低于对照组，两组之间的出血发生率没有明显差异。"],
    "ja": ["患者は十二週間にわたりこの薬剤の投与を受け、重篤な有害事象は認められなかった。",
           "治療群の死亡率は対照群よりも低く、出血の発生率に差はなかった。"],
}  # fmt: skip
ENGLISH = [
    "Patients were randomized to apixaban or warfarin, and bleeding was less frequent.",
    "The Hôpitaux de Paris and the Universitätsklinikum Freiburg recruited patients.",
    "Dr. García Márquez saw the patient in São Paulo; no rash, and she is well today.",
    "Guillain-Barré syndrome was treated with immunoglobulins at the Karolinska Institutet.",
    "Pt c/o SOB x 3 days, denies CP, no fever. Plan: continue lasix, recheck BMP in the morning.",
    "Expression of TNF-α and IFN-γ by β-cells was measured in vitro after de novo onset.",
]
FOREIGN = st.sampled_from(sorted(WRITTEN)).flatmap(
    lambda name: st.lists(st.sampled_from(WRITTEN[name]), min_size=2, max_size=6).map(
        lambda lines: (name, " ".join(lines))
    )
)
OWN = st.lists(st.sampled_from(ENGLISH), min_size=1, max_size=6).map(" ".join)


@given(written=FOREIGN)
def test_a_text_in_another_language_is_told_by_its_name(written: tuple[str, str]) -> None:
    assert other_language(written[1]) == written[0]


@given(text=OWN)
def test_english_with_foreign_names_is_english(text: str) -> None:
    assert other_language(text) is None


def test_few_words_and_tables_of_values_are_in_no_language() -> None:
    for text in ("", "Apixaban", "Herz o. B.", "Na 141 mmol/L | K 4.2 mmol/L | Cl 103 mmol/L"):
        assert other_language(text) is None


@settings(max_examples=25)
@given(written=FOREIGN)
def test_every_door_tells_it(written: tuple[str, str]) -> None:
    language, text = written
    record = with_its_language(SourceRecord(title="A work", text=text, labels=("own",)))
    assert record.labels == ("own", NOT_ENGLISH)
    assert record.facts["language"] == language
    assert with_its_language(record) == record
    assert [one["code"] for one in cautions(text, [])] == ["not_english"]
    assert {one.not_judged for one in statements(text)} == {"other_language"}
    with pytest.raises(Unreadable, match="not in English"):
        require_readable(text)


@settings(max_examples=25)
@given(text=OWN)
def test_english_passes_every_door(text: str) -> None:
    record = SourceRecord(title="A work", text=text)
    assert with_its_language(record) == record
    assert not any(one["code"] == "not_english" for one in cautions(text, []))
    assert not any(one.not_judged == "other_language" for one in statements(text))


def test_one_sentence_of_another_language_in_an_english_text_is_not_judged() -> None:
    text = f"{ENGLISH[0]} {WRITTEN['fr'][0]} {ENGLISH[0]}"
    assert [one.not_judged for one in statements(text)] == [None, "other_language", None]


def test_what_is_not_in_english_is_no_evidence() -> None:
    asked = question(diseases=("atrial_fibrillation",))
    found = assess(candidate(1, is_english=False), asked, None)
    assert (found.excluded, assess(candidate(1), asked, None).excluded) == (
        "is not in English",
        None,
    )
