"""What a bulk file is that does not hold what its name says."""

import gzip
from pathlib import Path

import pytest

from cli.commands.evidence.bulk_files import FORMATS
from workers.http.errors import Malformed

XML = b'<?xml version="1.0"?>\n<PubmedArticleSet></PubmedArticleSet>\n'


@pytest.mark.parametrize("content", [b"\x93\x01random", b"", b"1234"])
def test_a_file_that_is_no_gzip_is_called_that(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pubmed26n0001.xml.gz"
    path.write_bytes(content)
    with pytest.raises(Malformed, match="no gzip file"):
        list(FORMATS["pubmed"].cut(path))


@pytest.mark.parametrize("content", [gzip.compress(XML, mtime=0), XML, b"\xef\xbb\xbf" + XML])
def test_xml_is_read_packed_or_not_whatever_its_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pubmed26n0001.xml.gz"
    path.write_bytes(content)
    assert list(FORMATS["pubmed"].cut(path)) == []
