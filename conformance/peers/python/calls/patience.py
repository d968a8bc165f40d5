"""Waiting with an end: every wait of a call ends by its deadline, or when the answer is given up."""

import select
import time

from wire.cancel import Cancel
from wire.errors import Unreached


class Patience:
    """One deadline for all the waits of a call (CLIENT-4)."""

    def __init__(self, seconds: float, cancel: Cancel | None = None):
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._cancel = cancel

    def left(self) -> float:
        return max(0.0, self._end - time.monotonic())

    def wait(self, wanted: dict[int, int]) -> dict[int, int]:
        """The events on some of the descriptors, or Unreached where time is up or the call is given up."""
        poller = select.poll()
        for fd, events in wanted.items():
            poller.register(fd, events)
        if self._cancel is not None:
            poller.register(self._cancel, select.POLLIN)
        ready = dict(poller.poll(self.left() * 1000))
        if self._cancel is not None and self._cancel.reason is not None:
            raise Unreached(self._cancel.reason)
        if not ready:
            raise Unreached(f"time ran out after {self._seconds:g} s")
        return ready
