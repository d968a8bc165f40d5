package verbs_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/transporttest"
	"github.com/kith-wire/kith/verbs"
)

// prelude is what every Python script of these tests begins with.
const prelude = `
import os, sys, threading, time
import client
from client import *
def tell(do, *args, **more):
    try:
        return repr(do(*args, **more))
    except Error as e:
        return "%s said=%s: %s" % (e.fault, e.said, e.text)
target = sys.argv[1]
`

// clientSource is the client as a program serves it.
func clientSource(t *testing.T) string {
	t.Helper()
	set := verbs.New("prog", 1)
	rows, err := transport.Answer(context.Background(), set, shape.Call{Verb: "client"}, transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	source, err := shape.Decode[string](rows, nil)
	if err != nil || len(source) != 1 {
		t.Fatalf("client: %d rows, %v", len(source), err)
	}
	return source[0]
}

// python runs a script with the served client beside it, and returns what it printed, a line each.
func python(t *testing.T, script string, args ...string) []string {
	t.Helper()
	prog, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("KITH_REQUIRE") != "" {
			t.Fatal("KITH_REQUIRE is set and there is no python3")
		}
		t.Skip("no python3")
	}
	dir := t.TempDir()
	transporttest.Leaks(t)
	if err := os.WriteFile(filepath.Join(dir, "client.py"), []byte(clientSource(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, prog, append([]string{"-Werror", "-c", prelude + script}, args...)...)
	cmd.Dir = dir // where it finds the client
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		t.Fatalf("python3: %v\n%s%s", err, stdout.Bytes(), stderr.Bytes())
	}
	return strings.Split(strings.TrimSuffix(stdout.String(), "\n"), "\n")
}

// wire is a peer written by hand: raw frames on a real socket, and no code of kith.
type wire struct {
	t *testing.T
	net.Conn
}

// frame sends bodies, in one write.
func (w wire) frame(bodies ...string) {
	var b []byte
	for _, body := range bodies {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(body))), body...)
	}
	w.Write(b)
}

// next reads one body; "" at the end of input.
func (w wire) next() string {
	var head [4]byte
	if _, err := io.ReadFull(w, head[:]); err != nil {
		return ""
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(w, body); err != nil {
		w.t.Errorf("the client sent half a frame: %v", err)
	}
	return string(body)
}

// listen serves each connection of a socket with peer, one after the other, and returns the target to reach it by.
func listen(t *testing.T, peer func(wire)) string {
	t.Helper()
	dir := t.TempDir()
	transporttest.Leaks(t, dir)
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.SetDeadline(time.Now().Add(time.Minute))
			peer(wire{t, conn})
			conn.Close()
		}
	})
	t.Cleanup(func() {
		l.Close()
		served.Wait()
	})
	return "unix:" + path
}

// answer is a peer that sends the same frames for each call.
func answer(frames ...string) func(wire) {
	return func(w wire) {
		for w.next() != "" {
			w.frame(frames...)
		}
	}
}

const good = `{"ok":true,"family":1,"n":1,"result":["good"]}`

// TestClientReply: what the Python client makes of one reply (SHAPE-1, SHAPE-5, SHAPE-6, SHAPE-7, VER-1, ENC-4, FAULT-1),
// and whether the connection lives (CLIENT-3).
func TestClientReply(t *testing.T) {
	const gone = `malformed said=False: PEER: not a message: `
	for name, c := range map[string]struct {
		reply string
		want  string // a prefix of what the call says
		dies  bool
	}{
		"rows":            {`{"ok":true,"family":1,"n":2,"result":[1,{"a":[]}]}`, `[1, {'a': []}]`, false},
		"n short":         {`{"ok":true,"family":1,"n":1,"result":[1,2]}`, `[1]`, false},
		"nothing but ok":  {`{"ok":true}`, `[]`, false},
		"unknown members": {` {"x":{"ok":1},"ok":true,"OK":false,"result":[7]} `, `[7]`, false},
		"whole float":     {`{"ok":true,"family":1.0,"n":1.0,"result":[7]}`, `[7]`, false},
		"exact":           {`{"ok":true,"result":[9007199254740993,18446744073709551616,-0.0,-0,1.0,"\u2028<>&"]}`, `[9007199254740993, 18446744073709551616, -0.0, -0.0, 1.0, '\u2028<>&']`, false},
		"1024 bits":       {`{"ok":true,"result":[` + bits1024 + `]}`, `[` + bits1024 + `]`, false},
		"64 deep":         {`{"ok":true,"result":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`, `[[[[`, false},
		"refused":         {`{"ok":false,"family":1,"n":0,"result":[],"error":"no","fault":"failed"}`, `failed said=True: no`, false},
		"no reason":       {`{"ok":false}`, `refused said=True: no reason given`, false},
		"unknown fault":   {`{"ok":false,"error":"no","fault":"tired"}`, `refused said=True: no`, false},
		"n over":          {`{"ok":true,"family":1,"n":2,"result":[1]}`, `malformed said=False: PEER: n is 2 and result holds 1`, false},
		"n below 0":       {`{"ok":true,"family":1,"n":-1,"result":[1]}`, `malformed said=False: PEER: n is -1 and must be a whole number from 0`, false},
		"n bool":          {`{"ok":true,"family":1,"n":true,"result":[1]}`, `malformed said=False: PEER: n is true and must`, false},
		"result no list":  {`{"ok":true,"family":1,"n":1,"result":{}}`, `malformed said=False: PEER: result is not a list`, false},
		"ok text":         {`{"ok":"true","family":1}`, `malformed said=False: PEER: ok is "true" and must be a bool`, false},
		"family text":     {`{"ok":true,"family":"1"}`, `malformed said=False: PEER: family is "1" and must be`, false},
		"newer":           {`{"ok":"later","family":2}`, `malformed said=False: PEER speaks family 2 and this program reads up to 1`, false},
		"duplicate":       {`{"ok":true,"result":[{"a":1,"\u0061":2}]}`, gone + `a member stands twice`, true},
		"NaN":             {`{"ok":true,"result":[NaN]}`, gone + `NaN`, true},
		"overflow":        {`{"ok":true,"result":[1e400]}`, gone + `1e400`, true},
		"underflow":       {`{"ok":true,"result":[1e-400]}`, gone + `1e-400`, true},
		"1025 bits":       {`{"ok":true,"result":[` + bits1025 + `]}`, gone + `an integer of more than 1024 bits`, true},
		"5000 digits":     {`{"ok":true,"result":[` + strings.Repeat("9", 5000) + `]}`, gone + `an integer of more than 1024 bits`, true},
		"65 deep":         {`{"ok":true,"result":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, gone + `deeper than 64`, true},
		"100000 deep":     {`{"ok":true,"result":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + `}`, gone, true},
		"lone surrogate":  {`{"ok":true,"result":["\ud800"]}`, gone, true},
		"no UTF-8":        {"{\"ok\":true,\"result\":[\"\xff\"]}", gone, true},
		"top-level list":  {`[1]`, gone + `a message is an object`, true},
		"two shapes":      {`{"ok":true,"event":"x"}`, gone + `a message is an object that holds one of`, true},
		"none":            {`{"result":[]}`, gone, true},
		"nothing":         {``, gone, true},
		"trailing":        {good + good, gone, true},
		"half":            {`{"ok":true`, gone, true},
	} {
		t.Run(name, func(t *testing.T) {
			target := listen(t, answer(c.reply))
			got := python(t, `
link = connect(target)
print(tell(link.call, "x"))
print(tell(link.call, "x"))
link.close()
`, target)
			want := strings.Replace(c.want, "PEER", target, 1)
			if !strings.HasPrefix(got[0], want) {
				t.Errorf("the call: %s\nwant: %s", got[0], want)
			}
			if died := strings.HasPrefix(got[1], "unavailable said=False: "+target+": this connection has ended: "); died != c.dies {
				t.Errorf("the next call: %s\nended: %v", got[1], c.dies)
			}
		})
	}
}

var (
	bits1025 = new(big.Int).Lsh(big.NewInt(1), 1024).String()
	bits1024 = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 1024), big.NewInt(1)).String()
)

// TestClientConnection: what holds from one message to the next, on a real socket.
func TestClientConnection(t *testing.T) {
	for name, c := range map[string]struct {
		peer   func(wire)
		script string
		want   []string // PEER stands for the target
	}{
		"SHAPE-6 events wait in a queue, unreadable ones are dropped": {
			answer(`{"event":"a","n":1}`, `{"event":`, `{"event":7}`, `{"event":"b"}`, good),
			`print(link.call("x"), link.event(), link.event(), link.event(timeout=0.05))`,
			[]string{`['good'] {'event': 'a', 'n': 1} {'event': 'b'} None`},
		},
		"CLIENT-3 a second reply": {
			answer(good, good),
			`print(tell(link.call, "x")); print(tell(link.call, "x")); print(tell(link.call, "x"))`,
			[]string{`['good']`, `malformed said=False: PEER: a reply came and no call waits for it`,
				`unavailable said=False: PEER: this connection has ended: PEER: a reply came and no call waits for it`},
		},
		"CLIENT-3 a second reply that came later": {
			func(w wire) {
				w.next()
				w.frame(good)
				w.next()
				w.frame(good)
				w.next()
			},
			`
print(tell(link.call, "x"))
link.emit("again")
import select; select.select([link._stream.r], [], [], 30)
print(tell(link.call, "x"))`,
			[]string{`['good']`, `malformed said=False: PEER: a reply came and no call waits for it`},
		},
		"CLIENT-3 a refusal before any call is the reason": {
			func(w wire) { w.frame(`{"ok":false,"family":1,"n":0,"result":[],"error":"full","fault":"refused"}`) },
			`print(link.event(timeout=5) if False else tell(link.event, timeout=5)); print(tell(link.call, "x"))`,
			[]string{`refused said=True: full`, `unavailable said=False: PEER: this connection has ended: full`},
		},
		"CLIENT-3 a refusal that meets half a call": {
			func(w wire) {
				io.CopyN(io.Discard, w, 4)
				w.frame(`{"ok":false,"error":"your cap is 4"}`)
			},
			`print(tell(link.call, "x", "a" * 1000000)); print(tell(link.call, "x"))`,
			[]string{`refused said=True: your cap is 4`, `unavailable said=False: PEER: this connection has ended: your cap is 4`},
		},
		"a call of the peer is refused in its place": {
			func(w wire) {
				w.next()
				for call, want := range map[string]string{
					`{"call":"ba\nck","args":[]}`: `"error":"no such call: ba\\nck","fault":"refused"}`,
					`{"call":""}`:                 `"error":"a call is a verb that is text, and args that are a list","fault":"malformed"}`,
					`{"call":"x","args":{}}`:      `"error":"a call is a verb that is text, and args that are a list","fault":"malformed"}`,
				} {
					w.frame(call)
					if got := w.next(); got != `{"ok":false,"family":1,"n":0,"result":[],`+want {
						w.t.Errorf("the client answered %s", got)
					}
				}
				w.frame(good)
			},
			`print(tell(link.call, "x"))`,
			[]string{`['good']`},
		},
		"CLIENT-1 a deadline closes": {
			func(w wire) {
				w.next()
				if got := w.next(); got != "" {
					w.t.Errorf("the client sent %s after its deadline", got)
				}
			},
			`print(tell(link.call, "x", timeout=0.1)); print(tell(link.call, "x"))`,
			[]string{`unavailable said=False: PEER: x: no reply in 0.1 s`,
				`unavailable said=False: PEER: this connection has ended: PEER: x: no reply in 0.1 s`},
		},
		"CLIENT-1 close from another thread": {
			func(w wire) { w.next(); w.next() },
			`threading.Timer(0.1, link.close).start(); print(tell(link.call, "x"))`,
			[]string{`unavailable said=False: PEER: closed here`},
		},
		"SOCK-1 cut inside a message": {
			func(w wire) { w.next(); w.Write([]byte("\x00\x00\x00\x09{\"ok\"")) },
			`print(tell(link.call, "x"))`,
			[]string{`unavailable said=False: PEER: cut inside a message`},
		},
		"closed between messages": {
			func(w wire) { w.next() },
			`print(tell(link.call, "x"))`,
			[]string{`unavailable said=False: PEER: it closed the connection`},
		},
		"LIMIT-1 a reply over the cap": {
			func(w wire) { w.next(); w.Write([]byte("\x00\x10\x00\x01")); w.next() },
			`print(tell(link.call, "x"))`,
			[]string{`malformed said=False: PEER: a message of 1048577 bytes or more, and the cap is 1048576`},
		},
		"LIMIT-3 what cannot be sent is refused before a byte": {
			answer(good),
			`
for bad in "a" * (1 << 20), float("nan"), {1: 2}, b"x", "\ud800", 1 << 1024, {"a": {2}}:
    print(tell(link.call, "x", bad)[:35])
loop = []; loop.append(loop)
print(tell(link.call, "x", loop)); print(tell(link.call, "")); print(tell(link.call, "x", event=1)); print(tell(link.call, "x", (1 << 1024) - 1, -1 << 1024))`,
			[]string{`refused said=False: the message is `, `refused said=False: cannot be sent:`, `refused said=False: cannot be sent:`,
				`refused said=False: cannot be sent:`, `refused said=False: cannot be sent:`, `refused said=False: cannot be sent:`,
				`refused said=False: cannot be sent:`, `refused said=False: cannot be sent: deeper than 64`,
				`refused said=False: a call has a verb that is text, and no further member named call, args, ok or event`,
				`refused said=False: a call has a verb that is text, and no further member named call, args, ok or event`, `['good']`},
		},
		"LIMIT-5 it reads while it is blocked writing": {
			func(w wire) {
				for range 4 {
					w.frame(`{"event":"big","text":"` + strings.Repeat("a", 250_000) + `"}`)
				}
				w.next()
				w.frame(good)
			},
			`print(tell(link.call, "x", "a" * 1000000, timeout=20)); print(len([link.event() for _ in range(4)]))`,
			[]string{`['good']`, `4`},
		},
		"LIMIT-5 events nobody takes": {
			func(w wire) {
				for range 1025 {
					w.frame(`{"event":"x"}`)
				}
				w.next()
			},
			`print(tell(link.call, "x"))`,
			[]string{`unavailable said=False: PEER: over 1024 events or 1048576 bytes of them, and nobody took one`},
		},
		"what it sends, byte for byte": {
			func(w wire) {
				for _, want := range []string{`{"call":"x","args":["é` + "\u2028" + `<>&",1.0,-0.0,18446744073709551616],"from":"me"}`, `{"event":"jot","text":"a"}`} {
					if got := w.next(); got != want {
						w.t.Errorf("it sent %s\nwant %s", got, want)
					}
					if want[2] == 'c' {
						w.frame(good)
					}
				}
			},
			`print(link.call("x", "é\u2028<>&", 1.0, -0.0, 2**64, **{"from": "me"}), link.emit("jot", text="a"))`,
			[]string{`['good'] None`},
		},
		"SOCK-5 one byte at a time, two frames in one packet": {
			func(w wire) {
				w.next()
				for _, b := range []byte("\x00\x00\x00\x2e" + good) {
					w.Write([]byte{b})
				}
				w.next()
				w.frame(`{"event":"a"}`, good)
			},
			`print(link.call("x"), link.call("x"), link.event())`,
			[]string{`['good'] ['good'] {'event': 'a'}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			target := listen(t, c.peer)
			got := python(t, "link = connect(target)\n"+c.script+"\nlink.close()\n", target)
			want := strings.ReplaceAll(strings.Join(c.want, "\n"), "PEER", target)
			if strings.Join(got, "\n") != want {
				t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), want)
			}
		})
	}
}
