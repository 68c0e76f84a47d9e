"""Texts that would become markup if a page did not escape them: 250 and some, made of parts.

The parts are the ways in which a text can leave where it stands, and what it would do then.
"""

from itertools import product

LEAVING = (
    "",
    '">',
    "'>",
    "</title>",
    "</textarea>",
    "</p></main>",
    "-->",
    "]]>",
    "\\\u2028`",
)
"""Out of an attribute, an element whose content is text, a comment, a script."""

DOING = (
    "<script>alert(1)</script>",
    "<ScRiPt src=//example.com/x.js></sCrIpT>",
    "<script type=module>import('//example.com/x.js')</script>",
    "<img src=x onerror=alert(1)>",
    "<img src=//example.com/pixel.png>",
    "<svg onload=alert(1)>",
    "<svg><script href=data:,alert(1) /></svg>",
    "<svg><a xlink:href=javascript:alert(1)><text>x</text></a></svg>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<a href=javascript:alert(1)>x</a>",
    "<a href=' &#106;avascript:alert(1)'>x</a>",
    "<form action=//example.com><button>x</button></form>",
    "<meta http-equiv=refresh content='0;url=//example.com'>",
    "<base href=//example.com/>",
    "<link rel=stylesheet href=//example.com/x.css>",
    "<style>body{display:none}</style>",
    "<math><mtext><style><img src onerror=alert(1)></style></mtext></math>",
    "<template><script>alert(1)</script></template>",
    "<object data=data:text/html,x></object>",
    "<embed src=//example.com/x>",
    "<video><source onerror=alert(1)></video>",
    "<details open ontoggle=alert(1)><summary>x</summary></details>",
    "<input autofocus onfocus=alert(1)>",
    "<div style=position:fixed;inset:0 onclick=alert(1)>x</div>",
    " onmouseover=alert(1) x=",
    "<!--<img src='--><img src=x onerror=alert(1)>'>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "{{ 7 * 7 }}{% include 'base.html' %}${7*7}",
    "<\u0130frame src=x>\ufe64script\ufe65\uff1cscript\uff1e",
    "javascript:alert(1)//",
)

PAYLOADS = tuple(leaving + doing for leaving, doing in product(LEAVING, DOING))

BATCHES = tuple(" ".join(leaving + doing for leaving in LEAVING) for doing in DOING)
"""All of them in a few texts, since a page costs time: whichever becomes markup, it changes one."""
