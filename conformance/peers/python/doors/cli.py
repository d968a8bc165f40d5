"""The door cli: one call from the command line (section 6), and the way to the other two doors."""

import os
import signal
import sys
from collections.abc import Callable

from wire import jsontext
from wire.encoding import JSON, decode
from wire.errors import Malformed, Refusal, quote
from wire.limits import DEFAULT, STARTED_CAP
from wire.shape import Answer, Call, write_reply
from wire.table import CLI, Context, Param, Table

from . import help as helping
from . import words
from .options import FLAGS
from .stdio import claim_stdout, complain, read_up_to, reason, write_all
from .streams import answer_with_stream

_REPLIED, _UNWRITTEN, _NO_CALL = 0, 1, 2


class NoCall(Exception):
    """There is no call to answer: exit 2 (ARGV-2)."""


def main(table: Table, at_end: Callable[[], None]) -> int:
    """Runs the program. at_end takes back what a verb may have left behind when it is cut off."""
    out = claim_stdout()
    line = words.parse([os.fsencode(word) for word in sys.argv[1:]])
    verb = line.verb.decode("utf-8", "replace") if line.verb else None
    if line.help:
        return _write(table, out, helping.text(table, verb).encode())
    if verb in FLAGS:
        return answer_with_stream(table, verb, line, out, at_end)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: _die(number, at_end))
    try:
        answer = _answer(table, line)
    except NoCall as why:
        complain(table.program, str(why))
        return _NO_CALL
    reply = write_reply(answer, line.encoding, STARTED_CAP)
    return _write(table, out, reply + (b"\n" if line.encoding == JSON else b""))


def _die(number: int, at_end: Callable[[], None]) -> None:
    at_end()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _write(table: Table, out: int, data: bytes) -> int:
    try:
        write_all(out, data)
    except OSError as why:
        complain(table.program, f"the output could not be written: {reason(why)}")
        return _UNWRITTEN
    return _REPLIED


def _answer(table: Table, line: words.CommandLine) -> Answer:
    if line.verb is None:
        raise NoCall(f"a verb is missing; {table.program} --help lists them")
    args = _args_flag(line)
    try:
        verb = words.text(line.verb, "the verb")
        _check_flags(line)
        if args is None:
            args = _from_words(table, verb, line.words)
        elif line.words:
            raise Refusal(f"{quote(verb)}: words stand beside --args, and one or the other is taken")
        return table.answer(Call(verb, args), Context(CLI))
    except Refusal as refusal:
        return Answer(refusal=refusal)


def _args_flag(line: words.CommandLine) -> list | None:
    """The list that --args gives, None without that flag."""
    if line.unfinished == words.ARGS:
        raise NoCall("--args wants a value, a list in JSON or - for stdin")
    if words.ARGS not in line.values:
        return None
    data = line.values[words.ARGS]
    try:
        if data == b"-":
            data = read_up_to(0, STARTED_CAP)
        if len(data) > STARTED_CAP:
            raise NoCall(f"--args: the list is over the cap of {STARTED_CAP} bytes")
        args = decode(data)
    except Malformed as why:
        raise NoCall(f"--args: {why}") from None
    except OSError as why:
        raise NoCall(f"--args: stdin cannot be read: {reason(why)}") from None
    if not isinstance(args, list):
        raise NoCall("--args: a list is taken, and this is something else")
    return args


def _check_flags(line: words.CommandLine) -> None:
    if line.unknown is not None:
        flag = line.unknown.partition(b"=")[0]
        raise Refusal(f"nobody knows the flag {quote(words.text(flag, 'the flag'))}")
    for flag in (*line.values, *([line.unfinished] if line.unfinished else [])):
        if flag != words.ARGS:
            takers = " and ".join(verb for verb, flags in FLAGS.items() if flag in flags)
            raise Refusal(f"--{flag} is a flag of {takers} alone")


def _from_words(table: Table, verb: str, given: list[bytes]) -> list:
    found = table.find(verb, CLI)
    return [_from_word(verb, word, found.param(place) if found else None) for place, word in enumerate(given)]


def _from_word(verb: str, word: bytes, param: Param | None):
    """A word as its parameter wants it; one that is for no parameter is text, and told to be too many later."""
    text = words.text(word, f"{quote(verb)}: the word")
    if param is None or param.type == "text":
        return text
    try:
        return jsontext.read(word, 0, DEFAULT)
    except Malformed:
        told = f"{param.name} is {quote(text)}, which does not decode as JSON, and {param.type} is taken"
        raise Refusal(f"{verb}: {told}") from None
