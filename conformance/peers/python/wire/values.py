"""The values of the wire (ENC-4): what may be written, what types a parameter can have, and how a value is shown."""

import json
from math import isfinite
from typing import Any

from .errors import quote
from .jsontext import exceeds
from .limits import DEFAULT, Limits


class Unwritable(Exception):
    """A value that no message can hold; path says where in the message it stands (ENC-7)."""

    def __init__(self, what: str):
        super().__init__(what)
        self.path: list[str] = []

    def __str__(self) -> str:
        return f"{quote(''.join(reversed(self.path)).lstrip('.'))} holds {self.args[0]}"


def check(message: dict, limits: Limits = DEFAULT) -> None:
    """Raises Unwritable where some reader could not take the message. A cycle is met as too much depth."""
    _Check(limits).map(message, 1)


class _Check:
    def __init__(self, limits: Limits):
        self.limits = limits
        self.items = 0

    def value(self, value: Any, depth: int) -> None:
        kind = type(value)
        if kind is list:
            self.list(value, depth)
        elif kind is dict:
            self.map(value, depth)
        elif kind is str:
            self.text(value)
        elif kind is float:
            if not isfinite(value):
                raise Unwritable("NaN or an infinity")
        elif kind is int:
            if exceeds(value, self.limits.intbits):
                raise Unwritable(f"an integer of more than {self.limits.intbits} bits")
        elif value is not None and kind is not bool:
            raise Unwritable(f"a {kind.__name__}, which is no value of the wire")

    def text(self, value: str) -> None:
        try:
            value.isascii() or value.encode("utf-8")
        except UnicodeEncodeError:
            raise Unwritable("text that is not valid UTF-8") from None

    def enter(self, size: int, depth: int) -> None:
        self.items += size
        if depth > self.limits.depth:
            raise Unwritable(f"more than {self.limits.depth} maps and lists within each other")
        if self.items > self.limits.items:
            raise Unwritable(f"what makes more than {self.limits.items} members and elements")

    def list(self, value: list, depth: int) -> None:
        self.enter(len(value), depth)
        for place, element in enumerate(value):
            self.inside(f"[{place}]", element, depth)

    def map(self, value: dict, depth: int) -> None:
        self.enter(len(value), depth)
        for key, element in value.items():
            if type(key) is not str:
                raise Unwritable("a key that is no text")
            self.text(key)
            self.inside(f".{key}", element, depth)

    def inside(self, step: str, value: Any, depth: int) -> None:
        try:
            self.value(value, depth + 1)
        except Unwritable as why:
            why.path.append(step)
            raise


def whole(value: Any) -> int | None:
    """The whole number that a value is, however it is written (ENC-6), or None."""
    if type(value) is int:
        return value
    return int(value) if type(value) is float and value.is_integer() else None


def shown(value: Any) -> str:
    """A value as an error text shows it."""
    return quote(json.dumps(value, ensure_ascii=False))


def _is(*kinds: type):
    return lambda value: value if type(value) in kinds else NO_FIT


NO_FIT = object()

FITS = {
    "text": _is(str),
    "bool": _is(bool),
    "int": lambda value: NO_FIT if (number := whole(value)) is None else number,
    "number": _is(int, float),
    "list": _is(list),
    "map": _is(dict),
    "any": lambda value: value,
}
"""For each type of a parameter the value as the verb gets it, or NO_FIT."""
