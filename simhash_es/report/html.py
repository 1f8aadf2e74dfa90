"""Write a report as one HTML file that needs nothing else: no server, no network, no other file.

The page is ``template.html`` with ``report.css``, the scripts and the data put in. Every text in the data is the
user's and may be hostile. It reaches the page only as JSON in a data block, in which each character that could end the
block is escaped, and is drawn by scripts that set text, never markup. A content security policy allows exactly the
scripts and the style written here, by their SHA-256, and no request at all.

Source: HTML Living Standard, "Restrictions for contents of script elements"; Content Security Policy Level 3, 2.3.1.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib.resources import files
from typing import Any, Protocol

from simhash_es.backends.files.outputs import AtomicOutput
from simhash_es.report.budget import DEFAULT_LIMITS, ReportLimits, fit
from simhash_es.report.data import ReportData

SCRIPTS = ("difference.js", "charts.js", "groups.js", "sheet.js", "report.js")  # joined in this order

# "<" could open "</script>" or "<!--"; the rest is for readers that treat the block as HTML, XML or JavaScript.
# Lone surrogates have no UTF-8 form.
UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
SLOT = re.compile(r"\{\{(\w+)\}\}")


class ByteStream(Protocol):
    """Anything that takes bytes: an open binary file, ``io.BytesIO``, an ``AtomicOutput``."""

    def write(self, data: bytes, /) -> object:
        """Append bytes."""
        ...


def write_report(
    target: str | os.PathLike[str] | ByteStream, data: ReportData, *, limits: ReportLimits = DEFAULT_LIMITS
) -> None:
    """Write the report of one run, in UTF-8.

    Args:
        target: A path, or an open binary stream, which is left open. A file at a path appears whole or not at all;
            ``-`` is standard output.
        data: What to show. The same data gives the same bytes.
        limits: How much of it the file carries; see :class:`~simhash_es.report.budget.ReportLimits`. With the default
            limits a file stays within about 6 MB, and is mostly far smaller.

    Raises:
        InvalidOption: The path is a folder, or in a folder that does not exist.
        SimhashEsError: The disk is full or the like.
    """
    page = render(data, limits=limits).encode()
    if isinstance(target, (str, os.PathLike)):
        with AtomicOutput(os.fspath(target)) as out:
            out.write(page)
    else:
        target.write(page)


def render(data: ReportData, *, limits: ReportLimits = DEFAULT_LIMITS) -> str:
    """The whole page as text without lone surrogates."""
    data = fit(data, limits)
    style = _asset("report.css")
    script = "\n".join(_asset(name) for name in SCRIPTS)
    slots = {
        "policy": content_security_policy(style, script),
        "title": _escape(data.title),
        "style": style,
        "script": script,
        "totals": _totals_table(data),
        "data": embed_json(to_plain(data)),
    }
    return fill(_asset("template.html"), slots)


def fill(template: str, slots: Mapping[str, str]) -> str:
    """Put values into ``{{name}}`` slots in one pass, so that a value containing braces is never read as a slot."""
    return SLOT.sub(lambda found: slots[found.group(1)], template)


def embed_json(value: Any) -> str:
    """JSON that is safe inside ``<script type="application/json">``.

    ``<``, ``>``, ``&``, U+2028, U+2029 and lone surrogates become ``\\uXXXX``, which JSON reads as the same character.

    Raises:
        ValueError: A number is not finite.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def to_plain(value: Any) -> Any:
    """Dataclasses as dicts; fields that are ``None``, ``False`` or ``""`` are left out to keep the file small."""
    if is_dataclass(value):
        named = ((field.name, getattr(value, field.name)) for field in fields(value))
        return {name: to_plain(part) for name, part in named if part is not None and part is not False and part != ""}
    if isinstance(value, tuple):
        return [to_plain(part) for part in value]
    return value


def content_security_policy(style: str, script: str) -> str:
    """The strictest policy under which the page works: this one style, this one script, no request."""
    return (
        f"default-src 'none'; style-src '{_sha256(style)}'; script-src '{_sha256(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _sha256(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _totals_table(data: ReportData) -> str:
    """Rows of the table shown where scripts do not run."""
    rows = []
    for field in fields(data.totals):
        label = _escape(field.name.replace("_", " ").capitalize())
        rows.append(f'<tr><th scope="row">{label}</th><td>{getattr(data.totals, field.name):,}</td></tr>')
    return "\n".join(rows)


def _escape(text: str) -> str:
    return html.escape(text.encode("utf-8", "replace").decode())


def _asset(name: str) -> str:
    return files("simhash_es.report").joinpath(name).read_text(encoding="utf-8").strip()
