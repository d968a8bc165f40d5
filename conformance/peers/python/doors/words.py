"""The words of a command line: which are flags, which is the verb, which are arguments (ARGV-3)."""

import re
from dataclasses import dataclass, field

from wire.encoding import CBOR, JSON
from wire.errors import Refusal, quote

from .options import FLAGS

ARGS = "args"

_NUMBER = re.compile(rb"-[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WITH_VALUE = {ARGS, *(flag for flags in FLAGS.values() for flag in flags)}


@dataclass
class CommandLine:
    verb: bytes | None = None
    words: list[bytes] = field(default_factory=list)
    values: dict[str, bytes] = field(default_factory=dict)  # of the flags that have one
    unfinished: str | None = None  # a flag at the very end whose value is missing
    unknown: bytes | None = None  # the first flag that nobody knows
    encoding: str = JSON
    help: bool = False


def parse(argv: list[bytes]) -> CommandLine:
    """Sorts the words. What is wrong with them is told once it is known who is called."""
    line = CommandLine()
    rest = iter(argv)
    for word in rest:
        if word == b"--":
            break
        if word.startswith(b"-") and word != b"-" and not _NUMBER.fullmatch(word):
            _flag(line, word, rest)
        else:
            _word(line, word)
    for word in rest:
        _word(line, word)
    line.help = line.help or line.verb == b"help"
    return line


def _word(line: CommandLine, word: bytes) -> None:
    if line.verb is None:
        line.verb = word
    else:
        line.words.append(word)


def _flag(line: CommandLine, word: bytes, rest) -> None:
    if word in (b"--help", b"-h"):
        line.help = True
    elif word in (b"--json", b"--cbor"):
        line.encoding = CBOR if word == b"--cbor" else JSON
    elif (name := _name(word)) in _WITH_VALUE:
        _, joined, value = word.partition(b"=")
        value = value if joined else next(rest, None)
        if value is None:
            line.unfinished = name
        else:
            line.help = line.help or (not joined and value in (b"--help", b"-h"))
            line.values[name] = value
    elif line.unknown is None:
        line.unknown = word


def _name(word: bytes) -> str | None:
    head = word.partition(b"=")[0]
    return head[2:].decode("ascii", "replace") if head.startswith(b"--") else None


def text(word: bytes, what: str) -> str:
    """A word as text, or a refusal where it is none."""
    try:
        return word.decode("utf-8")
    except UnicodeDecodeError:
        raise Refusal(f"{what} {quote(word.decode('utf-8', 'replace'))} is not valid UTF-8") from None
