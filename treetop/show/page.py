"""A result as one self-contained page, and the built module of the viewer that draws it there and in notebooks.

The page has three parts: the module, a snapshot of the result as data that is never executed, and one line that shows
it. Its content security policy allows this script and this style only, by their hashes, and no request at all.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from html import escape
from pathlib import Path

from treetop.search.result import SearchResult
from treetop.show.labels import clean, plain
from treetop.show.snapshot import snapshot_of
from treetop.show.views import game_title

MODULE = Path(__file__).parent / "viewer.js"
"""The built module, an ES module whose default export is a widget; its sources are in viewer/."""

_STYLE = (
    "body{margin:0;background:#fbfbf9;color:#22252a;color-scheme:light}"
    "@media(prefers-color-scheme:dark){body{background:#15181b;color:#e6e8ea;color-scheme:dark}}"
    "pre{padding:1rem;overflow-x:auto}"
)
_LONGEST_TEXT = 50_000  # where scripts are off
_START = 'mount(document.body,JSON.parse(document.getElementById("snapshot").textContent));'
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<noscript><pre>{text}</pre></noscript>
<script type="application/json" id="snapshot">{snapshot}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def page_of(result: SearchResult) -> str:
    """Return a result as the text of a page that loads nothing.

    >>> import treetop as tt
    >>> "connect-src" in page_of(tt.search("nim(stones=5)", simulations=100, seed=1))
    False
    """
    script = module_text() + _START
    hashes = f"script-src {_hash(script)}; style-src {_hash(_STYLE)}"
    policy = f"default-src 'none'; {hashes}; base-uri 'none'; form-action 'none'"
    return _PAGE.format(
        policy=policy, title=escape(f"{plain(game_title(result))}: {plain(result.move)}"), style=_STYLE,
        text=escape(clean(str(result)[:_LONGEST_TEXT])), snapshot=script_json(snapshot_text(result)), script=script,
    )  # fmt: skip


@functools.cache
def module_text() -> str:
    """Return the built module, as it can stand inside of a page.

    >>> "export default{render}" in module_text()
    True
    """
    text = MODULE.read_text(encoding="utf-8")
    assert "</script" not in text.lower(), "the module would end its own element"
    assert "<!--" not in text, "the module would begin a comment"
    return text


def snapshot_text(result: SearchResult) -> str:
    """Return what a page or a widget shows of a result, as JSON.

    >>> import treetop as tt
    >>> sorted(json.loads(snapshot_text(tt.search("nim(stones=5)", simulations=100, seed=1))))
    ['analysis', 'elapsed', 'game', 'position', 'tree']
    """
    return json.dumps(snapshot_of(result), allow_nan=False, separators=(",", ":"))


def script_json(text: str) -> str:
    r"""Return JSON as it can stand inside of a script element: no text in it ends the element or begins a comment.

    >>> script_json('{"move": "</script><!--"}')
    '{"move": "\\u003c/script>\\u003c!--"}'
    """
    return text.replace("<", "\\u003c")


def _hash(text: str) -> str:
    """Return the source of a content security policy that allows one inline text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
