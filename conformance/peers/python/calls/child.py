"""A program that was started for a call: its three streams, its end, and that nothing of it stays behind (PIPE-4)."""

import os
import select
import signal
import subprocess
import threading

from wire.errors import Unreached, escape

from .conversation import Conversation, Output
from .patience import Patience

_CLOSE_SECONDS = 2.0  # CLIENT-4, twice: for the end of stdin, and for SIGTERM
_HURRIED_SECONDS = 0.25  # the same where the call was given up, as its answer has to leave before the program ends
_LAST_WORDS_SECONDS = 0.5
_TAIL_BYTES = 1024
_WRITE_BYTES = 1 << 16
_READ_BYTES = 1 << 20  # a pipe holds no more, so one read takes all that a dead child has left

_alive: set["Child"] = set()
_alive_lock = threading.RLock()  # a signal handler may come in between


def end_all() -> None:
    """Kills every child there is. For the moment at which this program is cut off itself."""
    with _alive_lock:
        for child in list(_alive):
            child.signal(signal.SIGKILL)


class Child:
    """Runs in a process group of its own, so that a wrapper does not hide the real program from a signal."""

    def __init__(self, argv: list[str]):
        try:
            self._start(argv)
        except (OSError, ValueError) as why:
            raise Unreached(f"it cannot be started: {getattr(why, 'strerror', None) or why}") from None
        self._stdin = self._process.stdin
        self._stdout = self._process.stdout
        self._stderr = self._process.stderr
        self._tail = b""
        for stream in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(stream.fileno(), False)

    def _start(self, argv: list[str]) -> None:
        pipe = subprocess.PIPE
        with _alive_lock:
            self._process = subprocess.Popen(
                argv, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
            )
            _alive.add(self)
        try:
            self._pidfd = os.pidfd_open(self._process.pid)
        except OSError:
            self.signal(signal.SIGKILL)
            self._reap()
            raise

    def converse(self, talk: Conversation | Output, patience: Patience, one_way: bool) -> None:
        """Moves bytes until there is a reply or none can come. One way means that stdin ends behind what goes out."""
        while talk.reply is None:
            ready = patience.wait(self._wanted(talk))
            self._hear_stderr(ready)
            if not self._stdin.closed and self._stdin.fileno() in ready:
                self._say(talk)
            if one_way and not talk.outgoing:
                self._stdin.close()
            chunk = _hear(self._stdout, ready)
            if chunk:
                talk.receive(chunk)
            elif self._stdout.closed or self._pidfd in ready:
                # Where it is dead and all is read, something that it started may hold stdout open still.
                talk.end()
                return

    def _listening(self) -> dict[int, int]:
        streams = [stream.fileno() for stream in (self._stdout, self._stderr) if not stream.closed]
        return dict.fromkeys([self._pidfd, *streams], select.POLLIN)

    def _wanted(self, talk: Conversation | Output) -> dict[int, int]:
        wanted = self._listening()
        if talk.outgoing and not self._stdin.closed:
            wanted[self._stdin.fileno()] = select.POLLOUT
        return wanted

    def _say(self, talk: Conversation | Output) -> None:
        try:
            size = os.write(self._stdin.fileno(), talk.outgoing[:_WRITE_BYTES])
        except BlockingIOError:
            return
        except OSError:
            size = len(talk.outgoing)  # it reads no more; what it has to say may still come
        del talk.outgoing[:size]

    def _hear_stderr(self, ready: dict[int, int]) -> None:
        self._tail = (self._tail + _hear(self._stderr, ready))[-_TAIL_BYTES:]

    def epitaph(self) -> str:
        """Why no reply came: how the child ended, if it did, and the tail of its stderr."""
        status = self._await_end(Patience(_LAST_WORDS_SECONDS))
        if status is None:
            text = "it closed its stdout without a reply"
        elif status.si_code == os.CLD_EXITED:
            text = f"it exited with status {status.si_status} and without a reply"
        else:
            text = f"it was killed by signal {status.si_status} ({signal.Signals(status.si_status).name})"
        tail = self._tail.decode("utf-8", "replace").strip()
        return f"{text}; the end of its stderr: {escape(tail)}" if tail else text

    def _await_end(self, patience: Patience):
        """How the child ended, None while it lives. It stays a zombie, so that its number cannot become another's."""
        ended = False
        try:
            while not ended:
                ready = patience.wait(self._listening())
                self._hear_stderr(ready)
                _hear(self._stdout, ready)  # whoever is held up writing does not come to its end
                ended = self._pidfd in ready
        except Unreached:
            pass
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)

    def close(self, hurried: bool) -> None:
        """Ends it in steps, and always returns."""
        grace = _HURRIED_SECONDS if hurried else _CLOSE_SECONDS
        self._stdin.close()
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                self.signal(number)
            if self._await_end(Patience(grace)) is not None:
                break
        self.signal(signal.SIGKILL)  # what the child itself has left behind in its group
        self._reap()
        self._stdout.close()
        self._stderr.close()
        os.close(self._pidfd)

    def _reap(self) -> None:
        with _alive_lock:
            _alive.discard(self)
            self._process.poll()

    def signal(self, number: int) -> None:
        """To the whole group."""
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            pass


def _hear(stream, ready: dict[int, int]) -> bytes:
    """What has come on a stream, which is closed at its end."""
    if stream.closed or stream.fileno() not in ready:
        return b""
    try:
        chunk = os.read(stream.fileno(), _READ_BYTES)
    except BlockingIOError:
        return b""
    if not chunk:
        stream.close()
    return chunk
