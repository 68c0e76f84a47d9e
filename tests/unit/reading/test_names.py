"""Names are found by any of their spellings, exactly where they stand, and never by chance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_text.names import names, resolve, same
from knowledge.names.spelling import key, words

NAMED = (
    "apixaban", "Eliquis®", "BI 1015550", "non–small-cell lung cancer", "Crohn’s disease", "NFκB",
    "PD-L1", "HER2", "T790M", "Signatera", "chronic kidney disease (CKD)", "IL-1β", "tumours",
)  # fmt: skip


def written(text: str) -> list[str]:
    return [text[one.start : one.end] for one in names(text)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Eliquis", "apixaban"),
        ("metformin hydrochloride", "Glucophage"),
        ("MK-3475", "Keytruda"),
        ("acetylsalicylic acid", "aspirin"),
        ("PDL1", "PD-L1"),
        ("IL-1beta", "IL-1β"),
        ("NF-kappaB", "NFκB"),
        ("tumour", "tumors"),
        ("leukaemia", "Leukemia"),
        ("Crohn’s disease", "Crohn disease"),
        ("breast cancer", "Breast Neoplasms"),
        ("heart attacks", "myocardial infarction"),
        ("high blood pressure", "hypertension"),
        ("type II diabetes", "Diabetes Mellitus, Type 2"),
        ("nonsmall cell lung cancer", "Carcinoma, Non-Small-Cell Lung"),
        ("cephalexin", "cefalexin"),
        ("Apretude™", "cabotegravir"),
    ],
)
def test_all_names_of_a_thing_are_the_same(one: str, other: str) -> None:
    assert same(one, other)


def test_what_is_not_the_same_is_told_apart() -> None:
    for one, other in (
        ("small-cell lung cancer", "non-small-cell lung cancer"),
        ("Hodgkin lymphoma", "non-Hodgkin lymphoma"),
        ("interferon alfa", "interferon beta"),
        ("calcium carbonate", "calcium"),
        ("citalopram", "escitalopram"),
        ("type 1 diabetes", "type 2 diabetes"),
        ("hypertension", "hypotension"),
        ("IL-6", "IL-8"),
    ):
        assert not same(one, other), (one, other)


def test_a_name_that_no_table_has_is_a_name_and_unknown() -> None:
    text = "KEYNOTE-999 gave zolbetuvirumab with QX 7788123 to those whom Signatera found positive."
    found = {text[one.start : one.end]: one.known for one in names(text)}
    assert found == {
        "KEYNOTE-999": False,
        "zolbetuvirumab": False,
        "QX 7788123": False,
        "Signatera": False,
    }


@pytest.mark.parametrize(
    "text",
    [
        "The gold standard was met on ice, and its impact was in line with the rest.",
        "As a rule, all cats set off at once; the balance of risk was at 0.05.",
        "We used peak 1 and step 2 as in the first set, or 1.25 g/cm² more.",
    ],
)
def test_ordinary_words_are_no_drugs_genes_or_diseases(text: str) -> None:
    assert not [one for one in names(text) if one.kinds & {"drug", "gene", "disease"}], text


def test_an_ambiguous_short_form_needs_evidence() -> None:
    (alone,) = (one for one in names("Those with MS were seen.") if one.end - one.start == 2)
    assert not alone.known
    text = "In multiple sclerosis (MS), relapses of MS were fewer."
    assert {one.preferred for one in names(text) if one.known} >= {"Multiple Sclerosis"}
    assert written(text).count("MS") == 2
    other = "In mitral stenosis (MS), MS was severe."
    assert {one.preferred for one in names(other)} == {"Mitral Valve Stenosis"}


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("CLL", "chronic lymphocytic leukemia"),  # also a synonym of chronic leukemia
        ("NBCCS", "basal cell nevus syndrome"),  # also an alias of PTCH1
        ("CMT4B2", "Charcot-Marie-Tooth disease type 4B2"),
        ("NSCLC", "non-small cell lung cancer"),
    ],
)
def test_a_short_form_is_what_has_its_letters_before_anything_else(short: str, long: str) -> None:
    (found,) = (one for one in names(f"She was followed for {short} at home.") if one.known)
    assert len(found.senses) == 1
    assert same(found, long)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The thyroid was normal.", "anatomy"),
        ("Thyroid function was normal.", "anatomy"),
        ("Thyroid 60 mg daily was given.", "drug"),
        ("Patients took 60 mg of Thyroid daily.", "drug"),
        ("The retina was normal.", "anatomy"),
        ("Dopamine was given.", "drug"),  # only a word of "dopamine neurons"
        ("Histamine was given.", "drug"),
        ("Heparin was given.", "drug"),
    ],
)
def test_a_gland_is_a_drug_where_a_dose_stands_beside_it(text: str, kind: str) -> None:
    (found,) = (one for one in names(text) if one.known)
    assert kind in found.kinds
    assert (kind == "drug") == ("anatomy" not in found.kinds)


def test_a_gene_that_is_a_word_is_known_by_the_words_around_it() -> None:
    assert [one.preferred for one in names("Of these, MET amplification was found.")] == ["MET"]
    assert not [one for one in names("All MET criteria.") if one.known]


def test_a_typed_question_may_lack_capitals() -> None:
    assert names("nsclc and ckd", typed=True)[0].known
    assert not [one for one in names("nsclc") if one.known]


def test_a_heading_is_one_name() -> None:
    assert resolve("Kidney Failure, Chronic").entries == resolve("CKD").entries


@given(st.text())
def test_spans_are_exact_disjoint_and_in_order_in_any_text(text: str) -> None:
    end = 0
    for one in names(text):
        assert end <= one.start < one.end <= len(text)
        assert text[one.start].isalnum()
        end = one.end
    for word in words(text):
        assert 0 <= word.start < word.end <= len(text)


@given(st.lists(st.sampled_from(NAMED), max_size=4), st.text(alphabet=" .,;(\n", min_size=1))
def test_a_name_keeps_its_place_whatever_stands_before_it(some: list[str], gap: str) -> None:
    text = gap.join(some) + ". Then apixaban was given."
    (last,) = (one for one in names(text) if one.start == text.rindex("apixaban"))
    assert text[last.start : last.end] == "apixaban"
    assert last.entries == resolve("apixaban").entries


@given(st.sampled_from(NAMED), st.sampled_from(["{}", " {}", "({})", "{}.", "“{}”", "{}s"]))
def test_the_key_of_a_name_is_that_of_its_spellings(name: str, form: str) -> None:
    plain = form.format(name) if form != "{}s" or name[-1].isalpha() else name
    assert key(plain).startswith(key(name)[:-1])
    assert key(key(name).upper()) in {key(key(name)), key(name)} or not name.isascii()
