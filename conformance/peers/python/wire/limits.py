"""Numbers of the wire, each with the rule that sets it."""

from dataclasses import dataclass

FAMILY = 1  # VER-1

STARTED_CAP = 16 << 20  # LIMIT-1: between a program and the one that started it
SOCKET_CAP = 1 << 20  # LIMIT-1: on a socket

QUOTE_BYTES = 64  # ENC-5: how much of what came an error text repeats
WAITING_MESSAGES = 1024  # LIMIT-5


@dataclass(frozen=True)
class Limits:
    """What a reader takes at most (ENC-5)."""

    depth: int = 64
    items: int = 262_144
    intbits: int = 1024


DEFAULT = Limits()
