"""One call on a connection, as bytes that go out and bytes that come in. Who holds the connection moves them."""

from wire.encoding import JSON, encoding_of
from wire.errors import Malformed, Unreached, quote
from wire.inbox import Arrival, Frames, Lines
from wire.shape import Call, Reply, read, refused, write_reply


class Conversation:
    """Waits for the reply to one call; meanwhile the peer may send events, and calls of its own (PIPE-1)."""

    def __init__(self, splitter: Frames | Lines, call: bytes):
        self._splitter = splitter
        self.outgoing = bytearray(self._wrapped(call))
        self.reply: Reply | None = None

    def _wrapped(self, body: bytes) -> bytes:
        if isinstance(self._splitter, Lines):
            return body + b"\n"
        return len(body).to_bytes(4, "big") + body

    def receive(self, chunk: bytes) -> None:
        """Takes what came, up to the reply. What stands behind it is nobody's: the connection is closed then."""
        self._splitter.feed(chunk)
        while self.reply is None and (arrival := self._splitter.next()):
            self._take(arrival)

    def end(self) -> None:
        """No more comes. The last line of a pipe may still be the reply; anything else is none."""
        if self.reply is None and isinstance(self._splitter, Lines) and (last := self._splitter.finish()):
            self._take(last)

    def _take(self, arrival: Arrival) -> None:
        if arrival.complaint is not None:
            raise Unreached(f"the reply is malformed: {arrival.complaint}")
        try:
            message = read(arrival.body)
        except Malformed as why:
            # It could have been the reply, so it is neither answered nor passed over (CLIENT-3).
            raise Unreached(f"the reply is malformed: {why}") from None
        if isinstance(message, Reply):
            self.reply = message
        elif isinstance(message, Call):
            self._refuse(message, encoding_of(arrival.body))

    def _refuse(self, call: Call, encoding: str) -> None:
        encoding = JSON if isinstance(self._splitter, Lines) else encoding
        refusal = refused(f"no such call: {quote(call.verb)}")
        self.outgoing += self._wrapped(write_reply(refusal, encoding, self._splitter.cap))


class Output:
    """The one reply on the stdout of a program that ran for a call (ARGV-1)."""

    def __init__(self, cap: int, args: bytes):
        self._cap = cap
        self._found = bytearray()
        self.outgoing = bytearray(args)
        self.reply: Reply | None = None

    def receive(self, chunk: bytes) -> None:
        self._found += chunk
        if len(self._found) > self._cap + 1:  # a line end behind JSON does not count
            raise Unreached(f"the reply is malformed: it is over the cap of {self._cap} bytes")

    def end(self) -> None:
        """The program is through: what it wrote is the reply, or nothing is."""
        if not self._found:
            return
        try:
            message = read(bytes(self._found))
        except Malformed as why:
            raise Unreached(f"the reply is malformed: {why}") from None
        if not isinstance(message, Reply):
            raise Unreached("the reply is malformed: it is a message, and no reply")
        self.reply = message
