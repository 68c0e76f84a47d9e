"""What is said beside the answer itself: which work it is, a trial's particulars, limits. Pure."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from knowledge.loader import load
from knowledge.subjects.products import products
from knowledge.subjects.tags import tags
from store.documents.content import Content
from workers.generate.candidates import Candidate
from workers.generate.facets import bodies, compares_arms, may_state, poses_question, rank, states
from workers.generate.findings import same
from workers.generate.wording import is_about_itself, is_fact, refers_back

MaySpeak = Callable[[Candidate], bool]
"""Whether a candidate may be shown to who asked (`Scorer.may_speak`)."""

_NUMBER = re.compile(r"(?<!\S)[^\s\d]*+\d\S*")
_NAME = re.compile(r"\b[A-Za-z]{0,20}[A-Z][A-Za-z]{0,20}[A-Z0-9][\w-]{0,20}|\b[A-Z]\d[\w-]{0,20}")


def names_document(candidate: Candidate, *, strictly: bool = False) -> bool:
    """Whether a sentence names what its document is on, so that others of it are understood.

    Args:
        strictly: by the name of the trial, guideline or policy; else its disease or drug will do.
    """
    sentence, title = candidate.text, candidate.title
    if _has_number_of(candidate) or states("name", sentence):
        return True
    if bodies(sentence) & bodies(title):
        return True
    if refers_back(sentence):
        return False
    generic = load("questions/answers")["generic_names"]
    names = {one for one in _NAME.findall(title) if one not in generic}
    if any(re.search(rf"(?<![\w-]){re.escape(one)}(?![\w-])", sentence) for one in names):
        return True
    if strictly:
        return False
    return bool(set(products(title)) & set(products(sentence))) or bool(
        set(tags("diseases", title)) & set(tags("diseases", sentence))
    )


def _has_number_of(candidate: Candidate) -> bool:
    """Whether a sentence has a registration's number: of a registration its own, as it may speak of
    others as well."""
    if not states("identity", candidate.named):
        return states("identity", candidate.text)
    return any(one in candidate.text for one in _NUMBER.findall(candidate.named))


def naming(
    chosen: Sequence[Candidate],
    of_document: Sequence[Candidate],
    may_speak: MaySpeak,
    *,
    strictly: bool,
) -> Candidate | None:
    """The sentence that must stand before the chosen ones of a document; None if they need none.

    Args:
        of_document: all candidates of the document, in the order of its text.
        may_speak: asked of those that fit.
        strictly: whether the document is to be named in any case, and by its own name.
    """
    needed = strictly or any(refers_back(one.text) for one in chosen)
    if not needed or any(names_document(one, strictly=strictly) for one in chosen):
        return None
    posing = []
    for one in of_document:
        if (
            is_fact(one.text)
            or is_about_itself(one.text)
            or not names_document(one, strictly=strictly)
        ):
            continue
        # Why a work was done has its disease as well, and does not say what it is.
        if poses_question(one.text, one.section) and not names_document(one, strictly=True):
            posing.append(one)
        elif may_speak(one):
            return one
    return next(filter(may_speak, posing), None)


def particulars(
    facets: Sequence[str],
    chosen: Sequence[Candidate],
    of_document: Sequence[Candidate],
    may_speak: MaySpeak,
) -> Iterator[Candidate]:
    """For each facet that no chosen sentence of a document states, the one that states it best."""
    said = list(chosen)
    for facet in facets:
        if any(states(facet, one.text, one.section) for one in said):
            continue
        ranked = [
            (place, number, one)
            for number, one in enumerate(of_document)
            if (place := rank(facet, one.text, one.section)) is not None
        ]
        ranked.sort(key=lambda found: found[:2])
        best = next((one for _, _, one in ranked if may_speak(one)), None)
        if best is not None and not _is_said(best, said):
            said.append(best)
            yield best


def complete(candidate: Candidate, of_document: Sequence[Candidate]) -> list[Candidate]:
    """The lines of a registry that report the outcome a line is on: of each arm, and what compares
    them. Of an outcome with many lines only the latter, if these are few. None of no result."""
    if not states("result", candidate.text, candidate.section):
        return []
    lines = [
        one
        for one in of_document
        if one.section == candidate.section and states("result", one.text, one.section)
    ]
    most = load("questions/answers")["result_lines"]
    if len(lines) <= most:
        return lines
    compared = [one for one in lines if compares_arms(one.text)]
    return compared if len(compared) <= most else []


def limits(
    shown: Sequence[Candidate],
    documents: Sequence[Sequence[Candidate]],
    may_speak: MaySpeak,
    asked: Sequence[Content] = (),
) -> Iterator[Candidate]:
    """What the documents state of their own limits, one sentence each, then what they leave open.

    Args:
        shown: all that is in the answer already.
        documents: the candidates of each document of the answer, in the answer's order.
        asked: what each sub-query asks for.
    """
    answered = {(one.evidence_id, one.section) for one in shown}
    most, given = load("questions/answers")["limitations"], list(shown)
    served: set[str] = set()
    for facet in ("limitation", "open_question"):
        for found in documents:
            if len(given) - len(shown) >= most:
                return
            if not any(
                may_state(facet, whole) for whole in {one.whole or one.text for one in found}
            ):
                continue
            stated = [
                one
                for one in found
                if one.evidence_id not in served
                and states(facet, one.text, one.section)
                and _limits_answer(facet, one, answered, asked)
            ]
            stated.sort(key=lambda one: len(one.text))
            fitting = (one for one in stated if not _is_said(one, given) and may_speak(one))
            best = next(fitting, None)
            if best is not None:
                served.add(best.evidence_id)
                given.append(best)
                yield best


def _limits_answer(
    facet: str,
    candidate: Candidate,
    answered: Collection[tuple[str, str]],
    asked: Sequence[Content],
) -> bool:
    """Whether what a sentence states is a limit of the answer: of a study as a whole, or of the
    part that answers, or of what is asked. A label names its drug everywhere: that is not enough.
    """
    policy, source = load("questions/answers"), candidate.source_type
    if source in policy["study_sources"]:
        return True
    is_study = source not in policy["no_study_sources"]
    if facet == "limitation" and not is_study:
        return False
    if (candidate.evidence_id, candidate.section) in answered:
        return True
    everywhere = "" if is_study else candidate.title
    return any(
        one.coverage(one.held(candidate.text) - one.held(everywhere)) >= policy["least_coverage"]
        for one in asked
    )


def _is_said(candidate: Candidate, said: Sequence[Candidate]) -> bool:
    return any(
        candidate.text in one.text
        or one.text in candidate.text
        or same(candidate.finding, one.finding)
        for one in said
    )
