"""Help for people."""

from wire.table import Param, Table

_FOOT = """\
A word is text, unless its argument is declared as something else: then it is JSON, and a text wants its quotes. --args gives
the whole list in one, and - reads it from stdin, in JSON or CBOR. Flags may stand anywhere before --.

exit: 0 a reply was written, a refusal too; 1 it could not be written; 2 there was no call to answer.
"""

_SERVE = """\
usage: {program} serve [FLAG…]

  --socket PATH     where; default $XDG_RUNTIME_DIR/{program}/INSTANCE.sock
  --instance NAME   which one of several; default main
  --limit N         connections at a time; default 1024
  --stall DURATION  for a frame that has begun, and for a caller that takes nothing; default 30s
  --grace DURATION  for a stop; default 5s
  --cap BYTES       the largest message; default 1048576
  --tied PID        stop when that process ends

A line on stdout says where it listens; nothing else is written there. exit: 0 after a stop, 1 where it cannot serve.
"""

_PIPE = """\
usage: {program} pipe [FLAG…]

  --cap BYTES   the largest message; default 16777216
  --tied PID    stop when that process ends

exit: 0 after the end of stdin, 1 where a reply could not be written or nobody had asked for one that came.
"""


def text(table: Table, verb: str | None) -> str:
    """The help for a verb, or for the whole program."""
    if verb in ("serve", "pipe"):
        return (_SERVE if verb == "serve" else _PIPE).format(program=table.program)
    lines = [f"usage: {table.program} VERB [WORD…] [--args JSON|-] [--json|--cbor]", ""]
    calls = {name: " ".join([name, *map(_param, found.params)]) for name, found in table.verbs.items()}
    width = max(map(len, calls.values()))
    lines += [f"  {call:{width}}  {table.verbs[name].about}" for name, call in calls.items()]
    return "\n".join([*lines, "", _FOOT])


def _param(param: Param) -> str:
    name = param.name.upper()
    if param.rest:
        return f"[{name}…]"
    return f"[{name}]" if param.optional else name
