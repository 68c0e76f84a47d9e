"""What a language model is told before it drafts: rules for all, rules for one form. Pure.

The texts are data (`prompts/*.md`); this reads their version and the sections that they name, and
joins to those what kinds of source a section takes (MRD 2.1).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from knowledge.answering.generation import Form, generation_policy
from knowledge.loader import load

_HEADING = re.compile(r"^\d+\. ([A-Z][A-Z -]+):", re.MULTILINE)


@dataclass(frozen=True)
class Section:
    """A section of an answer, and whose sources it takes."""

    heading: str
    sources: frozenset[str]
    """Source types; none: any."""
    trial_publications: bool = False
    """Whether it also takes what reports on a trial by its publication type."""

    def takes(self, source_type: str, publication_type: str | None) -> bool:
        """Whether a claim from such a source may stand here."""
        on_trial = "trial" in (publication_type or "").lower()
        return (
            not self.sources
            or source_type in self.sources
            or (self.trial_publications and on_trial)
        )


@dataclass(frozen=True)
class Instructions:
    """The system prompt for a type of question; `version` names both texts that it is made of."""

    form: Form
    version: str
    text: str
    sections: Sequence[Section]


def instructions_for(query_type: str) -> Instructions:
    """The instructions for a type of question, with its sections in order."""
    form = generation_policy().form_of(query_type)
    rules_version, rules = _written("base")
    version, text = _written(form)
    return Instructions(
        form,
        f"{rules_version}+{version}",
        f"{rules}\n\n{text}",
        [_section(heading, form) for heading in _headings(text)],
    )


@cache
def _written(name: str) -> tuple[str, str]:
    """Version and text of `prompts/<name>.md`."""
    written = files("workers.generate").joinpath(f"prompts/{name}.md").read_text("utf-8")
    head, _, text = written.partition("\n")
    return head.removeprefix("version:").strip(), text.strip()


def _headings(text: str) -> list[str]:
    """The headings of the part STRUCTURE, in order."""
    _, _, after = text.partition("STRUCTURE\n")
    structure, _, _ = after.partition("\nREQUIRED\n")
    return _HEADING.findall(structure)


def _section(heading: str, form: Form) -> Section:
    """Raises KeyError for a heading that answers of this form do not have."""
    sections = load("questions/answers")["sections"][generation_policy().forms[form].sections_of]
    one = {section["heading"]: section for section in sections}[heading]
    trials = bool(one.get("trial_publications"))
    return Section(heading, frozenset(one["sources"]), trials)
