"""The pages of questions: ask, follow, read, export, ask again, history."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from uuid import UUID, uuid4

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import ValidationError
from sqlmodel import Session, col, select

from api_gateway.auth.access import Caller, InCaller, Scope, needs, needs_own
from api_gateway.backpressure.bodies import KIB, BodyLimit
from api_gateway.backpressure.load import Work
from api_gateway.documents.adding_view import kinds
from api_gateway.library.schemas import of_years
from api_gateway.pages.clocks import moment
from api_gateway.pages.forms import Form, FormOrNothing, lines, refused_form
from api_gateway.pages.once import admit, key_of, keyed, once, sent_before
from api_gateway.pages.rendering import page
from api_gateway.pages.wording import EXAMPLES, JUDGMENT, RECALL, STAGES, STATUS, plainly
from api_gateway.problems import Problem, from_validation, invalid, not_found, request_id_of
from api_gateway.questions import exports, sharing
from api_gateway.questions.answer_view import AnswerView, answer_view
from api_gateway.questions.answers import abstained, before, in_full, related, snapshot
from api_gateway.questions.question_in import MAX_QUESTION_CHARS, QuestionIn
from api_gateway.questions.view import question_view
from api_gateway.recalls.schemas import RecallFilter
from api_gateway.schemas import QuestionOut
from api_gateway.state import Gateway, InGateway
from knowledge.feeds.sources import connector_policies
from store.documents import browse
from store.models import DocumentVersion, Question, Refresh, Watch, now
from store.pipeline import circuits
from store.questions import judgments, questions
from store.recalls import log
from store.sources import refresh_requests, refreshes

router = APIRouter(include_in_schema=False)

PAGE = 25
FIELDS = ("question", "as_of", "patient_context", "kind", "since", "until", "after")
NO_ERRORS = dict.fromkeys((*FIELDS, "published_from", "published_to"), "")
SLOW_SECONDS = 10.0
"""Our choice: an idle system answers in a second, with a model in a few seconds."""
BODY_LIMITS = {("POST", "/ask"): BodyLimit(160 * KIB)}
"""Two texts of up to 8001 UTF-16 units, each up to nine bytes in a form (RFC 3986, 2.1), and names.
The page lets so many through so that the error can say that 4000 characters are the most."""


@router.get("/", dependencies=[needs(Scope.ASK)])
def ask_page(
    request: Request,
    gateway: InGateway,
    caller: InCaller,
    q: Annotated[str, Query(max_length=MAX_QUESTION_CHARS)] = "",
    form: UUID | None = None,
) -> Response:
    """The question box; `q` is written into it."""
    if form is None:
        return keyed(request)
    with gateway.store.reading() as session:
        empty = browse.holds_nothing(session)
    sent = sent_before(gateway, caller, Work.QUESTIONS, form)
    return _form(request, {"question": q}, form, empty=empty, sent=sent)


def _form(
    request: Request,
    given: Mapping[str, str],
    key: UUID,
    problem: Problem | None = None,
    *,
    empty: bool = False,
    sent: UUID | None = None,
) -> HTMLResponse:
    misfits = problem.errors if problem else ()
    messages = {error.field.rpartition(".")[2]: plainly(error.message) for error in misfits}
    errors = {**NO_ERRORS, **messages}
    return page(
        request,
        "questions/ask.html",
        status=problem.status_code if problem else 200,
        key=str(key),
        before=sent and f"/questions/{sent}",
        given={**dict.fromkeys(FIELDS, ""), **given},
        kinds=kinds(),
        errors=errors,
        refused="" if problem is None or misfits else problem.detail,
        examples=() if empty else EXAMPLES,
        empty=empty,
        most=MAX_QUESTION_CHARS,
    )


@router.post("/ask", dependencies=[needs(Scope.ASK)])
def ask(request: Request, form: Form, gateway: InGateway, caller: InCaller) -> Response:
    """Submit the question and lead to its page."""
    fields = {name: lines(form.get(name, "")) for name in FIELDS}
    key = key_of(form)
    try:
        body = QuestionIn.model_validate(_given(fields))
    except ValidationError as error:
        problem = from_validation(error.errors())
        if not fields["question"].strip():
            problem = invalid("question", "write a question")
        return _form(request, fields, key, problem)
    try:
        with gateway.store.reading() as session:
            words = in_full(session, caller, body)
        return _submit(request, gateway, caller, key, words, body.options())
    except Problem as problem:  # the text that was entered stays on the page
        return refused_form(_form(request, fields, key, problem), problem)


def _given(fields: Mapping[str, str]) -> dict[str, Any]:
    """The question of a form as the API takes it; a year that is none is refused as a date."""
    written = ("as_of", "patient_context", "after")
    try:
        filters: dict[str, Any] = dict(of_years(fields["since"].strip(), fields["until"].strip()))
    except ValueError:
        filters = {"published_from": fields["since"], "published_to": fields["until"]}
    if fields["kind"]:
        filters["source_types"] = [fields["kind"]]
    return {
        "question": fields["question"],
        **{name: fields[name] for name in written if fields[name].strip()},
        **({"filters": filters} if filters else {}),
    }


def _submit(
    request: Request,
    gateway: Gateway,
    caller: Caller,
    key: UUID,
    text: str,
    options: Mapping[str, Any],
) -> Response:
    """Raises Problem: there is no room for it, or the owner's daily budget is spent."""
    content = {"question": text, "options": options}

    def submit(named: str) -> Question:
        with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
            return questions.submit(work, text, options, named, owner=caller.owner)

    admit(request, caller, Work.QUESTIONS, key, content)
    return RedirectResponse(f"/questions/{once(key, content, submit).id}", 303)


@router.get("/questions", dependencies=[needs(Scope.READ)])
def history(
    request: Request,
    gateway: InGateway,
    caller: InCaller,
    recall: RecallFilter | None = None,
    q: Annotated[str, Query(max_length=200)] = "",
    cursor: str | None = None,
) -> HTMLResponse:
    """What was asked, newest first; `q` are words of it."""
    words = q.strip().replace("\0", "")
    with gateway.store.reading() as session:
        listed = questions.listing(
            session, owner=caller.owner, recall=recall, words=words, cursor=cursor, limit=PAGE
        )
        ids = [question.id for question in listed.rows]
        recalled, silent = log.states(session, ids), abstained(session, ids)
        session.expunge_all()
    return page(
        request,
        "questions/history.html",
        lines=listed.rows,
        silent=silent,
        recalled=recalled,
        words=STATUS,
        next_cursor=listed.next_cursor,
        cursor=cursor,
        recall=recall,
        q=words,
        states={state: RECALL[state] for state in RECALL if state != "current"},
    )


@router.get("/questions/{question_id}", dependencies=[needs_own])
def question_page(
    request: Request,
    question_id: UUID,
    gateway: InGateway,
    caller: InCaller,
    refresh: Annotated[list[UUID] | None, Query(max_length=20)] = None,
    link: Annotated[str, Query(max_length=100)] = "",
) -> HTMLResponse:
    """How far the question has come, or its answer; `link` is one that was made to share it."""
    with gateway.store.reading() as session:
        question, options = _found(session, caller, question_id)
        judged = judgments.of_answer(session, question_id) if question.answer else {}
        followed_on = before(session, caller, options.get("after"))
        row = session.get(Question, question_id)
        until = moment(sharing.end_of(row, link, now()) if row else None)
        answer = answer_view(question.answer) if question.answer is not None else None
        refresh_ids = list(refresh or ())
        if answer is not None and answer.abstention is not None and not refresh_ids:
            refresh_ids = [UUID(refresh_id) for refresh_id in answer.abstention.refreshes]
        curing = _refreshes(session, refresh_ids)
        others = related(session, question.answer or {})
        followed = _followed(session, answer) if Scope.OPERATE in caller.scopes else []
        stopped = [] if question.finished_at else _stopped(session)
    return page(
        request,
        "questions/question.html",
        image_origins=answer.image_origins if answer else (),
        question=question_view(question, options),
        key=str(uuid4()),
        slow_in_ms=0 if stopped else _slow_in_ms(question),
        stopped=stopped,
        answer=answer,
        curing=curing,
        followed=[connector_policies()[name].name for name in followed],
        before=followed_on,
        shared=False,
        related=others,
        judgments=[(name, JUDGMENT[name], judged.get(name, 0)) for name in JUDGMENT],
        share_days=sharing.DAYS,
        link=str(request.base_url).rstrip("/") + f"/shared/{question_id}/{link}" if until else "",
        link_until=until,
        given=_again(question, options),
        errors=NO_ERRORS,
        most=MAX_QUESTION_CHARS,
        kinds=kinds(),
    )


def _again(question: QuestionOut, options: Mapping[str, Any]) -> dict[str, str]:
    """The fields of the form that asks on from a question: its filters."""
    chosen = options.get("filters") or {}
    return {
        **dict.fromkeys(FIELDS, ""),
        "after": str(question.id),
        "as_of": str(options.get("as_of") or "")[:10],
        "kind": next(iter(chosen.get("source_types") or ()), ""),
        "since": str(chosen.get("published_from") or "")[:4],
        "until": str(chosen.get("published_to") or "")[:4],
    }


def _stopped(session: Session) -> list[dict[str, Any]]:
    """The stages of a question that do not work now, by whom and why."""
    return [
        {
            "stage": STAGES[one.stage][0],
            "by": one.changed_by,
            "reason": one.reason,
            "at": moment(one.changed_at),
        }
        for one in circuits.states(session)
        if one.state != "closed" and one.stage in STAGES
    ]


def _slow_in_ms(found: QuestionOut) -> int:
    """Milliseconds until the page says that an open question takes long; 0 means at once."""
    age = (now() - found.created_at).total_seconds()
    return max(0, round((SLOW_SECONDS - age) * 1000))


@router.get("/questions/{question_id}/export.{form}", dependencies=[needs_own])
def export(question_id: UUID, form: str, gateway: InGateway, caller: InCaller) -> Response:
    """The answer as Markdown, its references as BibTeX or RIS."""
    media_type = exports.MEDIA_TYPES.get(form)
    if media_type is None:
        raise not_found("form: use md, bib or ris")
    with gateway.store.reading() as session:
        question, options = _found(session, caller, question_id)
        if question.answer is None:
            raise not_found("answer yet")
        answer = answer_view(question.answer)
        authors = _authors(session, question.answer) if form != "md" else {}
    match form:
        case "md":
            text = exports.markdown(question_view(question, options), answer)
        case "bib":
            text = exports.bibtex(answer.references, authors)
        case _:
            text = exports.ris(answer.references, authors)
    return Response(
        text.encode(),
        media_type=f"{media_type}; charset=utf-8",
        headers={"Content-Disposition": f'inline; filename="attest-{question_id}.{form}"'},
    )


@router.post("/questions/{question_id}/again", dependencies=[needs(Scope.ASK)])
def ask_again(
    request: Request, question_id: UUID, form: FormOrNothing, gateway: InGateway, caller: InCaller
) -> Response:
    """Ask the same once more, of what is held now."""
    with gateway.store.reading() as session:
        question, options = _found(session, caller, question_id)
    return _submit(request, gateway, caller, key_of(form), question.question, options)


@router.post("/questions/{question_id}/cure", dependencies=[needs(Scope.OPERATE)])
def cure(request: Request, question_id: UUID, gateway: InGateway, caller: InCaller) -> Response:
    """Refresh what is followed and could cure the abstention, and lead back to its page."""
    with gateway.store.reading() as session:
        question, _ = _found(session, caller, question_id)
        sources = _followed(session, answer_view(question.answer) if question.answer else None)
    if not sources:
        raise Problem(422, "nothing is followed that could help: follow a query in the library")
    with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
        promised = [
            refresh.id
            for name in sources
            for refresh in refresh_requests.refresh_followed(work, name, now())
        ]
    query = "&".join(f"refresh={refresh_id}" for refresh_id in promised[:20])
    return RedirectResponse(f"/questions/{question_id}?{query}#cure", 303)


def _found(
    session: Session, caller: Caller, question_id: UUID
) -> tuple[QuestionOut, Mapping[str, Any]]:
    """The question and its options.

    Raises:
        Problem: there is no such question.
    """
    current = snapshot(session, caller, question_id)
    return current.resource, current.options


def _refreshes(session: Session, ids: Sequence[UUID]) -> list[dict[str, Any]]:
    """The states of these refreshes."""
    states = []
    for refresh_id in ids:
        refresh = session.get(Refresh, refresh_id)
        if refresh is not None:
            source = session.get_one(Watch, refresh.watch_id).source
            known = connector_policies().get(source)
            states.append(
                {
                    "id": str(refresh_id),
                    "name": known.name if known else source,
                    "status": refresh.status,
                    "open": refresh.status in refreshes.ACTIVE,
                }
            )
    return states


def _followed(session: Session, answer: AnswerView | None) -> list[str]:
    """The followed connectors whose kind of source could cure the abstention."""
    if answer is None or answer.abstention is None:
        return []
    if answer.abstention.reason not in ("stale", "no_evidence", "low_trust_only", "conflict"):
        return []
    wanted = set(answer.abstention.sources)
    active = session.exec(select(Watch.source).where(col(Watch.active)).distinct())
    return [
        name
        for name in sorted(active)
        if (known := connector_policies().get(name)) is not None
        and known.source_type is not None
        and (not wanted or known.source_type in wanted)
    ]


def _authors(session: Session, body: Mapping[str, Any]) -> dict[int, list[str]]:
    """All authors of the cited versions, by the number of the reference."""
    versions = {
        record["evidence_id"]: record["version_id"]
        for record in body["evidence"]
        if record.get("version_id")
    }
    numbers = {entry["n"]: versions.get(entry["evidence_id"]) for entry in body["references"]}
    rows = session.exec(
        select(DocumentVersion.id, DocumentVersion.authors).where(
            col(DocumentVersion.id).in_([UUID(version) for version in numbers.values() if version])
        )
    )
    named = {str(version_id): list(authors) for version_id, authors in rows}
    return {n: named.get(version_id or "", []) for n, version_id in numbers.items()}
