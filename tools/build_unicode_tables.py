"""Build simhash_es/core/unicode_tables.npz, the pinned Unicode data of the normal form.

    python3.13 tools/build_unicode_tables.py

Must run on a Python whose ``unicodedata`` is exactly the pinned version, because both the categories and
``str.casefold`` come from it. Everything at run time reads the file, so values never change with the Python version.
Source: Unicode Standard Annex #44 (categories, White_Space), section 3.13 (NFKC_Casefold), UAX #15 (composition),
DerivedCoreProperties.txt (Default_Ignorable_Code_Point).
"""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

import numpy as np

PINNED = "15.1.0"
TARGET = Path(__file__).parent.parent / "simhash_es" / "core" / "unicode_tables.npz"
LIMIT = 0x110000
BLOCK = 128

# Actions; the same numbers stand in simhash_es/core/unicode_tables.py.
KEEP, CHINESE, SPACE, DROP, MAP_ONE, MAP_MANY, COMPLEX, SYMBOL = range(8)

WHITE_SPACE = {
    *range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
}  # fmt: skip
DEFAULT_IGNORABLE = {
    0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0x200B, 0x2010),
    *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0,
    *range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000),
}  # fmt: skip


def is_chinese(cp: int) -> bool:
    return 0x3400 <= cp <= 0x9FFF or 0xF900 <= cp <= 0xFAFF or 0x20000 <= cp <= 0x3FFFF


def nfkc_casefold(cp: int) -> str:
    """The NFKC_CF mapping of one code point: fold and normalise until nothing changes, ignorables removed."""
    text = chr(cp)
    while True:
        decomposed = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text))
        folded = unicodedata.normalize("NFKC", decomposed.casefold())
        folded = "".join(c for c in folded if ord(c) not in DEFAULT_IGNORABLE)
        if folded == text:
            return folded
        text = folded


def is_word(c: str) -> bool:
    return unicodedata.category(c)[0] in "LMN"


def is_inert(c: str, composing: set[str]) -> bool:
    """Never reordered and never composed with what stands before it, and equal to its own NFC form."""
    return unicodedata.combining(c) == 0 and c not in composing and unicodedata.normalize("NFC", c) == c


def composition_pairs() -> dict[tuple[int, int], int]:
    """All primary composites except Hangul syllables, which are computed."""
    pairs = {}
    for cp in range(LIMIT):
        decomposition = unicodedata.decomposition(chr(cp))
        if not decomposition or decomposition.startswith("<"):
            continue
        parts = [int(part, 16) for part in decomposition.split()]
        if len(parts) == 2 and unicodedata.normalize("NFC", "".join(map(chr, parts))) == chr(cp):
            pairs[parts[0], parts[1]] = cp
    return pairs


def main() -> None:
    if unicodedata.unidata_version != PINNED:
        sys.exit(f"needs Unicode {PINNED}, this Python has {unicodedata.unidata_version}")
    pairs = composition_pairs()
    composing = {chr(second) for _, second in pairs}
    composing |= {chr(c) for c in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    entries = np.zeros(LIMIT, np.uint32)
    decomposed = np.zeros(LIMIT, np.uint32)  # offset << 8 | length into the pool; 0 = itself
    combining = np.zeros(LIMIT, np.uint8)
    pool: list[int] = [0]
    offsets: dict[tuple[int, ...], int] = {}

    def place(sequence: tuple[int, ...]) -> int:
        if sequence not in offsets:
            offsets[sequence] = len(pool)
            pool.extend(sequence)
        return offsets[sequence] << 8 | len(sequence)

    for cp in range(LIMIT):
        c = chr(cp)
        if 0xD800 <= cp <= 0xDFFF:
            entries[cp] = SYMBOL
            continue
        combining[cp] = unicodedata.combining(c)
        if cp in WHITE_SPACE:
            entries[cp] = SPACE
            continue
        if cp in DEFAULT_IGNORABLE or unicodedata.category(c) == "Cc":
            entries[cp] = DROP
            continue
        mapped = nfkc_casefold(cp)
        full = unicodedata.normalize("NFD", mapped)
        if full != c:
            decomposed[cp] = place(tuple(map(ord, full)))
        if not mapped:
            entries[cp] = DROP
        elif not all(is_inert(m, composing) for m in mapped):
            entries[cp] = COMPLEX | (8 if is_word(c) else 0)
        elif mapped == c:
            entries[cp] = SYMBOL if not is_word(c) else CHINESE if is_chinese(cp) else KEEP
        elif len(mapped) == 1 and is_word(mapped):
            entries[cp] = MAP_ONE | (8 if is_chinese(ord(mapped)) else 0) | ord(mapped) << 8
        else:
            packed = place(tuple(map(ord, mapped)))
            entries[cp] = MAP_MANY | (packed & 0xFF) << 3 | (packed >> 8) << 12
    assert len(pool) < 1 << 20

    def two_stage(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        blocks, index = np.unique(table.reshape(-1, BLOCK), axis=0, return_inverse=True)
        return index.reshape(-1).astype(np.uint16), np.ascontiguousarray(blocks).reshape(-1)

    entry_index, entry_blocks = two_stage(entries)
    decomposed_index, decomposed_blocks = two_stage(decomposed)
    combining_index, combining_blocks = two_stage(combining)
    keys = sorted(pairs)
    np.savez_compressed(
        TARGET,
        version=np.array(PINNED),
        entry_index=entry_index, entry_blocks=entry_blocks,
        decomposed_index=decomposed_index, decomposed_blocks=decomposed_blocks,
        combining_index=combining_index, combining_blocks=combining_blocks,
        pool=np.array(pool, np.uint32),
        pair_keys=np.array([first << 32 | second for first, second in keys], np.uint64),
        pair_values=np.array([pairs[key] for key in keys], np.uint32),
    )  # fmt: skip
    print(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes, {len(pairs)} pairs, pool {len(pool)}")


if __name__ == "__main__":
    main()
