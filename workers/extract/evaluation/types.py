"""Is the document of the type whose fields are asked for? Pure."""

from collections.abc import Sequence

from workers.extract.documents import kind_of
from workers.extract.evaluation.scores import Issue
from workers.extract.evaluation.signs import signs_of
from workers.extract.evaluation.signs_policy import signs_policy
from workers.extract.parts import Parts
from workers.extract.rubrics import Rubric
from workers.extract.rules.reading import read_document

_CLINICAL = ("ihc_markers", "tnm", "mutations", "lab_values", "medications", "gleason", "tmb",
             "assessment_category", "lymph_nodes")  # fmt: skip
"""Fields whose signs stand in nothing but clinical documents."""
_FEW = 2


def type_in_doubt(parts: Parts, rubric: Rubric) -> Sequence[Issue]:
    """An issue where the words are hardly of the rubric's type; none else."""
    limits = signs_policy()
    if rubric.type == "unknown":
        shown = [one for one in _CLINICAL if len(signs_of(one, parts)) >= _FEW]
        in_doubt = len(shown) >= limits.clinical_fields or "ihc_markers" in shown
        words = "the type is not known, though the words are of a clinical document"
    else:
        kind, sure = kind_of(parts.text)
        in_doubt = (kind != rubric.type and kind != "unknown") or (
            kind == rubric.type and sure < limits.type_sure
        )
        words = f"the words are hardly those of a document of the type {rubric.type}"
        if not in_doubt and (others := _strange(parts, rubric)):
            in_doubt, words = True, f"a document of the type {rubric.type} hardly gives {others}"
    if not in_doubt:
        return ()
    return (Issue(severity="major", field="document_type", description=words),)


def _strange(parts: Parts, rubric: Rubric) -> str:
    """The fields that the document gives though one of its type hardly does; "" where few."""
    limits = signs_policy()
    read = [
        one
        for one in limits.strange.get(rubric.type, ())
        if any(not found.wide for found in read_document(one, parts))
    ]
    return ", ".join(read) if len(read) >= limits.strange_fields else ""
