"""Thirty lines that speak to a program on every door: python3 client.py cli|pipe|socket WHERE. No library of the wire."""
import json, socket, struct, subprocess, sys

def frames(door, where, calls):
    if door == "cli":
        for call in calls:
            out = subprocess.run([where, call["call"], "--args", json.dumps(call["args"])], stdout=-1, check=True).stdout
            yield json.loads(out)
    if door == "pipe":
        child = subprocess.Popen([where, "pipe"], stdin=-1, stdout=-1)
        for call in calls:
            child.stdin.write(json.dumps(call).encode() + b"\n")
            child.stdin.flush()
            yield json.loads(child.stdout.readline())
        child.stdin.close()
        assert child.wait() == 0 and child.stdout.read() == b""
    if door == "socket":
        conn = socket.socket(socket.AF_UNIX)
        conn.connect(where)
        stream = conn.makefile("rwb")
        for call in calls:
            body = json.dumps(call).encode()
            stream.write(struct.pack(">I", len(body)) + body)
            stream.flush()
            yield json.loads(stream.read(*struct.unpack(">I", stream.read(4))))

calls = [{"call": "note", "args": ["from " + sys.argv[1], "py"]}, {"call": "find", "args": ["FROM " + sys.argv[1]]},
         {"call": "echo", "args": [2**53 + 1, None, {"a": [1.0]}, "\u2028"]}, {"call": "shout", "args": []}]
note, found, echo, shout = frames(*sys.argv[1:], calls)
assert note["ok"] and note["family"] == 1 and note["n"] == 1 and note["result"] == found["result"], (note, found)
assert echo["result"] == calls[2]["args"], echo
assert not shout["ok"] and shout["fault"] == "refused" and shout["error"].startswith("no such call: shout"), shout
print("ok")
