"""How code that answers a call learns that it should give up."""

import os
import threading


class Cancel:
    """Set once, from any thread, with a reason: the caller is gone both ways (CLIENT-7), or the program has to end.

    It can be polled like a file, and costs a descriptor only when somebody does.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fd = -1
        self.reason: str | None = None

    def set(self, reason: str) -> None:
        with self._lock:
            if self.reason is None and self._fd >= 0:
                os.eventfd_write(self._fd, 1)
            self.reason = self.reason or reason

    def fileno(self) -> int:
        """A descriptor that is readable once this is set."""
        with self._lock:
            if self._fd < 0:
                self._fd = os.eventfd(0 if self.reason is None else 1)
            return self._fd

    def __del__(self) -> None:
        # Not earlier: a poll in another thread must not see its descriptor reused.
        if self._fd >= 0:
            os.close(self._fd)
