#!/usr/bin/env python3
"""Client for programs of the kith wire, family 1, in JSON: one file, the standard library only, Python 3.8 or later.

    with connect("unix:" + socket_path("scribe")) as scribe:    # or "pipe:scribe", "argv:scribe"
        for note in scribe.call("list", 10):                    # the rows of the reply
            print(note["text"])
        scribe.call("watch")
        while True:
            print(scribe.event())                               # raises Unavailable when the connection ends

A call gives its rows or raises: Refusal is what the peer said (fault, text), Unavailable that it is not there, Malformed
that what came is not this wire. After a call that was not sent or not answered whole, its deadline included, the
connection is closed and stays closed: connect again. A link is for one thread at a time; close() is for any.

    scribe client > client.py                   each program has the file in itself
    python3 client.py TARGET VERB [ARG...]      ARG is JSON, or else text; each row is printed as a line of JSON;
                                                exit 3 refused, 4 unavailable, 5 failed, 6 malformed, why on stderr
"""
import collections, contextlib, json, math, os, re, select, signal, socket, subprocess, sys, threading, time

FAMILY = 1
CAP_CHILD, CAP_SOCKET = 16 << 20, 1 << 20  # bytes of one message, both ways
DEPTH, INT_BITS, EVENTS = 64, 1024, 1024
DIAL, CALL, GRACE = 2.0, 30.0, 2.0  # seconds


class Error(Exception):
    """Why a call has no rows. said: the peer said so; else this side concluded it."""
    fault, said = "failed", False

    def __init__(self, text):
        super().__init__(text)
        self.text = text


class Unavailable(Error):
    """Nobody there, or nobody any more: not reached, ended, or the deadline is over."""
    fault = "unavailable"


class Malformed(Error):
    """What came is not this wire, or is a later family of it."""
    fault = "malformed"


class Refusal(Error):
    """The peer said no, and fault is what that costs (sent: its own word). Not said: refused here, and nothing was sent."""

    def __init__(self, text, fault="refused", said=False):
        super().__init__(text)
        self.sent, self.said = fault, said
        self.fault = fault if fault in ("refused", "unavailable", "failed", "malformed") else "refused"


def socket_path(prog, instance="main"):
    """Where an instance of a program listens unless it was told another place."""
    base, tmp = os.environ.get("XDG_RUNTIME_DIR"), os.environ.get("TMPDIR") or "/tmp"
    folder = os.path.join(base, prog) if base else os.path.join(tmp, "%s-%d" % (prog, os.getuid()))
    return os.path.join(folder, instance + ".sock")


def connect(target, cap=None):
    """Reach unix:PATH, pipe:PROG or argv:PROG; bare, a socket file is unix and anything else argv. cap: bytes of a message."""
    kind, _, rest = target.partition(":")
    if kind not in ("unix", "pipe", "argv"):
        kind, rest = "unix" if os.path.exists(target) and not os.path.isfile(target) else "argv", target
    if kind == "argv":
        return Program(target, rest, cap or CAP_CHILD)
    if kind == "pipe":
        return Link(target, _Child(target, [rest, "pipe"]), cap or CAP_CHILD)
    return Link(target, _Socket(target, rest), cap or CAP_SOCKET)


def _shown(text):
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _quote(text):
    """What an error may quote: 64 bytes of what came, whole characters, controls escaped."""
    return _shown(text.encode(errors="replace")[:64].decode(errors="ignore"))


# What a message may hold: what json alone would let pass, or change without a word.


def _check(v, depth=1):
    if isinstance(v, int) and max(v, -1 - v).bit_length() > INT_BITS:
        raise ValueError("an integer of more than %d bits" % INT_BITS)
    if isinstance(v, (dict, list, tuple)):
        if depth > DEPTH:
            raise ValueError("deeper than %d" % DEPTH)
        for k in v if isinstance(v, dict) else ():
            if not isinstance(k, str):
                raise TypeError("the name of a member is %r and must be text" % (k,))
        for item in v.values() if isinstance(v, dict) else v:
            _check(item, depth + 1)


def _pack(message, cap):
    try:
        _check(message)
        body = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError) as e:  # ValueError: NaN too, and a lone surrogate
        raise Refusal("cannot be sent: %s" % e) from None
    if len(body) > cap:
        raise Refusal("the message is %d bytes and the cap is %d" % (len(body), cap))
    return body


def _object(pairs):
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member stands twice")
    return members


def _float(text):
    v = float(text)
    if not math.isfinite(v) or v == 0 and re.search("[1-9]", re.split("[eE]", text)[0]):
        raise ValueError("%s is no number of a binary64" % _quote(text))
    return v


def _int(text):
    if len(text) > 310:  # more digits than the bits that _check allows, and slow to read
        raise ValueError("an integer of more than %d bits" % INT_BITS)
    return -0.0 if text == "-0" else int(text)


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_int=_int, parse_constant=_float)


def _unpack(peer, body):
    """One message: which of call, ok and event it is, and its members. An event nobody can read is still one."""
    try:
        message = _decoder.decode(body.decode())
        _check(message)
        if re.search(rb"\\u[dD][89a-fA-F]", body):
            json.dumps(message, ensure_ascii=False).encode()  # a lone surrogate has no bytes
        shapes = [k for k in ("call", "ok", "event") if isinstance(message, dict) and k in message]
        if len(shapes) != 1:
            raise ValueError("a message is an object that holds one of call, ok and event")
        return shapes[0], message
    except (ValueError, RecursionError) as e:
        if re.match(rb'\s*\{\s*"event"\s*:', body):
            return "event", {}
        raise Malformed("%s: not a message: %s: %s" % (peer, e, _quote(body[:64].decode(errors="replace")))) from None


def _whole(peer, message, name, default):
    v = message.get(name, default)
    if isinstance(v, bool) or not isinstance(v, (int, float)) or v < 0 or v != int(v):
        raise Malformed("%s: %s is %s and must be a whole number from 0" % (peer, name, _quote(json.dumps(v))))
    return int(v)


def _rows(peer, reply):
    """The rows of a reply, or the refusal it is."""
    family = _whole(peer, reply, "family", 0)
    if family > FAMILY:
        raise Malformed("%s speaks family %d and this program reads up to %d" % (peer, family, FAMILY))
    ok, result = reply["ok"], reply.get("result", [])
    if not isinstance(ok, bool):
        raise Malformed("%s: ok is %s and must be a bool" % (peer, _quote(json.dumps(ok))))
    if not isinstance(result, list):
        raise Malformed("%s: result is not a list" % peer)
    n = _whole(peer, reply, "n", len(result))
    if n > len(result):
        raise Malformed("%s: n is %d and result holds %d" % (peer, n, len(result)))
    if ok:
        return result[:n]
    text, fault = reply.get("error"), reply.get("fault")
    text = text if text and isinstance(text, str) else "no reason given"
    raise Refusal(text, fault if isinstance(fault, str) else "refused", said=True)


# Where bytes come from: a socket, or a child's stdin and stdout.


class _Socket:
    lengths, once = True, False

    def __init__(self, peer, path):
        size = len(os.fsencode(path))
        if size > 107:
            raise Unavailable("%s: the path is %d bytes and the limit of a socket's is 107" % (peer, size))
        self.sock = socket.socket(socket.AF_UNIX)
        try:
            self.sock.settimeout(DIAL)
            self.sock.connect(path)
        except (OSError, ValueError) as e:
            self.sock.close()
            raise Unavailable("%s: %s" % (peer, e)) from None
        self.sock.setblocking(False)
        self.r = self.w = self.sock.fileno()
        self.end, self.ended = self.sock.close, lambda: None

    def why(self):
        return "it closed the connection"


class _Child:
    """A program in a process group of its own. Its stderr is drained, and the last of it kept for the day it dies."""
    lengths = False

    def __init__(self, peer, command, once=False):
        pipe = subprocess.PIPE
        try:
            self.proc = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True)
        except (OSError, ValueError) as e:
            raise Unavailable("%s: %s" % (peer, e)) from None
        self.once, self.status, self.tail = once, None, bytearray()
        self.r, self.w = self.proc.stdout.fileno(), self.proc.stdin.fileno()
        os.set_blocking(self.r, False)
        os.set_blocking(self.w, False)
        self.drain, self.ladder = self._drain(self.proc.stderr, self.tail), threading.Thread(target=self._end)
        self.ended = self.ladder.join

    def _drain(self, pipe, tail):
        def drain():
            for chunk in iter(lambda: pipe.read(65536), b""):
                tail.extend(chunk)
                del tail[:-4096]

        thread = threading.Thread(target=drain, daemon=True)
        thread.start()
        return thread

    def gone(self, seconds):
        """Wait for its end, without reaping it where the system can: its number must stay the group's."""
        limit = time.monotonic() + seconds
        while self.status is None and time.monotonic() < limit:
            if hasattr(os, "waitid"):
                over = os.waitid(os.P_PID, self.proc.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if over:
                    self.status = over.si_status if over.si_code == os.CLD_EXITED else -over.si_status
            else:
                self.status = self.proc.poll()
            if self.status is None:
                time.sleep(0.005)
        return self.status is not None

    def why(self):
        if not self.gone(0.5):
            return "it closed its output"
        self.drain.join(0.5)
        how = "status %d" % self.status if self.status >= 0 else "signal %d" % -self.status
        return ("it ended with %s: %s" % (how, self.tail.decode(errors="replace").strip())).rstrip(": ")

    def end(self):
        """Begin its end and return: its input ends, and whoever of the group is slow hears TERM, then KILL."""
        self.proc.stdin.close()
        self.ladder.start()

    def _end(self):
        os.set_blocking(self.r, True)
        out = self._drain(self.proc.stdout, bytearray())  # or it would wait for us to read and see no end of input
        for sig in signal.SIGTERM, signal.SIGKILL:
            self.gone(GRACE)
            with contextlib.suppress(OSError):  # it may be gone and others of the group not
                os.killpg(self.proc.pid, sig)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.proc.wait(GRACE)
        for thread, pipe in (out, self.proc.stdout), (self.drain, self.proc.stderr):
            thread.join(GRACE)
            if not thread.is_alive():
                pipe.close()


class Link(contextlib.AbstractContextManager):
    """A connection that is held. Calls go one after the other; what the peer calls is refused, what it emits is kept."""

    def __init__(self, peer, stream, cap):
        self.peer, self._stream, self._cap, self._lock = peer, stream, cap, threading.RLock()
        self._in, self._out, self._seen, self._eof = bytearray(), bytearray(), 0, False
        self._unsent, self._cut = 0, None  # bytes of the call that have not left; why nothing can leave any more
        self._events, self._kept = collections.deque(), 0
        self._dead, self._ended = None, False
        self._wake, self._waker = socket.socketpair()

    def call(self, verb, *args, timeout=CALL, **more):
        """The rows of the reply. more: further members of the call (**{"from": me}). timeout: seconds, None: no end."""
        if not verb or not isinstance(verb, str) or more.keys() & {"call", "args", "ok", "event"}:
            raise Refusal("a call has a verb that is text, and no further member named call, args, ok or event")
        body = _pack({"call": verb, "args": args, **more}, self._cap)
        return _rows(self.peer, self._exchange(self._framed(body), verb, timeout))

    def emit(self, event, timeout=CALL, **members):
        """Send an event, which is never answered. It has left when this returns."""
        if not event or not isinstance(event, str) or members.keys() & {"call", "ok", "event"}:
            raise Refusal("an event has a name that is text, and no member named call, ok or event")
        body = _pack({"event": event, **members}, self._cap)
        with self._use():
            self._out += self._framed(body)
            self._run(_deadline(timeout), lambda: not self._out)
            if self._out or self._cut:
                raise Unavailable("%s: event %s: %s" % (self.peer, event, self._cut or "not taken in %g s" % timeout))

    def event(self, timeout=None):
        """The next event, as its members; None where none came in so many seconds."""
        if not self._events:
            with self._use():
                self._run(_deadline(timeout), lambda: self._events)
        if not self._events:
            return None
        size, members = self._events.popleft()
        self._kept -= size
        return members

    def close(self, *_):
        """End the connection; whoever waits on it fails at once. A child has ended when this returns."""
        self._dead = self._dead or Unavailable("%s: closed here" % self.peer)
        with contextlib.suppress(OSError):
            self._waker.send(b"x")
        with self._lock:
            self._end(self._dead)
        self._stream.ended()

    __exit__ = close

    def _end(self, cause):
        self._dead = self._dead or cause
        if not self._ended:
            self._ended = True
            self._stream.end()
            self._wake.close()
            self._waker.close()

    @contextlib.contextmanager
    def _use(self):
        """What does not come to its end closes the connection, so that no reply is ever read as another call's."""
        with self._lock:
            if self._dead:
                raise Unavailable("%s: this connection has ended: %s" % (self.peer, self._dead))
            try:
                yield
            except BaseException as e:
                self._end(e)
                raise

    def _exchange(self, message, verb, timeout):
        """Send a call and wait for its reply, which is the next: never more than one call is on its way."""
        deadline = _deadline(timeout)
        with self._use():
            if not self._stream.once:
                self._run(0, lambda: False)  # what came meanwhile: events, or the reason why nobody will answer
            self._out += message
            self._unsent = len(self._out)
            reply = self._run(deadline, lambda: False, waits=True)
            if reply is None:
                raise Unavailable("%s: %s: no reply in %g s" % (self.peer, verb, timeout))
            if self._stream.once:
                self._run(deadline, lambda: self._eof and not self._in.strip())
            return reply

    def _run(self, deadline, done, waits=False):
        """Move bytes and sort what comes until done, or until the reply that is waited for; None when time is over."""
        while not done():
            body = self._take()
            if body is not None:
                kind, message = _unpack(self.peer, body)
                if kind == "ok" and waits and self._unsent <= 0 and not self._cut:
                    return message
                self._sort(kind, message, len(body))
            elif self._eof:
                raise Unavailable("%s: %s" % (self.peer, "cut inside a message" if self._in.strip() else self._stream.why()))
            elif not self._step(deadline):
                return None

    def _sort(self, kind, message, size):
        if kind == "ok":
            _rows(self.peer, message)  # a refusal nobody asked for says why this connection is over
            raise Malformed("%s: a reply came and no call waits for it" % self.peer)
        if kind == "call" and self._stream.once:
            raise Malformed("%s: it called, and its answer can be nothing but a reply" % self.peer)
        if kind == "call":
            verb, fault, text = message["call"], "malformed", "a call is a verb that is text, and args that are a list"
            if verb and isinstance(verb, str) and isinstance(message.get("args", []), list):
                fault, text = "refused", "no such call: " + _quote(verb)
            reply = {"ok": False, "family": FAMILY, "n": 0, "result": [], "error": text, "fault": fault}
            self._out += self._framed(_pack(reply, self._cap))
        elif message.get("event") and isinstance(message["event"], str):
            self._events.append((size, message))
            self._kept += size
            if len(self._events) > EVENTS or self._kept > max(size, self._cap):
                raise Unavailable("%s: over %d events or %d bytes of them, and nobody took one" % (self.peer, EVENTS, self._cap))

    def _framed(self, body):
        return len(body).to_bytes(4, "big") + body if self._stream.lengths else body + b"\n"

    def _take(self):
        """The next whole message that is here."""
        got, cap = self._in, self._cap
        while True:
            if self._stream.lengths:
                start, skip = 4, 0
                end = 4 + int.from_bytes(got[:4], "big") if len(got) >= 4 else -1
            else:
                start, skip, end = 0, 1, got.find(b"\n", self._seen)
                self._seen = len(got)
                if end < 0 and (self._eof and got.strip() or len(got) > cap):
                    end = len(got)
            if end - start > cap:
                raise Malformed("%s: a message of %d bytes or more, and the cap is %d" % (self.peer, end - start, cap))
            if end < 0 or end > len(got):
                return None
            body, self._seen = bytes(got[start:end]).strip(), 0
            del got[:end + skip]
            if body or start:
                return body

    def _step(self, deadline):
        """Read and write what can be, once; False when the deadline came first. Who does not read is not read either."""
        stream, poll, masks = self._stream, select.poll(), {self._wake.fileno(): select.POLLIN}
        if stream.once and not self._out:
            stream.proc.stdin.close()
        if len(self._out) <= 2 * self._cap + 4 and not self._eof:
            masks[stream.r] = select.POLLIN
        if self._out:
            masks[stream.w] = masks.get(stream.w, 0) | select.POLLOUT
        for fd, mask in masks.items():
            poll.register(fd, mask)
        left = None if deadline is None else max(0, math.ceil((deadline - time.monotonic()) * 1000))
        ready = dict(poll.poll(left))
        if self._dead:
            raise self._dead
        try:
            if self._out and ready.get(stream.w, 0) & ~select.POLLIN:
                n = os.write(stream.w, bytes(self._out[:65536]))
                del self._out[:n]
                self._unsent -= n
        except BlockingIOError:
            pass
        except OSError as e:  # what it said before it left is still to be read
            self._cut, self._out = e, bytearray()
        try:
            if stream.r in masks and ready.get(stream.r, 0) & ~select.POLLOUT:
                chunk = os.read(stream.r, 65536)
                self._in += chunk
                self._eof = not chunk
        except BlockingIOError:
            pass
        except OSError:
            self._eof = True
        return bool(ready)


class Program(contextlib.AbstractContextManager):
    """A program that is run once for each call."""

    def __init__(self, peer, path, cap):
        self.peer, self._path, self._cap = peer, path, cap

    def close(self, *_):
        """Nothing is held between calls."""

    __exit__ = close

    def call(self, verb, *args, timeout=CALL):
        """The rows of the reply, or why there are none."""
        if not verb or not isinstance(verb, str) or verb[0] == "-":
            raise Refusal("a verb is text and begins with no -, not %s" % _quote(repr(verb)))
        body = _pack(args, self._cap) if args else b""
        command = [self._path, verb, "--json"] + (["--args", "-"] if args else [])
        link = Link(self.peer, _Child(self.peer, command, once=True), self._cap)
        reply = link._exchange(body, verb, timeout)  # where this raises, the end of the child has begun
        link.close()
        return _rows(self.peer, reply)


def _deadline(timeout):
    return None if timeout is None else time.monotonic() + timeout


def _word(word):
    try:
        return _decoder.decode(word)
    except ValueError:
        return word


def _main(target, verb, *words):
    try:
        with connect(target) as link:
            for row in link.call(verb, *map(_word, words)):
                print(json.dumps(row, ensure_ascii=False, separators=(",", ":")))
    except Error as e:
        print(_shown("%s: %s" % (e.fault, e)), file=sys.stderr)
        return {"refused": 3, "unavailable": 4, "failed": 5, "malformed": 6}[e.fault]
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]) if len(sys.argv) > 2 else "usage: client.py TARGET VERB [ARG...]")
