"""Where each row came from, at eight bytes a row."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable


class RowPlaces:
    """Source number and line of every ordinal, appended in reading order."""

    def __init__(self) -> None:
        self._lines = array("q")
        self._first_rows: list[int] = []

    def __len__(self) -> int:
        return len(self._lines)

    def begin_source(self) -> None:
        """The rows that follow belong to the next source."""
        self._first_rows.append(len(self._lines))

    def extend(self, lines: Iterable[int]) -> None:
        """Add the lines of some rows."""
        self._lines.extend(lines)

    def place(self, row: int) -> tuple[int, int]:
        """Source number (0-based) and line of a row; a source without rows has no place.

        Raises:
            IndexError: No such row.
        """
        if not 0 <= row < len(self._lines):
            raise IndexError(f"row {row} of {len(self._lines)}")
        return bisect_right(self._first_rows, row) - 1, self._lines[row]

    def rows_of(self, source: int) -> range:
        """Ordinals of one source's rows."""
        ends = [*self._first_rows[1:], len(self._lines)]
        return range(self._first_rows[source], ends[source])

    def lines_of(self, rows: range) -> array[int]:
        """Lines of consecutive rows."""
        return self._lines[rows.start : rows.stop]
