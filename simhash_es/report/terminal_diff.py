"""The difference of two texts for a terminal: words in scripts with spaces, single characters in Chinese.

Texts are the user's and may be hostile: control and direction characters never reach the terminal as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Indel

TOKEN = re.compile(
    "\n|[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"  # a line end or one Chinese character
    "|[^\\W\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"  # a word
    "|[^\\S\n]+|."
)
SENTENCE = re.compile("[^.!?。！？；\n]*(?:[.!?。！？；]+[^\\S\n]*|\n|$)")

# Controls, lone surrogates, and characters that reorder or hide others (directions, zero width, tags).
HIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
LINE_END = re.compile("\r\n?|[\x85\u2028\u2029]")

MAX_TOKENS = 6_000  # of both sides together; the comparison keeps a table of about their product in bits
CONTEXT_CHARS = 60  # unchanged text shown on either side of a change
LONG_GAP_CHARS = 2 * CONTEXT_CHARS + 40  # shorter stretches are shown whole

RED_STRUCK, GREEN_UNDERLINED, FAINT, RESET = "\x1b[31;9m", "\x1b[32;4m", "\x1b[2m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Change:
    """A stretch of both texts: ``left`` became ``right``; the same on both sides when ``is_same``."""

    left: str
    right: str
    is_same: bool


def render_difference(a: str, b: str, *, color: bool) -> str:
    """Both texts in one, with what differs marked.

    Args:
        a: The text whose own parts are marked as cut.
        b: The text whose own parts are marked as new.
        color: Red and struck through for cut, green and underlined for new, by ANSI escapes. Otherwise the marks are
            ``[-cut-]`` and ``{+new+}``, as of ``git diff --word-diff``.

    Returns:
        Lines without a final line end. Of long unchanged stretches only the ends are shown. Control characters and
        characters that change the direction of text appear as ``⟨U+001B⟩``; line ends of all kinds count as ``\\n``.
        Empty for two empty texts.
    """
    found = changes(LINE_END.sub("\n", a), LINE_END.sub("\n", b))
    parts = []
    for i, change in enumerate(found):
        if change.is_same:
            parts.append(_shorten(change.left, color=color, is_first=i == 0, is_last=i == len(found) - 1))
        else:
            parts.append(_mark(change, color=color))
    return "".join(parts)


def changes(a: str, b: str) -> list[Change]:
    """The stretches that make ``a`` from the left sides and ``b`` from the right sides, in order."""
    return _joined(_compare(TOKEN.findall(a), TOKEN.findall(b)))


def visible(text: str) -> str:
    """The text with each control, direction or zero-width character spelt out; tabs become spaces."""
    return HIDDEN.sub(lambda found: f"⟨U+{ord(found.group()):04X}⟩", text.replace("\t", "    "))


def _compare(a: Sequence[str], b: Sequence[str]) -> Iterator[Change]:
    """Token by token; where that would take too much memory, sentence by sentence first."""
    start = _common_start(a, b)
    end = _common_start(a[start:][::-1], b[start:][::-1])
    middle_a, middle_b = a[start : len(a) - end], b[start : len(b) - end]
    yield _same(a[:start])
    if len(middle_a) + len(middle_b) <= MAX_TOKENS:
        yield from _aligned(middle_a, middle_b)
    else:
        yield from _by_sentence("".join(middle_a), "".join(middle_b))
    yield _same(a[len(a) - end :])


def _by_sentence(a: str, b: str) -> Iterator[Change]:
    """Equal sentences first, then token by token between them where that is small enough."""
    for change in _joined(_aligned(SENTENCE.findall(a), SENTENCE.findall(b))):
        left, right = TOKEN.findall(change.left), TOKEN.findall(change.right)
        if change.is_same or len(left) + len(right) > MAX_TOKENS:
            yield change
        else:
            yield from _aligned(left, right)


def _aligned(a: Sequence[str], b: Sequence[str]) -> Iterator[Change]:
    """Longest common subsequence of two sequences (Indel distance)."""
    for step in Indel.opcodes(a, b):
        left = "".join(a[step.src_start : step.src_end])
        right = "".join(b[step.dest_start : step.dest_end])
        yield Change(left, right, is_same=step.tag == "equal")


def _same(tokens: Sequence[str]) -> Change:
    text = "".join(tokens)
    return Change(text, text, is_same=True)


def _common_start(a: Sequence[str], b: Sequence[str]) -> int:
    n = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        n += 1
    return n


def _joined(found: Iterable[Change]) -> list[Change]:
    """Neighbours of one kind made one, and a lone space between two changes taken into them."""
    joined: list[Change] = []
    for change in found:
        if not change.left and not change.right:
            continue
        if joined and joined[-1].is_same == change.is_same:
            joined[-1] = _concatenate(joined[-1], change)
        elif len(joined) > 1 and joined[-1].left == joined[-1].right == " ":
            joined.pop()
            joined[-1] = _concatenate(joined[-1], change, between=" ")
        else:
            joined.append(change)
    return joined


def _concatenate(first: Change, second: Change, *, between: str = "") -> Change:
    return Change(first.left + between + second.left, first.right + between + second.right, first.is_same)


def _mark(change: Change, *, color: bool) -> str:
    cut, new = _show_line_ends(visible(change.left)), _show_line_ends(visible(change.right))
    if color:
        return (_styled(cut, RED_STRUCK) if cut else "") + (_styled(new, GREEN_UNDERLINED) if new else "")
    return (f"[-{cut}-]" if cut else "") + (f"{{+{new}+}}" if new else "")


def _show_line_ends(text: str) -> str:
    return text.replace("\n", "↵\n")


def _styled(text: str, style: str) -> str:
    """Styled line by line, so that a pager that shows one line only shows it right."""
    return "\n".join(f"{style}{line}{RESET}" if line else "" for line in text.split("\n"))


def _shorten(text: str, *, color: bool, is_first: bool, is_last: bool) -> str:
    """An unchanged stretch; of a long one only what is next to a change."""
    if len(text) <= LONG_GAP_CHARS:
        return visible(text)
    head = 0 if is_first else CONTEXT_CHARS
    tail = 0 if is_last else CONTEXT_CHARS
    n_left_out = len(text) - head - tail
    note = f"⟨… {n_left_out:,} characters the same …⟩"
    before = visible(text[:head]) if head else ""
    after = visible(text[len(text) - tail :]) if tail else ""
    return before + (_styled(note, FAINT) if color else note) + after
