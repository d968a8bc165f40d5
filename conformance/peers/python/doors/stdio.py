"""File descriptors 0, 1 and 2, which belong to the wire and to others, and are treated accordingly (ARGV-5)."""

import errno
import os
import select


def claim_stdout() -> int:
    """Makes descriptor 1 the same as stderr, and returns where replies go: a duplicate of what it was.

    So a stray print of some library ends up on stderr, and never among the bytes of the wire.
    """
    _fill_gaps()
    out = os.dup(1)
    os.dup2(2, 1)
    return out


def _fill_gaps() -> None:
    # A descriptor that was closed would be given to the next socket. Read-only, so that writing a reply to it still fails.
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if fd < 2 else os.O_WRONLY)


def write_all(fd: int, data: bytes) -> None:
    """Writes all of it, and waits where somebody else has made the descriptor non-blocking."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:
            wait(fd, select.POLLOUT)


def read_some(fd: int, size: int = 1 << 16) -> bytes:
    """The next bytes, empty at the end, however the descriptor is set."""
    while True:
        try:
            return os.read(fd, size)
        except BlockingIOError:
            wait(fd, select.POLLIN)


def read_up_to(fd: int, most: int) -> bytes:
    """All that comes until the end, or one byte more than that at the most."""
    found = bytearray()
    while len(found) <= most and (chunk := read_some(fd, min(1 << 16, most + 1 - len(found)))):
        found += chunk
    return bytes(found)


def wait(fd: int, events: int) -> None:
    poller = select.poll()
    poller.register(fd, events)
    poller.poll()


def complain(program: str, text: str) -> None:
    """One sentence on stderr. Where that is gone too, nobody is left to be told."""
    try:
        write_all(2, f"{program}: {text}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        pass


def reason(why: OSError) -> str:
    """What the system says, without the number and the path that str(why) adds."""
    return os.strerror(why.errno) if why.errno else str(why) or errno.errorcode.get(why.errno, "unknown error")
