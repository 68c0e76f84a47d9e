"""Edits of sentences that turn what they say, for `benchmarks.guards`. By rule, no model."""

import random
import re

from benchmarks.guard_edits import FLIPS, Case, false, swapped_sides


@false("direction flipped")
def _flipped(case: Case, rng: random.Random) -> str | None:
    places = [m for m in re.finditer(r"[A-Za-z]+", case.sentence) if m[0] in FLIPS]
    if not places:
        return None
    m = rng.choice(places)
    return case.sentence[: m.start()] + FLIPS[m[0]] + case.sentence[m.end() :]


@false("negation inserted")
def _inserted(case: Case, rng: random.Random) -> str | None:
    places = list(
        re.finditer(
            r"\b(?:is|are|was|were|can|may|will|should|has been|have been|could)\b"
            r"(?! not\b| no\b| neither\b| never\b| only\b| less\b| unlikely\b)",
            case.sentence,
        )
    )
    if not places:
        return None
    m = rng.choice(places)
    return f"{case.sentence[: m.end()]} not{case.sentence[m.end() :]}"


@false("verb negated")
def _verb_negated(case: Case, rng: random.Random) -> str | None:
    verbs = {
        "increased": "did not increase", "reduced": "did not reduce", "improved": "did not improve",
        "showed": "did not show", "reduces": "does not reduce", "increases": "does not increase",
        "plays": "does not play", "induced": "did not induce", "requires": "does not require",
        "led to": "did not lead to", "resulted in": "did not result in", "had": "did not have",
    }  # fmt: skip
    places = [
        m
        for m in re.finditer(rf"(?<=[a-z0-9)] )(?:{'|'.join(verbs)})\b(?! by\b)", case.sentence)
        if not re.search(r"\b(?:is|are|was|were|be|been|not|of|with|and|the|an?|in|to)"
                         r" (?:\w+ly )?$", case.sentence[: m.start()])
    ]  # fmt: skip
    if not places:
        return None
    m = rng.choice(places)
    return case.sentence[: m.start()] + verbs[m[0]] + case.sentence[m.end() :]


@false("negation removed")
def _removed(case: Case, rng: random.Random) -> str | None:
    changes = (
        (r"\b(is|are|was|were|can|may|will|should|has|have|could) not\b(?! only| yet)", r"\1"),
        (r"\bdid not (\w+)", r"did \1"),
        (r"\bdoes not (\w+)", r"does \1"),
        (r"\bfailed to (\w+)", r"managed to \1"),
        (
            r"\b[Nn]o (?=significant|association|difference|effect|evidence|change|benefit)",
            "a ",
        ),
        (r"(?<!or )(?<!and )(?<!versus )\bwithout\b(?! or)", "with"),
    )
    options = [
        re.sub(pattern, other, case.sentence, count=1)
        for pattern, other in changes
        if re.search(pattern, case.sentence)
    ]
    return rng.choice(options) if options else None


@false("hedge removed")
def _unhedged(case: Case, _rng: random.Random) -> str | None:
    verb = {"be": "is", "have": "has"}
    found = re.search(
        r"\b(?:may|might|could) (?:also |potentially |possibly )?([a-z]+)\b", case.sentence
    )
    if found is None or len(_CUES.findall(case.sentence)) > 1:
        return None
    changed = verb.get(found[1], f"{found[1]}s")
    return case.sentence[: found.start()] + changed + case.sentence[found.end() :]


_CUES = re.compile(
    r"\b(?:may|might|could|can|suggest\w*|appear\w*|seem\w*|possib\w+|potential\w*|hypothes\w+|likely"
    r"|whether|probabl\w+|indicat\w+)\b"
)


@false("“suggests that” removed")
def _unsuggested(case: Case, _rng: random.Random) -> str | None:
    found = re.match(r"^.{0,80}\bsuggest(?:s|ed|ing)? that (.{30,})$", case.sentence)
    if found is None or _CUES.search(found[1]):
        return None
    return found[1][0].upper() + found[1][1:]


@false("aim as result")
def _aim(case: Case, _rng: random.Random) -> str | None:
    found = re.search(r"\bwhether ([^,;.]{30,200})\.$", case.sentence)
    if found is None or _CUES.search(found[1]):
        return None
    return found[1][0].upper() + found[1][1:] + "."


@false("plan as result")
def _plan(case: Case, _rng: random.Random) -> str | None:
    found = re.search(
        r"\bwill (be [a-z]+ed|provide|receive|improve|reduce|lead|require)\b", case.sentence
    )
    if found is None:
        return None
    past = {"provide": "provided", "receive": "received", "improve": "improved",
            "reduce": "reduced", "lead": "led", "require": "required"}  # fmt: skip
    done = past.get(found[1], found[1].replace("be ", "was ", 1))
    return case.sentence[: found.start()] + done + case.sentence[found.end() :]


@false("condition removed")
def _condition(case: Case, _rng: random.Random) -> str | None:
    changed = re.sub(
        r",? (?:if|unless|except|only in|only when|provided that)\b[^,;.()]{15,}(?=[,.])", "",
        case.sentence,
    )  # fmt: skip
    return changed if changed != case.sentence and len(changed) > 40 else None


@false("animals dropped")
def _animals(case: Case, _rng: random.Random) -> str | None:
    changed = re.sub(
        r" (?:in|of) (?:\w+ )?(?:mice|rats|vitro|zebrafish|animals)\b", "", case.sentence
    )
    rest = re.search(
        r"\b(?:mice|mouse|murine|rats?|vitro|vivo|cells?|animals?|zebrafish|xeno\w+|culture\w*|embryos?)\b",
        changed,
    )
    return changed if changed != case.sentence and len(changed) > 40 and not rest else None


@false("sides swapped")
def _sides(case: Case, _rng: random.Random) -> str | None:
    return swapped_sides(case.sentence, reverse=False)


@false("other document")
def _other(case: Case, _rng: random.Random) -> str | None:
    return case.other


@false("quantifier added")
def _quantified(case: Case, _rng: random.Random) -> str | None:
    found = re.match(
        r"^(?:The )?([Pp]atients|[Ww]omen|[Cc]hildren|[Mm]utations|[Cc]ells) ", case.sentence
    )
    return f"All {found[1].lower()} {case.sentence[found.end() :]}" if found else None


@false("recommendation raised")
def _recommended(case: Case, _rng: random.Random) -> str | None:
    changed = re.sub(
        r"\b(?:may|might|could|can) be (?:considered|used)\b", "is recommended", case.sentence
    )
    changed = re.sub(r"\bshould be considered\b", "must be given", changed)
    return changed if changed != case.sentence else None


@false("association as cause")
def _cause(case: Case, _rng: random.Random) -> str | None:
    changed = re.sub(r"\b(?:is|are|was|were) (?:\w+ly )?associated with\b", "caused", case.sentence)
    return changed if changed != case.sentence and not _causal(case.sentence) else None


def _causal(text: str) -> bool:
    return re.search(r"\b(?:caus\w+|due to|lead\w*|led to|result\w* in)\b", text) is not None


@false("name invented")
def _name(case: Case, rng: random.Random) -> str | None:
    names = re.findall(r"(?<=[a-z] )\b[A-Z][A-Za-z]*\d*[A-Z0-9]+\b", case.sentence)
    return case.sentence.replace(rng.choice(names), "ZNF717", 1) if names else None


@false("limit removed")
def _limit(case: Case, _rng: random.Random) -> str | None:
    changed = re.sub(
        r"\b(?:Few|Some|Most|A minority of) (?=[a-z])(?!important|recent|notabl|of)",
        "",
        case.sentence,
    )
    return changed[0].upper() + changed[1:] if changed != case.sentence else None
