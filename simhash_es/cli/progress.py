"""Progress on a terminal: stage, how far, rate, remaining time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from simhash_es.cli.terminal import printable, say
from simhash_es.use_cases.talk import Advance

PATIENCE_SECONDS = 0.5
"""Work that is done sooner shows no progress."""


BAR_WIDTH = 24


class AmountColumn(ProgressColumn):
    """Units done of all, and units a second."""

    def render(self, task: Task) -> Text:
        """Such as ``1.2M of 5.0M  98.0k/s``."""
        amount = short(task.completed) + (f" of {short(task.total)}" if task.total is not None else "")
        speed = task.finished_speed or task.speed
        return Text(amount + (f"  {short(speed)}/s" if speed else ""))


def short(number: float) -> str:
    """A number of units or bytes in a few characters: ``999``, ``12.3k``, ``4.5M``, ``6.7G``."""
    for suffix in ("", "k", "M"):
        if number < 1000:
            return f"{number:.1f}{suffix}" if suffix else f"{number:.0f}"
        number /= 1000
    return f"{number:.1f}G"


class ProgressTalk:
    """Lines and progress on standard error; nothing of the progress stays when a stage is over."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._progress: Progress | None = None
        self._n_shown = 0

    def line(self, text: str) -> None:
        """One line for a person, above the progress if there is one."""
        with self._lock:
            if self._progress is None:
                say(text)
            else:
                self._progress.console.print(printable(text), markup=False, highlight=False, soft_wrap=True)

    @contextmanager
    def stage(self, name: str, total: int | None) -> Iterator[Advance]:
        """Show a stage that takes longer than a moment; see :class:`simhash_es.use_cases.talk.Talk`."""
        stage = _Stage(self, name, total)
        timer = threading.Timer(PATIENCE_SECONDS, stage.show)
        timer.daemon = True
        timer.start()
        try:
            yield stage.advance
        finally:
            timer.cancel()
            stage.end()

    def add_task(self, name: str, total: int | None, done: int) -> TaskID:
        """Begin to show a stage."""
        if self._progress is None:
            columns = (TextColumn("{task.description}", markup=False), BarColumn(BAR_WIDTH), AmountColumn())
            self._progress = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
            self._progress.start()
        self._n_shown += 1
        return self._progress.add_task(name, total=total, completed=done)

    def update_task(self, task: TaskID, done: int) -> None:
        """Show how far a stage is."""
        if self._progress is not None:
            self._progress.update(task, completed=done)

    def remove_task(self, task: TaskID) -> None:
        """Stop showing a stage; with the last one all of it vanishes."""
        if self._progress is None:
            return
        self._progress.remove_task(task)
        self._n_shown -= 1
        if self._n_shown == 0:
            self._progress.stop()
            self._progress = None

    @property
    def lock(self) -> threading.RLock:
        """Held by whoever changes what is shown: stages may be advanced from any thread."""
        return self._lock


class _Stage:
    """One stage, shown from the moment its timer calls :meth:`show`."""

    def __init__(self, talk: ProgressTalk, name: str, total: int | None) -> None:
        self._talk = talk
        self._name = name
        self._total = total
        self._done = 0
        self._task: TaskID | None = None
        self._is_over = False

    def show(self) -> None:
        with self._talk.lock:
            if not self._is_over:
                self._task = self._talk.add_task(self._name, self._total, self._done)

    def advance(self, n: int) -> None:
        with self._talk.lock:
            self._done += n
            if self._task is not None:
                self._talk.update_task(self._task, self._done)

    def end(self) -> None:
        with self._talk.lock:
            self._is_over = True
            if self._task is not None:
                self._talk.remove_task(self._task)
