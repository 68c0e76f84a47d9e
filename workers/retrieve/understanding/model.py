"""What is understood of a question, as every later module is given it (EB-1.4). Pure."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from knowledge.questions.decomposition import Part
from knowledge.subjects.labs import Reading
from knowledge.subjects.misspelt import Meant
from workers.language_model.port import Consulted
from workers.retrieve.understanding.asked.model import NOTHING_ASKED, Asked

Sex = Literal["female", "male"]

Role = Part | Literal["whole"]
"""What a sub-query is for, EB-2.2 (a)-(d); "whole" is a question short enough to be asked as is."""


@dataclass(frozen=True)
class Pico:
    """Patient, intervention, comparison, outcome and the primary condition, as far as stated."""

    patient: str | None
    intervention: str | None
    comparison: str | None
    outcome: str | None
    condition: str | None


@dataclass(frozen=True)
class Patient:
    """What is stated of one patient's age, sex and values; nothing where nothing is stated."""

    age_years: float | None = None
    age_group: str | None = None
    sex: Sex | None = None
    values: tuple[Reading, ...] = ()

    def as_body(self) -> dict[str, Any]:
        """As it stands in a retrieval, without where in the question it was read."""
        kept = ("lab", "value", "unit", "limit", "category")
        values = [{key: getattr(one, key) for key in kept} for one in self.values]
        return {
            "age_years": self.age_years,
            "age_group": self.age_group,
            "sex": self.sex,
            "values": values,
        }


@dataclass(frozen=True)
class ModelPart(Consulted):
    """What a language model had to do with the understanding."""

    added: tuple[str, ...] = ()
    """Tags and parts of PICO that were taken from its proposal."""
    refused: int = 0
    """How many of its proposals were not."""

    def as_body(self) -> dict[str, Any]:
        """As it stands in a retrieval."""
        return {**super().as_body(), "added": list(self.added), "refused": self.refused}


@dataclass(frozen=True)
class SubQuery:
    """What is searched for: at most 20 words, its role, the evidence it aims at (EB-2)."""

    text: str
    role: Role
    targets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Understanding:
    """What a question asks for. Tags stand with the primary one first (EB-1.3, EB-1.5)."""

    query_type: str
    classification: str
    pico: Pico
    diseases: tuple[str, ...]
    decisions: tuple[str, ...]
    names: tuple[str, ...]
    asks_for_today: bool
    mesh: tuple[str, ...] = ()
    sub_queries: tuple[SubQuery, ...] = ()
    products: tuple[str, ...] = ()
    """Drugs and tests that it asks about by name."""
    modalities: tuple[str, ...] = ()
    """Imaging modalities that the question names (EB-6.1)."""
    patient: Patient = Patient()
    language_model: ModelPart | None = None
    """None where no model was asked."""
    names_something: bool = True
    """Whether it is on anything in particular; see `scope`."""
    is_english: bool = True
    """Whether nothing tells that it is in another language."""
    asked: Asked = NOTHING_ASKED
    """What it asks for: form of the answer, problem, names, constraints."""
    read_as: tuple[Meant, ...] = ()
    """Its misspelt words of medicine, and what they were read as."""

    @property
    def primary_disease(self) -> str | None:
        """What the question is on first of all."""
        return self.diseases[0] if self.diseases else None

    @property
    def primary_decision(self) -> str | None:
        """What is to be decided first of all."""
        return self.decisions[0] if self.decisions else None

    def as_body(self) -> dict[str, Any]:
        """The part of the answer object that tells how the question was understood."""
        return {
            "asked": self.asked.as_body(),
            "query_type": self.query_type,
            "classification": self.classification,
            "pico": asdict(self.pico),
            "tags": {
                "primary_disease": self.primary_disease,
                "diseases": list(self.diseases),
                "primary_decision": self.primary_decision,
                "decisions": list(self.decisions),
            },
            "mesh": list(self.mesh),
            "names": list(self.names),
            "asks_for_today": self.asks_for_today,
            "names_something": self.names_something,
            "is_english": self.is_english,
            "read_as": [{"word": one.word, "name": one.name} for one in self.read_as],
            "sub_queries": [
                {"text": one.text, "role": one.role, "targets": list(one.targets)}
                for one in self.sub_queries
            ],
            "products": list(self.products),
            "modalities": list(self.modalities),
            "patient": self.patient.as_body(),
            "language_model": self.language_model.as_body() if self.language_model else None,
        }
