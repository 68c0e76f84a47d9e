"""Whether words are a date or a time of day and nothing else. Pure.

A number, a ratio and a fraction are results: `6.8`, `132`, `88/40`, `1:40`, `2021: 12.4`.
"""

import re

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_WEEKDAY = r"(?:mon|tue(?:s)?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b[.,]?\s*"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_YEAR = r"(?:(?:19|20)\d\d|\d\d)"
_FULL_YEAR = r"(?:19|20)\d\d"
_DATE = (
    rf"(?:{_DAY}(?P<a>[/.-]){_DAY}(?P=a){_YEAR}|{_FULL_YEAR}(?P<b>[/.-]){_DAY}(?P=b){_DAY}"
    rf"|{_DAY}(?:st|nd|rd|th)?[\s-]*{_MONTH}[\s,-]*{_FULL_YEAR}"
    rf"|{_MONTH}\s*{_DAY}(?:st|nd|rd|th)?[\s,]+{_FULL_YEAR})"
)
_TIME = (
    r"(?:(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:\s*(?:[ap]\.?m\b\.?|hrs|h))?"
    r"|(?:0?[1-9]|1[0-2])(?:[:.][0-5]\d)?\s*[ap]\.?m\b\.?)"
)
_FULL = re.compile(
    rf"(?:{_WEEKDAY})?{_DATE}(?:(?:[\s,;–—-]+(?:at\s+)?|t){_TIME})?|{_TIME}", re.IGNORECASE
)
_LONGEST = 48


def is_date(words: str) -> bool:
    """Whether words are a whole calendar date, with or without a time, or a time."""
    return len(words) <= _LONGEST and _FULL.fullmatch(words) is not None
