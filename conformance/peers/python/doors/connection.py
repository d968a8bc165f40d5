"""One accepted connection: what has come, what goes out, and the two clocks (SOCK-5)."""

import os
import select
import socket
import struct
import time

from wire.cancel import Cancel
from wire.inbox import Arrival, Frames, Inbox
from wire.table import Caller

from .options import ServeOptions

_SO_PEERPIDFD = 77  # Linux 6.5; the socket module has no name for it
_CREDENTIALS = struct.Struct("iII")
_NOBODY = 0xFFFFFFFF

_chunk = bytearray(1 << 18)  # all connections are read into this one: a silent one costs no buffer (LIMIT-2)


def frame(body: bytes) -> bytes:
    """The body behind its length (SOCK-1)."""
    return len(body).to_bytes(4, "big") + body


def caller_of(sock: socket.socket) -> Caller | None:
    """Who is at the other end, or None where that is a stranger (SOCK-4)."""
    try:
        raw = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    except OSError:
        return None
    pid, uid, gid = _CREDENTIALS.unpack(raw)
    if uid == _NOBODY or uid != os.geteuid():
        return None
    return Caller(uid, gid, pid, lambda: _peer_pidfd(sock))


def _peer_pidfd(sock: socket.socket) -> int | None:
    try:
        pidfd = sock.getsockopt(socket.SOL_SOCKET, _SO_PEERPIDFD)
    except OSError:
        return None
    os.set_inheritable(pidfd, False)
    return pidfd


class Connection:
    """Belongs to the loop of the door; a worker sees only one arrival of it, and cancel."""

    def __init__(self, sock: socket.socket, caller: Caller, options: ServeOptions, poller: select.epoll):
        self.sock = sock
        self.fd = sock.fileno()
        self.caller = caller
        self.stall = options.stall
        self.inbox = Inbox(Frames(options.cap))
        self.cancel = Cancel()
        self.busy = False
        self.closed = False
        self._output = memoryview(b"")
        self._broken = False  # a write failed: the transport is lost
        self._hung_up = False  # the peer neither sends nor reads any more
        self._last_read = False  # take what the kernel holds, and then no more
        self._read_due: float | None = None
        self._write_due: float | None = None
        self._clocked = -1  # which message the read clock runs for
        self._poller = poller
        self._interest = select.EPOLLIN
        poller.register(self.fd, self._interest)

    def on_ready(self, events: int) -> None:
        if events & (select.EPOLLHUP | select.EPOLLERR):
            # Gone both ways (CLIENT-7). What it sent is still handled; level-triggered, this would be told for ever.
            self._hung_up = True
            self.cancel.set("whoever asked is gone")
            self._output = memoryview(b"")
            self._forget()
            self.read_the_last()
            return
        if events & select.EPOLLIN:
            self._read()
        if events & select.EPOLLOUT:
            self._write()

    def read_the_last(self) -> None:
        """Reads what is here, if only in the kernel's buffer, and ends the input behind it."""
        self._last_read = True
        while self.inbox.hungry and self._read():
            pass

    def _read(self) -> bool:
        """Whether something came."""
        if not self.inbox.hungry:
            return False
        try:
            size = self.sock.recv_into(_chunk)
        except BlockingIOError:
            if self._last_read:
                self.inbox.cut()
            return False
        except OSError:
            size = 0
        if size == 0:
            self.inbox.end()
            return False
        self.inbox.feed(memoryview(_chunk)[:size])
        return True

    def next_to_serve(self) -> Arrival | None:
        """The next message, once the reply to the one before has left."""
        if self.busy or self._output or self._broken:
            return None
        arrival = self.inbox.take()
        if self._last_read:
            self.read_the_last()  # there may have been no room before
            arrival = arrival or self.inbox.take()
        self.busy = arrival is not None
        return arrival

    def send(self, data: bytes) -> None:
        if self._hung_up:
            return  # nobody reads it
        self._output = memoryview(data)
        self._write_due = time.monotonic() + self.stall
        self._write()

    def _write(self) -> None:
        try:
            while self._output:
                self._output = self._output[self.sock.send(self._output) :]
                self._write_due = time.monotonic() + self.stall
        except BlockingIOError:
            return
        except OSError:
            self._broken = True

    def finished(self) -> bool:
        return self._broken or (self.inbox.exhausted and not self.busy and not self._output)

    def update_interest(self) -> None:
        """Tells the poller and the clocks what is being waited for."""
        reading = self.inbox.hungry
        interest = (select.EPOLLIN if reading else 0) | (select.EPOLLOUT if self._output else 0)
        if interest != self._interest and not self._hung_up:
            self._poller.modify(self.fd, interest)
            self._interest = interest
        if not self._output:
            self._write_due = None
        self._run_read_clock()

    def _run_read_clock(self) -> None:
        """One clock for header and body of a frame that has begun; it does not run while we do not read."""
        if not self.inbox.begun:
            self._clocked, self._read_due = -1, None
        elif self._clocked != self.inbox.arrived:
            self._clocked, self._read_due = self.inbox.arrived, time.monotonic() + self.stall

    def deadline(self) -> float | None:
        """The moment at which a clock runs out next."""
        if self._read_due is None or self._write_due is None:
            return self._write_due if self._read_due is None else self._read_due
        return min(self._read_due, self._write_due)

    def overdue(self, now: float) -> bool:
        """Acts on a clock that has run out; whether there was one."""
        late_write = self._write_due is not None and now >= self._write_due
        late_read = self._read_due is not None and now >= self._read_due
        if late_write:
            self._broken = True
        elif late_read:
            self.inbox.cut(f"the frame did not end within {self.stall:g} s")
        return late_write or late_read

    def _forget(self) -> None:
        self._poller.unregister(self.fd)

    def close(self) -> None:
        if not self._hung_up:
            self._forget()
        self.closed = True
        self.cancel.set("the connection is closed")
        self.sock.close()
