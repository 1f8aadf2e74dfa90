"""Write the outputs that the shown commands give now into the pages: ``python tests/docs/refresh_examples.py``.

Outputs with ``…`` are left as they are where they still fit, and named where they do not: they are cut by hand. Read
the difference afterwards: an output that changed may be a fault.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

import doc_pages as pages
import pytest

from simhash_es.core.kernels.runtime import load_kernels


def refreshed(example: pages.Example, seen: str, where: str) -> list[str]:
    """The lines to show below a command."""
    if pages.fits(example.output, seen):
        return example.output
    if any(pages.ANYTHING in line for line in example.output):
        print(f"{where}: does not fit any more: $ {example.command}\n{seen}")
        return example.output
    return seen.splitlines()


def refresh(page: Path, folder: Path, terminal: pages.Terminal) -> None:
    """Run the commands of one page in order and rewrite it."""

    def rewritten(found: re.Match[str]) -> str:
        (block,) = pages.blocks_of(found[0])
        if block.title:
            (folder / block.title).write_text(block.body, encoding="utf-8")
        if block.language != "console":
            return found[0]
        lines = []
        for example in pages.examples(block.body):
            seen = terminal.run(example.command)
            lines += [f"$ {example.command}", *refreshed(example, seen, pages.name_of(page))]
        return "\n".join(["```console", *lines, "```"])

    page.write_text(pages.FENCE.sub(rewritten, page.read_text(encoding="utf-8")), encoding="utf-8")


def main() -> None:
    """All pages but the generated one."""
    load_kernels()
    for page in pages.PAGES:
        if page == pages.GENERATED:
            continue
        with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as monkeypatch:
            shutil.copytree(pages.ROOT / "examples" / "sample", Path(name) / "examples" / "sample")
            refresh(page, Path(name), pages.Terminal(Path(name), monkeypatch))


if __name__ == "__main__":
    main()
