"""A comparison as lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from simhash_es.core.bits import to_hex
from simhash_es.core.limits import SHORT_FEATURES
from simhash_es.core.profile_json import describe_half
from simhash_es.use_cases.comparison import Comparison, HalfFigures, Verdict

BITS_A_LINE = 64
BITS_A_GROUP = 16

SENTENCES = {
    Verdict.IDENTICAL: "identical: nothing but case, spacing, punctuation or the Unicode form differs",
    Verdict.NEAR_DUPLICATE: "near-duplicates: as similar as asked, and a search finds the pair",
    Verdict.MISSED: "similar, but missed: as similar as asked, but outside the distance limits of a search",
    Verdict.CANDIDATE: "not near-duplicates: a search looks at the pair, but the texts are not as similar as asked",
    Verdict.DIFFERENT: "not near-duplicates: outside the distance limits, and not as similar as asked",
    Verdict.NO_FINGERPRINT: "no verdict: a text without letters and numbers has no fingerprint, and equals nothing",
}


def half_name(i: int) -> str:
    """``A`` for the first half, ``B`` for the second and so on."""
    return chr(ord("A") + i)


def comparison_lines(found: Comparison) -> Iterator[str]:
    """All of a comparison but the difference of the texts."""
    yield f"verdict     {SENTENCES[found.verdict]}"
    yield f"profile     {found.profile.name} ({found.profile.digest})"
    yield ""
    yield from text_lines(found)
    for i, half in enumerate(found.halves):
        yield ""
        yield f"half {half_name(i)}      {describe_half(found.profile.halves[i], found.profile)}"
        yield from half_lines(half)
    yield ""
    yield from similarity_lines(found)


def text_lines(found: Comparison) -> Iterator[str]:
    """What the two texts are made of."""
    a, b = found.a, found.b
    yield f"{'':12}{'text A':>12}{'text B':>12}"
    rows = [
        ("characters", a.characters, b.characters),
        ("compared", a.compared, b.compared),
        ("tokens", a.tokens, b.tokens),
        *((f"features {half_name(i)}", x, y) for i, (x, y) in enumerate(zip(a.features, b.features, strict=True))),
    ]
    for label, x, y in rows:
        yield f"{label:12}{x:>12,}{y:>12,}"


def half_lines(half: HalfFigures) -> Iterator[str]:
    """Values, bits that differ, distance and similarities of one half."""
    width = half.width
    yield f"  text A    {to_hex(half.a, width)}"
    yield f"  text B    {to_hex(half.b, width)}"
    for start in range(0, width, BITS_A_LINE):
        for label, bits in (("A", f"{half.a:0{width}b}"), ("B", f"{half.b:0{width}b}"), ("", marks(half))):
            yield f"  {label:2}{grouped(bits[start : start + BITS_A_LINE])}".rstrip()
    verdict = "within" if half.distance <= half.limit else "outside"
    yield f"  distance  {half.distance} of {width} bits, {verdict} the limit of {half.limit}"
    yield (
        f"  angle     cosine {half.cosine:.3f} gives {half.expected_distance:.1f} bits on average; "
        f"{half.distance} bits stand for cosine {half.estimated_cosine:.3f}"
    )
    yield f"  features  cosine {half.cosine:.3f}, Jaccard {half.jaccard:.3f}, containment {half.containment:.3f}"


def marks(half: HalfFigures) -> str:
    """``^`` under each bit that differs, most significant first."""
    return f"{half.a ^ half.b:0{half.width}b}".replace("0", " ").replace("1", "^")


def grouped(bits: str) -> str:
    """Bits in words of 16."""
    return " ".join(bits[i : i + BITS_A_GROUP] for i in range(0, len(bits), BITS_A_GROUP))


def similarity_lines(found: Comparison) -> Iterator[str]:
    """Similarities of the texts, and the limits with their reasons."""
    yield f"edit        {found.edit:.3f} of the characters stay (normal form)"
    for each in found.checked:
        word = "met" if each.is_met else "not met"
        yield (
            f"{each.criterion.measure:11} {each.similarity:.3f} by {found.verify_features}, "
            f"at least {each.criterion.threshold:g} asked: {word}"
        )
    if not found.checked:
        yield "criteria    none: the distance limits alone decide"
    vote = f"{found.profile.vote} of {len(found.limits.distances)} halves must be within them"
    yield f"limits      {' and '.join(map(str, found.limits.distances))} bits; {vote}"
    if found.are_short:
        yield f"            both have fewer than {SHORT_FEATURES} features: compared whatever the distance"
    for reason in found.limits.reasons:
        yield f"            {reason}"
