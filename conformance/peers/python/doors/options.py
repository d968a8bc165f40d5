"""What the flags of serve and pipe say."""

import re
from dataclasses import dataclass

from wire.errors import Refusal, quote
from wire.limits import SOCKET_CAP, STARTED_CAP

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_LEAST_CAP = 256  # the refusal that takes the place of a reply over the cap has to fit
_MOST_CAP = 0xFFFFFFFF  # a frame has four bytes of length


@dataclass(frozen=True)
class PipeOptions:
    cap: int = STARTED_CAP
    tied: int | None = None


@dataclass(frozen=True)
class ServeOptions:
    socket: str | None = None
    instance: str = "main"
    limit: int = 1024
    stall: float = 30.0
    grace: float = 5.0
    cap: int = SOCKET_CAP
    tied: int | None = None


def _number(flag: str, word: str, least: int, most: int) -> int:
    if not (word.isascii() and word.isdecimal() and len(word) < 20 and least <= int(word) <= most):
        raise Refusal(f"--{flag} is {quote(word)}, and a number from {least} to {most} is taken")
    return int(word)


def _duration(flag: str, word: str) -> float:
    if not re.fullmatch(f"(?:{_DURATION.pattern})+", word, re.ASCII):
        raise Refusal(f"--{flag} is {quote(word)}, and a duration such as 500ms or 5s is taken")
    return sum(float(number) * _SECONDS[unit] for number, unit in _DURATION.findall(word))


def _stall(flag: str, word: str) -> float:
    if (seconds := _duration(flag, word)) == 0:
        raise Refusal(f"--{flag} is {quote(word)}, and nothing can be done in no time")
    return seconds


def _instance(flag: str, word: str) -> str:
    if not word or word.startswith(".") or "/" in word:
        raise Refusal(f"--{flag} is {quote(word)}, and a name without / that does not begin with . is taken")
    return word


def _path(flag: str, word: str) -> str:
    if not word or word.endswith("/"):
        raise Refusal(f"--{flag} is {quote(word)}, and the path of a file is taken")
    return word


_READERS = {
    "socket": _path,
    "instance": _instance,
    "limit": lambda flag, word: _number(flag, word, 1, 1_000_000),
    "stall": _stall,
    "grace": _duration,
    "cap": lambda flag, word: _number(flag, word, _LEAST_CAP, _MOST_CAP),
    "tied": lambda flag, word: _number(flag, word, 1, 0x7FFFFFFF),
}

FLAGS = {
    "serve": ("socket", "instance", "limit", "stall", "grace", "cap", "tied"),
    "pipe": ("cap", "tied"),
}
"""The flags of each verb that has some; each of them wants a value."""


def read(verb: str, values: dict[str, str]) -> ServeOptions | PipeOptions:
    """The options of serve or pipe, or a Refusal that names the flag."""
    if "socket" in values and "instance" in values:
        raise Refusal("--socket names the path by hand, so --instance has no say beside it")
    found = {flag: _READERS[flag](flag, word) for flag, word in values.items()}
    return ServeOptions(**found) if verb == "serve" else PipeOptions(**found)
