"""The segmenter's cache: folders that cannot be written, files of other users, many at once at first use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fault_running import Cli

TEXT = "清晨的渔港还笼罩在薄雾里，头班渡船已经靠岸"
JIEBA = ("fingerprint", "--tokenizer", "jieba")
NOWHERE = "/proc/nowhere"
OTHER_USER = 65534
THREADS = """
import sys, threading
from simhash_es import Profile, fingerprint
profile, barrier, values = Profile().with_options(tokenizer="jieba"), threading.Barrier(8), []
def work():
    barrier.wait()
    values.append(fingerprint(sys.argv[1], profile).hex)
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(values) == 8
print(*set(values))
"""


@pytest.fixture
def value(cli: Cli) -> bytes:
    """What is to come out, with nothing beside it."""
    made = cli(*JIEBA, stdin=TEXT.encode()).out
    assert len(made) == 33
    return made


def test_nowhere_to_write(process: Cli, value: bytes, tmp_path: Path) -> None:
    """Without any folder to write to the words are the same, and nothing is said."""
    env = dict.fromkeys(("SIMHASH_ES_CACHE", "XDG_CACHE_HOME", "HOME", "TMPDIR"), NOWHERE)
    run = process(*JIEBA, stdin=TEXT.encode(), env=env)
    assert (run.code, run.out) == (0, value)
    assert "Traceback" not in run.err
    assert "jieba" not in run.err


@pytest.mark.parametrize("place", ["temporary", "named"])
def test_cache_of_someone_else(process: Cli, value: bytes, tmp_path: Path, place: str) -> None:
    """A cache that another user owns, or may write to, is neither read nor replaced nor complained about."""
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    stale = foreign / "jieba.cache"
    stale.write_bytes(b"not a dictionary")
    stale.chmod(0o600)
    if os.geteuid() == 0:
        os.chown(stale, OTHER_USER, OTHER_USER)
        os.chown(foreign, OTHER_USER, OTHER_USER)
    foreign.chmod(0o777)
    own = {"temporary": tmp_path / "own", "named": foreign}[place]
    env = {"TMPDIR": str(foreign), "SIMHASH_ES_CACHE": str(own), "XDG_CACHE_HOME": str(tmp_path / "xdg")}
    for _ in range(2):
        run = process(*JIEBA, stdin=TEXT.encode(), env=env)
        assert (run.code, run.out) == (0, value)
        assert "Traceback" not in run.err
    assert stale.read_bytes() == b"not a dictionary"
    assert not list(foreign.glob("segmenter*"))


@pytest.mark.slow
def test_eight_processes_at_first_use(value: bytes, tmp_path: Path) -> None:
    """Eight processes that begin together without a cache all give the same words, and leave one whole file."""
    env = {**os.environ, "SIMHASH_ES_CACHE": str(tmp_path / "cache")}
    line = [sys.executable, "-m", "simhash_es", *JIEBA]
    pipe = subprocess.PIPE
    (tmp_path / "in.txt").write_text(TEXT + "\n", encoding="utf-8")
    running = [subprocess.Popen([*line, str(tmp_path / "in.txt")], env=env, stdout=pipe, stderr=pipe) for _ in range(8)]
    for one in running:
        out, talk = one.communicate()
        assert (one.returncode, out) == (0, value)
        assert b"Traceback" not in talk
    assert [path.name for path in (tmp_path / "cache" / "segmenter").iterdir()] == ["jieba.cache"]


def test_eight_threads_at_first_use(value: bytes, tmp_path: Path) -> None:
    """Eight threads that begin together give the same words and say nothing."""
    env = {**os.environ, "SIMHASH_ES_CACHE": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", THREADS, TEXT], env=env, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (value, b"")
