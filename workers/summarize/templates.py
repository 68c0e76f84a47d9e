"""The prompts of this stage: files with a version, declared variables and two parts (CN-7). Pure.

What stays the same stands above the line `---` and is the system prompt; below it stand the
variables. A value is put in as it is, and nothing within a value is read as a variable.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from clinical_text.chunks import Chunk

_VARIABLE = re.compile(r"\{([a-z_]+)\}")
_HEAD = re.compile(
    r"version: (\S+)\nvariables: ([a-z_]+(?:, [a-z_]+)*)\n\n(.+)\n---\n(.+)", re.DOTALL
)


@dataclass(frozen=True)
class Template:
    """A prompt with places for its variables."""

    version: str
    variables: frozenset[str]
    system: str
    user: str

    def fill(self, **values: str) -> str:
        """The user part with its variables.

        Raises:
            ValueError: other variables than the declared ones were given.
        """
        if set(values) != self.variables:
            raise ValueError(f"{self.version} takes {', '.join(sorted(self.variables))}")
        return _VARIABLE.sub(lambda found: values[found[1]], self.user)


@cache
def template(name: str) -> Template:
    """The prompt of `prompts/<name>.md`.

    Raises:
        ValueError: it is not made as it should be, or uses other variables than it declares.
    """
    written = files("workers.summarize").joinpath(f"prompts/{name}.md").read_text("utf-8")
    found = _HEAD.fullmatch(written)
    if found is None:
        raise ValueError(f"{name}.md needs a version, its variables, and `---` above their places")
    version, declared, system, user = found.groups()
    variables = frozenset(declared.split(", "))
    if frozenset(_VARIABLE.findall(user)) != variables:
        raise ValueError(f"{name}.md uses other variables than it declares")
    return Template(version, variables, system.strip(), user.strip())


def chunks_with_headers(text: str, chunks: Sequence[Chunk]) -> str:
    """The chunks as a model sees them (clinical notes seed, "Input Format")."""
    return "\n\n".join(
        f"## {one.section or 'BODY'} ({one.chunk_id}, chars {one.start}-{one.end})\n"
        f"{text[one.start : one.end]}"
        for one in chunks
    )
