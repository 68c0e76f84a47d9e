"""Trial registries as PubMed names them (`DataBankName`), and the format of their numbers.

The names are from NLM's list of data banks; the formats are those that the registries print. Where
the format is not certain, any number without spaces is accepted.
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
    """Return True if the data bank registers trials, not sequences, structures or data sets."""
    return bank in _FORMS


def registry_id_fits(bank: str, number: str) -> bool:
    """Return True if `number` has the registry's format; other data banks accept any number."""
    form = _FORMS.get(bank)
    return form is None or form.fullmatch(number) is not None
