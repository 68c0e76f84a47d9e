"""What no list has is treated as what is listed: a work on another product answers nothing."""

from itertools import islice
from random import Random

from tests.unit.retrieve.made_products import Made, made
from tests.unit.retrieve.ranking_examples import candidate, place
from workers.retrieve.ranking.topicality import is_named, usable_places
from workers.retrieve.understanding.read import understand

_MADE = 300
_SHARE = 0.99


def _is_evidence(one: Made) -> bool:
    asked = understand(one.question)
    work = candidate(
        1, title=one.title, places=(place(text=one.text),), diseases=frozenset(asked.diseases)
    )
    return bool(usable_places(work, asked, named=is_named(work, asked.names))[0])


def test_a_work_is_evidence_if_it_is_on_the_product_asked_about_by_any_name() -> None:
    failed = [one for one in islice(made(Random(311)), _MADE) if _is_evidence(one) != one.is_on_it]
    assert len(failed) <= (1 - _SHARE) * _MADE, failed[:10]
