"""Whether a record under the number of a scenario pack's work is that work. Pure."""

from clinical_text.titles import same_title, whole_title
from knowledge.scenarios import Entry

YEARS_APART = 1
"""Allowed between a pack and a record: online in December, in print in January."""


def differences(entry: Entry, title: str, year: int | None = None) -> list[str]:
    """The fields in which the record is another work: `title`, `year`.

    A registry has its own titles, in which the trial's short name is as good, and its own dates.
    A work without a confirmed number is found by its title, which must be the whole one.
    """
    registered = entry.identifiers().keys() == {"nct_id"}
    named = registered and entry.trial and entry.trial.casefold() in title.casefold()
    same = same_title if entry.confirmed else whole_title
    wrong = [] if named or same(entry.title, title) else ["title"]
    if year is not None and not registered and abs(year - entry.year) > YEARS_APART:
        wrong.append("year")
    return wrong
