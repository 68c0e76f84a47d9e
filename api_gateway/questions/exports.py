"""An answer as Markdown, its references as BibTeX and RIS. Pure.

Titles, authors and claims come from anywhere: each format's own signs are made harmless, so that no
word of a source becomes a field, an entry or a heading.
"""

import re
from collections.abc import Mapping, Sequence

from api_gateway.questions.answer_view import AnswerView, ClaimView, SideView
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
    **{sign: f"\\{sign}" for sign in "$&#_%"},
}
"""Braces become words: BibTeX counts them even behind a backslash."""
_NAME = re.compile(r"(.{1,200}?) ([A-Z]{1,4})")
"""A family name and initials, as PubMed writes them."""


def markdown(question: QuestionView, answer: AnswerView) -> str:
    """The answer with its badges, citations, references and clocks."""
    lines = [f"# {_md(question.text)}", "", _made(question, answer), ""]
    for remark in answer.remarks:
        lines += [f"**Note:** {_md(remark.detail)}", ""]
    if answer.abstention is not None:
        told = answer.abstention
        lines += [f"**No answer: {_md(told.title)}.** {_md(told.detail)}", ""]
        lines += [f"What would cure it: {_md(told.cure)}", ""]
    if answer.lead_text:
        lines += [_md(answer.lead_text), ""]
    for section in answer.sections:
        lines += [f"## {_md(section.heading)}", ""]
        lines += [*(_md_claim(one) for one in section.claims), ""]
    for conflict in answer.conflicts:
        lines += [f"## Conflict: {_md(conflict.about)}", "", f"{_md(conflict.decided)}.", ""]
        lines += [
            *(_md_side(one) for one in conflict.sides),
            "",
        ]
    if answer.references:
        lines += ["## References", "", *(_md_reference(one) for one in answer.references), ""]
    return "\n".join(lines)


def _made(question: QuestionView, answer: AnswerView) -> str:
    told = [f"Answered {question.finished.words}" if question.finished else ""]
    told.append(f"evidence last updated {answer.updated.words}" if answer.updated else "")
    told.append(f"recall state: {answer.recall.state}")
    return f"*{_md(' · '.join(filter(None, told)))}*"


def _md_claim(claim: ClaimView) -> str:
    places = []
    for one in claim.citations:
        number = f"[{one.number}]" if one.number is not None else one.title
        places.append(f"{number}, version {one.version}, {one.citation}")
    return f"- {_md(claim.text)} **{claim.badge.label}** ({_md('; '.join(places))})"


def _md_side(one: SideView) -> str:
    age = one.clocks
    when = (age.published if age else None) or one.published
    told = [one.source, f"published {when.words}" if when else ""]
    if age is not None and age.checked is not None:
        told.append(f"checked {age.checked.words} ({age.state.label.lower()})")
    of = "; ".join(filter(None, told))
    return f"- {_md(one.title)}{f' ({_md(of)})' if of else ''}: “{_md(one.quote)}”"


def _md_reference(one: ReferenceView) -> str:
    by = ". ".join(filter(None, (one.authors, one.source, str(one.year or ""))))
    age = ""
    if one.clocks is not None and one.clocks.checked is not None:
        age = f" Checked {one.clocks.checked.words} ({one.clocks.state.label.lower()})."
    url = _line(one.url).replace("<", "%3C").replace(">", "%3E")
    return f"{one.n}. [{_md(one.title)}](<{url}>) {_md(by)}.{_md(age)}"


def _md(words: str) -> str:
    """`words` on one line, with nothing that Markdown or HTML takes for a sign."""
    plain = _MARKDOWN.sub(r"\\\1", _line(words))
    return _MARKDOWN_START.sub(lambda at: f"\\{at[1]}" if at[1] else f"{at[2]}\\{at[3]}", plain)


def bibtex(
    references: Sequence[ReferenceView], authors: Mapping[int, Sequence[str]] | None = None
) -> str:
    """The references as BibTeX (UTF-8).

    Args:
        authors: all authors by number of the reference, where they are known; else those shown.
    """
    keys: set[str] = set()
    entries = []
    for one in references:
        kind = "article" if _is_article(one) else "misc"
        names = " and ".join(_bibtex_name(name) for name in _authors(one, authors))
        fields = {
            "title": f"{{{_tex(one.title)}}}",
            "author": names,
            "journal" if kind == "article" else "howpublished": _tex(one.source),
            "year": str(one.year or ""),
            "url": _tex_url(one.url),
            **{_TEX_FIELDS[name]: _tex_url(value) for name, value in one.identifiers},
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        entries.append("\n".join([f"@{kind}{{{_key(one, keys)},", *lines, "}", ""]))
    return "\n".join(entries)


_TEX_FIELDS = {"PMID": "pmid", "DOI": "doi", "NCT": "nct"}


def _tex(words: str) -> str:
    return "".join(_BIBTEX.get(sign, sign) for sign in _line(words))


def _tex_url(value: str) -> str:
    """An address or identifier as it is, save what would end its field."""
    found = _line(value).replace(" ", "%20").replace("\\", "%5C")
    return found.replace("{", "%7B").replace("}", "%7D")


def _bibtex_name(name: str) -> str:
    if name == _OTHERS:
        return "others"
    if found := _NAME.fullmatch(_line(name)):
        return f"{_tex(found[1])}, {' '.join(f'{initial}.' for initial in found[2])}"
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
    """The references as RIS: a tag a line, so that no value may break one."""
    lines: list[str] = []
    for one in references:
        lines.append(f"TY  - {'JOUR' if _is_article(one) else 'ELEC'}")
        lines += [f"AU  - {_ris_name(name)}" for name in _authors(one, authors) if name != _OTHERS]
        told = [("TI", one.title), ("T2", one.source), ("PY", str(one.year or ""))]
        told += [(_RIS_TAGS[name], value) for name, value in one.identifiers]
        told += [("UR", one.url), *(("KW", badge) for badge in one.badges)]
        lines += [f"{tag}  - {_line(value)}" for tag, value in told if value]
        lines += ["ER  - ", ""]
    return "\r\n".join(lines)


_RIS_TAGS = {"PMID": "AN", "DOI": "DO", "NCT": "AN"}


def _ris_name(name: str) -> str:
    plain = _line(name)
    if found := _NAME.fullmatch(plain):
        return f"{found[1]}, {' '.join(f'{initial}.' for initial in found[2])}"
    return plain


_OTHERS = "et al."


def _authors(one: ReferenceView, known: Mapping[int, Sequence[str]] | None) -> list[str]:
    """One name each; `et al.` stands for those that are not named."""
    names = (known or {}).get(one.n)
    if names:
        return [_OTHERS if _line(name).lower().rstrip(".") == "et al" else name for name in names]
    shown = _line(one.authors)
    rest = shown.endswith(_OTHERS)
    found = [name.strip() for name in shown.removesuffix(_OTHERS).split(",") if name.strip()]
    return [*found, _OTHERS] if rest else found


def _is_article(one: ReferenceView) -> bool:
    return any(name in ("PMID", "DOI") for name, _ in one.identifiers)


def _line(words: str) -> str:
    """On one line, with nothing that acts where the file is shown; the pages have exact words."""
    return printable(_BREAKS.sub(" ", words).strip())
