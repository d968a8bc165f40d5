"""Being told to stop: by SIGTERM, by SIGINT, or because the process that this one is tied to has ended."""

import os
import signal
import socket

from wire.errors import Refusal


class Stop:
    """A flag, and a file that is readable when a loop has to look at it again."""

    def __init__(self) -> None:
        self.asked = False
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)

    def _on_signal(self, *_: object) -> None:
        self.asked = True

    def fileno(self) -> int:
        return self._reader.fileno()

    def wake(self) -> None:
        """Makes the loop look, from any thread."""
        try:
            self._writer.send(b"!")
        except BlockingIOError:
            pass  # so many wakes are unread that one more changes nothing

    def heard(self) -> None:
        """Takes note of the wakes so far."""
        try:
            while self._reader.recv(4096):
                pass
        except BlockingIOError:
            pass


def tie(pid: int) -> int:
    """A descriptor that is readable once that process has ended (PIPE-5). Refusal where it is nobody."""
    try:
        pidfd = os.pidfd_open(pid)
        recycled = _start(str(pid)) > _start("self")
    except OSError:
        raise Refusal(f"the process {pid} that this one is tied to is not there") from None
    # A process that started later only bears the number of the one that was meant.
    if recycled:
        os.close(pidfd)
        raise Refusal(f"the process {pid} started later than this one, and so is not the one it is tied to")
    return pidfd


def _start(pid: str) -> int:
    """When a process started, in clock ticks since boot."""
    with open(f"/proc/{pid}/stat", "rb") as stat:
        # The second field is a name that may hold spaces and parentheses; the 22nd is the start.
        return int(stat.read().rpartition(b")")[2].split()[19])
