"""A file that is sent to be extracted is what its content says, and a refusal is true."""

import pytest

from api_gateway.extractions.uploads import sent
from api_gateway.http.uploads import Received
from api_gateway.problems import Problem
from store.extractions.extractions import File


@pytest.mark.parametrize("name", ["report", "report.txt", "report.pdf"])
def test_a_pdf_is_one_whatever_its_name_is(name: str) -> None:
    found = sent(Received(b"%PDF-1.7\nwords", name, "text/plain")).document
    assert isinstance(found, File)
    assert found.media_type == "application/pdf"


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.docx", b"PK\x03\x04rest"), ("a.json", b'{"text": "x"}'), ("a.txt", b"PK\x03\x04rest")],
)
def test_a_refusal_names_what_is_extracted_and_nothing_else(name: str, content: bytes) -> None:
    with pytest.raises(Problem) as refused:
        sent(Received(content, name, None))
    assert refused.value.status_code == 415
    assert refused.value.detail.count("accepted are") == 1
    assert refused.value.detail.endswith("text, Markdown, HTML, PDF, PNG, JPEG and TIFF")
