"""HTML to text, for fingerprints.

An own small scanner instead of :mod:`html.parser`, whose treatment of broken HTML changes between releases of Python:
the text must be the same everywhere. Each character is looked at a bounded number of times, whatever the input.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

# Elements whose content is no text of the page.
HIDDEN = ("script", "style", "template", "noembed", "noframes", "iframe", "object")
HIDDEN_END = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE | re.ASCII) for name in HIDDEN}

# Elements that begin a new line; all others (b, span, a …) leave their words joined.
BLOCK_NAMES = """
    address article aside blockquote body br button caption center dd details dialog dir div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html img input legend li link main menu meta
    nav ol optgroup option p pre section select summary table tbody td textarea tfoot th thead title tr ul video
"""
BLOCK = frozenset(BLOCK_NAMES.split())

NAME = re.compile(r"</?([A-Za-z][^\s/>]*)")
QUOTED_TAG = re.compile(r"""[^>"']*(?:(?:"[^"]*"|'[^']*')[^>"']*)*>""")


def html_to_text(source: str) -> str:
    """The text of an HTML page or fragment.

    Comments, declarations and the content of scripts, styles and embedded objects go; entities become characters;
    a block element begins a new line. Broken HTML never raises: a ``<`` that begins no tag is a character, an open
    comment or script reaches to the end, a quote that is never closed is taken for a character of its tag.

    Returns:
        Text with newlines between blocks; other white space as in the source.
    """
    return "".join(pieces(source))


def pieces(source: str) -> Iterator[str]:
    """Text pieces in order."""
    scanner = TagScanner(source)
    at = 0
    while True:
        start = source.find("<", at)
        if start < 0:
            yield html.unescape(source[at:])
            return
        end = scanner.end_of_markup(start)
        if end is None:
            yield html.unescape(source[at : start + 1])
            at = start + 1
            continue
        yield html.unescape(source[at:start])
        name, at = scanner.name_and_next(start, end)
        if name in BLOCK:
            yield "\n"


class TagScanner:
    """Finds where markup ends, without looking twice for what is not there."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.last_close = source.rfind(">")
        self.quotes_closed = True  # until a tag's quote was once found open to the end of the source

    def end_of_markup(self, start: int) -> int | None:
        """Position after the tag, comment or declaration at ``start``; ``None`` if none begins there."""
        source = self.source
        if source.startswith("<!--", start):
            end = source.find("-->", start + 4)
            return len(source) if end < 0 else end + 3
        opens = source.startswith(("<!", "<?"), start) or NAME.match(source, start) is not None
        if not opens or start > self.last_close:
            return None
        if self.quotes_closed and not source.startswith(("<!", "<?"), start):
            match = QUOTED_TAG.match(source, start)
            if match is not None:
                return match.end()
            self.quotes_closed = False
        return source.find(">", start) + 1

    def name_and_next(self, start: int, end: int) -> tuple[str, int]:
        """Lower-case element name ("" for none) and where text goes on, behind the content of hidden elements."""
        match = NAME.match(self.source, start, end)
        if match is None:
            return "", end
        name = match[1].lower()
        is_opening = self.source[start + 1] != "/"
        if not is_opening or name not in HIDDEN_END or self.source.endswith("/>", start, end):
            return name, end
        closing = HIDDEN_END[name].search(self.source, end)
        return name, len(self.source) if closing is None else closing.start()
