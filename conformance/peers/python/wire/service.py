"""From a message that came to the bytes that answer it, the same for pipe and socket."""

from .encoding import CBOR, JSON, begins_as_event, encoding_of
from .errors import Malformed, Unasked
from .inbox import Arrival
from .shape import Call, Reply, malformed, read, write_reply
from .table import PIPE, Context, Table


class Service:
    """Answers what arrives at one door."""

    def __init__(self, table: Table, door: str, cap: int):
        self.table = table
        self.door = door
        self.cap = cap

    def respond(self, arrival: Arrival, context: Context) -> bytes | None:
        """The body of the reply, or None for an event. Unasked where the connection has to be closed."""
        if arrival.complaint is not None:
            return write_reply(malformed(arrival.complaint), JSON, self.cap)
        encoding = self.reply_encoding(arrival.body)
        try:
            message = self.read(arrival.body)
        except Malformed as why:
            return write_reply(malformed(why), encoding, self.cap)
        if message is None:
            return None
        if isinstance(message, Reply):
            raise Unasked("a reply came for which no call waits")
        context.more = message.more
        return write_reply(self.table.answer(message, context), encoding, self.cap)

    def reply_encoding(self, body: bytes) -> str:
        return JSON if self.door == PIPE else encoding_of(body)

    def read(self, body: bytes) -> Call | Reply | None:
        if self.door == PIPE and encoding_of(body) == CBOR and not begins_as_event(body):
            raise Malformed("a pipe carries only JSON; the place for CBOR is the socket")
        return read(body)
