"""Which passage of a source a quotation that stands nowhere is compared with."""

from clinical_text.passages import BAND, TokenIndex

FAR = ["elsewhere"] * 300


def words(name: str, count: int) -> list[str]:
    return [f"{name}{number}" for number in range(count)]


def test_words_that_a_quotation_leaves_out_cut_no_passage_wherever_it_begins() -> None:
    rare, usual = words("rare", 32), ["the", "of"] * 10
    repeated = [*FAR, *rare[:16], *FAR, *rare[16:], *FAR, *usual]
    quote = " ".join([*rare, *usual])
    for before in range(BAND):
        source = [*["before"] * before, *rare, *words("left_out", 19), *usual, *repeated]
        found = TokenIndex(" ".join(source)).closest(quote)
        assert found is not None
        compared = (found.first_token, found.matched, found.changed, found.dropped)
        assert compared == (before, 1.0, 0, 19), before


def test_a_word_more_in_the_midst_of_a_passage_makes_no_passage_with_two_thirds_of_it_closer() -> (
    None
):
    said = words("said", 20)
    others = [
        "other" if number % 3 == left_out else word
        for left_out in range(3)
        for number, word in enumerate([*said, *FAR])
    ]
    for before in range(BAND):
        source = [*["before"] * before, *said[:10], "more", *said[10:], *FAR, *others]
        found = TokenIndex(" ".join(source)).closest(" ".join(said))
        assert found is not None
        assert (found.first_token, found.changed, found.dropped) == (before, 0, 1), before
