"""From a stream of bytes to the messages in it. No file is touched here: whoever reads one feeds its bytes in."""

from collections import deque
from dataclasses import dataclass

from .limits import WAITING_MESSAGES

_HEAD = 4
_SPACE = b"\t\n\r "


@dataclass(frozen=True)
class Arrival:
    """A message that came, or what is wrong with something whose bytes nobody has looked at."""

    body: bytes = b""
    complaint: str | None = None


class Frames:
    """Splits a socket's stream (SOCK-1)."""

    def __init__(self, cap: int):
        self.cap = cap
        self.buffer = bytearray()
        self.lost = False  # no telling where the next frame begins (LIMIT-4)

    @property
    def begun(self) -> bool:
        return bool(self.buffer) and not self.lost

    def feed(self, chunk: bytes) -> None:
        self.buffer += chunk

    def next(self) -> Arrival | None:
        """The next whole frame, None where more bytes are needed."""
        if self.lost or len(self.buffer) < _HEAD:
            return None
        size = int.from_bytes(self.buffer[:_HEAD], "big")
        if size > self.cap:
            self.lost = True
            return Arrival(complaint=f"the frame has {size} bytes and the cap is {self.cap}")
        if len(self.buffer) < _HEAD + size:
            return None
        body = bytes(self.buffer[_HEAD : _HEAD + size])
        del self.buffer[: _HEAD + size]
        return Arrival(body) if size else Arrival(complaint="the frame is empty: its length is 0")

    def finish(self) -> Arrival | None:
        """What the end of the stream makes of the bytes that are left."""
        if not self.begun:
            return None
        self.lost = True
        return Arrival(complaint="the input ended inside a frame")


class Lines:
    """Splits a pipe's stream (PIPE-1)."""

    def __init__(self, cap: int):
        self.cap = cap
        self.buffer = bytearray()
        self.searched = 0  # no line end stands before this place
        self.dropped = 0  # bytes of a line over the cap that were thrown away
        self.lost = False

    @property
    def begun(self) -> bool:
        return bool(self.buffer or self.dropped)

    def feed(self, chunk: bytes) -> None:
        self.buffer += chunk

    def next(self) -> Arrival | None:
        """The next line with something in it, None where more bytes are needed."""
        while (end := self.buffer.find(b"\n", self.searched)) >= 0:
            line = bytes(self.buffer[:end])
            del self.buffer[: end + 1]
            self.searched = 0
            if arrival := self._line(line):
                return arrival
        self._drop_excess()
        self.searched = len(self.buffer)
        return None

    def finish(self) -> Arrival | None:
        """The last line, which is one without its line end too (PIPE-3)."""
        line = bytes(self.buffer)
        self.buffer.clear()
        return self._line(line)

    def _line(self, line: bytes) -> Arrival | None:
        line = line.removesuffix(b"\r")
        size = self.dropped + len(line)
        self.dropped = 0
        if size > self.cap:
            return Arrival(complaint=f"the line has {size} bytes and the cap is {self.cap}")
        return Arrival(line) if line.strip(_SPACE) else None

    def _drop_excess(self) -> None:
        # One byte above the cap may be a CR, and then it does not count: the last byte is kept until the next is known.
        if self.dropped or len(self.buffer) > self.cap + 1:
            excess = len(self.buffer) - 1
            self.dropped += max(excess, 0)
            del self.buffer[: max(excess, 0)]


class Inbox:
    """The messages that wait to be served, and whether more may be read (LIMIT-5)."""

    def __init__(self, splitter: Frames | Lines):
        self.splitter = splitter
        self.ended = False  # nothing more is read
        self.arrived = 0  # how many messages came out of the splitter
        self._tail = splitter.finish
        self._waiting: deque[Arrival] = deque()
        self._bytes = 0
        self._emptied = False  # nothing more comes out of the splitter

    @property
    def hungry(self) -> bool:
        """Whether reading may go on."""
        return not self.ended and self._room()

    @property
    def begun(self) -> bool:
        """Whether a message has begun whose rest is still to come."""
        return self.hungry and self.splitter.begun

    @property
    def exhausted(self) -> bool:
        return self._emptied and not self._waiting

    def feed(self, chunk: bytes) -> None:
        self.splitter.feed(chunk)
        self._fill()

    def end(self) -> None:
        """The other end sends no more: what came is still served."""
        self.ended = True
        self._fill()

    def cut(self, complaint: str | None = None) -> None:
        """Ends too, and puts the complaint, or nothing, in place of a message that has only begun."""
        self._tail = lambda: Arrival(complaint=complaint) if complaint else None
        self.end()

    def take(self) -> Arrival | None:
        if not self._waiting:
            return None
        arrival = self._waiting.popleft()
        self._bytes -= len(arrival.body)
        self._fill()
        return arrival

    def _room(self) -> bool:
        return len(self._waiting) < WAITING_MESSAGES and self._bytes < self.splitter.cap

    def _fill(self) -> None:
        while self._room() and not self._emptied:
            arrival = self.splitter.next()
            if self.splitter.lost:
                self.ended = self._emptied = True
            elif arrival is None:
                if not self.ended:
                    return
                arrival = self._tail()
                self._emptied = True
            if arrival is not None:
                self.arrived += 1
                self._waiting.append(arrival)
                self._bytes += len(arrival.body)
