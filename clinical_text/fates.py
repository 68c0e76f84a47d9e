"""What became of a work, as its own title and first lines say: retracted, withdrawn, replaced.

Titles and notices are worded as NISO RP-45-2024 (Communication of Retractions, Removals, and
Expressions of Concern) and the publishers before it word them. The bare words are no fate:
"Retraction pockets in children" and "Withdrawal of opioids" are medicine, and what is said of a
drug is not said of the work.
"""

import re
from collections.abc import Iterator
from typing import Literal

Fate = Literal[
    "retraction", "withdrawal", "removal", "supersession", "expression_of_concern", "correction"
]

HEAD_CHARS = 1_500
"""How much of a text may speak of its own fate: a notice stands before what it is about."""

_FATES: dict[str, Fate] = {
    **{"retract": "retraction", "withdr": "withdrawal", "remov": "removal"},
    **dict.fromkeys(("replace", "supersed", "archiv", "retire", "rescind"), "supersession"),
    **{"correct": "correction", "concern": "expression_of_concern"},
}
_WORK = (
    r"(?:(?:research|original|review|case|short|coverage|journal|conference|clinical)\s)?"
    r"(?:article|paper|manuscript|pre-?print|publication|review|chapter|report|work|study|guideline"
    r"|guidance|recommendations?|statement|version|edition|document|letter|editorial|commentary"
    r"|abstract|protocol|book|poster|polic(?:y|ies)|determination|label(?:ing)?|page)s?\b"
)
_ENDED = r"(?P<{}>retracted|withdrawn|removed)"
_SIGN = r"(?:\s?[\])】]\s?[:.–—-]?|\s?[:.|](?=\s)|\s[–—-](?=\s)|[–—])"

# "RETRACTED: …", "[Withdrawn article] …", "Retraction note to: …", "Expression of concern: …"
_LABEL = re.compile(
    rf"\s{{0,20}}(?P<open>[\[(【*]\s?)?(?:temporary\s|partial\s)?"
    rf"(?:{_ENDED.format('ended')}(?:\s(?:and|&)\s(?:replaced|republished|removed))?"
    rf"(?P<work>\s{_WORK})?{_SIGN}"
    rf"|(?:notice\sof\s|statement\sof\s)?(?P<noun>retraction|withdrawal|removal)"
    rf"(?P<notice>\s(?:notice|note|statement))?(?:\s(?:to|of|for))?"
    rf"(?:{_SIGN}|\s?(?P<quoted>[:\"“‘«]))"
    rf"|(?:editor(?:ial|['’]s)\s)?(?:expression|notice|note|statement)\sof\s(?:editorial\s)?"
    rf"(?P<concern>concern)(?:{_SIGN}|\s(?:on|for|to|about|regarding|concerning)\s?[:\"“‘«]))\s*",
    re.IGNORECASE,
)
# "WITHDRAWN A preprint"
_BARE = re.compile(r"\s{0,20}(?:RETRACTED|WITHDRAWN)(?:\sARTICLE)?\b(?=\s\S)")
# "… [RETRACTED]", "… (Retracted article. See vol. 12)", "…: retracted article", "… - WITHDRAWN"
_TAIL = re.compile(
    rf"\s?(?:[\[(【]\s?{_ENDED.format('bracketed')}\b(?P<more>[^\])]{{0,200}})[\])】]"
    rf"|[:.–—-]\s?{_ENDED.format('behind')}(?P<behind_work>\s{_WORK})?)\.?\s*\Z",
    re.IGNORECASE,
)
_SELF = (
    r"(?:this|the\s(?:above|following|present)|our|their)\s(?:[\w-]{1,30}\s){0,2}?"
    rf"(?P<what>{_WORK})"
)
_VERB = (
    r"(?P<verb>retracted|withdrawn|removed|replaced|superseded|archived|retired|rescinded"
    r"|corrected)\b"
)
_CLAUSE = r"(?:(?!\b(?:that|which|who|whose)\b)[^\n]){0,400}?"
# What may part a work from its verb: who wrote it and where, never a clause on something else.
_ASIDE = rf"(?:\s?[(\[“\"‘,]{_CLAUSE}[)\]”\"’,])?"
_FROM = rf"(?:\s(?:from|by|entitled|titled|published)\s{_CLAUSE},)?"
_SAYINGS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # "This article has been formally retracted", "The following article from … has been …"
        rf"\b{_SELF}{_FROM}{_ASIDE}\s(?:(?:has|have)\s(?:now\s)?been|is|was|were)\s"
        rf"(?:(?!not\b|never\b)[\w-]{{1,20}}\s){{0,2}}?{_VERB}",
        # "The editors have retracted this article", "We retract our paper"
        rf"(?<!not )(?<!never )\b(?P<verb>retract(?:s|ed|ing)?|withdr[ae]w(?:s|n|ing)?)\s{_SELF}",
        # "the retraction of this article"
        rf"\b(?P<verb>retraction|withdrawal|concern)\s(?:of|about|for|on|regarding)\s{_SELF}",
        r"\b(?:issu|publish|attach|plac)\w{1,4}\s(?:an?\s|this\s|the\s)?(?:editorial\s)?"
        r"expression\sof\s(?P<verb>concern)\b",
    )
)
_ALONE = re.compile(
    rf"\W{{0,40}}(?:{_ENDED.format('ended')}(?P<work>\s{_WORK})?"
    rf"|(?P<noun>retraction|withdrawal)\s(?:notice|note|statement)"
    rf"|(?:editorial\s)?expression\sof\s(?P<concern>concern))\W{{0,40}}",
    re.IGNORECASE,
)
_STATUS = re.compile(
    rf"\W{{0,20}}(?P<status>retracted|withdrawn|removed|superseded|replaced|archived|retired|rescinded)"
    rf"(?:\s(?:and\s\w{{1,20}}|{_WORK}))?\W{{0,20}}",
    re.IGNORECASE,
)
_DOUBTFUL = re.compile(
    r"\b(?:if|whether|unless|until|when|once|after|should|not|never|why)\s\Z", re.I
)
_TRIALS = re.compile(r"(?:stud|protocol)", re.IGNORECASE)


def fate(title: str, text: str) -> Fate | None:
    """What a work says became of it, in its title or else in its first lines; None: nothing."""
    return fate_of_title(title) or fate_of_text(text)


def fate_of_title(title: str) -> Fate | None:
    """What the title says became of the work; None if it says nothing."""
    if label := _LABEL.match(title[:300]):
        if label["concern"]:
            return "expression_of_concern"
        word = label["ended"] or label["noun"]
        sure = (
            label["open"] or label["work"] or label["notice"] or label["quoted"] or word.isupper()
        )
        # "Removed: …" and "Withdrawal: …" may be a subject, "Retraction: …" as a title is none.
        if sure or word.lower() in ("retracted", "retraction", "withdrawn"):
            return _of(word)
    if (bare := _BARE.match(title)) and not title.isupper():
        return _of(bare[0].strip())
    if tail := _TAIL.search(title[-400:]):
        if word := tail["bracketed"]:
            return _of(word) if word.lower() != "removed" or tail["more"] else None
        word = tail["behind"]
        return _of(word) if word.isupper() or tail["behind_work"] else None
    return None


def fate_of_status(value: str) -> Fate | None:
    """The fate that a field states by itself, such as `Retracted Publication`; None: none."""
    found = _STATUS.fullmatch(value[:60])
    return _of(found["status"]) if found else None


def without_fate(title: str) -> str:
    """The title without the label of its fate, as it was before."""
    label = _LABEL.match(title[:300])
    return title[label.end() :] if label and not label["noun"] and not label["concern"] else title


def fate_of_text(text: str) -> Fate | None:
    """What the first lines of a text say became of the work; None if they say nothing."""
    head = text[:HEAD_CHARS]
    found = list(_said(head))
    for line in head.split("\n"):
        alone = _ALONE.fullmatch(line[:120])
        word = alone and (alone["ended"] or alone["noun"] or alone["concern"])
        if alone and word and (word.isupper() or not alone["ended"] or alone["work"]):
            found.append(_of(word))
    if label := fate_of_title(head.lstrip("# \n").split("\n", 1)[0]):
        found.append(label)
    return min(found, key=list(_FATES.values()).index, default=None)


def _said(head: str) -> Iterator[Fate]:
    for saying in _SAYINGS:
        for said in saying.finditer(head):
            of_trial = _TRIALS.match(said.groupdict().get("what") or "")
            # A study that is withdrawn may never have begun: only a publication is retracted.
            if of_trial and not said["verb"].lower().startswith("retract"):
                continue
            if not _DOUBTFUL.search(head[max(0, said.start() - 12) : said.start()]):
                yield _of(said["verb"])


def _of(word: str) -> Fate:
    return next(kind for stem, kind in _FATES.items() if word.lower().startswith(stem))
