package transport_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// The tests here speak raw bytes to one end of a real socket pair and let a Peer serve, or call from, the other.

// sockets returns the two ends of a socket pair.
func sockets(t testing.TB) (a, b *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	conn := func(fd int) *net.UnixConn {
		f := os.NewFile(uintptr(fd), "socketpair")
		defer f.Close()
		c, err := net.FileConn(f)
		if err != nil {
			t.Fatal(err)
		}
		return c.(*net.UnixConn)
	}
	a, b = conn(fds[0]), conn(fds[1])
	t.Cleanup(func() { a.Close() })
	return a, b
}

// raw is the end that speaks bytes.
type raw struct {
	t testing.TB
	*net.UnixConn
	r *bufio.Reader
}

// serve lets cfg serve one end of a socket pair and returns the other.
func serve(t testing.TB, cfg transport.Config) (raw, *transport.Peer) {
	t.Helper()
	mine, theirs := sockets(t)
	mine.SetDeadline(time.Now().Add(20 * time.Second)) // a test that hangs says where
	cfg.Door = transport.Socket
	if cfg.Log == nil {
		cfg.Log = func(text string) { t.Log(text) }
	}
	p := transport.Connect(context.Background(), theirs, transport.Lengths, cfg)
	t.Cleanup(func() {
		p.Close()
		<-p.Done()
	})
	return raw{t, mine, bufio.NewReader(mine)}, p
}

func framed(bodies ...string) string {
	var b []byte
	for _, body := range bodies {
		b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
		b = append(b, body...)
	}
	return string(b)
}

func (r raw) send(b string) {
	r.t.Helper()
	if _, err := io.WriteString(r.UnixConn, b); err != nil {
		r.t.Fatalf("send: %v", err)
	}
}

// frame reads one frame.
func (r raw) frame() string {
	r.t.Helper()
	body, err := r.tryFrame()
	if err != nil {
		r.t.Fatalf("no frame: %v", err)
	}
	return body
}

func (r raw) tryFrame() (string, error) {
	var head [4]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return "", err
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:]))
	_, err := io.ReadFull(r.r, body)
	return string(body), err
}

func (r raw) want(body string) {
	r.t.Helper()
	if got := r.frame(); got != body {
		r.t.Fatalf("got  %s\nwant %s", got, body)
	}
}

// wantRefusal reads a refusal and checks its fault and a part of its text.
func (r raw) wantRefusal(fault shape.Fault, part string) {
	r.t.Helper()
	got := r.frame()
	if !strings.HasPrefix(got, `{"ok":false,"family":1,"n":0,"result":[],"error":"`) ||
		!strings.HasSuffix(got, `"fault":"`+string(fault)+`"}`) || !strings.Contains(got, part) {
		r.t.Fatalf("got %s\nwant fault %s and %q", got, fault, part)
	}
}

// wantEnd checks that the connection ends here, silently.
func (r raw) wantEnd() {
	r.t.Helper()
	if b, err := r.r.ReadByte(); err == nil {
		rest, _ := r.r.Peek(min(r.r.Buffered(), 200))
		r.t.Fatalf("got %q%q, want the end", b, rest)
	} else if err != io.EOF && !errors.Is(err, unix.ECONNRESET) {
		r.t.Fatalf("got %v, want the end", err)
	}
}

// echo answers each call with its arguments, a row each, and takes events.
type echo struct {
	calls  func(context.Context, shape.Call) (shape.Rows, error)
	events func(context.Context, shape.Event)
}

func (e echo) Call(ctx context.Context, call shape.Call) (shape.Rows, error) {
	if e.calls != nil && call.Verb != "echo" {
		return e.calls(ctx, call)
	}
	var rows []shape.Raw
	for _, arg := range call.Args.All() {
		rows = append(rows, arg)
	}
	return shape.RowsOf(rows...), nil
}

func (e echo) Event(ctx context.Context, event shape.Event) {
	if e.events != nil {
		e.events(ctx, event)
	}
}

const alive = `{"call":"echo","args":["alive"]}`
const aliveReply = `{"ok":true,"family":1,"n":1,"result":["alive"]}`

// wantAlive checks that the connection still answers.
func (r raw) wantAlive() {
	r.t.Helper()
	r.send(framed(alive))
	r.want(aliveReply)
}

func unhex(t testing.TB, s string) string {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// SOCK-1, ENC-2, SHAPE-3: a reply is framed, ordered and in the encoding of its call.
func TestReplyMirrorsEncoding(t *testing.T) {
	r, _ := serve(t, transport.Config{Handler: echo{}})
	r.send(framed(`{"call":"echo","args":[1, 1.0,"x"]}`))
	r.want(`{"ok":true,"family":1,"n":3,"result":[1,1.0,"x"]}`)
	r.send(framed(unhex(t, "a2 64 63616c6c 64 6563686f 64 61726773 81 01")))
	r.want(unhex(t, "a4 626f6b f5 6666616d696c79 01 616e 01 66726573756c74 81 01"))
	r.send(framed(" \n" + unhex(t, "a1 64 63616c6c 64 6563686f")))
	r.want(unhex(t, "a4 626f6b f5 6666616d696c79 01 616e 00 66726573756c74 80"))
}

// SOCK-5: two frames in one packet are two messages, and a frame may come a byte at a time.
func TestFramesHoweverTheyArrive(t *testing.T) {
	r, _ := serve(t, transport.Config{Handler: echo{}})
	r.send(framed(alive, `{"call":"echo","args":[2]}`, alive))
	r.want(aliveReply)
	r.want(`{"ok":true,"family":1,"n":1,"result":[2]}`)
	r.want(aliveReply)
	for _, b := range []byte(framed(alive)) {
		r.send(string(b))
	}
	r.want(aliveReply)
}

// SOCK-5: half-close is end of input: every frame read is answered, then the connection ends silently.
func TestHalfCloseAnswersEverything(t *testing.T) {
	r, p := serve(t, transport.Config{Handler: echo{}})
	const calls = 500
	go func() {
		r.send(strings.Repeat(framed(alive), calls))
		r.CloseWrite()
	}()
	for range calls {
		r.want(aliveReply)
	}
	r.wantEnd()
	<-p.Done()
	if err := p.Err(); err != nil {
		t.Errorf("a clean end left %v", err)
	}
}

// SOCK-1: a frame of length 0 is malformed and the connection lives.
func TestEmptyFrame(t *testing.T) {
	r, _ := serve(t, transport.Config{Handler: echo{}})
	r.send(framed(""))
	r.wantRefusal(shape.Malformed, "length 0")
	r.wantAlive()
}

// LIMIT-4: a frame over the cap is refused from its header alone, naming size and cap, and the connection closes.
func TestFrameOverTheCap(t *testing.T) {
	for name, head := range map[string]string{
		"cap+1":         string(binary.BigEndian.AppendUint32(nil, 1025)),
		"http":          "GET / HTTP/1.1\r\n\r\n",
		"little endian": string(binary.LittleEndian.AppendUint32(nil, 40)),
		"all ones":      "\xff\xff\xff\xff",
	} {
		t.Run(name, func(t *testing.T) {
			r, p := serve(t, transport.Config{Handler: echo{}, Limits: shape.Limits{Frame: 1024}})
			r.send(framed(alive) + head)
			r.want(aliveReply)
			r.wantRefusal(shape.Malformed, "over the cap of 1024")
			r.wantEnd()
			<-p.Done()
			if !errors.Is(p.Err(), shape.Malformed) {
				t.Errorf("ended with %v", p.Err())
			}
		})
	}
	t.Run("cap", func(t *testing.T) {
		r, _ := serve(t, transport.Config{Handler: echo{}, Limits: shape.Limits{Frame: 1024}})
		body := `{"call":"echo","args":["` + strings.Repeat("x", 1024-27) + `"]}`
		r.send(framed(body))
		r.wantRefusal(shape.Failed, "and the cap is 1024") // LIMIT-3: the reply is over it, and the connection lives
		r.wantAlive()
	})
}

// SOCK-1: an end inside a frame is an error wherever it comes, and an end between frames is silence.
func TestCutFrame(t *testing.T) {
	whole := framed(alive)
	for cut := range len(whole) {
		r, p := serve(t, transport.Config{Handler: echo{}})
		r.send(whole + whole[:cut])
		r.CloseWrite()
		r.want(aliveReply)
		if cut > 0 {
			r.wantRefusal(shape.Malformed, "input ended")
		}
		r.wantEnd()
		<-p.Done()
		if clean := p.Err() == nil; clean != (cut == 0) {
			t.Errorf("cut at %d ended with %v", cut, p.Err())
		}
	}
}

// SHAPE-6: an event is never answered, whatever is wrong with it.
func TestEventsAreNeverAnswered(t *testing.T) {
	got := make(chan string, 16)
	r, _ := serve(t, transport.Config{Handler: echo{events: func(_ context.Context, e shape.Event) { got <- e.Name }}})
	r.send(framed(
		`{"event":"jot","text":"x"}`,
		`{"event":"", "x":1}`,
		`{"event":7}`,
		`{"event":null}`,
		`{"event":"x","call":"echo"}`,
		`{"event":"x","ok":true}`,
		`{"event":"cut`,
		`{"\u0065vent":"x",}`,
		`{"event" "x"}`,
		unhex(t, "a1 65 6576656e74 63 666f6f"),
		unhex(t, "a2 65 6576656e74 63 666f6f 61"),
		unhex(t, "bf 7f 63 657665 62 6e74 ff f7"),
		alive,
	))
	r.want(aliveReply)
	for _, want := range []string{"jot", "foo"} {
		if name := <-got; name != want {
			t.Errorf("event %q, want %q", name, want)
		}
	}
	if len(got) > 0 {
		t.Errorf("event %q came as well", <-got)
	}
}

// PIPE-2's rule on a socket: what cannot be read gets exactly one malformed reply, in its own encoding, and the next is served.
func TestBadMessagesAreAnsweredInOrder(t *testing.T) {
	r, _ := serve(t, transport.Config{Handler: echo{}})
	bad := []struct{ body, part string }{
		{`{"call":"echo"`, "byte 14"},
		{`[]`, "a call is an object"},
		{`"echo"`, "a call is an object"},
		{`null`, "a call is an object"},
		{`{}`, "none"},
		{`{"call":"echo","ok":true}`, "two"},
		{`{"call":""}`, "empty"},
		{`{"call":1}`, "call is int"},
		{`{"call":"echo","args":{}}`, "args is map"},
		{`{"call":"echo","call":"echo"}`, "duplicate"},
		{"\xef\xbb\xbf{}", "byte order mark"},
	}
	for _, c := range bad {
		r.send(framed(c.body, alive))
		r.wantRefusal(shape.Malformed, c.part)
		r.want(aliveReply)
	}
	r.send(framed(unhex(t, "a1 64 63616c6c f7")))
	if got := r.frame(); !strings.HasPrefix(got, unhex(t, "a6 626f6b f4")) {
		t.Errorf("a CBOR call was answered %q", got)
	}
	r.wantAlive()
}

// CLIENT-3: a reply nobody waits for is never answered and ends the connection.
func TestUnsolicitedReply(t *testing.T) {
	for _, body := range []string{aliveReply, `{"ok":false}`, `{"ok":null}`, `{"ok":true,"n":7}`} {
		r, p := serve(t, transport.Config{Handler: echo{}})
		r.send(framed(body))
		r.wantEnd()
		<-p.Done()
		if p.Err() == nil {
			t.Errorf("%s: ended without a reason", body)
		}
	}
}
