"""Fingerprints as one NumPy file that can be memory-mapped."""

from __future__ import annotations

from typing import IO

import numpy as np

from simhash_es.backends.sqlite_store import SeenStore


def write_npy(store: SeenStore, stream: IO[bytes]) -> None:
    """Write all lanes as ``uint64`` little-endian, ``(n, L)``; ``numpy.load(path, mmap_mode="r")`` reads them.

    A row is a fingerprint: half after half, the most significant lane first, each value right-aligned.

    Args:
        store: Open.
        stream: Binary, written from where it stands.
    """
    header = {"descr": "<u8", "fortran_order": False, "shape": (len(store), store.layout.n_lanes)}
    np.lib.format.write_array_header_1_0(stream, header)
    for _, lanes in store.scan():
        stream.write(np.ascontiguousarray(lanes, "<u8").data)
