# ruff: noqa: E501
"""Notes and documents in many styles, of which each identifier and each trap is known.

    made = document(7)
    made.text, made.identifiers, made.clinical

Names, numbers and addresses are made up; the parts of names are frequent ones of many countries.
Names and streets of the three sets have nothing in common: rules were mended by the first two.
"""

from calendar import month_name
from collections.abc import Callable
from random import Random
from typing import NamedTuple

GIVEN = (
    "John Emily Priya Rajesh Wei Fatima Ahmed Siobhán José Lukas Annelies Kwame Yuki Olga Mehmet Aoife "
    "Thandiwe Björn Chiara Nguyen Arjun Dorothy Grace Moses Lakshmi Katarzyna Sipho Hannelore Pieter Zoë",
    "Walter Jasmine Sunita Vikram Xiu Layla Omar Niamh Guadalupe Heinrich Saskia Abena Kenji Irina Emre Ciarán "
    "Nomvula Astrid Matteo Thuy Kavya Mildred Hope Elijah Meenakshi Zofia Bongani Ingeborg Joost Renée",
    "Brenda Tyrone Rose Iris Harpreet Deepika Ming Jun Leila Mustafa Eoghan Orlaith Esteban Ximena Friedrich Gisela "
    "Femke Kofi Ama Haruto Svetlana Boris Elif Lindiwe Magnus Giulia Duc Rohan Padma Faith Ezekiel Agnieszka Sibusiso Ernst Willem Chloë",
    "Carlos May Lily Violet Sanjay Anjali Hao Mei Yasmin Ibrahim Declan Maeve Rafael Pilar Jürgen Ute Sander Efua "
    "Akira Natasha Burak Ayanda Lars Bianca Linh Varun Gita Joy Isaac Ewa Themba Monika Bram Aurélie Ruby Pearl",
)  # fmt: skip
FAMILY = (
    "Smith Patel Nguyen O'Brien García Müller Jansen Okafor Tanaka Ivanova Yılmaz Brown Young Khan Chen "
    "Mbeki Lindqvist Rossi Sharma Kowalski Walker-Reid Iyer MacDonald Schäfer Vries Parkinson Hill Crohn",
    "Thompson Reddy Tran O'Connell Hernández Weiß Bakker Mensah Suzuki Petrova Demir White Long Hussain Li "
    "Dlamini Bergström Esposito Banerjee Nowak Price-Jones Pillai McAllister Köhler Dijkstra Hodgkin Wood Graves",
    "Johnson Singh Pham O'Neill Rodríguez Groß Visser Asante Watanabe Sokolova Öztürk Green Black Malik Wu Zulu Johansson "
    "Ferrari Mukherjee Wiśniewski Hall-Moore Nair Fitzgerald Jäger Mulder Addison Banks Cook Bell Field Rivers",
    "Taylor Gupta Le O'Sullivan Martínez Fuß Smit Owusu Kobayashi Volkova Şahin Gray Rice Siddiqui Lin Ndlovu Eriksson "
    "Romano Chatterjee Zieliński Cole-Baker Menon MacLeod Krüger Bos Sutton Stone Fox Frost Park Wilson Page",
)  # fmt: skip
STREETS = (
    ("12 High Street, Leeds LS1 4AB", "4410 Juniper Avenue, Tempe, AZ 85281", "Hauptstraße 14, 69117 Heidelberg",
     "Kerkstraat 22, 1017 GM Amsterdam", "Flat 3, 27 Nehru Nagar, Pune 411038", "9 Station Road, Bristol BS2 9XY"),
    ("8 Mill Lane, York YO1 7HH", "1523 W Oak Drive, Madison, WI 53703", "Lindenallee 7, 20259 Hamburg",
     "Dorpsweg 118, 3511 AB Utrecht", "House No 14, Shanti Colony, Jaipur 302004", "221 Albert Crescent, Truro TR1 2LP"),
    ("47 Church Road, Cardiff CF10 1AA", "908 Sycamore Lane, Apt 4B, Dayton, OH 45402", "Bahnhofstr. 21, 80335 München",
     "Molenstraat 9, 5611 GL Eindhoven", "Plot 22, Gandhi Marg, Lucknow 226001", "3 Victoria Terrace, Belfast BT1 5GS"),
    ("16 Park Avenue, Derby DE1 3GH", "77 Willow Court, Reno, NV 89501", "Gartenweg 5, 50667 Köln",
     "Herengracht 301, 1016 AV Amsterdam", "Flat 12, Tagore Enclave, Kolkata 700019", "60 Castle Street, Exeter EX4 3PU"),
)  # fmt: skip
TRAPS = (
    "Parkinson disease on levodopa 100 mg three times a day",
    "Gleason score 3+4=7 in 4 of 12 cores",
    "Hodgkin lymphoma treated with brentuximab vedotin in 2019",
    "Child-Pugh class B cirrhosis",
    "Crohn's disease with perianal fistula",
    "Graves disease, TSH 0.01 mIU/L",
    "Babinski sign negative, Romberg test normal",
    "Whipple procedure on 14/03/2021",
    "Colonoscopy of 3 June 2022: two polyps of 4 mm",
    "Breslow thickness 1.2 mm, Clark level IV",
    "Foley catheter removed on day 2",
    "pT2N1M0, stage IIB, margins clear by 3 mm",
    "HER2 positive, BRCA1 c.68_69delAG, EGFR L858R",
    "Metformin 1000 mg twice daily and Januvia 100 mg",
    "BP 132/78, HR 76, SpO2 97 %, weight 84 kg",
    "Haemoglobin 10.2 g/dL, platelets 185000, creatinine 1.4 mg/dL",
    "brown sputum and a long history of cough",
    "a young adult with white patches on the tongue",
    "MRI Brain 12 Jan 2023: Dandy-Walker variant",
    "Hartmann's procedure planned; Lachman test positive",
    "Ann Arbor stage II, Deauville score 2",
    "Wood lamp examination negative",
    "Hill-Sachs lesion of the right shoulder",
    "Cushing syndrome excluded; cortisol 12.4 ug/dL at 08:00",
    "MR ANGIOGRAPHY OF THE NECK was normal",
    "warfarin 5 mg, INR 2.4 on 11/02/2024, next check in 10 days",
    "enrolled in trial NCT01234567 in 2020",
    "CA 19-9 412 U/mL (previously 690)",
    "Ki-67 15-20 %, ER 8/8, PR 6/8",
    "grandmother had breast cancer at 52",
)


class Made(NamedTuple):
    """A document, what must not leave with it, and what must."""

    text: str
    identifiers: tuple[str, ...]
    clinical: tuple[str, ...]
    style: str


class Person(NamedTuple):
    given: str
    family: str


class Maker:
    """Draws what a document needs, and notes what identifies."""

    def __init__(self, seed: int, names: int) -> None:
        self.rng = Random(seed)
        self.names = names
        self.hidden: list[str] = []
        self.shown: list[str] = []
        self.patient = self._person()

    def _person(self) -> Person:
        rng = self.rng
        return Person(rng.choice(GIVEN[self.names].split()), rng.choice(FAMILY[self.names].split()))

    def hide(self, *said: str) -> str:
        self.hidden += said
        return " ".join(said)

    def name(self, one: Person | None = None) -> str:
        one = one or self._person()
        return self.hide(one.given, one.family)

    def reversed(self, capitals: bool = True) -> str:
        family = self.patient.family.upper() if capitals else self.patient.family
        self.hidden += [family, self.patient.given]
        return f"{family}, {self.patient.given}"

    def family(self, one: Person | None = None) -> str:
        return self.hide((one or self.patient).family)

    def doctor(self) -> str:
        one = self._person()
        initial = self.rng.choice([f"{one.given[0]}. ", f"{one.given} ", ""])
        if initial.strip() == one.given:
            self.hidden.append(one.given)
        return f"{self.rng.choice(['Dr', 'Dr.', 'Prof.'])} {initial}{self.hide(one.family)}"

    def born(self) -> str:
        day, month, year = (
            self.rng.randint(13, 28),
            self.rng.randint(1, 12),
            self.rng.randint(1931, 2009),
        )
        months = month_name[1:]
        return self.hide(self.rng.choice([
            f"{day:02}/{month:02}/{year}", f"{month}/{day}/{year}", f"{day:02}.{month:02}.{year}", f"{year}-{month:02}-{day:02}",
            f"{day} {months[month - 1]} {year}", f"{months[month - 1]} {day}, {year}", f"{day}-{months[month - 1][:3]}-{year}",
        ]))  # fmt: skip

    def digits(self, count: int) -> str:
        return str(self.rng.randint(10 ** (count - 1), 10**count - 1))

    def record(self) -> str:
        d = self.digits
        return self.hide(
            self.rng.choice(
                [
                    d(7),
                    d(6),
                    f"{d(2)}-{d(5)}",
                    f"A{d(6)}",
                    f"{d(3)} {d(3)} {d(4)}",
                    f"UH{d(4)}/{d(4)}",
                ]
            )
        )

    def phone(self) -> str:
        d = self.digits
        return self.hide(self.rng.choice([
            f"({d(3)}) {d(3)}-{d(4)}", f"{d(3)}-{d(3)}-{d(4)}", f"0{d(3)} {d(3)} {d(4)}", f"+44 7{d(3)} {d(6)}", f"+91 9{d(4)} {d(5)}",
            f"9{d(9)}", f"0{d(3)}/{d(7)}", f"+49 {d(3)} {d(7)}", f"06-{d(8)}",
        ]))  # fmt: skip

    def address(self) -> str:
        one = self.rng.choice(STREETS[self.names])
        self.hidden.append(one.partition(",")[0])
        return one

    def mail(self) -> str:
        return self.hide(
            f"{self.rng.choice(['a', 'mail', 'x.y'])}.{self.digits(3)}@example.{self.rng.choice(['com', 'co.uk', 'de'])}"
        )

    def traps(self, count: int) -> list[str]:
        kept = self.rng.sample(TRAPS, count)
        self.shown += kept
        return kept

    def sentences(self, count: int) -> str:
        return ". ".join(one[0].upper() + one[1:] for one in self.traps_kept(count)) + "."

    def traps_kept(self, count: int) -> list[str]:
        picked = self.rng.sample(TRAPS, count)
        self.shown += [one[0].upper() + one[1:] for one in picked]
        return picked


def _us_note(m: Maker) -> str:
    p = m.patient
    return (
        f"Patient Name: {m.name(p)}\nDOB: {m.born()}    MRN: {m.record()}\nPhone: {m.phone()}\nAddress: {m.address()}\n\n"
        f"HPI:\nMr. {m.family()} is a 61-year-old man. {m.sentences(3)}\n"
        f"{m.hide(p.family)} denies chest pain. Referred by {m.doctor()}.\n\n"
        f"PLAN:\n- {m.traps(1)[0]}\n- Follow up with {m.doctor()} in 2 weeks.\n\nElectronically signed by {m.name()}, MD on 10/14/2024"
    )


def _uk_letter(m: Maker) -> str:
    p, title = m.patient, m.rng.choice(["Mrs", "Ms", "Miss", "Mr"])
    return (
        f"NHS Number: {m.record()}\n{m.doctor()}\n{m.address()}\n\nDear {m.doctor()},\n\nRe: {title} {m.name(p)}, DOB {m.born()}\n"
        f"{m.address()}   Tel: {m.phone()}\n\nDiagnosis:\n1. {m.traps(1)[0]}\n\nI reviewed {title} {m.family()} in clinic on 20 May 2024. "
        f"{m.sentences(3)} I have explained this to {title} {m.family()} and to the patient's daughter, {m.hide(m._person().given)}.\n\n"
        f"Yours sincerely,\n\n{m.doctor()}\nConsultant Physician"
    )


def _indian_discharge(m: Maker) -> str:
    p = m.patient
    return (
        f"DISCHARGE SUMMARY\nNAME: {m.rng.choice(['MR.', 'SMT.', 'SHRI'])} {m.hide(p.given.upper(), p.family.upper())}   AGE/SEX: 44 Y / F   UHID: {m.record()}\n"
        f"IPD No: {m.record()}   D.O.A: 02/09/2024   D.O.D: 06/09/2024\nADDRESS: {m.address()}\nMOBILE: {m.phone()}\n"
        f"CONSULTANT: DR. {m.hide(m._person().family.upper())}\n\nFINAL DIAGNOSIS: {m.traps(1)[0]}\nCOURSE: {m.sentences(3)}\n"
        f"ADVICE: Review after 7 days with {m.doctor()}."
    )


def _german_letter(m: Maker) -> str:
    p = m.patient
    return (
        f"{m.doctor()}\n{m.address()}\n\nRe: {m.rng.choice(['Herr', 'Frau'])} {m.name(p)}, geb. {m.born()}\nFallnummer: {m.record()}\nTelefon: {m.phone()}\n\n"
        f"Dear {m.doctor()},\n\nwe report on the above patient. {m.sentences(4)}\n{m.rng.choice(['Herr', 'Frau'])} {m.family()} was discharged on 12.05.2024.\n\n"
        f"Mit freundlichen Grüßen\n{m.doctor()}"
    )


def _nursing(m: Maker) -> str:
    p = m.patient
    return (
        f"14:20 Pt {m.name(p)} (MRN {m.record()}) settled. {m.sentences(2)} Husband {m.hide(m._person().given)} called on {m.phone()}. "
        f"{m.hide(p.family)} reports no pain. Dr {m.family(m._person())} informed. Seen by {m.doctor()} at 16:00. {m.traps(1)[0]}. {m.hide(p.given)} wants to go home."
    )


def _pathology(m: Maker) -> str:
    return (
        f"SURGICAL PATHOLOGY REPORT\nAccession: S{m.hide('24-' + m.digits(5))}   Patient: {m.reversed()}   DOB: {m.born()}\n"
        f"Med Rec No: {m.record()}  Ordering physician: {m.name()}, MD\nCollected: 04/22/2024  Reported: 04/26/2024\n\nDIAGNOSIS:\nA. {m.traps(1)[0]}\n"
        f"B. {m.traps(1)[0]}\n\nCOMMENT: {m.sentences(2)} Discussed with {m.doctor()} by phone.\nPathologist: {m.name()}, M.D."
    )


def _one_line(m: Maker) -> str:
    return (
        f"PT: {m.reversed()}|MRN {m.record()}|DOB {m.born()}|TEL {m.phone()}|{m.traps(1)[0]}|{m.traps(1)[0]}|IMPRESSION: {m.traps(1)[0]}|"
        f"DICTATED BY: {m.name()}, MD|EMAIL {m.mail()}"
    )


def _table(m: Maker) -> str:
    p = m.patient
    return (
        f"Patient | {m.name(p)}\nDate of birth | {m.born()}\nHospital number | {m.record()}\nGP | {m.doctor()}\nNext of kin | {m.name()} ({m.phone()})\n"
        f"Diagnosis | {m.traps(1)[0]}\nHistory | {m.sentences(3)}\nCompleted by: {m.doctor()}\nContact: {m.mail()}"
    )


def _narrative(m: Maker) -> str:
    p = m.patient
    return (
        f"{m.name(p)} is a 57 year old woman who lives at {m.address()}. {m.sentences(3)} She was born on {m.born()}. "
        f"Her sister {m.hide(m._person().given)} is with her. Today {m.hide(p.given)} feels well. I spoke with {m.doctor()}. "
        f"Plan: {m.traps(1)[0]}. Call {m.phone()} with results.\nSigned: {m.name()}, NP"
    )


def _question(m: Maker) -> str:
    p = m.patient
    return f"My patient {m.name(p)}, born {m.born()}, has this: {m.traps(1)[0]}. Should Mrs {m.family()} have {m.traps(1)[0]}?"


STYLES: tuple[Callable[[Maker], str], ...] = (
    _us_note, _uk_letter, _indian_discharge, _german_letter, _nursing, _pathology, _one_line, _table, _narrative, _question,
)  # fmt: skip


def document(seed: int, names: int = 0) -> Made:
    """The document of a seed; its style goes round with it."""
    maker = Maker(seed, names)
    style = STYLES[seed % len(STYLES)]
    text = style(maker)
    return Made(
        text,
        tuple(dict.fromkeys(maker.hidden)),
        tuple(dict.fromkeys(maker.shown)),
        style.__name__.strip("_"),
    )
