"""Stores in compact forms that other programs can read."""

from __future__ import annotations

from simhash_es.backends.exports.npy import write_npy
from simhash_es.backends.exports.roaring import RoaringFile, write_roaring

__all__ = ["RoaringFile", "write_npy", "write_roaring"]
