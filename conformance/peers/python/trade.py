"""What this program does: it echoes, and it asks others."""

from calls.target import parse
from wire.errors import FAILED, MALFORMED, Refusal, Unreached
from wire.table import Context, Param, Table, Verb
from wire.values import shown

SURFACE = 1


def echo(context: Context, args: list) -> list:
    return args


def ask(context: Context, args: list) -> list:
    """Passes a call on. A refusal of the other is ours, word for word; what this side concludes says so (FAULT-4)."""
    text, verb, *values = args
    target = parse(text)
    if target is None:
        raise Refusal(f"ask: target is {shown(text)}, and argv:PROG, pipe:PROG or unix:PATH is taken")
    if not verb:
        raise Refusal('ask: verb is "", and a text that is not empty is taken')
    try:
        return target.call(verb, values, context.cancel)
    except Unreached as why:
        raise Refusal(f"ask: no good reply from {target}: {why}", FAILED) from None
    except Refusal as told:
        # Not the bytes of our own caller were malformed, and only in answer to such may that be written (FAULT-1).
        raise Refusal(told.text, FAILED if told.word == MALFORMED else told.word) from None


TABLE = Table(
    "peer",
    SURFACE,
    (
        Verb("echo", "its arguments back, a row each", echo, (Param("value", "any", rest=True),)),
        Verb(
            "ask",
            "call another program and give back its rows",
            ask,
            (Param("target", "text"), Param("verb", "text"), Param("value", "any", rest=True)),
        ),
    ),
    no_client="peer has no client library",
)
