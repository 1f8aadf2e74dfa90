"""The pinned Unicode data of the normal form, as two-stage tables.

A code point ``cp`` has the entry ``blocks[index[cp >> 7] << 7 | cp & 127]``. Its low three bits are the action:

======== ===== ==================================================================================================
KEEP     0     letter, mark or number that maps to itself
CHINESE  1     the same, and a Chinese character
SPACE    2     white space
DROP     3     control or default-ignorable: removed
MAP_ONE  4     one letter, mark or number; target code point in bits 8–31, bit 3 set when it is Chinese
MAP_MANY 5     several code points (or a symbol): length in bits 3–11, offset into ``pool`` in bits 12–31
COMPLEX  6     may be reordered or composed with its neighbours; bit 3 set when it is letter, mark or number
SYMBOL   7     anything else: punctuation, symbols, private use, unassigned
======== ===== ==================================================================================================

Built by ``tools/build_unicode_tables.py``. Source: Unicode 15.1.0, UAX #15 and #44, section 3.13 (NFKC_Casefold).
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

KEEP, CHINESE, SPACE, DROP, MAP_ONE, MAP_MANY, COMPLEX, SYMBOL = range(8)
UNICODE_VERSION = "15.1.0"


class UnicodeTables(NamedTuple):
    """Arrays as in the module's docstring; a tuple, so that compiled kernels take it whole.

    ``decomposed`` packs ``offset << 8 | length`` of the full canonical decomposition of the folded form (0 = itself);
    ``pair_keys`` holds ``first << 32 | second`` in ascending order with the primary composite in ``pair_values``.
    """

    entry_index: npt.NDArray[np.uint16]
    entry_blocks: npt.NDArray[np.uint32]
    decomposed_index: npt.NDArray[np.uint16]
    decomposed_blocks: npt.NDArray[np.uint32]
    combining_index: npt.NDArray[np.uint16]
    combining_blocks: npt.NDArray[np.uint8]
    pool: npt.NDArray[np.uint32]
    pair_keys: npt.NDArray[np.uint64]
    pair_values: npt.NDArray[np.uint32]


@cache
def unicode_tables() -> UnicodeTables:
    """The tables, read once a process (about 3 ms)."""
    with files("simhash_es.core").joinpath("unicode_tables.npz").open("rb") as stream, np.load(stream) as data:
        if str(data["version"]) != UNICODE_VERSION:
            raise RuntimeError(f"unicode_tables.npz is of Unicode {data['version']}, expected {UNICODE_VERSION}")
        return UnicodeTables(*(np.ascontiguousarray(data[name]) for name in UnicodeTables._fields))
