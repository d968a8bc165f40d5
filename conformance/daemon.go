package conformance

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kith-wire/kith/conformance/internal/value"
)

// daemonCap is the most that a frame of the daemon wire may have, in bytes (RPC-1).
const daemonCap = 16 << 20

// nobody is a method of a namespace that no daemon has.
const nobody = "kith-check.nothing"

// littleHeader is the length that stands before a frame of the daemon wire (RPC-1).
func littleHeader(n int) string {
	return string(binary.LittleEndian.AppendUint32(nil, uint32(n)))
}

// packed puts its length before each body.
func packed(bodies ...string) (all recipe) {
	for _, b := range bodies {
		all = all.then(littleHeader(len(b)) + b)
	}
	return all
}

// request is the body of a request that every daemon answers with unknown_method.
func request(id string) string { return `{"id":` + id + `,"method":"` + nobody + `","params":{}}` }

// answer is one response as far as it could be read.
type answer struct {
	raw []byte
	doc value.Value // a Map or nothing; text that is not UTF-8 is read with what stands for it
	err error       // of a strict reader
}

func readAnswer(b []byte) answer {
	strict, err := value.Read(b, value.JSON, value.Default)
	if err != nil && !utf8.Valid(b) {
		strict, _ = value.Read([]byte(strings.ToValidUTF8(string(b), "\uFFFD")), value.JSON, value.Default)
	}
	return answer{raw: b, doc: strict.Value, err: err}
}

// id is the id in decimal, or nothing where there is none that is whole.
func (a answer) id() string {
	if id, _ := a.doc.Get("id"); id.Kind == value.Int {
		return id.Int.String()
	}
	return ""
}

// failure is a member of the error.
func (a answer) failure(name string) value.Value {
	e, _ := a.doc.Get("error")
	v, _ := e.Get(name)
	return v
}

// coded reports whether it is an error with that code. How the code is spelled is one check's to find, and not for all.
func (a answer) coded(code string) bool {
	return strings.ToLower(strings.ReplaceAll(a.failure("code").Text, "_", "")) == strings.ReplaceAll(code, "_", "")
}

// exchange is one connection to a daemon: what was written, in pieces, and what came back.
type exchange struct {
	d       *door
	conn    *net.UnixConn
	pieces  []recipe
	held    bool // the input stays open, so that whoever closes is the daemon
	answers []answer
	early   int    // of the answers, those that came before the end of the input
	rest    []byte // what came and is no whole frame
	closed  bool   // the daemon closed its end, or the connection failed
	big     bool   // a frame's length was big-endian
	err     error  // there was no connection
}

// shortly is how long is waited for what a daemon has shown once that it does not do, before something else is tried.
const shortly = 25 * time.Millisecond

// enter connects. Whoever calls it closes. Where there is no connection nothing is written, and nothing comes.
func (d *door) enter() *exchange {
	x := &exchange{d: d}
	x.conn, x.err = d.dial()
	return x
}

func (x *exchange) close() {
	if x.conn != nil {
		x.conn.Close()
	}
}

// end tells the daemon that no more will come.
func (x *exchange) end() {
	if x.conn != nil {
		x.conn.CloseWrite()
	}
}

// write sends pieces, each with one write or, where it is long, a few. What a daemon does that takes no more is seen in what
// comes.
func (x *exchange) write(pieces ...recipe) {
	x.pieces = append(x.pieces, pieces...)
	if x.conn == nil {
		return
	}
	s := &stream{d: x.d, in: x.conn, out: x.conn, conn: x.conn}
	for _, p := range pieces {
		if s.send(p) != nil {
			return
		}
		if x.d.paced {
			s.awaitTaken()
		}
	}
}

// converse writes each piece, waits until as many answers came as are wanted, ends the input, reads until the daemon closes,
// and closes.
func (d *door) converse(want int, pieces ...recipe) *exchange {
	x := d.enter()
	defer x.close()
	written := make(chan struct{})
	go func() {
		defer close(written)
		x.write(pieces...)
	}()
	x.await(want)
	<-written
	x.end()
	patience := d.wait
	if d.slow && x.early >= want {
		patience = shortly
	}
	if x.read(math.MaxInt, patience); x.open() {
		d.slow = true
	}
	return x
}

// await reads until there are as many answers as wanted, and not for long where the daemon has not answered before the end of the
// input before.
func (x *exchange) await(want int) {
	patience := x.d.wait
	if x.d.lazy {
		patience = shortly
	}
	x.read(want, patience)
	x.early = len(x.answers)
	if x.early < want && x.open() {
		x.d.lazy = true
	}
}

// hangUp writes all, ends the input before it reads, and reads until the daemon closes.
func (d *door) hangUp(all recipe) *exchange {
	x := d.enter()
	defer x.close()
	x.write(all)
	x.end()
	x.read(math.MaxInt, d.wait)
	return x
}

// open reports whether the daemon has not closed.
func (x *exchange) open() bool { return x.conn != nil && !x.closed }

// read reads until there are as many answers as wanted, the time is over or the daemon closes.
func (x *exchange) read(want int, patience time.Duration) {
	if !x.open() {
		return
	}
	x.conn.SetReadDeadline(time.Now().Add(patience))
	b := make([]byte, 64<<10)
	for len(x.answers) < want {
		n, err := x.conn.Read(b)
		x.rest = append(x.rest, b[:n]...)
		for x.cut() {
		}
		if err == nil && len(x.rest) > most {
			err = io.ErrShortBuffer
		}
		if err != nil {
			x.closed = !errors.Is(err, os.ErrDeadlineExceeded)
			return
		}
	}
}

// cut takes one whole frame off the front of what came.
func (x *exchange) cut() bool {
	if len(x.rest) < 4 {
		return false
	}
	size := uint64(binary.LittleEndian.Uint32(x.rest))
	if big := uint64(binary.BigEndian.Uint32(x.rest)); size > most && big <= most {
		size, x.big = big, true // read all the same, so that no other check sees more than its own rule
	}
	if uint64(len(x.rest)) < 4+size {
		return false
	}
	x.answers = append(x.answers, readAnswer(x.rest[4:4+size]))
	x.rest = x.rest[4+size:]
	return true
}

// to returns the first answer with that id.
func (x *exchange) to(id string) (answer, bool) {
	for _, a := range x.answers {
		if a.id() == id {
			return a, true
		}
	}
	return answer{}, false
}

func (x *exchange) sent() string {
	s := join(x.pieces...).String()
	if x.held {
		return s + ", and the input stays open"
	}
	return s
}

// shell shows the bytes that come; where the input is held open, "closed" comes after them at once or, where it was only the end of
// the input that closed, 5 s later.
func (x *exchange) shell() string {
	write, end := join(x.pieces...).shell(), "xxd"
	if x.held {
		write, end = "{ "+write+"; sleep 5; }", "{ xxd; echo closed; }"
	}
	return fmt.Sprintf("%s | socat -t 5 - UNIX-CONNECT:%s | %s", write, word(x.d.path), end)
}

// String is what came.
func (x *exchange) String() string {
	if x.err != nil {
		return "there was no connection: " + x.err.Error()
	}
	s := fmt.Sprintf("%d answers", len(x.answers))
	for i, a := range x.answers {
		if i == 4 {
			s += ", …"
			break
		}
		s += fmt.Sprintf(", [%d] %s", i+1, show(a.raw))
	}
	if len(x.rest) > 0 {
		s += ", then no whole frame: " + show(x.rest)
	}
	if x.open() {
		s += ", and it did not close"
	}
	return s
}

// ofDaemon is a check of a daemon, which must be there before it and answer again behind it.
func ofDaemon(name, rule, about string, run func(*probe)) check {
	return check{name: name, rule: rule, about: about, doors: []string{Daemon}, run: func(p *probe) {
		x := p.enter()
		if x.err != nil {
			p.broke("nobody can be reached: %v", x.err)
			return
		}
		x.close()
		run(p)
		if x := p.converse(1, packed(request("1"))); len(x.answers) == 0 {
			p.fail(told{"what this check sends, and then " + x.sent(), x.shell()}, x,
				"the daemon answers the next connection: nothing that one peer sends ends it")
		}
	}}
}

// wantUnknown reports a request with that id that has no answer, or another than unknown_method.
func (p *probe) wantUnknown(x *exchange, id string) {
	if a, there := x.to(id); !there || !a.coded("unknown_method") {
		p.fail(x, x, `an answer with the id %s and the code "unknown_method"`, id)
	}
}
