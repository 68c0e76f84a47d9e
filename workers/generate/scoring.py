"""How well a candidate answers what is asked. Pure; weights: knowledge/questions/answers.yaml."""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from itertools import chain, repeat
from typing import Literal, NamedTuple

import numpy as np

from knowledge.loader import load
from knowledge.subjects.drugs import classes_at, drugs_at
from knowledge.subjects.naming import mentions
from knowledge.subjects.products import speak_to
from knowledge.works.conflicts import conflict_policy
from store.documents.content import Content, kind_terms
from store.index.terms import term_set
from workers.generate.approvals import Approval, Coverage
from workers.generate.candidates import Candidate
from workers.generate.facets import asked_for, is_on_few, is_on_use, part_weight, states
from workers.generate.others import is_on_one_of_several, is_on_others
from workers.generate.populations import Population
from workers.generate.restrictions import ANYBODY, Restrictions
from workers.generate.selector import selector
from workers.generate.subjects import Subjects, trials_called
from workers.generate.wording import is_about_itself

Who = Literal["names", "patients", "payers", "regulators"]
Telling = Callable[[Candidate], bool]


class Lacks(NamedTuple):
    """Of whom sources do not speak that speak to everything else that is asked about."""

    who: Who
    asked: tuple[str, ...]
    """By name, as far as the question names them."""


class Asked(NamedTuple):
    """What a question asks for."""

    query_type: str
    contents: Sequence[Content]
    """One for each sub-query; a sentence answers one of them."""
    diseases: Collection[str] = ()
    """Tags of those asked about; a sentence on others alone is no answer (EB-5.1)."""
    products: Collection[str] = ()
    """Likewise, the drugs and tests."""
    questions: Sequence[str] = ()
    """The sub-queries in their words: they tell whom, and where, the question is about."""
    names: Sequence[str] = ()
    """Of the trials and bodies that it names."""
    restrictions: Restrictions = ANYBODY
    """Whom the answer is for."""
    type: str = ""
    """The form of the answer (`Asked.type` of the contracts)."""


_TOLD_BY_NAME = frozenset({"mechanism", "explanation"})
"""What is asked for then has other words in the answer: a mechanism is told by a target."""
_COVERAGE = "coverage_policy"
_REGISTRY = "clinicaltrials"
_RESULT, _AGAINST = "primary_result", "contraindication"
_PARTICULARS = frozenset(load("questions/answers")["particulars"])
_GUIDELINES = load("questions/answers")["sections"]["guidelines"][0]["sources"]


class Scorer:
    """The score of candidates for one question."""

    def __init__(self, asked: Asked) -> None:
        questions = asked.questions
        self.on_coverage = asked.query_type == _COVERAGE
        self._asked = asked.contents
        self._diseases, self._products, self._names = asked.diseases, asked.products, asked.names
        self.wanted = asked_for({term for one in self._asked for term in one.weights}, questions)
        self._question = "\n".join(questions)
        told = (*drugs_at(self._question), *classes_at(self._question))
        drugs = (self._question[one.start : one.end] for one in told)
        beside = " ".join((*drugs, *load("questions/questions")["work_words"]))
        one_drug = len({one.name for one in told}) == 1
        self._drug_terms = term_set(beside) if one_drug else frozenset[int]()
        self._policy = load("questions/answers")
        self._population = Population(questions, on_coverage=self.on_coverage)
        self._approval, self._coverage = Approval(questions), Coverage(questions)
        self._restrictions = asked.restrictions
        self._type = asked.type
        self._subjects = Subjects(
            questions, self._products, compares=asked.query_type == "comparison"
        )
        self._may_speak: dict[int, bool] = {}
        self._covers: dict[int, float] = {}
        self._questions = questions
        self._fits: dict[int, float] = {}
        self._coverages: dict[tuple[int, frozenset[int], frozenset[int]], float] = {}
        self._of_documents: dict[tuple[int, str, str], frozenset[int]] = {}

    def may_speak(self, candidate: Candidate) -> bool:
        """Whether a sentence speaks to people, and is not on other diseases, drugs, tests or
        patients than those asked about, nor on what another country's regulator approved."""
        known = self._may_speak.get(id(candidate))
        if known is None:
            known = self._forbids(candidate) or self._speaks_to_it(candidate)
            self._may_speak[id(candidate)] = known
        return known

    def are_told(self, shown: Iterable[Candidate]) -> bool:
        """Whether what is to be shown states the patients, the payer and the decision among drugs
        or tests asked about, where only that is an answer."""
        works = list(shown)
        return (
            self._tells_patients(works)
            and self._tells_payer(works)
            and self._subjects.is_told((one.text, one.section, one.title) for one in works)
            and self._tells_trial(works)
        )

    def lacks(self, candidates: Iterable[Candidate]) -> Lacks | None:
        """Whom, or whose decision, candidates do not tell of that speak to everything else that is
        asked; None where they do not even that. To be asked where nothing answers."""
        least = float(self._policy["speaks_from"])
        spoken = [
            one
            for one in candidates
            if one.found and self.covers(one) >= least and self._is_on_topic(one)
        ]
        if not spoken:
            return None
        told: tuple[tuple[Who, Telling, bool, Sequence[str]], ...] = (
            ("patients", self._is_of_others, self._tells_patients(spoken), self._population.asked),
            ("payers", self._is_of_other_payer, self._tells_payer(spoken), self._coverage.asked),
            ("regulators", self._is_of_other_regulator, True, self._approval.asked),
        )
        for who, is_of_another, are_told, asked in told:
            if not are_told or all(map(is_of_another, spoken)):
                return Lacks(who, tuple(asked))
        return None

    def _tells_patients(self, works: Iterable[Candidate]) -> bool:
        return self._population.is_told(
            words for one in works for words in (one.text, one.section, one.title)
        )

    def _tells_trial(self, works: Iterable[Candidate]) -> bool:
        """Whether a work is on each trial that the question calls one by a word of its own: what
        another trial found is no answer."""
        called = trials_called(self._question)
        return not called or called <= {
            name
            for one in works
            for name in called
            if name in f"{one.title}\n{one.named}\n{one.whole or one.text}".lower()
        }

    def _tells_payer(self, works: Iterable[Candidate]) -> bool:
        return self._coverage.is_told((one.text, one.title, one.publisher) for one in works)

    def _speaks_to_it(self, candidate: Candidate) -> bool:
        return self._is_on_topic(candidate) and not (
            self._is_of_others(candidate)
            or self._is_of_other_regulator(candidate)
            or self._is_of_other_payer(candidate)
            or self._restrictions.are_missed(candidate.text, candidate.section, candidate.title)
        )

    def _is_on_topic(self, candidate: Candidate) -> bool:
        is_label = candidate.source_type in conflict_policy().label_sources
        line, title, whole = candidate.text, candidate.title, candidate.whole
        return not (
            is_on_others(candidate, self._diseases, self._products)
            or (self.on_coverage and is_on_one_of_several(candidate, self._diseases))
            or self._subjects.are_missed(line, title, whole, candidate.section, on_many=is_label)
            or candidate.speaks_to_program
        )

    def _forbids(self, candidate: Candidate) -> bool:
        is_label = candidate.source_type in conflict_policy().label_sources
        return is_label and self._restrictions.forbid(candidate.text, candidate.section)

    def _is_of_others(self, candidate: Candidate) -> bool:
        line, title, whole = candidate.text, candidate.title, candidate.whole
        return self._population.is_another(line, title, whole, candidate.section)

    def _is_of_other_regulator(self, candidate: Candidate) -> bool:
        return self._approval.is_elsewhere(candidate.text, candidate.title, candidate.publisher)

    def _is_of_other_payer(self, candidate: Candidate) -> bool:
        return self._coverage.is_elsewhere(candidate.text, candidate.title, candidate.publisher)

    def score(self, candidate: Candidate) -> float | None:
        """The score of a candidate, higher is better; None if it is no answer at all: what the work
        that is asked for states of the kind that is asked for is one, whatever its words."""
        policy = self._policy
        covered = self.covers(candidate)
        fit = self.fits(candidate)
        told = candidate.asked_for and self.states_wanted(candidate)
        if covered < policy["least_coverage"] and fit < policy["fit_from"] and not told:
            return None
        return float(
            policy["cover_weight"] * covered
            + policy["fit_weight"] * fit
            + policy["passage_weight"] * candidate.passage_score
            + self._of_its_words(candidate)
        )

    def read(self, candidates: Sequence[Candidate]) -> None:
        """Let the learned selector read candidates, all at once: it costs less so."""
        if not (self._questions and candidates):
            return
        longest = self._policy["whole_chars"]
        rows = [
            (one.text, one.title, one.whole if len(one.whole) <= longest else "")
            for one in candidates
        ]
        best = np.max([selector().scores(asked, rows) for asked in self._questions], axis=0)
        self._fits = dict(zip(map(id, candidates), best.tolist(), strict=True))

    def fits(self, candidate: Candidate) -> float:
        """How well it answers by the learned selector, 0..1; 0 of what it was not given."""
        return self._fits.get(id(candidate), 0.0)

    def covers(self, candidate: Candidate) -> float:
        """The share of what is asked that a candidate holds, as its score counts it."""
        known = self._covers.get(id(candidate))
        if known is None:
            known = max(map(self._covered, self._asked, repeat(candidate)))
            self._covers[id(candidate)] = known
        return known

    def states_wanted(self, candidate: Candidate) -> bool:
        """Whether a candidate states the kind of thing that is asked for; contraindications of a
        label are all that stands in its part on them."""
        told = (
            self._restrictions.are_met(candidate.text)
            or self._forbids(candidate)
            or self.is_of_field(candidate)
        )
        if told or not self.wanted:
            return told
        is_label = candidate.source_type in conflict_policy().label_sources
        return (
            self._is_result_asked_for(candidate)
            or (is_label and _AGAINST in self.wanted and is_on_use(candidate.section))
            or any(states(name, candidate.text, candidate.section) for name in self.wanted)
        )

    def _is_result_asked_for(self, candidate: Candidate) -> bool:
        """Whether it is a figure from the results of the work whose results are asked for."""
        if not candidate.asked_for or _RESULT not in self.wanted:
            return False
        text, section = candidate.text, candidate.section
        found = part_weight(section) > 0 and states("number", text)
        return found or states(_RESULT, text, section)

    def is_sure(self, candidate: Candidate) -> bool:
        """Whether it states what is asked for of the work that is asked about, its status or who
        runs it: it need not say so in the question's words, nor have been retrieved."""
        if self.is_of_field(candidate):
            return True
        return candidate.asked_for and any(
            states(name, candidate.text, candidate.section) for name in self.wanted & _PARTICULARS
        )

    def is_of_field(self, candidate: Candidate) -> bool:
        """Whether it is the value of a field that is asked for by the name that its heading has."""
        terms = term_set(candidate.section)
        return (
            candidate.is_value
            and bool(terms)
            and any(terms <= one.weights.keys() for one in self._asked)
        )

    def is_needed(self, shown: Iterable[Candidate]) -> bool:
        """Whether only what states what is asked for is an answer, beside lines of these works."""
        policy = self._policy
        if not self.wanted.isdisjoint(policy["needs_told"]):
            return True
        of_work = not self.wanted.isdisjoint(policy["needs_told_of_work"])
        return of_work and any(one.asked_for for one in shown)

    def is_on_item(self, candidate: Candidate) -> bool:
        """Whether a line, its heading or title holds anything of what is asked to be covered, and
        not of coverage by the payer alone."""
        if not self.on_coverage or self._holds_more(candidate, _coverage_terms()):
            return True
        return bool(self._products) and speak_to(_around(candidate), self._products)

    def tells_beside_drug(self, shown: Iterable[Candidate]) -> bool:
        """Whether what is to be shown holds anything of the question but the drug that it is on, if
        it asks for more: of each drug much is held that is no answer."""
        taken = self._drug_terms
        return (
            not taken
            or self._type in _TOLD_BY_NAME
            or any(self.states_wanted(one) or self._holds_more(one, taken) for one in shown)
        )

    def _holds_more(self, candidate: Candidate, taken: frozenset[int]) -> bool:
        """Whether it holds anything of a part of the question beside these terms, if there is more
        in each."""
        words = _around(candidate)
        asked = [(one, one.weights.keys() - taken) for one in self._asked]
        return not all(rest for _, rest in asked) or any(
            not rest.isdisjoint(one.held(words)) for one, rest in asked
        )

    def names_work(self, candidate: Candidate) -> bool:
        """Whether a candidate stands in a work that the question names, or names it itself."""
        line = f"{candidate.section}\n{candidate.text}"
        return candidate.asked_for or any(mentions(line, name) for name in self._names)

    def tells_more(self, candidate: Candidate) -> tuple[float, bool]:
        """The share of the question that a sentence, its heading and its work's title hold
        together, and whether it adds to the title: a line of a label what that does not hold, for
        each of them is on the drug; one of another work at least a second term of the question."""
        words = f"{candidate.section}\n{candidate.text}"
        is_label = candidate.source_type in conflict_policy().label_sources
        shares = []
        for one in self._asked:
            own, inherited = one.held(words), self._inherited(one, candidate)
            whole = one.coverage(own | inherited)
            several = not is_label and len(own & one.weights.keys()) > 1
            shares.append((whole, several or whole > one.coverage(inherited)))
        return max(shares)

    def _own_share(self, candidate: Candidate) -> float:
        """The share of the question that the words of a sentence hold, without its title's."""
        return max(one.coverage(one.held(candidate.text)) for one in self._asked)

    def _of_its_words(self, candidate: Candidate) -> float:
        policy, text = self._policy, candidate.text
        found = 0.0
        if self.states_wanted(candidate):
            sure = self._is_result_asked_for(candidate) or self.is_sure(candidate)
            found += policy["cue_weight"] * (1.0 if sure else self._own_share(candidate))
        if is_about_itself(text):
            found += policy["about_itself_weight"]
        if candidate.source_type in conflict_policy().label_sources:
            on_few = is_on_few(candidate.section, self._question)
            found += policy["few_weight"] if on_few else 0.0
        if candidate.source_type != _REGISTRY and candidate.source_type not in _GUIDELINES:
            found += part_weight(candidate.section)
        return float(found)

    def _covered(self, asked: Content, candidate: Candidate) -> float:
        """The share of what is asked that a sentence holds; its title's words, and the identifiers
        of its document, count for less."""
        own, inherited = asked.held(candidate.text), self._inherited(asked, candidate)
        held = (id(asked), own, inherited)
        known = self._coverages.get(held)
        if known is None:
            weight = float(self._policy["title_weight"])
            known = asked.coverage(own) + weight * asked.coverage(inherited - own)
            self._coverages[held] = known
        return known

    def _inherited(self, asked: Content, candidate: Candidate) -> frozenset[int]:
        """What every sentence of a document has from it, kept for the next one."""
        of_document = (id(asked), candidate.title, candidate.named)
        held = self._of_documents.get(of_document)
        if held is None:
            held = asked.held(f"{candidate.title} {candidate.named}")
            self._of_documents[of_document] = held
        return held


def _around(candidate: Candidate) -> str:
    return f"{candidate.title}\n{candidate.section}\n{candidate.text}"


@cache
def _coverage_terms() -> frozenset[int]:
    """The terms by which any policy on coverage answers, and those of the payers' names."""
    policy = load("questions/answers")
    payers = policy["populations"]["payers"]["names"].values()
    return kind_terms("payer") | term_set(
        " ".join((*chain.from_iterable(payers), *policy["policy_words"]))
    )
