"""The verbs serve and pipe, which answer with a stream where others reply (VERBS-2)."""

import resource
from collections.abc import Callable

from wire import jsontext
from wire.errors import Refusal, quote
from wire.table import Table

from . import options, place, words
from .options import PipeOptions, ServeOptions
from .pipe import PipeDoor
from .sockets import SocketDoor
from .stdio import complain, reason, write_all
from .stop import Stop, tie

_OWN_DESCRIPTORS = 128  # beside one for each connection: stdin and the like, and what verbs open


def answer_with_stream(
    table: Table, verb: str, line: words.CommandLine, out: int, at_end: Callable[[], None]
) -> int:
    """Runs serve or pipe until its end; the exit status."""
    stop = Stop()
    try:
        chosen = options.read(verb, _values(verb, line))
        if verb == "pipe":
            return _pipe(table, chosen, out, stop)
        return _serve(table, chosen, out, stop)
    except Refusal as refusal:
        complain(table.program, f"{verb}: {refusal.text}")
        return 1
    finally:
        at_end()


def _values(verb: str, line: words.CommandLine) -> dict[str, str]:
    """The values of the flags, once all words are known to be in place."""
    if line.unknown is not None:
        raise Refusal(f"nobody knows the flag {quote(words.text(line.unknown, 'the flag'))}")
    if line.words:
        raise Refusal(f"{quote(words.text(line.words[0], 'the word'))} is one word too many")
    if line.unfinished is not None:
        raise Refusal(f"--{line.unfinished} wants a value")
    for flag in line.values:
        if flag not in options.FLAGS[verb]:
            raise Refusal(f"--{flag} is no flag of this verb")
    return {flag: words.text(value, f"--{flag}") for flag, value in line.values.items()}


def _tie(table: Table, pid: int | None) -> tuple[int | None, bool]:
    """The descriptor of the process this one is tied to, and whether that is a reason to end at once (PIPE-5)."""
    if pid is None:
        return None, False
    try:
        return tie(pid), False
    except Refusal as nobody:
        complain(table.program, nobody.text)
        return None, True


def _pipe(table: Table, chosen: PipeOptions, out: int, stop: Stop) -> int:
    tied, ends = _tie(table, chosen.tied)
    return 0 if ends else PipeDoor(table, chosen.cap, out, stop, tied).run()


def _serve(table: Table, chosen: ServeOptions, out: int, stop: Stop) -> int:
    tied, ends = _tie(table, chosen.tied)
    if ends:
        return 0
    _allow_descriptors(chosen.limit)
    taken = place.passed() or _take(table, chosen)
    try:
        write_all(out, jsontext.write({"event": "listening", "at": taken.path}) + b"\n")
        SocketDoor(table, chosen, taken, stop, tied).run()
    except OSError as why:
        raise Refusal(f"cannot serve: {reason(why)}") from None
    finally:
        taken.withdraw()
    return 0


def _take(table: Table, chosen: ServeOptions) -> place.Place:
    if chosen.socket is not None:
        return place.take(place.path_by_hand(chosen.socket))
    return place.take(place.default_path(table.program, chosen.instance))


def _allow_descriptors(connections: int) -> None:
    """Raises the soft limit, which is often just what the connections alone would take."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + _OWN_DESCRIPTORS
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
