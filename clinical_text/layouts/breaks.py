"""Line ends and signs that a program has written as codes: "\\.br\\", "<br/>", "&gt;". Pure."""

import re

from clinical_text.layouts.sheet import FILL

_LEAST = 2
"""Line ends of a program's text from which they are no path or name (ours)."""
_BREAK = re.compile(r"\\\.(?:br|sp)\\|\\X0[AD]\\(?:\\X0[AD]\\)?|<br ?/?>|&#(?:10|13|x[aAdD]);")
_ESCAPED = re.compile(r"\\r\\n|\\n(?![a-z])")
_SIGNS = {"&gt;": ">", "&lt;": "<", "&amp;": "&", "&quot;": '"', "&apos;": "'", "&#39;": "'",
          "&nbsp;": " ", "\\T\\": "&"}  # fmt: skip
_COMMENTED = re.compile(r"(?m)^(?P<mark>[#;]{1,2}[ ]?)(?P<name>[A-Za-z_]{2,24})=(?=\S)")
_TABBED = re.compile(r"\t(?P<name>[A-Za-z_]{2,24})=(?=\S)")
"""Names and values in the comments of an export."""
_LOST_SPACE = re.compile(r"Â(?![A-Za-zÀ-ÿ'’-])")
"""A no-break space of UTF-8 that was read as Latin-1, its second half lost or a space."""
_SIGN = re.compile("|".join(map(re.escape, _SIGNS)))


def plain_breaks(text: str) -> str:
    """The text with line ends in place of their codes; as long as before."""
    text = _BREAK.sub(_line_end, text)
    return _ESCAPED.sub(_line_end, text) if len(_ESCAPED.findall(text)) >= _LEAST else text


def _line_end(one: re.Match[str]) -> str:
    return "\n".ljust(len(one.group()))


def plain_signs(text: str) -> str:
    """The text with signs in place of their codes, and spaces for what a space became that was read
    in another encoding; as long as before."""
    text = _LOST_SPACE.sub(" ", text)
    if len(_COMMENTED.findall(text)) >= _LEAST:
        text = _COMMENTED.sub(lambda one: f"{' ' * len(one['mark'])}{one['name']}:", text)
        text = _TABBED.sub(lambda one: f"\n{one['name']}:", text)
    return _SIGN.sub(lambda one: _SIGNS[one.group()].ljust(len(one.group()), FILL), text)
