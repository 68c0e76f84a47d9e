"""Exports: an answer as Markdown, its references as BibTeX and RIS. Pure.

Titles, authors and claims are untrusted: the special characters of each format are escaped, so that
no word of a source becomes a field, an entry or a heading.
"""

import re
from collections.abc import Mapping, Sequence

from api_gateway.questions.answer_view import AnswerView, ClaimView, LeadView, SideView
from api_gateway.questions.view import QuestionView
from api_gateway.sources.view import ReferenceView
from store.core.printable import printable

MEDIA_TYPES: Mapping[str, str] = {
    "md": "text/markdown",
    "bib": "application/x-bibtex",
    "ris": "application/x-research-info-systems",
}
_BREAKS = re.compile(r"\s+")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~$!&@(){}])")
_MARKDOWN_START = re.compile(r"^([-+=:])|^(\d+)([.)])")
_BIBTEX = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{char: f"\\{char}" for char in "$&#_%"},
}
"""Braces become commands, as BibTeX counts them even after a backslash."""
_NAME = re.compile(r"(.{1,200}?) ([A-Z]{1,4})")
"""A family name and initials, as PubMed writes them."""


def markdown(question: QuestionView, answer: AnswerView) -> str:
    """The answer as Markdown, with its badges, citations, references and clocks."""
    lines = [f"# {_md(question.text)}", "", _made(question, answer), ""]
    lines += _md_lead(answer.lead) if answer.lead else []
    for remark in answer.remarks:
        lines += [f"**Note:** {_md(remark.detail)}", ""]
    if answer.abstention is not None:
        abstention = answer.abstention
        lines += [f"**No answer: {_md(abstention.title)}.** {_md(abstention.detail)}", ""]
        lines += [f"What would help: {_md(abstention.cure)}", ""]
    for section in answer.sections:
        lines += [f"## {_md(section.heading)}", ""]
        lines += [*(_md_claim(claim) for claim in section.claims), ""]
    for conflict in answer.conflicts:
        lines += [f"## Conflict: {_md(conflict.about)}", "", f"{_md(conflict.decided)}.", ""]
        lines += [
            *(_md_side(side) for side in conflict.sides),
            "",
        ]
    if answer.references:
        lines += ["## References", "", *(_md_reference(entry) for entry in answer.references), ""]
    return "\n".join(lines)


def _md_lead(lead: LeadView) -> list[str]:
    """The first line with its claims, as a table where it is one, and its strength."""
    lines = [f"**{lead.said}.**"] if lead.said else []
    lines += [_md(lead.text)] if lead.text else []
    if lead.table:
        rows = [list(map(_md, row)) for row in (lead.table.columns, *lead.table.rows)]
        rows.insert(1, ["---"] * len(lead.table.columns))
        lines += [*(f"| {' | '.join(row)} |" for row in rows), ""]
    lines += [_md_claim(claim) for claim in lead.claims]
    lines += [_md(lead.note)] if lead.note else []
    return [*lines, *([f"*Evidence: {_md(lead.strength)}*"] if lead.strength else []), ""]


def _made(question: QuestionView, answer: AnswerView) -> str:
    facts = [f"Answered {question.finished.words}" if question.finished else ""]
    facts.append(f"evidence last updated {answer.updated.words}" if answer.updated else "")
    facts.append(f"since then: {answer.recall.state}")
    return f"*{_md(' · '.join(filter(None, facts)))}*"


def _md_claim(claim: ClaimView) -> str:
    places = []
    for place in claim.citations:
        number = f"[{place.number}]" if place.number is not None else place.title
        places.append(f"{number}, version {place.version}, {place.citation}")
    return f"- {_md(claim.text)} **{claim.badge.label}** ({_md('; '.join(places))})"


def _md_side(one: SideView) -> str:
    age = one.clocks
    when = (age.published if age else None) or one.published
    facts = [one.source, f"published {when.words}" if when else ""]
    if age is not None and age.checked is not None:
        facts.append(f"checked {age.checked.words} ({age.state.label.lower()})")
    of = "; ".join(filter(None, facts))
    return f"- {_md(one.title)}{f' ({_md(of)})' if of else ''}: “{_md(one.quote)}”"


def _md_reference(one: ReferenceView) -> str:
    by = ". ".join(filter(None, (one.authors, one.source, str(one.year or ""))))
    age = ""
    if one.clocks is not None and one.clocks.checked is not None:
        age = f" Checked {one.clocks.checked.words} ({one.clocks.state.label.lower()})."
    url = _line(one.url).replace("<", "%3C").replace(">", "%3E")
    return f"{one.n}. [{_md(one.title)}](<{url}>) {_md(by)}.{_md(age)}"


def _md(words: str) -> str:
    """`words` on one line, with the special characters of Markdown and HTML escaped."""
    plain = _MARKDOWN.sub(r"\\\1", _line(words))
    return _MARKDOWN_START.sub(
        lambda match: f"\\{match[1]}" if match[1] else f"{match[2]}\\{match[3]}", plain
    )


def bibtex(
    references: Sequence[ReferenceView], authors: Mapping[int, Sequence[str]] | None = None
) -> str:
    """The references as BibTeX (UTF-8).

    Args:
        authors: all authors by number of the reference, if known; otherwise those shown are used.
    """
    keys: set[str] = set()
    entries = []
    for entry in references:
        kind = "article" if _is_article(entry) else "misc"
        names = " and ".join(_bibtex_name(name) for name in _authors(entry, authors))
        fields = {
            "title": f"{{{_tex(entry.title)}}}",
            "author": names,
            "journal" if kind == "article" else "howpublished": _tex(entry.source),
            "year": str(entry.year or ""),
            "url": _tex_url(entry.url),
            **{_TEX_FIELDS[name]: _tex_url(value) for name, value in entry.identifiers},
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        entries.append("\n".join([f"@{kind}{{{_key(entry, keys)},", *lines, "}", ""]))
    return "\n".join(entries)


_TEX_FIELDS = {"PMID": "pmid", "DOI": "doi", "NCT": "nct"}


def _tex(words: str) -> str:
    return "".join(_BIBTEX.get(char, char) for char in _line(words))


def _tex_url(value: str) -> str:
    """An address or identifier, with only the characters escaped that could end its field."""
    escaped = _line(value).replace(" ", "%20").replace("\\", "%5C")
    return escaped.replace("{", "%7B").replace("}", "%7D")


def _bibtex_name(name: str) -> str:
    if name == _OTHERS:
        return "others"
    if match := _NAME.fullmatch(_line(name)):
        return f"{_tex(match[1])}, {' '.join(f'{initial}.' for initial in match[2])}"
    return f"{{{_tex(name)}}}"


def _key(one: ReferenceView, taken: set[str]) -> str:
    first = re.sub(r"[^a-z]", "", one.authors.split(" ")[0].split(",")[0].lower()) or "ref"
    key = f"{first}{one.year or ''}"
    if key in taken:
        key = f"{key}-{one.n}"
    taken.add(key)
    return key


def ris(
    references: Sequence[ReferenceView], authors: Mapping[int, Sequence[str]] | None = None
) -> str:
    """The references as RIS: one tag per line, so no value may contain a line break."""
    lines: list[str] = []
    for entry in references:
        lines.append(f"TY  - {'JOUR' if _is_article(entry) else 'ELEC'}")
        lines += [
            f"AU  - {_ris_name(name)}" for name in _authors(entry, authors) if name != _OTHERS
        ]
        tags = [("TI", entry.title), ("T2", entry.source), ("PY", str(entry.year or ""))]
        tags += [(_RIS_TAGS[name], value) for name, value in entry.identifiers]
        tags += [("UR", entry.url), *(("KW", badge) for badge in entry.badges)]
        lines += [f"{tag}  - {_line(value)}" for tag, value in tags if value]
        lines += ["ER  - ", ""]
    return "\r\n".join(lines)


_RIS_TAGS = {"PMID": "AN", "DOI": "DO", "NCT": "AN"}


def _ris_name(name: str) -> str:
    plain = _line(name)
    if match := _NAME.fullmatch(plain):
        return f"{match[1]}, {' '.join(f'{initial}.' for initial in match[2])}"
    return plain


_OTHERS = "et al."


def _authors(one: ReferenceView, known: Mapping[int, Sequence[str]] | None) -> list[str]:
    """The names of the authors; `et al.` stands for those that are not named."""
    names = (known or {}).get(one.n)
    if names:
        return [_OTHERS if _line(name).lower().rstrip(".") == "et al" else name for name in names]
    shown = _line(one.authors)
    rest = shown.endswith(_OTHERS)
    names_shown = [name.strip() for name in shown.removesuffix(_OTHERS).split(",") if name.strip()]
    return [*names_shown, _OTHERS] if rest else names_shown


def _is_article(one: ReferenceView) -> bool:
    return any(name in ("PMID", "DOI") for name, _ in one.identifiers)


def _line(words: str) -> str:
    """`words` on one line without control or bidi characters; the pages show the exact words."""
    return printable(_BREAKS.sub(" ", words).strip())
