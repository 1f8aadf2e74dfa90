"""What the exit code of a command says."""

from __future__ import annotations

from enum import IntEnum

from simhash_es import errors


class ExitCode(IntEnum):
    """Exit codes; the same for every command."""

    FINE = 0
    INTERNAL = 1
    USAGE = 2
    INPUT = 3
    PROFILE_MISMATCH = 4
    STORE = 5
    BUDGET = 6
    MISSING = 7
    SYSTEM = 8
    HUNG_UP = 129
    INTERRUPTED = 130
    CLOSED_PIPE = 141
    TERMINATED = 143


MEANINGS = {
    ExitCode.FINE: "The work is done.",
    ExitCode.INTERNAL: "A fault of simhash-es itself. Run again with `--debug` and report what it shows.",
    ExitCode.USAGE: "An option or argument is unknown, out of range, or contradicts another one.",
    ExitCode.INPUT: "The data cannot be read: no such file, a bad row, bytes that fit no encoding.",
    ExitCode.PROFILE_MISMATCH: "Fingerprints of two different profiles would have been compared.",
    ExitCode.STORE: "A store file is missing, damaged, locked, or of another version.",
    ExitCode.BUDGET: "The work would be, or became, larger than `--budget` or `--max-pairs` allows.",
    ExitCode.MISSING: "An optional library is not installed, or the feature does not exist for this input.",
    ExitCode.SYSTEM: "The system refused: disk full, no permission to write, out of memory.",
    ExitCode.HUNG_UP: "The terminal was closed.",
    ExitCode.INTERRUPTED: "Stopped by Ctrl-C. No half-written output is left.",
    ExitCode.CLOSED_PIPE: "The program that read the output has ended, as in `… | head`.",
    ExitCode.TERMINATED: "Stopped by SIGTERM. No half-written output is left.",
}

BY_ERROR: tuple[tuple[type[errors.SimhashEsError], ExitCode], ...] = (
    (errors.InvalidOption, ExitCode.USAGE),
    (errors.InputError, ExitCode.INPUT),
    (errors.ProfileMismatch, ExitCode.PROFILE_MISMATCH),
    (errors.StoreError, ExitCode.STORE),
    (errors.BudgetExceeded, ExitCode.BUDGET),
    (errors.MissingExtra, ExitCode.MISSING),
    (errors.UnsupportedFeature, ExitCode.MISSING),
)


def exit_code_of(error: errors.SimhashEsError) -> ExitCode:
    """The exit code for one of our errors; ``SYSTEM`` for the root class, which stands for failed writing."""
    return next((code for kind, code in BY_ERROR if isinstance(error, kind)), ExitCode.SYSTEM)
