#!/usr/bin/env python3
"""Runs those of the vectors that need no second program: how values and messages are read and written."""

import json
import re
import sys
from pathlib import Path

from wire import cborbytes, jsontext, shape
from wire.encoding import CBOR, JSON, encode
from wire.errors import FAILED, Malformed, Refusal, Unreached
from wire.limits import DEFAULT, STARTED_CAP, Limits

VECTORS = Path(__file__).resolve().parent.parent.parent / "vectors"
UNWRITABLE = {
    "nan": float("nan"),
    "infinity": float("inf"),
    "invalid-utf8": "a\ud800",
    "cycle": (cycle := []),
    "too-deep": json.loads("[" * 70 + "]" * 70),
    "deep-nan": {"a": [{"b": float("nan")}]},
}
cycle.append(cycle)


class Wrong(Exception):
    """What came of a case that should not have."""


def data(spec) -> bytes:
    """The bytes that the schema calls data."""
    if isinstance(spec, str):
        return spec.encode()
    if isinstance(spec, list):
        return b"".join(map(data, spec))
    if "text" in spec:
        piece = spec["text"].encode()
    elif "hex" in spec:
        piece = bytes.fromhex(spec["hex"])
    else:
        numbers = range(spec["from"], spec["to"] + 1)
        piece = "".join(spec["count"].replace("#", str(number)) for number in numbers).encode()
    return piece * spec.get("times", 1)


def need(true: bool, what: object) -> None:
    if not true:
        raise Wrong(str(what)[:300])


def matches(pattern: str, text: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("<*>"))), text, re.DOTALL) is not None


def limits_of(case: dict) -> Limits:
    given = case.get("limits", {})
    return Limits(**{name: given.get(name, getattr(DEFAULT, name)) for name in ("depth", "items", "intbits")})


def read(raw: bytes, encoding: str, limits: Limits):
    """A bare value: unlike a message, it is in the encoding that the case says."""
    if encoding == CBOR:
        return cborbytes.read(raw, 0, limits)
    return jsontext.read(raw, 0, limits)


def run_value(case: dict) -> None:
    for encoding in (JSON, CBOR):
        for spec in case.get(encoding, []):
            value = read(data(spec), encoding, limits_of(case))
            for name, expected in case.get("write", {}).items():
                got = encode(value, name)
                if name == CBOR:
                    need(got.hex() == expected, got.hex())
                else:
                    same = encode(read(got, JSON, DEFAULT), CBOR) == encode(value, CBOR)
                    need(same, f"{got!r} reads back as another value")


def run_refused(case: dict) -> None:
    try:
        value = read(data(case["input"]), case["encoding"], limits_of(case))
    except Malformed:
        return
    raise Wrong(f"it was taken as {value!r}")


def outcome(raw: bytes, limits: Limits) -> dict:
    """What comes of a message, in the words of the vectors."""
    try:
        message = shape.read(raw, limits)
    except Malformed as why:
        return {"is": "malformed", "text": str(why)}
    if message is None:
        return {"is": "event or ignored"}
    if isinstance(message, shape.Call):
        args, more = encode(message.args, JSON).decode(), encode(message.more, JSON).decode()
        return {"is": "call", "verb": message.verb, "args": args, "more": more}
    try:
        return {"is": "rows", "rows": encode(shape.read_reply(message, "the peer"), JSON).decode()}
    except Refusal as refusal:
        return {"is": "refusal", "fault": refusal.fault, "text": refusal.text}
    except Unreached as why:
        return {"is": "bad-reply", "text": str(why)}


def allowed(got: dict, allow: dict) -> bool:
    if got["is"] == "event or ignored":
        return allow["is"] in ("event", "ignored")
    texts = all(part in got["text"] for part in allow.get("says", []))
    texts = texts and not any(part in got["text"] for part in allow.get("lacks", []))
    return texts and all(got[name] == allow[name] for name in got if name in allow)


def run_message(case: dict) -> None:
    got = outcome(data(case["input"]), limits_of(case))
    need(any(got["is"] in (one["is"], "event or ignored") and allowed(got, one) for one in case["allow"]), got)


def answer_of(case: dict) -> shape.Answer:
    if "reply" in case:
        rows = [jsontext.read(row.encode(), 0, DEFAULT) for row in case["reply"]["rows"]]
        return shape.Answer(rows, case["reply"].get("surface"))
    if "refusal" in case:
        return shape.refused(case["refusal"]["text"], case["refusal"].get("fault", FAILED))
    return shape.Answer([UNWRITABLE[case["unwritable"]]])


def run_write(case: dict) -> None:
    cap = case.get("limits", {}).get("frame", STARTED_CAP)
    for encoding, expected in case["expect"].items():
        if "call" in case:
            told = case["call"]
            call = shape.Call(told["verb"], json.loads(told["args"]), json.loads(told["more"]))
            got = shape.write_call(call, encoding, cap)
        else:
            got = shape.write_reply(answer_of(case), encoding, cap)
        text = got.decode() if encoding == JSON else got.hex()
        need(matches(expected, text), text)


RUN = {"value": run_value, "refused-value": run_refused, "message": run_message, "write": run_write}


def main() -> int:
    passed = failed = skipped = 0
    for path in sorted(VECTORS.glob("*.json")):
        for case in json.loads(path.read_text()).get("cases", []):
            if case["kind"] not in RUN or "event" in case:
                skipped += 1
                continue
            try:
                RUN[case["kind"]](case)
                passed += 1
            except (Wrong, Malformed) as why:
                failed += 1
                print(f"{path.name}: {case['name']}: {why}")
    print(f"{passed} passed, {failed} failed, {skipped} are of other kinds")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
