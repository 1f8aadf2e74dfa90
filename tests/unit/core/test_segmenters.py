"""Loading the segmenters: private cache, silence, many at once."""

from __future__ import annotations

import importlib
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from simhash_es.core import segmenters
from simhash_es.core.normal_form import NormalForm

TEXT = "今天的菜市场卖新鲜竹笋"
TOKENS = "今天 的 菜市场 卖 新鲜 竹笋"
CUT = f"""
from simhash_es.core.segmenters import jieba_cut
from simhash_es.core.normal_form import NormalForm
print(*jieba_cut(None, NormalForm())("{TEXT}"))
"""
EIGHT_THREADS = f"""
import threading
from simhash_es.core.segmenters import jieba_cut
from simhash_es.core.normal_form import NormalForm
barrier, results = threading.Barrier(8), []
def work():
    barrier.wait()
    results.append(" ".join(jieba_cut(None, NormalForm())("{TEXT}")))
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(results) == 8
print(*set(results))
"""
NOWHERE = "/dev/null/nowhere"


def start(script: str, **environment: str) -> subprocess.Popen[str]:
    """A Python in which every warning is an error."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", script],
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def check(process: subprocess.Popen[str]) -> None:
    """The right tokens on standard output, and nothing else anywhere."""
    output, talk = process.communicate()
    assert (process.returncode, output.strip(), talk) == (0, TOKENS, "")


@pytest.mark.slow
def test_eight_processes_at_once(tmp_path: Path) -> None:
    """All give the same tokens, silently, and leave one whole cache file."""
    for process in [start(CUT, SIMHASH_ES_CACHE=str(tmp_path)) for _ in range(8)]:
        check(process)
    assert [path.name for path in (tmp_path / "segmenter").iterdir()] == ["jieba.cache"]
    check(start(CUT, SIMHASH_ES_CACHE=str(tmp_path)))


def test_eight_threads_at_first_use(tmp_path: Path) -> None:
    """The first thread loads, the others wait."""
    check(start(EIGHT_THREADS, SIMHASH_ES_CACHE=str(tmp_path)))


def test_no_folder_can_be_written() -> None:
    """Neither a home nor a named folder nor that of temporary files: the dictionary is built in memory."""
    check(start(CUT, SIMHASH_ES_CACHE=NOWHERE, XDG_CACHE_HOME=NOWHERE, HOME=NOWHERE, TMPDIR=NOWHERE))


def test_shared_cache_of_others_is_not_touched(tmp_path: Path) -> None:
    """What lies in the shared temporary folder is neither read nor replaced."""
    shared, private = tmp_path / "shared", tmp_path / "private"
    shared.mkdir()
    foreign = shared / "jieba.cache"
    foreign.write_bytes(b"somebody else's")
    check(start(CUT, SIMHASH_ES_CACHE=str(private), TMPDIR=str(shared)))
    assert foreign.read_bytes() == b"somebody else's"
    assert (private / "segmenter" / "jieba.cache").is_file()


def test_half_written_cache_is_rebuilt(tmp_path: Path) -> None:
    """A cut-off file is replaced by a whole one."""
    folder = tmp_path / "segmenter"
    folder.mkdir(mode=0o700)
    cache = folder / "jieba.cache"
    cache.write_bytes(b"\xa9\x02\x7b")
    check(start(CUT, SIMHASH_ES_CACHE=str(tmp_path)))
    assert cache.stat().st_size > 1_000_000


def test_without_any_folder(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """The dictionary is built in memory, silently."""
    monkeypatch.setattr(segmenters, "private_cache_dir", lambda purpose: None)
    cut = segmenters.load_jieba([])
    assert " ".join(cut(TEXT)) == TOKENS
    assert capfd.readouterr() == ("", "")


def test_a_place_chosen_by_the_caller_is_kept(tmp_path: Path) -> None:
    """jieba's own settings win."""
    tokenizer = importlib.import_module("jieba").Tokenizer()
    tokenizer.tmp_dir = str(tmp_path)
    segmenters.initialize(tokenizer)
    assert tokenizer.tmp_dir == str(tmp_path)
    assert (tmp_path / "jieba.cache").is_file()


def test_level_of_the_logger_is_restored() -> None:
    """A caller who wants jieba's messages gets them back."""
    logger = logging.getLogger("jieba")
    before = logger.level
    with segmenters.quiet_jieba():
        assert not logger.isEnabledFor(logging.CRITICAL)
    assert logger.level == before


def test_each_segmenter_is_loaded_once() -> None:
    """Later calls, from any thread, get the same object."""
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda: found.append(segmenters.rjieba_cut(None, NormalForm()))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(map(id, found))) == 1


def test_own_tokenizer_and_the_global_one_are_apart() -> None:
    """Words added to jieba itself do not change profiles; a word of frequency 0 does not change jieba."""
    jieba = importlib.import_module("jieba")
    own = segmenters.load_jieba([("菜市场", 0)])
    assert "菜市场" not in list(own(TEXT))
    assert "菜市场" in list(segmenters.global_jieba_cut()(TEXT))
    assert "菜市场" not in importlib.import_module("jieba.finalseg").Force_Split_Words
    assert jieba.dt.FREQ["菜市场"] > 0
