"""Which encoding bytes are in (ENC-1), and the way from values to bytes and back."""

from typing import Any

from . import cborbytes, jsontext
from .errors import Malformed
from .limits import DEFAULT, Limits

JSON, CBOR = "json", "cbor"

_SPACE = b"\t\n\r "
_UTF16 = (b"\xff\xfe", b"\xfe\xff", b"{\0", b"\0{", b"[\0", b"\0[")


def start_of(data: bytes) -> int:
    """Where the message begins behind the space in front of it."""
    return len(data) - len(data.lstrip(_SPACE))


def encoding_of(data: bytes) -> str:
    """The encoding that the first byte speaks of; what is in neither is answered in JSON."""
    first = data[(at := start_of(data)) : at + 1]
    return CBOR if b"\x80" <= first <= b"\xbf" else JSON


def begins_as_event(data: bytes) -> bool:
    """Whether this is an event that is never answered, decodable or not (SHAPE-6)."""
    if encoding_of(data) == CBOR:
        return cborbytes.begins_as_event(data, start_of(data))
    return jsontext.begins_as_event(data)


def decode(data: bytes, limits: Limits = DEFAULT) -> Any:
    """The value that data is, in either encoding, or Malformed."""
    start = start_of(data)
    if start == len(data):
        raise Malformed("the message is empty")
    if encoding_of(data) == CBOR:
        return cborbytes.read(data, start, limits)
    if kind := _other_kind(data[start : start + 16]):
        raise Malformed(f"{kind} at byte {start}")
    return jsontext.read(data, start, limits)


def _other_kind(head: bytes) -> str | None:
    """What bytes certainly are, if that is neither encoding."""
    if head.startswith(b"\xef\xbb\xbf"):
        return "a byte order mark, where the message begins without one,"
    if head.startswith(_UTF16):
        return "UTF-16, where UTF-8 is spoken,"
    if head.startswith(b"\x1f\x8b"):
        return "gzip, where nothing is compressed,"
    if 0xC0 <= head[0] <= 0xDB and not _is_character(head[:2]):
        return "a CBOR tag in front; send the bare map:"
    if head.lower().startswith(b"content-length:"):
        return "a Content-Length header, where the message begins without any,"
    return None


def _is_character(two: bytes) -> bool:
    # C2 A0 is a tag head to CBOR and a no-break space to people: text is the likelier mistake.
    try:
        return len(two.decode("utf-8")) == 1
    except UnicodeDecodeError:
        return False


def encode(value: Any, encoding: str) -> bytes:
    """The bytes of a value that has passed values.check."""
    return cborbytes.write(value) if encoding == CBOR else jsontext.write(value)
