"""What goes into a store and what comes out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simhash_es.core.bits import UInt64Array
from simhash_es.errors import InvalidOption


class StoredIdentity(NamedTuple):
    """Where a stored row came from.

    Attributes:
        id: A JSON token, exactly the characters of the input.
        source: The file as the user named it.
        line: 1-based line or record number in it.
    """

    id: bytes
    source: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRows:
    """Rows to be added.

    Attributes:
        lanes: ``(n, L)`` uint64 fingerprints.
        digests: ``(n, 2)`` uint64 content digests of the normal forms.
        n_features: ``(n,)`` features of the first half; above 2**32 - 1 stored as that.
        n_chars: ``(n,)`` characters of the text.
        ids: JSON tokens.
        sources: File of each row as the user named it.
        lines: 1-based line or record number of each row.
        texts: Normal forms as UTF-8, single ones ``None`` where there is none; ``None`` keeps no text at all.

    Raises:
        InvalidOption: The parts have different lengths.
    """

    lanes: UInt64Array
    digests: UInt64Array
    n_features: npt.NDArray[np.integer]
    n_chars: npt.NDArray[np.integer]
    ids: Sequence[bytes]
    sources: Sequence[str]
    lines: Sequence[int]
    texts: Sequence[bytes | None] | None = None

    def __post_init__(self) -> None:
        sizes = {name: len(getattr(self, name)) for name in self.__slots__ if getattr(self, name) is not None}
        if len(set(sizes.values())) > 1:
            raise InvalidOption(f"rows for the store differ in number: {sizes}", "give one entry a row everywhere")
        if self.digests.shape != (len(self), 2):
            raise InvalidOption(f"digests of shape {self.digests.shape}", f"expected ({len(self)}, 2)")

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class StoredRows:
    """All rows of a store in the order in which they were added: row ``i`` has position ``i``.

    Attributes:
        lanes: ``(n, L)`` uint64 fingerprints.
        digests: ``(n, 2)`` uint64 content digests.
        n_features: ``(n,)`` int64 features of the first half.
    """

    lanes: UInt64Array
    digests: UInt64Array
    n_features: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.lanes)
