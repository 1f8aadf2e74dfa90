"""Uses an installed wheel as a stranger would. Run by check-package with the Python of a clean environment."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, required=True, help="the source tree the wheel was built from")
    parser.add_argument("--wheel", type=Path, required=True)
    options = parser.parse_args()
    check_import(options.tree)
    check_shipped_files(options.tree, options.wheel)
    check_command_line()
    print("smoke test: passed")


def check_import(tree: Path) -> None:
    """The package is the installed one, and all its versions agree."""
    import simhash_es
    from simhash_es._version import __version__

    assert tree not in Path(simhash_es.__file__).parents, f"imported from the source tree: {simhash_es.__file__}"
    assert importlib.metadata.version("simhash-es") == __version__


def check_shipped_files(tree: Path, wheel: Path) -> None:
    """Mappings and scripts are in the wheel, byte for byte, and the package finds them."""
    from simhash_es._resources import FOLDERS, resource_text

    with zipfile.ZipFile(wheel) as archive:
        for folder in FOLDERS:
            sources = {path.name: path.read_bytes() for path in (tree / folder).iterdir() if path.is_file()}
            prefix = f"simhash_es/{folder}/"
            shipped = {name.removeprefix(prefix): archive.read(name) for name in archive.namelist() if prefix in name}
            assert sources == shipped, f"{folder}: {sorted(sources)} in the tree, {sorted(shipped)} in the wheel"
            for name in sources:
                assert resource_text(folder, name)
        for wanted in ("simhash_es/py.typed", "simhash_es/core/unicode_tables.npz"):
            assert wanted in archive.namelist(), f"{wanted} is not in the wheel"
        strays = [name for name in archive.namelist() if not name.startswith(("simhash_es/", "simhash_es-"))]
        assert strays == [], f"the wheel would install {strays}"


def check_command_line() -> None:
    """Help, version and a small deduplication."""
    command = Path(sys.executable).with_name("simhash-es")
    version = importlib.metadata.version("simhash-es")
    assert "dedup" in run(command, "--help")
    assert version in run(command, "--version")
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder, "rows.jsonl")
        rows.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in sample_rows()), encoding="utf-8")
        kept = Path(folder, "kept.jsonl")
        run(command, "dedup", rows, "--output", kept)
        ids = [json.loads(line)["id"] for line in kept.read_text(encoding="utf-8").splitlines()]
    assert ids == ["en", "zh", "other"], f"kept: {ids}"


def sample_rows() -> list[dict[str, str]]:
    """Two texts with one near-duplicate each, and one that stands alone."""
    english = " ".join(
        f"On day {day} the harbour master counted {day * 7} boats and wrote a line about the {wind} wind."
        for day, wind in enumerate(("north", "soft", "cold", "western", "salty", "late", "early", "warm"), start=1)
    )
    chinese = "".join(
        f"第{day}天，渔港的管理员数了{day * 7}条船，写下一句关于{wind}的话，然后把灯塔的门轻轻关上。"
        for day, wind in enumerate(("北风", "细雨", "潮水", "晚霞", "晨雾", "海鸥", "渔网", "月光"), start=1)
    )
    other = "A recipe for plum jam: wash the plums, take out the stones, and boil them with half their weight of sugar."
    return [
        {"id": "en", "text": english},
        {"id": "en-copy", "text": english.replace("boats", "Boats!", 1)},
        {"id": "zh", "text": chinese},
        {"id": "zh-copy", "text": chinese.replace("轻轻", "輕輕", 1)},
        {"id": "other", "text": other},
    ]


def run(*command: object) -> str:
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, encoding="utf-8")
    assert result.returncode == 0, f"{command} ended with {result.returncode}:\n{result.stdout}\n{result.stderr}"
    return result.stdout


if __name__ == "__main__":
    main()
