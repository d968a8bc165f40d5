"""The shapes of messages: what a map is, and how a reply is written and read."""

from dataclasses import dataclass, field
from typing import Any

from . import values
from .encoding import begins_as_event, decode, encode
from .errors import FAILED, MALFORMED, REFUSED, UNAVAILABLE, Malformed, Refusal, Unreached
from .limits import DEFAULT, FAMILY, Limits
from .values import whole


@dataclass
class Call:
    verb: str
    args: list = field(default_factory=list)
    more: dict = field(default_factory=dict)


@dataclass
class Reply:
    """A map with the member ok. Whether it breaks SHAPE-5 is for the call that it answers to find out."""

    members: dict


def read(data: bytes, limits: Limits = DEFAULT) -> Call | Reply | None:
    """What data is; None is an event, which nobody here listens to and nobody ever answers."""
    if begins_as_event(data):
        return None
    members = decode(data, limits)
    if not isinstance(members, dict):
        raise Malformed(f"a call is an object, and this is {values.shown(members)}")
    marks = [name for name in ("call", "ok", "event") if name in members]
    if not marks:
        raise Malformed("none of the members call, ok and event is there")
    if len(marks) > 1:
        raise Malformed(f"more than one of call, ok and event is there: {' and '.join(marks)}")
    if marks == ["ok"]:
        return Reply(members)
    return _call(members) if marks == ["call"] else None


def _call(members: dict) -> Call:
    verb = members.pop("call")
    args = members.pop("args", [])
    if not isinstance(verb, str) or not verb:
        raise Malformed(f"call is {values.shown(verb)}, and a text that is not empty is taken")
    if not isinstance(args, list):
        raise Malformed(f"args is {values.shown(args)}, and a list is taken")
    return Call(verb, args, members)


def write_call(call: Call, encoding: str, cap: int) -> bytes:
    """The bytes of a call, or Unreached where it cannot be sent (LIMIT-3)."""
    message = {"call": call.verb, "args": call.args, **call.more}
    check_writable(message)
    return within_cap(encode(message, encoding), cap, "the call")


def check_writable(message: dict) -> None:
    try:
        values.check(message)
    except values.Unwritable as why:
        raise Unreached(f"the call cannot be written: {why}") from None


def within_cap(body: bytes, cap: int, what: str) -> bytes:
    """The body, or Unreached before one byte of it has left (LIMIT-3)."""
    if len(body) > cap:
        raise Unreached(f"{what} has {len(body)} bytes and the cap is {cap}")
    return body


@dataclass
class Answer:
    """What a reply is going to say."""

    rows: list = field(default_factory=list)
    surface: int | None = None
    refusal: Refusal | None = None

    def members(self) -> dict:
        """The reply, its members in the order of SHAPE-3."""
        message: dict[str, Any] = {"ok": self.refusal is None, "family": FAMILY}
        if self.surface is not None:
            message["surface"] = self.surface
        message["n"] = len(self.rows)
        message["result"] = self.rows
        if self.refusal is not None:
            message["error"] = self.refusal.text
            # Readers in the field know only two of the words, and this is none of them (FAULT-1).
            message["fault"] = FAILED if self.refusal.fault == UNAVAILABLE else self.refusal.fault
        return message


def refused(text: str, fault: str = REFUSED) -> Answer:
    return Answer(refusal=Refusal(text, fault))


def malformed(why: Malformed | str) -> Answer:
    return refused(str(why), MALFORMED)


def write_reply(answer: Answer, encoding: str, cap: int) -> bytes:
    """The bytes of a reply. There is always one: what cannot be written is refused (ENC-7, LIMIT-3)."""
    message = answer.members()
    try:
        values.check(message)
    except values.Unwritable as why:
        message = refused(f"the reply cannot be written: {why}", FAILED).members()
    body = encode(message, encoding)
    if len(body) > cap:
        text = f"the reply has {len(body)} bytes and the cap is {cap}"
        return encode(refused(text, FAILED).members(), encoding)
    return body


def read_reply(reply: Reply, peer: str) -> list:
    """The rows of a reply, by the steps of SHAPE-5. Refusal is what the peer said, Unreached what this side concludes."""
    members = reply.members
    gate(_count(members, "family", 0), peer)
    if not isinstance(members["ok"], bool):
        raise Unreached(f"the reply is malformed: ok is {values.shown(members['ok'])}, and a bool is taken")
    rows = members.get("result", [])
    if not isinstance(rows, list):
        raise Unreached("the reply is malformed: result is not a list")
    count = _count(members, "n", len(rows))
    if count > len(rows):
        raise Unreached(f"the reply is malformed: n is {count} and result holds {len(rows)}")
    if not members["ok"]:
        raise _refusal(members)
    return rows[:count]


def gate(family: int, peer: str) -> None:
    """Refuses a family above what this program reads (VER-1)."""
    if family > FAMILY:
        raise Unreached(f"{peer} speaks family {family} and this program reads up to {FAMILY}")


def _count(members: dict, name: str, missing: int) -> int:
    if name not in members:
        return missing
    number = whole(members[name])
    if number is None or number < 0:
        raise Unreached(f"the reply is malformed: {name} is {values.shown(members[name])}, and a whole number is taken")
    return number


def _refusal(members: dict) -> Refusal:
    text, fault = members.get("error"), members.get("fault")
    if not isinstance(text, str) or not text:
        text = "no reason given"
    return Refusal(text, fault if isinstance(fault, str) and fault else REFUSED)
