"""The lines of a summary with what stands above each of them."""

from collections.abc import Iterator, Sequence

from benchmarks.notes_unseen.measure import EARLIER, Shown
from workers.summarize.cautions import addressed
from workers.summarize.items import Item
from workers.summarize.plan import Recommendation
from workers.summarize.summary import Reading

FOR_PROGRAMS = "addressed to a program"


def shown(reading: Reading, items: Sequence[Item], plan: Sequence[Recommendation]) -> list[Shown]:
    """Every item and recommendation as a reader sees it."""
    text, for_programs = reading.text, addressed(reading.text, items)

    def above(item: Item) -> Iterator[str]:
        yield item.chunk.section or ""
        yield from (text[start:end] for start, end in item.over)
        if item.earlier:
            yield EARLIER
        if item in for_programs:
            yield FOR_PROGRAMS

    def line(name: str, words: str, item: Item, *, sure: bool = True) -> Shown:
        place = (item.start, item.end)
        return Shown(name, words, tuple(above(item)), place, item.divider, sure)

    found = [line(one.list, one.text_in(text), one) for one in items]
    return found + [line("plan", one.text, one.item, sure=one.note is None) for one in plan]
