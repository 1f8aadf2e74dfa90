"""The order in which rows are visited: the keep policy as a total order. The first row of a group is the one kept."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt

from simhash_es.backends.files.inputs import Inputs
from simhash_es.errors import InvalidOption
from simhash_es.use_cases.corpus import Corpus
from simhash_es.use_cases.dedup.options import Keep, KeepPolicy

IntArray = npt.NDArray[np.int64]


def visiting_order(corpus: Corpus, inputs: Inputs, policy: KeepPolicy, n_older: int) -> IntArray:
    """Numbers of the rows to visit, in order.

    Older rows are not in it: they come first whatever the policy. ``first``, ``last`` and ``prefer`` go by the reading
    order; the others by their value, then the content digest, then the id, so that they do not depend on it.

    Args:
        corpus: All rows; the first ``n_older`` are older.
        inputs: Where the other rows were read from.
        policy: What the user asked for.
        n_older: Rows of an older corpus or store.

    Raises:
        InvalidOption: The field holds numbers and texts, or no source has the preferred name.
    """
    rows = np.arange(n_older, len(corpus))
    if policy.rule is Keep.FIRST:
        return rows
    if policy.rule is Keep.LAST:
        return rows[::-1].copy()
    if policy.rule is Keep.PREFER:
        preferred = rows_of_source(inputs, policy.argument)
        return rows[np.argsort(~preferred, kind="stable")]
    return break_ties(rows, value_ranks(corpus, policy, n_older), corpus)


def rows_of_source(inputs: Inputs, name: str) -> npt.NDArray[np.bool_]:
    """Which rows come from the source of that name: as given, by its file name, or below a folder of that name."""
    wanted = np.zeros(inputs.n_rows, np.bool_)
    is_known = False
    for number, source in enumerate(inputs.sources):
        path = PurePath(source.name)
        if name in (source.name, path.name) or PurePath(name) in path.parents:
            is_known = True
            span = inputs.rows_of(number)
            wanted[span.start : span.stop] = True
    if not is_known:
        known = ", ".join(source.name for source in inputs.sources[:10])
        raise InvalidOption(f"--keep prefer:{name}: there is no such source", f"choose one of: {known}")
    return wanted


def value_ranks(corpus: Corpus, policy: KeepPolicy, n_older: int) -> npt.NDArray[Any]:
    """One number a row; smaller comes first.

    Raises:
        InvalidOption: No row has a value in the field, or the values have no common order.
    """
    chars = corpus.n_chars.values[n_older:]
    if policy.rule is Keep.LONGEST:
        return -chars.astype(np.int64)
    if policy.rule is Keep.SHORTEST:
        return chars.astype(np.int64)
    keys = comparable(corpus.values[n_older:], policy)
    if keys and all(key is None for key in keys):
        raise InvalidOption(
            f"--keep {policy}: no row has a value in the field {policy.argument!r}",
            "name a field that the rows have; dotted paths go into objects, such as meta.date",
        )
    present = sorted({key for key in keys if key is not None}, reverse=policy.rule is Keep.MAX)
    rank = {key: place for place, key in enumerate(present)}
    return np.array([len(present) if key is None else rank[key] for key in keys], np.int64)


def comparable(values: Sequence[object], policy: KeepPolicy) -> list[Any]:
    """Values that compare with each other: numbers where all are numbers or written like numbers, else texts.

    A missing value, an empty text and NaN are ``None``. True and false are 1 and 0; dates and times are texts.

    Raises:
        InvalidOption: Numbers and texts that are none, a list, or an object.
    """
    plain = [plain_value(value, policy) for value in values]
    numbers = [as_number(value) if isinstance(value, str) else value for value in plain]
    no_number = next((value for value, n in zip(plain, numbers, strict=True) if value is not None and n is None), None)
    if no_number is None:
        return numbers
    number = next((value for value in plain if isinstance(value, Decimal)), None)
    if number is None:
        return plain
    raise InvalidOption(
        f"--keep {policy}: the field holds numbers ({number}) and texts ({no_number!r}), which have no common order",
        "name a field of one kind",
    )


def plain_value(value: object, policy: KeepPolicy) -> Decimal | str | None:
    """A value as a number, a text, or nothing."""
    if value is None or value == "" or value != value:  # NaN is the one value that differs from itself
        return None
    if isinstance(value, bool | int | float | Decimal):
        return Decimal(value) if isinstance(value, int) else Decimal(str(value))
    if isinstance(value, dict | list):
        raise InvalidOption(f"--keep {policy}: a value is {value!r}", "name a field of numbers, dates or texts")
    return value.isoformat() if isinstance(value, dt.date | dt.time) else str(value)


def as_number(text: str) -> Decimal | None:
    """An exact number, or ``None`` when it is none."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def break_ties(rows: IntArray, ranks: npt.NDArray[Any], corpus: Corpus) -> IntArray:
    """Rows by rank, then content digest, then id."""
    digests = corpus.digests.values[rows]
    order = np.lexsort((digests[:, 1], digests[:, 0], ranks))
    same = np.zeros(len(order) + 1, np.bool_)
    same[1:-1] = (ranks[order[1:]] == ranks[order[:-1]]) & (digests[order[1:]] == digests[order[:-1]]).all(axis=1)
    starts = np.flatnonzero(~same[:-1] & same[1:])
    for start in starts:
        end = start + 1
        while same[end]:
            end += 1
        order[start:end] = sorted(order[start:end], key=lambda place: corpus.ids[int(rows[place])])
    return rows[order]
