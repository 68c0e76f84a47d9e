"""A claim names the trials of its source, and a trial goes with its own numbers."""

import pytest

from tests.grid import grid
from workers.verify.facts import names
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.trials import guard
from workers.verify.hard_facts import hard_facts

GROUNDS = Grounds(
    "In DYNAMIC (ACTRN12615000381583) recurrence-free survival was kept. NCCN recommends testing, "
    "whereas ESMO does not.",
    title="Circulating tumor DNA in colon cancer",
    text=f"{'How it began. ' * 40}GALAXY (UMIN000039205) was another study. ASCO met.",
    identifiers={"pmid": "35657320", "doi": "10.1056/NEJMoa2200075", "journal": "N Engl J Med"},
)


@grid(
    "claim",
    [
        "DYNAMIC (ACTRN12615000381583) kept RFS.",
        "The DYNAMIC trial (PMID 35657320) kept recurrence-free survival.",
        "It was published in the New England Journal of Medicine (doi:10.1056/NEJMoa2200075).",
        "Testing for ctDNA is recommended.",
    ],
)
def test_what_the_source_names_passes(claim: str) -> None:
    assert guard(claim, GROUNDS) == []


@grid(
    ("claim", "code"),
    [
        ("Survival was kept (NCT04068103).", "identifier"),
        ("Survival was kept (PMID 35657321).", "identifier"),
        ("Survival was kept (PMC1234567).", "identifier"),
        ("Survival was kept (doi:10.1056/NEJMoa2200076).", "identifier"),
        ("Survival was kept (ISRCTN12345678).", "identifier"),
        ("Survival was kept (EudraCT 2012-001234-12).", "identifier"),
        ("DYNAMIC (NCT04264702) kept survival.", "trial_identifier"),
        ("DYNAMIC (UMIN000039205) kept survival.", "trial_identifier"),
        ("GALAXY (UMIN000039205) kept survival.", "trial"),
        ("In the COBRA trial survival was kept.", "trial"),
        ("In the INVENTED-2 trial survival was kept.", "trial"),
    ],
)
def test_what_the_source_does_not_name_is_vetoed(claim: str, code: str) -> None:
    assert code in {finding.code for finding in guard(claim, GROUNDS)}


@pytest.mark.parametrize(
    ("trial", "number"),
    [
        ("BESPOKE CRC", "NCT04264702"),
        ("COBRA", "NCT04068103"),
        ("CIRCULATE-US", "NCT05174169"),
        ("GALAXY", "UMIN000039205"),
        ("DYNAMIC", "ACTRN12615000381583"),
    ],
)
def test_a_known_number_goes_with_no_other_trial(trial: str, number: str) -> None:
    passage = f"{trial} enrolled patients. So did IMvigor011."
    grounds = Grounds(passage, text=f"{passage} It is registered as {number}.")
    assert guard(f"{trial} ({number}) enrolled patients.", grounds) == []
    assert guard(f"IMvigor011 ({number}) enrolled patients.", grounds) != []


@grid("other", ["the VEGA and ALTAIR trials", "the COBRA trial", "IMvigor010"])
def test_a_trial_of_the_title_may_be_named_where_the_passage_names_others(other: str) -> None:
    passage = f"It does not randomize patients; it feeds {other}."
    grounds = Grounds(passage, title="GALAXY: a registry of resected colon cancer", text=passage)
    claim = f"GALAXY does not randomize patients and feeds {other}."
    assert hard_facts(claim, grounds) == ()
    assert "trial" in {
        one.code for one in hard_facts(claim.replace("GALAXY", "IMvigor011"), grounds)
    }


def test_a_name_that_several_trials_share_goes_with_their_numbers_only() -> None:
    text = "CIRCULATE enrolled patients. NCT04264702 and NCT04089631 are registered."
    grounds = Grounds("CIRCULATE enrolled patients.", text=text)
    assert guard("CIRCULATE (NCT04089631) enrolled patients.", grounds) == []
    assert guard("CIRCULATE (NCT04264702) enrolled patients.", grounds) != []


def test_the_sources_own_pair_counts_for_a_trial_that_is_not_known() -> None:
    text = "The ALPHA-9 trial (NCT01111111) followed the BETA-7 trial (NCT02222222)."
    grounds = Grounds("ALPHA-9 trial and BETA-7 trial enrolled adults.", text=text)
    assert guard("The ALPHA-9 trial (NCT01111111) enrolled adults.", grounds) == []
    assert guard("The ALPHA-9 trial (NCT02222222) enrolled adults.", grounds) != []


def test_a_number_of_another_trial_is_not_the_sources_own() -> None:
    grounds = Grounds(
        "We enrolled 12 patients.",
        text="We enrolled 12 patients. An earlier one is NCT01111111.",
        identifiers={"nct_id": "NCT02222222"},
    )
    assert guard("It (NCT02222222) enrolled 12 patients.", grounds) == []
    assert guard("It (NCT01111111) enrolled 12 patients.", grounds) != []


@pytest.mark.parametrize(
    ("claim", "passage", "strange"),
    [
        ("The endpoint of DYNAMIC was use.", "The endpoint of DYNAMIC-Rectal was use.", True),
        ("The endpoint of DYNAMIC was use.", "The endpoint of DYNAMIC-III was use.", True),
        ("The endpoint of DYNAMIC was use.", "The endpoint of DYNAMIC III was use.", True),
        ("The endpoint of DYNAMIC-III was use.", "The endpoint of DYNAMIC was use.", True),
        ("The endpoint of DYNAMIC-III was use.", "The endpoint of DYNAMIC III was use.", False),
        ("The endpoint of DYNAMIC was use.", "The endpoint of DYNAMIC, in short, was use.", False),
        ("In DYNAMIC-guided care it was use.", "In DYNAMIC-guided care it was use.", False),
    ],
)
def test_a_trial_is_not_another_one_whose_name_begins_alike(
    claim: str, passage: str, strange: bool
) -> None:
    codes = {one.code for one in guard(claim, Grounds(passage, text=passage))}
    assert ("trial" in codes) is strange


@grid(
    ("claim", "passage", "strange"),
    [
        ("IL-6 rose.", "IL 6 rose.", False),
        ("IL-6 rose.", "IL-8 rose.", True),
        ("T790M was found.", "EGFR T790M was found.", False),
        ("T790M was found.", "EGFR L858R was found.", True),
        ("CO2 rose.", "CO₂ rose.", False),
        ("CO2 rose.", "O₂ rose.", True),
        ("CA19-9 rose.", "CA 19-9 rose.", False),
        ("Ki67 was high.", "Ki-67 was high.", False),
    ],
)
def test_a_name_with_digits_is_written_one_way_but_for_hyphens_and_raised_digits(
    claim: str, passage: str, strange: bool
) -> None:
    assert bool(names.guard(claim, Grounds(passage, text=passage))) is strange


def test_a_trial_with_digits_in_its_name_may_be_named_from_the_title() -> None:
    passage = "Median overall survival was 32.8 months."
    titled = Grounds(passage, title="IMvigor011: atezolizumab versus placebo", text=passage)
    claim = "In IMvigor011 median overall survival was 32.8 months."
    assert hard_facts(claim, titled) == ()
    assert hard_facts(claim, Grounds(passage, title="A trial of atezolizumab", text=passage)) != ()
    assert hard_facts(claim.replace("011", "010"), titled) != ()


@grid(
    ("claim", "asked"),
    [
        ("ctDNA-positive patients relapsed sooner (HR 2.1).", False),
        ("Stage I-III disease relapsed later.", False),
        ("XRT-positive patients relapsed sooner.", True),
        ("ctDNA-Zerovax patients relapsed sooner.", True),
        ("Patients relapsed sooner (QX 2.1).", True),
    ],
)
def test_a_compound_and_first_letters_are_names_that_the_source_has(
    claim: str, asked: bool
) -> None:
    text = "Patients with ctDNA relapsed sooner in stage I to III disease (hazard ratio 2.1)."
    found = names.unknown(claim, Grounds(text, title="A cohort", text=text))
    assert bool(found) is asked, found


@grid(
    "title",
    [
        "A Study of Zorvane (KEELSON), NCT09990001",
        "A Study of Zorvane (KEELSON; NCT09990001)",
        "Zorvane after surgery: KEELSON [NCT09990001]",
        "Zorvane after surgery (KEELSON) (NCT09990001)",
        "KEELSON: NCT09990001",
        "KEELSON, NCT09990001, of zorvane",
    ],
)
def test_a_title_gives_a_trial_its_number_in_every_usual_form(title: str) -> None:
    grounds = Grounds("Overall status: Recruiting", title=title, text="Overall status: Recruiting")
    assert guard("KEELSON (NCT09990001) is recruiting.", grounds) == []
    assert guard("MARLOW (NCT09990001) is recruiting.", grounds) != []
