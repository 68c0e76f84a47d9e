"""The clause around a value: its sentence, or its entry of a list, in short and in long texts."""

from tests.grid import grid
from workers.extract.parts import clause

OTHERS = "Nothing else was seen by anybody on that day. " * 60
"""So much that the text is a document of many values, whose clauses are looked for at once."""
ROWS = (
    ("No fever. Aspirin was stopped; metformin goes on.", "Aspirin", "Aspirin was stopped"),
    ("No fever. Aspirin was stopped; metformin goes on.", "metformin", "metformin goes on"),
    ("No fever! Was aspirin stopped? It was.", "aspirin", "Was aspirin stopped"),
    ("Takes\n- aspirin since May\n- metformin", "aspirin", "- aspirin since May"),
    ("Aspirin stopped\nMetformin 500 mg", "Aspirin", "Aspirin stopped"),
    ("Aspirin stopped\nMetformin 500 mg", "Metformin", "Metformin 500 mg"),
    ("Aspirin was\nstopped last week", "week", "Aspirin was\nstopped last week"),
    (
        "The patient was told to take aspirin in the morning, with a glass\nOf water. Then ate.",
        "aspirin",
        "The patient was told to take aspirin in the morning, with a glass\nOf water",
    ),
    ("Takes Tab. Losartan at night. Sleeps.", "Losartan", "Takes Tab. Losartan at night"),
)


def words_around(text: str, value: str) -> str:
    at = text.index(value)
    begin, end = clause(text, at, at + len(value))
    return text[begin:end].strip()


@grid(("text", "value", "told"), ROWS)
def test_a_clause_is_the_sentence_or_the_entry_around_a_value(
    text: str, value: str, told: str
) -> None:
    assert words_around(text, value) == told


@grid(("text", "value", "told"), ROWS)
def test_a_clause_of_a_long_document_is_the_same(text: str, value: str, told: str) -> None:
    assert words_around(f"{OTHERS}\n\n{text}\n\n{OTHERS}", value) == told


def test_a_clause_without_an_end_is_as_long_as_what_is_looked_through() -> None:
    for text in ("a " * 500 + "value" + " b" * 400, "a " * 2000 + "value" + " b" * 2000):
        at = text.index("value")
        assert clause(text, at, at + 5) == (at - 400, at + 405)


def test_the_first_clause_of_a_long_document_begins_with_its_first_letter() -> None:
    text = f"Stage IIIA of the left lung. {OTHERS}"
    assert clause(text, 6, 10)[0] == 0
