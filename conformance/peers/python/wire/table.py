"""The verbs of a program: what it lists it answers, and what it answers it lists (FAULT-5)."""

import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .cancel import Cancel
from .errors import FAILED, Refusal, quote
from .shape import Answer, Call, refused
from .values import FITS, NO_FIT, shown

CLI, PIPE, SOCKET = "cli", "pipe", "socket"
DOORS = (CLI, PIPE, SOCKET)


@dataclass(frozen=True)
class Caller:
    """Who calls, as the kernel says; nothing inside a message changes it (SOCK-4)."""

    uid: int
    gid: int
    pid: int
    pidfd: Callable[[], int | None]
    """Opens a pidfd of the caller where the kernel offers one; whoever asks for it closes it."""


@dataclass
class Context:
    """What a verb can learn about its call beside the arguments."""

    door: str
    more: dict = field(default_factory=dict)
    caller: Caller | None = None
    cancel: Cancel = field(default_factory=Cancel)


@dataclass(frozen=True)
class Param:
    name: str
    type: str
    optional: bool = False
    rest: bool = False

    def row(self) -> dict:
        row: dict[str, Any] = {"name": self.name, "type": self.type}
        if self.optional:
            row["optional"] = True
        if self.rest:
            row["rest"] = True
        return row

    def take(self, verb: str, value: Any) -> Any:
        """The value as the verb gets it, or a refusal that names all there is to name (FAULT-3)."""
        fitting = FITS[self.type](value)
        if fitting is NO_FIT:
            raise Refusal(f"{verb}: {self.name} is {shown(value)}, and {self.type} is taken")
        return fitting


Handler = Callable[[Context, list], list]


@dataclass(frozen=True)
class Verb:
    name: str
    about: str
    handler: Handler | None = None  # None for serve and pipe, which answer with a stream
    params: tuple[Param, ...] = ()
    doors: tuple[str, ...] = DOORS

    def row(self, door: str) -> dict:
        row: dict[str, Any] = {"verb": self.name, "about": self.about, "door": door}
        if self.params:
            row["args"] = [param.row() for param in self.params]
        return row

    def param(self, place: int) -> Param | None:
        """The parameter that the argument at that place is for."""
        if place < len(self.params):
            return self.params[place]
        return self.params[-1] if self.params and self.params[-1].rest else None

    def arguments(self, args: Sequence) -> list:
        """The arguments as the handler gets them, or a refusal."""
        taken = []
        for place, value in enumerate(args):
            param = self.param(place)
            if param is None:
                most = f"at most {len(self.params)} are" if self.params else "none is"
                raise Refusal(f"{self.name}: argument {place + 1} is {shown(value)}, and {most} taken")
            taken.append(param.take(self.name, value))
        for param in self.params[len(args) :]:
            if not (param.optional or param.rest):
                raise Refusal(f"{self.name}: {param.name} is missing, and {param.type} is taken")
        return taken


class Table:
    """All verbs of one program, behind every door."""

    def __init__(self, program: str, surface: int, verbs: Sequence[Verb], no_client: str):
        self.program = program
        self.surface = surface
        self._no_client = no_client
        own = (
            Verb("verbs", "what this program answers, a row for each verb and door", self._verbs),
            Verb("client", "a client library for this program, as source", self._client),
            Verb("serve", "answer on a socket until told to stop", doors=(CLI,)),
            Verb("pipe", "answer on stdin and stdout until stdin ends", doors=(CLI,)),
        )
        self.verbs = {verb.name: verb for verb in (*verbs, *own)}

    def _verbs(self, context: Context, args: list) -> list:
        return [verb.row(door) for door in DOORS for verb in self.verbs.values() if door in verb.doors]

    def _client(self, context: Context, args: list) -> list:
        raise Refusal(self._no_client)

    def find(self, name: str, door: str) -> Verb | None:
        verb = self.verbs.get(name)
        return verb if verb and door in verb.doors else None

    def answer(self, call: Call, context: Context) -> Answer:
        """The answer to a call; whatever happens, there is one."""
        verb = self.find(call.verb, context.door)
        if verb is None or verb.handler is None:
            return refused(f"no such call: {quote(call.verb)}")
        try:
            rows = verb.handler(context, verb.arguments(call.args))
        except Refusal as refusal:
            return Answer(refusal=refusal)
        except Exception:
            # The stack is for whoever runs the program, never for the caller (FAULT-3).
            traceback.print_exc(file=sys.stderr)
            return refused(f"{verb.name}: the program crashed in this verb; its log says more", FAILED)
        return Answer(rows, self.surface if verb.name == "verbs" else None)
