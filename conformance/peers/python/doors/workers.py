"""Threads in which verbs run, so that the loop that reads and writes never waits for one."""

import threading
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any


class Workers:
    """As many threads as there are jobs at a time; a thread that is done waits for the next job."""

    def __init__(self, wake: Callable[[], None]):
        self._wake = wake
        self._jobs: SimpleQueue = SimpleQueue()
        self._done: SimpleQueue = SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self._start()

    def submit(self, owner: Any, job: Callable[[], Any]) -> None:
        """Runs the job; its result, or what it raised, comes out of results() with its owner."""
        self._jobs.put((owner, job))
        with self._lock:
            self._idle -= 1
            short = self._idle < 0
        if short:
            self._start()

    def results(self) -> Iterator[tuple[Any, Any]]:
        """What has been done since the last time."""
        while True:
            try:
                yield self._done.get_nowait()
            except Empty:
                return

    def _start(self) -> None:
        try:
            threading.Thread(target=self._work, daemon=True).start()
        except RuntimeError:
            return  # no thread is to be had: the job waits for one of those that are
        with self._lock:
            self._idle += 1

    def _work(self) -> None:
        while True:
            owner, job = self._jobs.get()
            try:
                result = job()
            except Exception as why:
                result = why
            with self._lock:
                self._idle += 1
            self._done.put((owner, result))
            self._wake()
