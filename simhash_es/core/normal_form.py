"""The normal form in which texts are compared: readable reference.

Steps, in this order:

1. every white space (U+0009–000D, U+0085, U+2028, U+2029 and U+3000 included) is a space;
2. other control and default-ignorable characters are removed;
3. NFKC_Casefold of Unicode 15.1, canonical composition included;
4. every run of characters that are neither letter, mark nor number is one space;
5. spaces next to a Chinese character are removed; leading and trailing spaces too.

A lone surrogate counts as U+FFFD, that is, as a symbol. Runs of spaces are one space even without step 4.
Source: Unicode Standard 15.1, section 3.13 (NFKC_Casefold), UAX #15 (canonical ordering and composition).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from simhash_es.core import unicode_tables as ut

HANGUL_FIRST, HANGUL_LEAD, HANGUL_VOWEL, HANGUL_TAIL = 0xAC00, 0x1100, 0x1161, 0x11A7
N_LEAD, N_VOWEL, N_TAIL = 19, 21, 28
REPLACEMENT = 0xFFFD


@dataclass(frozen=True, slots=True)
class NormalForm:
    """Which steps of the normal form a profile takes.

    Attributes:
        fold: Steps 1 to 3. Without it the text is taken as it is and the other two steps are not taken either.
        punctuation: Step 4. Leave out for source code and formulas.
        chinese_spaces: Step 5.
    """

    fold: bool = True
    punctuation: bool = True
    chinese_spaces: bool = True


NO_NORMAL_FORM = NormalForm(fold=False, punctuation=False, chinese_spaces=False)


def is_chinese(code_point: int) -> bool:
    """Whether a code point is a Chinese character: U+3400–9FFF, U+F900–FAFF, or U+20000–3FFFF."""
    return 0x3400 <= code_point <= 0x9FFF or 0xF900 <= code_point <= 0xFAFF or 0x20000 <= code_point <= 0x3FFFF


def repair_surrogates(text: str) -> str:
    """Replace each lone surrogate by U+FFFD; two halves of a pair, as some JSON readers leave them, are joined."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def normal_form(text: str, steps: NormalForm = NormalForm()) -> str:
    """The normal form of a text.

    Args:
        text: Any string, lone surrogates included.
        steps: Which steps to take.

    Returns:
        The normal form; empty when nothing is left, which means that the text has no fingerprint.
    """
    text = repair_surrogates(text)
    if not steps.fold:
        return text
    composed = compose(reorder(decompose(text)))
    kept = [cp if not is_separator(cp, steps) else 0x20 for cp in composed]
    return "".join(map(chr, drop_spaces(kept, steps)))


def action_of(code_point: int) -> int:
    """Entry of a code point: action in the low three bits, see :mod:`simhash_es.core.unicode_tables`."""
    tables = ut.unicode_tables()
    return int(tables.entry_blocks[int(tables.entry_index[code_point >> 7]) << 7 | code_point & 127])


@cache
def folded(code_point: int) -> tuple[int, ...]:
    """Steps 1 to 3 for one code point, fully decomposed."""
    tables = ut.unicode_tables()
    action = action_of(code_point) & 7
    if action == ut.SPACE:
        return (0x20,)
    if action == ut.DROP:
        return ()
    packed = int(tables.decomposed_blocks[int(tables.decomposed_index[code_point >> 7]) << 7 | code_point & 127])
    if packed == 0:
        return (code_point,)
    return tuple(int(cp) for cp in tables.pool[packed >> 8 : (packed >> 8) + (packed & 0xFF)])


def decompose(text: str) -> Iterator[int]:
    """Code points of the folded text, fully decomposed."""
    for character in text:
        yield from folded(ord(character))


@cache
def combining_class(code_point: int) -> int:
    """Canonical combining class, 0 for starters."""
    tables = ut.unicode_tables()
    return int(tables.combining_blocks[int(tables.combining_index[code_point >> 7]) << 7 | code_point & 127])


def reorder(code_points: Iterable[int]) -> list[int]:
    """Canonical ordering: runs of non-starters are sorted by class, stably."""
    result: list[int] = []
    run: list[int] = []
    for cp in code_points:
        if combining_class(cp) == 0:
            result += sorted(run, key=combining_class)
            result.append(cp)
            run = []
        else:
            run.append(cp)
    return result + sorted(run, key=combining_class)


def composite(first: int, second: int) -> int:
    """The primary composite of two code points, or 0."""
    if HANGUL_LEAD <= first < HANGUL_LEAD + N_LEAD and HANGUL_VOWEL <= second < HANGUL_VOWEL + N_VOWEL:
        return HANGUL_FIRST + ((first - HANGUL_LEAD) * N_VOWEL + second - HANGUL_VOWEL) * N_TAIL
    syllable = first - HANGUL_FIRST
    if 0 <= syllable < N_LEAD * N_VOWEL * N_TAIL and syllable % N_TAIL == 0 and 0 < second - HANGUL_TAIL < N_TAIL:
        return first + second - HANGUL_TAIL
    tables = ut.unicode_tables()
    key = first << 32 | second
    at = bisect_left(tables.pair_keys, key)
    if at < len(tables.pair_keys) and int(tables.pair_keys[at]) == key:
        return int(tables.pair_values[at])
    return 0


def compose(code_points: list[int]) -> list[int]:
    """Canonical composition of an ordered sequence."""
    result: list[int] = []
    starter = -1
    last_class = -1  # class of the last character kept behind the starter; -1 when there is none
    for cp in code_points:
        this_class = combining_class(cp)
        if starter >= 0 and last_class < this_class:
            joined = composite(result[starter], cp)
            if joined:
                result[starter] = joined
                continue
        if this_class == 0:
            starter = len(result)
            last_class = -1
        else:
            last_class = this_class
        result.append(cp)
    return result


def is_separator(code_point: int, steps: NormalForm) -> bool:
    """Whether a composed code point stands for a space."""
    entry = action_of(code_point)
    action = entry & 7
    if action == ut.SPACE:
        return True
    is_symbol = action in (ut.SYMBOL, ut.DROP) or (action == ut.COMPLEX and not entry & 8)
    return steps.punctuation and is_symbol


def drop_spaces(code_points: list[int], steps: NormalForm) -> Iterator[int]:
    """Runs of spaces become one; spaces at the ends, and next to Chinese characters, go."""
    previous = 0x20
    pending = False
    for cp in code_points:
        if cp == 0x20:
            pending = previous != 0x20
            continue
        if pending and not (steps.chinese_spaces and (is_chinese(previous) or is_chinese(cp))):
            yield 0x20
        yield cp
        previous = cp
        pending = False
