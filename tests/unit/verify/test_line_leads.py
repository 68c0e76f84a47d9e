"""What a line of a text stands under."""

from workers.verify.line_leads import leads


def test_an_item_stands_under_no_label_of_the_line_above_it() -> None:
    text = "Severe: yes\n- Rash\n- Fever\n"
    assert leads(text, text.index("Rash")) == ()
    assert leads(text, text.index("yes")) == ("Severe",)


def test_an_item_stands_under_the_line_that_leads_on_to_it() -> None:
    text = "Not seen:\n- bleeding\n- stroke\n"
    assert leads(text, text.index("stroke")) == ("Not seen",)
