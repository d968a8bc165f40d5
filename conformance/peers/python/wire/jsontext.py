"""Values as JSON. The reader is strict where the json module is lenient, and knows at which byte it stands."""

import json
import re
from json.decoder import scanstring
from math import isinf
from typing import Any

from .errors import Malformed, quote
from .limits import Limits

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))((?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)")
_NOT_ZERO = re.compile(r"[^eE]*[1-9]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LITERALS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}


def write(value: Any) -> bytes:
    """The value in JSON without a space between tokens; it has passed values.check."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def read(data: bytes, start: int, limits: Limits) -> Any:
    """The one value that data holds from start on, or Malformed."""
    try:
        text = data[start:].decode("utf-8")
    except UnicodeDecodeError as why:
        raise Malformed(f"invalid UTF-8 at byte {start + why.start}") from None
    return _Reader(text, start, limits).whole()


class _Reader:
    def __init__(self, text: str, offset: int, limits: Limits):
        self.text = text
        self.offset = offset
        self.limits = limits
        self.at = 0
        self.items = 0
        # Only an escape can bring half a surrogate pair into text that was valid UTF-8.
        self.may_hold_surrogates = "\\u" in text

    def whole(self) -> Any:
        self.skip()
        value = self.value(1)
        self.skip()
        if self.at < len(self.text):
            raise self.wrong("something stands behind the message")
        return value

    def wrong(self, what: str, at: int | None = None) -> Malformed:
        at = self.at if at is None else at
        return Malformed(f"{what} at byte {self.offset + len(self.text[:at].encode())}")

    def skip(self) -> None:
        self.at = _SPACE.match(self.text, self.at).end()

    def next(self) -> str:
        """The character behind any space, or the empty text at the end."""
        self.skip()
        return self.text[self.at : self.at + 1]

    def value(self, depth: int) -> Any:
        first = self.text[self.at : self.at + 1]
        if first == '"':
            return self.string()
        if first == "{":
            return self.map(depth)
        if first == "[":
            return self.list(depth)
        if first in _LITERALS:
            return self.literal(*_LITERALS[first])
        return self.number()

    def literal(self, word: str, value: Any) -> Any:
        if not self.text.startswith(word, self.at):
            raise self.unexpected()
        self.at += len(word)
        return value

    def unexpected(self) -> Malformed:
        if self.at >= len(self.text):
            return self.wrong("the message ends too early")
        return self.wrong(f"not JSON: {quote(self.text[self.at : self.at + 80])}")

    def string(self) -> str:
        start = self.at
        try:
            text, self.at = scanstring(self.text, start + 1, True)
        except json.JSONDecodeError as why:
            raise self.wrong(why.msg, why.pos) from None
        if self.may_hold_surrogates and _SURROGATE.search(text):
            raise self.wrong("half a surrogate pair in the string", start)
        return text

    def number(self) -> int | float:
        found = _NUMBER.match(self.text, self.at)
        if not found:
            raise self.unexpected()
        digits, rest = found.groups()
        value = self.float(found[0]) if rest or digits == "-0" else self.integer(digits)
        self.at = found.end()
        return value

    def integer(self, digits: str) -> int:
        bits = self.limits.intbits
        # A binary digit is worth more than 0.3 decimal ones: too many are refused before any number is made of them.
        if len(digits) > bits * 0.302 + 2 or exceeds(value := int(digits), bits):
            raise self.wrong(f"an integer of more than {bits} bits (intbits)")
        return value

    def float(self, digits: str) -> float:
        value = float(digits)
        if isinf(value):
            raise self.wrong("a number beyond binary64")
        if value == 0 and _NOT_ZERO.match(digits):
            raise self.wrong("a number that is not zero and would become zero")
        return value

    def open(self, depth: int) -> None:
        if depth > self.limits.depth:
            raise self.wrong(f"more than {self.limits.depth} maps and lists are open (depth)")
        self.at += 1

    def count(self) -> None:
        self.items += 1
        if self.items > self.limits.items:
            raise self.wrong(f"more than {self.limits.items} members and elements (items)")

    def list(self, depth: int) -> list:
        self.open(depth)
        found = []
        if self.next() == "]":
            self.at += 1
            return found
        while True:
            self.count()
            found.append(self.value(depth + 1))
            if self.closed_by("]"):
                return found

    def map(self, depth: int) -> dict:
        self.open(depth)
        found = {}
        if self.next() == "}":
            self.at += 1
            return found
        while True:
            self.member(found, depth)
            if self.closed_by("}"):
                return found

    def member(self, found: dict, depth: int) -> None:
        self.count()
        start = self.at
        if self.text[start : start + 1] != '"':
            raise self.unexpected()
        key = self.string()
        if key in found:
            raise self.wrong(f'duplicate key "{quote(key)}"', start)
        if self.next() != ":":
            raise self.unexpected()
        self.at += 1
        self.skip()
        found[key] = self.value(depth + 1)

    def closed_by(self, end: str) -> bool:
        """Whether the list or map ends here; where it goes on, at its next element."""
        mark = self.next()
        if mark == end:
            self.at += 1
            return True
        if mark != ",":
            raise self.unexpected()
        self.at += 1
        self.skip()
        return False


def exceeds(value: int, bits: int) -> bool:
    """Whether an integer has more bits than that; a negative n counts as -1-n (ENC-5)."""
    return (value if value >= 0 else ~value).bit_length() > bits


def _spelled(letter: str) -> str:
    return rf"(?:{letter}|\\u(?i:{ord(letter):04x}))"


_EVENT_FIRST = re.compile(r'[ \t\n\r]*\{{[ \t\n\r]*"{}"'.format("".join(map(_spelled, "event"))).encode())


def begins_as_event(data: bytes) -> bool:
    """Whether the first member is named event, decodable as the rest may be or not (SHAPE-6)."""
    return _EVENT_FIRST.match(data) is not None
