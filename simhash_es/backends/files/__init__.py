"""Files as inputs and outputs."""

from __future__ import annotations

from simhash_es.backends.files.inputs import Inputs, RawBlock, SkippedRow
from simhash_es.backends.files.options import DataFormat, OnError, ReadOptions
from simhash_es.backends.files.rows import RowBatch

__all__ = ["DataFormat", "Inputs", "OnError", "RawBlock", "ReadOptions", "RowBatch", "SkippedRow"]
