"""Policy for clinical notes: `note_sections.yaml` and `note_plans.yaml` as validated models."""

import re
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from typing import Annotated, Literal, get_args

from pydantic import Field

from knowledge.loader import Policy, load

ListName = Literal[
    "patient_snapshot",
    "key_problems",
    "pertinent_history",
    "medicines_allergies",
    "objective_findings",
    "labs_imaging",
    "assessment",
]
"""The seven lists of a summary (clinical notes seed, "Summary Generation Prompt Schema")."""
LISTS: tuple[ListName, ...] = get_args(ListName)

Reason = Literal["refused", "unusable", "unavailable", "misconfigured", "budget_spent"]
"""Why the rules were used in place of a language model."""

Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Words = frozenset[str]
_COMPOUND = re.compile(r"(?<!\w)\w++-\w+")


def matcher(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern for any of the words in lower-case text; after `~`, also inside a word."""
    whole = sorted((re.escape(w) for w in words if w[0] != "~"), key=len, reverse=True)
    parts = [re.escape(w[1:]) for w in words if w[0] == "~"]
    patterns = [rf"(?<![\w/-])(?:{'|'.join(whole)})(?![\w/])"] if whole else []
    return re.compile("|".join([*patterns, *parts]) or r"(?!)")


class Kind(Policy):
    """A kind of section: the list its items go to (None: to none), and its names."""

    list: ListName | None
    names: Words


class SectionPolicy(Policy):
    """See the comments of `note_sections.yaml`."""

    kinds: dict[str, Kind]
    qualifiers: Words
    tails: dict[str, Words]
    heads: dict[str, Words]
    standing: Words
    telling: Words
    statement_openers: Words
    statement_words: Words
    unfinished: Words
    going_on: Words
    dividers: Words
    inside_results: Words
    placeholders: Words
    identifiers: Words
    identity_words: Words
    stamps: Words
    orders: Words
    speakers: Words
    talkers: Words
    clinicians: Words
    lay_speakers: Words
    entry_names: Words
    unfilled: tuple[str, ...]
    choices: tuple[str, ...]
    whose_or_when: Words
    titles: Words
    subjects: Words
    sure_titles: Words
    salutations: Words
    complaints: Words
    given_names: Words
    told: Words
    relatives: Words
    companions: Words
    heading_chars: Count
    heading_words: Count
    label_chars: Count
    divider_words: Count
    over_words: Count
    wrap_least: Count
    wrap_most: Count

    @cached_property
    def by_name(self) -> Mapping[str, str]:
        """Maps each known name to its kind."""
        return {name: kind for kind, part_kind in self.kinds.items() for name in part_kind.names}

    @cached_property
    def by_tail(self) -> Mapping[str, str]:
        """Maps each last word of a heading to its kind."""
        return {word: kind for kind, words in self.tails.items() for word in words}

    @cached_property
    def by_head(self) -> Mapping[str, str]:
        """Maps each first word of a heading to its kind."""
        return {word: kind for kind, words in self.heads.items() for word in words}

    @cached_property
    def complaint(self) -> re.Pattern[str]:
        """Matches lower-case text with a word of `complaints`."""
        return matcher(self.complaints)

    @cached_property
    def tells(self) -> re.Pattern[str]:
        """Matches lower-case text with a word of `told`."""
        return matcher(self.told)

    def list_of(self, kind: str) -> ListName | None:
        """The list of a known kind; None for unknown kinds and those that are left out."""
        known = self.kinds.get(kind)
        return known.list if known else None

    def left_out(self, kind: str) -> bool:
        """True if nothing under headings of this kind belongs in a summary."""
        return kind in self.kinds and self.kinds[kind].list is None


class Confidence(Policy):
    """The confidence of a reading, by where its words are, and the deductions from it."""

    plan: Share
    plan_doubted: Share
    ordered: Share
    inferred: Share
    conditional: Share
    withheld: Share


class GuardNotes(Policy):
    """Notes added to a recommendation whose reading is uncertain."""

    assessment: str
    conditional: str
    withheld: str
    opposed: str
    turned: str
    addressed: str
    boxes: str
    statement: str
    inferred: str
    model: str


class ModelBounds(Policy):
    """Limits of one request to a language model and of what is used of its answer."""

    call_chars: Count
    items: Count
    quote_chars: Count
    recommendations: Count
    max_tokens: Count
    patience: float = Field(ge=1)


class Warnings(Policy):
    """Warnings about a note, shown above its summary."""

    several_patients: Annotated[str, Field(pattern=r"\{count\}")]
    several_days: Annotated[str, Field(pattern=r"\{count\}")]
    taken_back: str
    addressed_to_program: str
    allergies_contradict: str
    not_english: str


class PlanPolicy(Policy):
    """See the comments of `note_plans.yaml`."""

    guard_below: Share
    confidence: Confidence
    likely: Share
    certain: Share
    planned: Share
    unlikely: Share
    placed: Share
    moved: Share
    notes: GuardNotes
    actions: Words
    conditional: Words
    withheld: Words
    turned: Words
    urgent: Words
    routine: Words
    model: ModelBounds
    fallbacks: dict[Reason, str]
    warnings: Warnings
    taken_back: Words
    no_allergy: Words

    def has(self, group: str, text: str) -> bool:
        """True if `text` has a word of the group, such as `actions`."""
        return _matcher(group).search(text.lower()) is not None

    def turns(self, text: str) -> bool:
        """True if words above an entry may reverse it: `Do not give:`, `Stopped:`, `If worse:`."""
        if self.has("withheld", text) or self.has("conditional", text):
            return True
        return self.has("turned", _COMPOUND.sub(" ", text))  # "stop-gap" stops nothing

    def orders(self, text: str) -> bool:
        """True if the words say what to do or not to do, and so are more than a name."""
        return self.has("actions", text) or self.turns(text)


@cache
def _matcher(group: str) -> re.Pattern[str]:
    words = getattr(plan_policy(), group)
    marks = "".join(word for word in words if not word[-1].isalnum())
    words_pattern = matcher(word for word in words if word[-1].isalnum())
    return re.compile(f"{words_pattern.pattern}|[{re.escape(marks)}]") if marks else words_pattern


@cache
def section_policy() -> SectionPolicy:
    """The policy of sections, validated."""
    return SectionPolicy.model_validate(load("documents/note_sections"))


@cache
def plan_policy() -> PlanPolicy:
    """The policy of plans, validated."""
    return PlanPolicy.model_validate(load("documents/note_plans"))
