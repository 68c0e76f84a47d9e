"""What `attest evaluate regression --with PATH` takes in: data sets in the layouts they come in."""

import gzip
import json
from pathlib import Path

import pytest
import sqlalchemy as sa

from cli.evaluate.corpora import NothingThere, take_in_path
from tests.fakes.pubmed_records import Citation, article_set
from workers.inline import InlineWorker

ABSTRACT = {
    "pmid": "90000001",
    "title": "Made-up abstract on recurrence",
    "journal": "Example Journal",
    "year": "2020",
    "abstract": (
        "Recurrence fell in all of them. Nobody has died of it so far. More is not known as yet."
    ),
}
"""No real study."""
OTHER_XML = b'<?xml version="1.0"?><eSearchResult><Count>1</Count></eSearchResult>'


def held(inline: InlineWorker) -> dict[str, tuple[str, int]]:
    """Source type and number of anchors of each document, by its title."""
    with inline.store.reading() as session:
        rows = session.execute(
            sa.text(
                "SELECT v.title, v.source_type, count(a.id) FROM document_version v "
                "LEFT JOIN anchor a ON a.version_id = v.id GROUP BY v.id, v.title, v.source_type"
            )
        )
        return {title: (kind, anchors) for title, kind, anchors in rows}


def test_abstracts_texts_and_pubmed_xml_of_a_folder_are_taken_in_and_anchored(
    inline: InlineWorker, tmp_path: Path
) -> None:
    inside = tmp_path / "data" / "deeper"
    inside.mkdir(parents=True)
    (inside / "abstracts.jsonl").write_text(json.dumps(ABSTRACT) + "\n\n")
    (inside / "paper.md").write_text(
        "# Made-up paper\n\nIt was so in the first year. It is so to this day. "
        "It will stay like that for long.\n"
    )
    records = article_set([Citation(90000002, "One article."), Citation(90000003, "Another.")])
    (inside / "medline.xml.gz").write_bytes(gzip.compress(records))
    (inside / "search.xml").write_bytes(OTHER_XML)
    (tmp_path / "data" / "SOURCE.txt").write_text("Where it is from. It is free. It is made up.")

    found = take_in_path(inline, tmp_path / "data")

    assert (found.files, sorted(found.skipped)) == (3, ["SOURCE.txt", "search.xml"])
    documents = held(inline)
    assert documents["Made-up abstract on recurrence"] == ("pubmed", 3)
    assert documents["Made-up paper"] == ("pubmed", 3)
    assert len(documents) == 4


@pytest.mark.parametrize("content", [None, OTHER_XML])
def test_a_path_without_documents_is_an_error_that_names_it(
    inline: InlineWorker, tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "search.xml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(NothingThere, match=r"search\.xml"):
        take_in_path(inline, path)
