"""Which fingerprints a run works on: made from texts by a profile, or ready-made ones of a certain width."""

from __future__ import annotations

from dataclasses import dataclass, replace

from simhash_es.backends.files.inputs import Inputs
from simhash_es.core.bits import MAX_WIDTH
from simhash_es.core.profile import Profile
from simhash_es.errors import InputError, InvalidOption
from simhash_es.use_cases.dedup.options import DedupOptions

HALF_BITS = 64


@dataclass(frozen=True, slots=True)
class FingerprintShape:
    """Profile of a run.

    Attributes:
        profile: Widths, gram sizes and vote; of ready-made fingerprints only these count.
        ready_made: Whether fingerprints are read instead of made.
    """

    profile: Profile
    ready_made: bool


def fingerprint_shape(options: DedupOptions, inputs: Inputs) -> FingerprintShape:
    """Take the profile as it is, or fit it to the ready-made fingerprints.

    16 hexadecimal digits are one value of 64 bits (half A alone), 32 are as many halves as the profile has, or with
    ``fingerprint_bits`` one value of that width.

    Raises:
        InvalidOption: The width asked for and the digits found do not fit.
        InputError: No row has a fingerprint.
    """
    if options.read.fingerprint_field is None:
        return FingerprintShape(options.profile, ready_made=False)
    profile = options.profile
    digits = first_digits(inputs)
    wanted = options.fingerprint_bits
    if digits is None:
        return FingerprintShape(profile if wanted is None else one_value(profile, wanted), ready_made=True)
    n_bits = 4 * digits
    if wanted is not None and wanted != n_bits:
        raise InvalidOption(
            f"fingerprints of {n_bits} bits found, {wanted} asked for", "leave --bits out, or name another field"
        )
    if wanted is None and n_bits == sum(profile.layout_widths):
        return FingerprintShape(profile, ready_made=True)
    if n_bits > MAX_WIDTH:
        raise InvalidOption(
            f"fingerprints of {n_bits} bits found", f"one value has at most {MAX_WIDTH} bits; for more give --halves"
        )
    return FingerprintShape(one_value(profile, n_bits), ready_made=True)


def one_value(profile: Profile, n_bits: int) -> Profile:
    """The profile with one value of so many bits."""
    return replace(profile, halves=profile.halves[:1], width=n_bits, vote=1)


def first_digits(inputs: Inputs) -> int | None:
    """Digits of the first ready-made fingerprint; ``None`` without any row.

    Raises:
        InputError: There are rows, and none has a fingerprint.
    """
    has_rows = False
    for batch in inputs.batches():
        has_rows = True
        for text in batch.fingerprints:
            if text:
                return len(text)
    if not has_rows:
        return None
    raise InputError(
        f"no row has a fingerprint in the field {inputs.options.fingerprint_field!r}",
        "name the field that holds them: --fingerprint-field NAME",
        source=inputs.sources[0].name,
    )
