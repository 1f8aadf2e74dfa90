"""Chromium without a window."""

from __future__ import annotations

import html
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=20000",
)  # fmt: skip
TIMEOUT_SECONDS = 120

# The page under test runs in a frame of a given width; the steps run outside, since its own policy forbids them inside.
HARNESS = """<!doctype html><meta charset="utf-8"><body style="margin:0">
<iframe id="frame" style="border:0;width:%(width)dpx;height:844px" src="%(address)s"></iframe><pre id="result"></pre>
<script>
const until = async (holds) => {
  for (let i = 0; i < 500; i++) {
    if (holds()) return;
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error("never came true: " + holds);
};
document.getElementById("frame").addEventListener("load", async () => {
  const page = document.getElementById("frame").contentWindow;
  const one = (css) => page.document.querySelector(css);
  const all = (css) => [...page.document.querySelectorAll(css)];
  const texts = (css) => all(css).map((node) => node.textContent);
  const press = (key) => page.document.activeElement.dispatchEvent(
    new page.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  let found;
  try { found = await (async () => { %(steps)s })(); }
  catch (error) { found = { error: String(error.stack || error) }; }
  document.getElementById("result").textContent = JSON.stringify(found);
}, { once: true });
</script>"""

Browse = Callable[..., Any]


@pytest.fixture
def dump_dom(browser: str, tmp_path: Path) -> Callable[[str], str]:
    """Opens an address and gives the document as it is once its scripts have run."""

    def dump(address: str) -> str:
        profile = f"--user-data-dir={tmp_path / 'profile'}"
        command = [browser, *QUIET, profile, "--allow-file-access-from-files", "--dump-dom", address]
        done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
        assert done.returncode == 0, done.stderr.decode(errors="replace")[-2000:]
        return done.stdout.decode()

    return dump


@pytest.fixture
def browse(dump_dom: Callable[[str], str], tmp_path: Path) -> Browse:
    """``browse(path, steps, hash="", width=1280)`` runs JavaScript steps on a page and gives what they return."""

    def run(path: Path, steps: str, *, hash: str = "", width: int = 1280) -> Any:
        address = html.escape(path.resolve().as_uri() + hash)
        harness = tmp_path / "harness.html"
        harness.write_text(HARNESS % {"width": width, "address": address, "steps": steps}, encoding="utf-8")
        result = re.search(r'<pre id="result">(.*?)</pre>', dump_dom(harness.as_uri()), re.DOTALL)
        assert result is not None
        assert result.group(1), "the steps did not finish"
        found = json.loads(html.unescape(result.group(1)))
        assert not (isinstance(found, dict) and "error" in found), found
        return found

    return run
