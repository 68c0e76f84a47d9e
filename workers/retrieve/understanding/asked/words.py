"""How ordinary a word of English is, by its rank in the packaged encoder's list of words. Pure.

The list of BERT's uncased model is ordered by how frequent words were in the books and articles
that it was made from (Devlin et al., 2019): what it lacks or has late is rare, and a rare word
names something.
"""

import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache

from workers.encoder.minilm import model_folder

_ORDINARY = 10_000
"""Ranks below it are ordinary words; ours, between "carried" (3,344) and "kidney" (14,234)."""
_ENDINGS = re.compile(r"(?:ings?|e[dsr]|ly|ied|ies|i?er|est|s|['’]s)$")


@cache
def _ranks() -> Mapping[str, int]:
    """Each word's rank. Pieces of words are not among them."""
    tokenizer = json.loads((model_folder() / "tokenizer.json").read_text("utf-8"))
    return {
        word: rank for word, rank in tokenizer["model"]["vocab"].items() if not word.startswith("#")
    }


@lru_cache(maxsize=16_384)
def is_ordinary(word: str) -> bool:
    """Whether a word, or what it is a form of, is among the ordinary ones, in lower case."""
    if "-" in word.strip("-"):
        return all(is_ordinary(part) for part in word.split("-") if part)
    base = _ENDINGS.sub("", word)
    forms = (word, base, f"{base}e", f"{base}y", base[:-1] if base[-1:] == base[-2:-1] else base)
    return any(_ranks().get(form, _ORDINARY) < _ORDINARY for form in forms if form)


def is_english(word: str) -> bool:
    """Whether a word is on the list at all, in lower case: what is not stands in few books."""
    return word in _ranks() or word.removesuffix("s") in _ranks()
