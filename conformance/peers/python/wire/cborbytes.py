"""Values as CBOR. cbor2 makes and writes them; what it would let pass is refused here beforehand, byte by byte."""

import struct
from math import isfinite
from typing import Any

import cbor2

from .errors import Malformed, quote
from .jsontext import exceeds
from .limits import Limits

UINT, NEGATIVE, BYTES, TEXT, LIST, MAP, TAG, OTHER = range(8)

_INDEFINITE = 31
_BREAK = 0xFF
_FLOATS = {25: ">e", 26: ">f", 27: ">d"}
_CONSTANTS = (20, 21, 22)  # false, true, null


def write(value: Any) -> bytes:
    """The value with definite lengths and shortest heads, members in their own order (ENC-3)."""
    return cbor2.dumps(value, encoders={float: _write_float})


def _write_float(encoder: cbor2.CBOREncoder, value: float) -> None:
    # cbor2 shortens floats only in its canonical mode, which sorts the members of maps too.
    for head, form in ((b"\xf9", ">e"), (b"\xfa", ">f"), (b"\xfb", ">d")):
        try:
            packed = struct.pack(form, value)
        except OverflowError:
            continue
        if struct.unpack(form, packed)[0] == value:
            encoder.write(head + packed)
            return


def read(data: bytes, start: int, limits: Limits) -> Any:
    """The one value that data holds from start on, or Malformed."""
    walker = _Walker(data, start, limits)
    walker.value(1)
    if walker.at < len(data):
        raise walker.wrong("something stands behind the message", walker.at)
    return cbor2.loads(data[start:])


def begins_as_event(data: bytes, start: int) -> bool:
    """Whether the first member is named event, decodable as the rest may be or not (SHAPE-6)."""
    walker = _Walker(data, start, Limits())
    try:
        major, length = walker.head()
        return major == MAP and length != 0 and walker.key() == "event"
    except Malformed:
        return False


class _Walker:
    """Passes over one value and checks it."""

    def __init__(self, data: bytes, at: int, limits: Limits):
        self.data = data
        self.at = at
        self.limits = limits
        self.items = 0

    def wrong(self, what: str, at: int) -> Malformed:
        return Malformed(f"{what} at byte {at}")

    def bytes(self, length: int) -> bytes:
        """The next bytes. A slice takes no memory for a length that is only announced (LIMIT-2)."""
        found = self.data[self.at : self.at + length]
        if len(found) < length:
            raise self.wrong("the message ends too early", len(self.data))
        self.at += length
        return found

    def head(self) -> tuple[int, int | None]:
        """The major type and its number, None where the length is indefinite."""
        start = self.at
        first = self.bytes(1)[0]
        major, info = first >> 5, first & 31
        if info < 24:
            return major, info
        if info < 28:
            return major, int.from_bytes(self.bytes(1 << (info - 24)), "big")
        if info == _INDEFINITE and major in (BYTES, TEXT, LIST, MAP):
            return major, None
        raise self.wrong("a break out of place" if first == _BREAK else "a reserved head", start)

    def value(self, depth: int) -> None:
        start = self.at
        if start < len(self.data) and self.data[start] >> 5 == OTHER:
            self.other()
            return
        major, number = self.head()
        if major in (UINT, NEGATIVE):
            self.bits(number, start)
        elif major == TEXT:
            self.text(number)
        elif major == BYTES:
            raise self.wrong("a byte string", start)
        elif major == TAG:
            self.tag(number, start)
        else:
            self.nested(major, number, depth, start)

    def other(self) -> None:
        start = self.at
        info = self.bytes(1)[0] & 31
        if info in _CONSTANTS:
            return
        if info in _FLOATS:
            form = _FLOATS[info]
            (number,) = struct.unpack(form, self.bytes(struct.calcsize(form)))
            if isfinite(number):
                return
            raise self.wrong("NaN or an infinity", start)
        names = {23: "undefined", 31: "a break out of place"}
        raise self.wrong(names.get(info, "a simple value that is none of false, true and null"), start)

    def bits(self, magnitude: int, start: int) -> None:
        if exceeds(magnitude, self.limits.intbits):
            raise self.wrong(f"an integer of more than {self.limits.intbits} bits (intbits)", start)

    def text(self, length: int | None) -> str:
        if length is not None:
            return self.characters(length)
        return "".join(self.characters(size) for size in self.chunks(TEXT))

    def characters(self, length: int) -> str:
        start = self.at
        try:
            return self.bytes(length).decode("utf-8")
        except UnicodeDecodeError as why:
            raise self.wrong("invalid UTF-8", start + why.start) from None

    def chunks(self, kind: int):
        """The lengths of the chunks of one text or byte string; who iterates takes their bytes."""
        while not self.at_break():
            start = self.at
            major, length = self.head()
            if major != kind or length is None:
                raise self.wrong("a chunk of another type", start)
            yield length

    def at_break(self) -> bool:
        if self.data[self.at : self.at + 1] != b"\xff":
            return False
        self.at += 1
        return True

    def tag(self, number: int, start: int) -> None:
        if number not in (2, 3):
            raise self.wrong(f"tag {number}, where only 2 and 3 are taken,", start)
        inside = self.at
        major, length = self.head()
        if major != BYTES:
            raise self.wrong(f"tag {number} around something else than a byte string", inside)
        sizes = self.chunks(BYTES) if length is None else (length,)
        raw = b"".join(map(self.bytes, sizes)).lstrip(b"\0")
        self.bits(int.from_bytes(raw[: self.limits.intbits // 8 + 1], "big"), start)

    def nested(self, major: int, count: int | None, depth: int, start: int) -> None:
        if depth > self.limits.depth:
            raise self.wrong(f"more than {self.limits.depth} maps and lists are open (depth)", start)
        # An announced count is checked before anything is done for it (LIMIT-2).
        if count is not None and self.items + count > self.limits.items:
            raise self.too_many(start)
        if major == MAP:
            self.members(count, depth)
        else:
            self.elements(count, depth)

    def too_many(self, at: int) -> Malformed:
        return self.wrong(f"more than {self.limits.items} members and elements (items)", at)

    def places(self, count: int | None):
        """Yields once for each element or member, and counts them."""
        left = count
        while left != 0 if left is not None else not self.at_break():
            self.items += 1
            if self.items > self.limits.items:
                raise self.too_many(self.at)
            yield
            left = None if left is None else left - 1

    def elements(self, count: int | None, depth: int) -> None:
        for _ in self.places(count):
            self.value(depth + 1)

    def members(self, count: int | None, depth: int) -> None:
        seen = set()
        for _ in self.places(count):
            start = self.at
            key = self.key()
            if key in seen:
                raise self.wrong(f'duplicate key "{quote(key)}"', start)
            seen.add(key)
            self.value(depth + 1)

    def key(self) -> str:
        start = self.at
        if start < len(self.data) and self.data[start] >> 5 != TEXT:
            raise self.wrong("a key that is no text", start)
        return self.text(self.head()[1])
