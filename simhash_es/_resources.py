"""Files that travel with the package: ``mappings/`` and ``scripts/``.

In a wheel they lie inside the package; in a source tree beside it, where people look for them.
"""

from __future__ import annotations

from importlib.resources import files

FOLDERS = ("mappings", "scripts")


def resource_text(folder: str, name: str) -> str:
    """The content of a shipped file.

    Args:
        folder: ``mappings`` or ``scripts``.
        name: File name inside it, such as ``component_template.json``.

    Raises:
        FileNotFoundError: There is no such file, in the package or beside it: the installation is damaged.
    """
    package = files("simhash_es")
    for place in (package / folder, package / ".." / folder):
        if (place / name).is_file():
            return (place / name).read_text(encoding="utf-8")
    raise FileNotFoundError(f"{folder}/{name} is missing from the installation of simhash-es at {package}")
