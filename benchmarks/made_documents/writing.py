"""What the makers of synthetic clinical documents share: dates, smudges, writing them out."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

_MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September",
           "October", "November", "December"]  # fmt: skip
_LOOKALIKES = {"l": "1", "1": "l", "O": "0", "0": "O", "o": "0", "m": "rn", "e": "c", "i": "l",
               "a": "o", "n": "u", "h": "b", "S": "5", "5": "S", "B": "8", "g": "q", "t": "f",
               ":": ";", ".": ",", "u": "v"}  # fmt: skip


PLACES = ["Lakeside General Hospital", "Northfield Cancer Center", "St. Bride Medical Center",
           "Harbour Street Clinic", "Institute of Pathology Westmark",
           "Ridgeway University Hospital", "Calder Valley Diagnostics",
          "Meridian Reference Laboratories"]  # fmt: skip


class Report(NamedTuple):
    """A document with the fields that it states; None: it says nothing of it."""

    name: str
    text: str
    type: str
    fields: dict[str, Any]


def written_date(rng: random.Random) -> tuple[str, str]:
    """A date as a document writes it, and ISO; the day is one that no month could be."""
    year, month, day = rng.randint(2019, 2025), rng.randint(1, 12), rng.randint(13, 28)
    iso = f"{year}-{month:02d}-{day:02d}"
    forms = [iso, f"{_MONTHS[month - 1]} {day}, {year}", f"{day} {_MONTHS[month - 1][:3]} {year}",
             f"{day:02d}/{month:02d}/{year}", f"{day:02d}.{month:02d}.{year}",
             f"{day}-{_MONTHS[month - 1][:3]}-{year}"]  # fmt: skip
    return rng.choice(forms), iso


def smudged(text: str, rng: random.Random, share: float) -> str:
    """The text as a poor scan gives it: look-alike characters, lost ones, words run together."""
    out = []
    for one in text:
        draw = rng.random()
        if draw >= share or one == "\n":
            out.append(one)
        elif one in _LOOKALIKES and draw < 0.75 * share:
            out.append(_LOOKALIKES[one])
        elif draw < 0.9 * share:
            continue
        else:
            out.append(one + one)
    return "".join(out)


def written(folder: Path, reports: Sequence[Report]) -> int:
    """Write `NAME.txt` beside `NAME.json` for each; returns how many."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in reports:
        (folder / f"{one.name}.txt").write_text(one.text, encoding="utf-8")
        gold = {"type": one.type, "fields": one.fields}
        body = json.dumps(gold, indent=1, ensure_ascii=False)
        (folder / f"{one.name}.json").write_text(body, encoding="utf-8")
    return len(reports)
