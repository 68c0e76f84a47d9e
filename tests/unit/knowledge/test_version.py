"""The version of the knowledge names everything that answers are made under."""

from importlib.resources import files

from knowledge.version import policy_files


def test_the_version_reads_every_policy_file_the_packs_included() -> None:
    names = [name for name, _ in policy_files(files("knowledge"))]
    assert "answering/retrieval.yaml" in names
    assert "scenarios/af_ckd.yaml" in names
    assert "answering/selector.safetensors" in names
    assert len(names) == len(set(names))
