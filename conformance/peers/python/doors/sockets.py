"""The door socket: frames on a Unix stream socket (section 8). One loop reads and writes, workers answer."""

import select
import socket
import time

from wire.encoding import JSON
from wire.errors import Unasked
from wire.inbox import Arrival
from wire.service import Service
from wire.shape import refused, write_reply
from wire.table import SOCKET, Context, Table

from .connection import Connection, caller_of, frame
from .options import ServeOptions
from .place import Place
from .stdio import complain
from .stop import Stop
from .workers import Workers

_ACCEPT_AT_ONCE = 64  # so that a crowd at the door does not keep those inside waiting
_ACCEPT_REST = 0.1  # seconds, while descriptors or memory are short
_WORKING_GRACE = 0.8  # of the grace: what is still being answered then is given up, and its refusal leaves in time


class SocketDoor:
    def __init__(self, table: Table, options: ServeOptions, place: Place, stop: Stop, tied: int | None):
        self.program = table.program
        self.service = Service(table, SOCKET, options.cap)
        self.options = options
        self.place = place
        self.stop = stop
        self.tied = tied
        self.workers = Workers(stop.wake)
        self.connections: dict[int, Connection] = {}
        self.poller = select.epoll()
        self.listener = place.listener.fileno()
        self.rests_until: float | None = None
        self.gives_up_at: float | None = None
        self.stops_at: float | None = None

    def run(self) -> None:
        """Serves until told to stop, and then until all that came is answered or the grace is over."""
        self.place.listener.setblocking(False)
        for fd in (self.listener, self.stop.fileno(), self.tied):
            if fd is not None:
                self.poller.register(fd, select.EPOLLIN)
        while not self.stopped():
            for fd, events in self.poller.poll(self.timeout()):
                self.on_ready(fd, events)
            for connection, result in self.workers.results():
                self.on_answer(connection, result)
            self.look_at_clocks()
            if self.stop.asked and self.stops_at is None:
                self.begin_stop()

    def stopped(self) -> bool:
        if self.stops_at is None:
            return False
        return not self.connections or time.monotonic() >= self.stops_at

    def timeout(self) -> float:
        """Seconds until some clock runs out, -1 where none is running."""
        moments = [moment for c in self.connections.values() if (moment := c.deadline()) is not None]
        moments += [moment for moment in (self.rests_until, self.gives_up_at, self.stops_at) if moment is not None]
        return max(0.0, min(moments) - time.monotonic()) if moments else -1

    def on_ready(self, fd: int, events: int) -> None:
        if fd == self.listener:
            self.accept()
        elif fd == self.stop.fileno():
            self.stop.heard()
        elif fd == self.tied:
            self.stop.asked = True
            self.poller.unregister(fd)
        elif connection := self.connections.get(fd):
            connection.on_ready(events)
            self.advance(connection)

    def accept(self) -> None:
        for _ in range(_ACCEPT_AT_ONCE):
            try:
                sock, _ = self.place.listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError:
                # Descriptors or memory are short. The queue keeps the callers, and the loop must not spin meanwhile.
                self.poller.unregister(self.listener)
                self.rests_until = time.monotonic() + _ACCEPT_REST
                return
            self.admit(sock)

    def admit(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        caller = caller_of(sock)
        if caller is None:
            sock.close()
        elif len(self.connections) >= self.options.limit:
            self.turn_away(sock)
        else:
            connection = Connection(sock, caller, self.options, self.poller)
            self.connections[connection.fd] = connection

    def turn_away(self, sock: socket.socket) -> None:
        """One refusal, without waiting for a call (SOCK-5). It fits into what the kernel holds for a new connection."""
        text = f"the limit of {self.options.limit} connections is reached"
        try:
            sock.send(frame(write_reply(refused(text), JSON, self.service.cap)))
        except OSError:
            pass
        sock.close()

    def advance(self, connection: Connection) -> None:
        """Does what the state of a connection allows next."""
        if (arrival := connection.next_to_serve()) is not None:
            self.serve(connection, arrival)
        if connection.finished():
            self.drop(connection)
        else:
            connection.update_interest()

    def serve(self, connection: Connection, arrival: Arrival) -> None:
        context = Context(SOCKET, caller=connection.caller, cancel=connection.cancel)
        self.workers.submit(connection, lambda: self.service.respond(arrival, context))

    def on_answer(self, connection: Connection, result: bytes | None | Exception) -> None:
        if connection.closed:
            return
        connection.busy = False
        if isinstance(result, Exception):
            what = str(result) if isinstance(result, Unasked) else repr(result)
            complain(self.program, f"a connection is closed: {what}")
            self.drop(connection)
            return
        if result is not None:
            connection.send(frame(result))
        self.advance(connection)

    def look_at_clocks(self) -> None:
        now = time.monotonic()
        for connection in list(self.connections.values()):
            if connection.overdue(now):
                self.advance(connection)
        if self.rests_until is not None and now >= self.rests_until:
            self.rests_until = None
            if self.stops_at is None:
                self.poller.register(self.listener, select.EPOLLIN)
        if self.gives_up_at is not None and now >= self.gives_up_at:
            self.gives_up_at = None
            for connection in self.connections.values():
                connection.cancel.set("this program was told to stop")

    def begin_stop(self) -> None:
        """Accepts no more, reads what the kernel still holds, and lets the rest of the loop answer it (SOCK-6)."""
        now = time.monotonic()
        self.gives_up_at = now + self.options.grace * _WORKING_GRACE
        self.stops_at = now + self.options.grace
        if self.rests_until is None:
            self.poller.unregister(self.listener)
        self.listener = -1
        self.place.withdraw()
        for connection in list(self.connections.values()):
            connection.read_the_last()
            self.advance(connection)

    def drop(self, connection: Connection) -> None:
        del self.connections[connection.fd]
        connection.close()
