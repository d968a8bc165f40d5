"""What can be wrong, and how it is put into words."""

import re

from .limits import QUOTE_BYTES

REFUSED, UNAVAILABLE, FAILED, MALFORMED = _FAULTS = "refused", "unavailable", "failed", "malformed"

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


class Malformed(Exception):
    """Bytes that break a rule of sections 1 to 4."""


class Refusal(Exception):
    """A no, with its fault. An unknown word for that counts as refused, and is kept (FAULT-1)."""

    def __init__(self, text: str, word: str = REFUSED):
        super().__init__(text)
        self.text = text
        self.word = word
        self.fault = word if word in _FAULTS else REFUSED


class Unasked(Exception):
    """A reply for which no call waits (CLIENT-3): the connection has to go."""


class Unreached(Exception):
    """This side's own conclusion that no reply can be had (FAULT-4)."""


def quote(text: str) -> str:
    """The beginning of what came, cut between characters, with controls escaped (ENC-5)."""
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) > QUOTE_BYTES:
        text = raw[:QUOTE_BYTES].decode("utf-8", "ignore") + "…"
    return escape(text)


def escape(text: str) -> str:
    """The text without a control that a terminal or a log could act upon."""
    return _CONTROL.sub(lambda hit: _SHORT.get(hit[0]) or f"\\u{ord(hit[0]):04x}", text)
