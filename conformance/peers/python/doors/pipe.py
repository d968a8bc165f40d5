"""The door pipe: lines of JSON on stdin and stdout (section 7)."""

import os
import select
import time

from wire.cancel import Cancel
from wire.errors import Unasked
from wire.inbox import Arrival, Inbox, Lines
from wire.service import Service
from wire.table import PIPE, Context, Table

from .stdio import complain, reason, write_all
from .stop import Stop
from .workers import Workers

# PIPE-3 has 5 s from the end of stdin until all that was read is handled.
_WORKING_SECONDS = 4.0  # what is still being answered then is given up, and refused in time
_BOUND_SECONDS = 5.0
_STDIN = 0


class PipeDoor:
    """Serves stdin until it ends. One worker answers; this loop goes on reading while it is held up (LIMIT-5)."""

    def __init__(self, table: Table, cap: int, out: int, stop: Stop, tied: int | None):
        self.program = table.program
        self.service = Service(table, PIPE, cap)
        self.out = out
        self.stop = stop
        self.tied = tied
        self.inbox = Inbox(Lines(cap))
        self.workers = Workers(stop.wake)
        self.cancel = Cancel()
        self.busy = False
        self.gives_up_at: float | None = None
        self.bound: float | None = None

    def run(self) -> int:
        """The exit status."""
        while True:
            self.start_next()
            if self.inbox.exhausted and not self.busy:
                return 0
            if self.overdue(time.monotonic()):
                complain(self.program, f"not all that was read could be answered within {_BOUND_SECONDS:g} s")
                return 1
            self.wait()
            for _, result in self.workers.results():
                self.busy = False
                if isinstance(result, Exception):
                    return self.broken(result)

    def overdue(self, now: float) -> bool:
        """Winds the clocks of the end and acts on them; whether the last has run out.

        That one runs from a signal only: at the mere end of stdin a pager may be at the other end of stdout (LIMIT-5).
        """
        if self.gives_up_at is None and (self.inbox.ended or self.stop.asked):
            self.gives_up_at = now + _WORKING_SECONDS
        if self.bound is None and self.stop.asked:
            self.bound = now + _BOUND_SECONDS
        if self.gives_up_at is not None and now >= self.gives_up_at:
            self.cancel.set("no more calls come, and time to answer is up")
        return self.bound is not None and now >= self.bound

    def start_next(self) -> None:
        if self.busy or (arrival := self.inbox.take()) is None:
            return
        self.busy = True
        self.workers.submit(self, lambda: self.serve(arrival))

    def serve(self, arrival: Arrival) -> None:
        """Runs in a worker. A write waits as long as it takes, since a pager may be at the other end."""
        body = self.service.respond(arrival, Context(PIPE, cancel=self.cancel))
        if body is not None:
            write_all(self.out, body + b"\n")

    def broken(self, why: Exception) -> int:
        if isinstance(why, Unasked):
            complain(self.program, f"the pipe is closed: {why}")
        elif isinstance(why, OSError):
            complain(self.program, f"a reply could not be written: {reason(why)}")
        else:
            raise why
        return 1

    def wait(self) -> None:
        """Until something is to be done, and does what is about reading."""
        for fd, events in self.poll():
            if fd == self.stop.fileno():
                self.stop.heard()
            elif fd == self.tied:
                self.stop.asked = True
                self.tied = None
            elif fd == _STDIN:
                self.read()
            elif events & (select.POLLERR | select.POLLHUP):
                self.cancel.set("whoever asked is gone")

    def poll(self) -> list[tuple[int, int]]:
        poller = select.poll()
        poller.register(self.stop, select.POLLIN)
        if self.tied is not None:
            poller.register(self.tied, select.POLLIN)
        if self.inbox.hungry:
            poller.register(_STDIN, select.POLLIN)
        elif self.inbox.ended and self.cancel.reason is None:
            # Nothing is sent to us any more; where nothing is read from us either, the caller is gone (CLIENT-7).
            poller.register(self.out, 0)
        last_look = self.stop.asked and self.inbox.hungry
        ready = poller.poll(0 if last_look else self.timeout())
        if last_look and not any(fd == _STDIN for fd, _ in ready):
            self.inbox.end()
        return ready

    def timeout(self) -> float | None:
        """Milliseconds until a clock runs out, None where none is running."""
        given_up = self.cancel.reason is not None
        moments = [moment for moment in (None if given_up else self.gives_up_at, self.bound) if moment is not None]
        return max(0.0, min(moments) - time.monotonic()) * 1000 if moments else None

    def read(self) -> None:
        try:
            chunk = os.read(_STDIN, 1 << 16)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""  # a stdin that cannot be read has no more calls
        if chunk:
            self.inbox.feed(chunk)
        else:
            self.inbox.end()
