"""Calls to another program by any of its doors (section 10)."""

import select
import socket
import struct
from dataclasses import dataclass

from wire import shape
from wire.cancel import Cancel
from wire.encoding import CBOR, JSON, encode
from wire.errors import Unreached, quote
from wire.inbox import Frames, Lines
from wire.limits import SOCKET_CAP, STARTED_CAP
from wire.shape import Call, Reply

from .child import Child
from .conversation import Conversation, Output
from .patience import Patience

_CALL_SECONDS = 30.0  # CLIENT-4; also from starting a program to its first byte
_DIAL_SECONDS = 2

_WITHIN = {"within": True}  # CLIENT-6: every call here is made while another is being answered


@dataclass(frozen=True)
class Target:
    """Another program, and the door to it: argv:PROG, pipe:PROG or unix:PATH."""

    door: str
    name: str

    def call(self, verb: str, args: list, cancel: Cancel) -> list:
        """The rows of the reply. Refusal is what the other said, Unreached what this side concludes (FAULT-4)."""
        reply = _DOORS[self.door](self.name, verb, args, cancel)
        return shape.read_reply(reply, str(self))

    def __str__(self) -> str:
        return quote(f"{self.door}:{self.name}")


def parse(text: str) -> Target | None:
    door, _, name = text.partition(":")
    return Target(door, name) if door in _DOORS and name and "\0" not in name else None


def _argv(program: str, verb: str, args: list, cancel: Cancel) -> Reply:
    if "\0" in verb:
        raise Unreached("a verb with a NUL cannot stand on a command line")
    shape.check_writable({"args": args})
    out = shape.within_cap(encode(args, CBOR), STARTED_CAP, "the list of arguments")
    talk = Output(STARTED_CAP, out)
    # Behind -- no verb is taken for a flag.
    return _from_child([program, "--cbor", "--args", "-", "--", verb], talk, cancel, one_way=True)


def _pipe(program: str, verb: str, args: list, cancel: Cancel) -> Reply:
    call = shape.write_call(Call(verb, args, _WITHIN), JSON, STARTED_CAP)
    return _from_child([program, "pipe"], Conversation(Lines(STARTED_CAP), call), cancel, one_way=False)


def _from_child(argv: list[str], talk: Conversation | Output, cancel: Cancel, one_way: bool) -> Reply:
    patience = Patience(_CALL_SECONDS, cancel)
    child = Child(argv)
    try:
        child.converse(talk, patience, one_way)
        if talk.reply is None:
            raise Unreached(child.epitaph())
        return talk.reply
    finally:
        child.close(hurried=cancel.reason is not None)


def _unix(path: str, verb: str, args: list, cancel: Cancel) -> Reply:
    call = shape.write_call(Call(verb, args, _WITHIN), CBOR, SOCKET_CAP)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        _dial(sock, path)
        return _on_socket(sock, Conversation(Frames(SOCKET_CAP), call), Patience(_CALL_SECONDS, cancel))


def _dial(sock: socket.socket, path: str) -> None:
    # The queue of a Unix socket cannot be polled for a place in it, but the kernel waits for one as long as for a write.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", _DIAL_SECONDS, 0))
    try:
        sock.connect(path)
    except BlockingIOError:
        raise Unreached(f"nobody took the connection within {_DIAL_SECONDS} s") from None
    except OSError as why:
        raise Unreached(f"it cannot be dialed: {why.strerror or why}") from None
    sock.setblocking(False)


def _on_socket(sock: socket.socket, talk: Conversation, patience: Patience) -> Reply:
    while talk.reply is None:
        events = select.POLLIN | (select.POLLOUT if talk.outgoing else 0)
        ready = patience.wait({sock.fileno(): events})[sock.fileno()]
        if talk.outgoing and ready & select.POLLOUT:
            _say(sock, talk)
        if ready & ~select.POLLOUT and not _hear(sock, talk):
            raise Unreached("the connection ended before the reply")
    return talk.reply


def _say(sock: socket.socket, talk: Conversation) -> None:
    try:
        size = sock.send(talk.outgoing)
    except BlockingIOError:
        return
    except OSError:
        size = len(talk.outgoing)  # a refusal may lie there unread, and is the reason (CLIENT-3)
    del talk.outgoing[:size]


def _hear(sock: socket.socket, talk: Conversation) -> bool:
    """Whether something came."""
    try:
        chunk = sock.recv(1 << 16)
    except BlockingIOError:
        return True
    except OSError:
        chunk = b""
    talk.receive(chunk)
    return bool(chunk)


_DOORS = {"argv": _argv, "pipe": _pipe, "unix": _unix}
