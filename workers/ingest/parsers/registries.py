"""Trial registries as PubMed names them (`DataBankName`), and the form of their numbers.

The names are those of NLM's list of data banks; the forms are those in which the registries print
their numbers. Where the form is not certain, any number without spaces is taken.
"""

import re

NCT_ID = "ClinicalTrials.gov"

_ANY = r"(?=\S{0,59}[0-9])\S{3,60}"
_FORMS = {
    name: re.compile(form)
    for name, form in {
        NCT_ID: r"NCT[0-9]{8}",
        "ISRCTN": r"ISRCTN[0-9]{8}",
        "ANZCTR": r"ACTRN[0-9]{14}p?",
        "UMIN CTR": r"UMIN[0-9]{9}",
        "EudraCT": r"[0-9]{4}-[0-9]{6}-[0-9]{2}",
        "DRKS": r"DRKS[0-9]{8}",
        "PACTR": r"PACTR[0-9]{15}",
        "TCTR": r"TCTR[0-9]{11}",
        "CRiS": r"KCT[0-9]{7}",
        "RPCEC": r"RPCEC[0-9]{8}",
        **dict.fromkeys(
            (
                "ChiCTR",
                "CTRI",
                "IRCT",
                "JapicCTI",
                "JMACCT",
                "jRCT",
                "NTR",
                "ReBec",
                "REPEC",
                "SLCTR",
            ),
            _ANY,
        ),
    }.items()
}


def is_registry(bank: str) -> bool:
    """Whether the data bank registers trials; others hold sequences, structures, data sets."""
    return bank in _FORMS


def registry_id_fits(bank: str, number: str) -> bool:
    """Whether `number` has the form of the registry's numbers; any does for other data banks."""
    form = _FORMS.get(bank)
    return form is None or form.fullmatch(number) is not None
