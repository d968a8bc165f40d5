package conformance

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/conformance/internal/value"
)

// socketChecks are about frames and connections.
var socketChecks = []check{
	{"big-endian", "SOCK-1", "the length of a frame is big-endian", socketDoor, false, checkBigEndian},
	{"zero-frame", "SOCK-1", "a frame of length 0 is malformed, and the connection lives", socketDoor, false, checkZeroFrame},
	{"cut-frame", "SOCK-1", "a frame that is cut is no call", socketDoor, false, checkCutFrame},
	{"gone", "SOCK-5", "callers that leave without a word harm nobody", socketDoor, false, checkGone},
	{"concurrent", "SOCK-5", "callers that say nothing, or half a frame, keep nobody out", socketDoor, false, checkConcurrent},
	{"too-many", "SOCK-5", "over the connection limit: one refused reply, then closed", socketDoor, false, checkTooMany},
	{"promises", "LIMIT-2", "memory follows the bytes that came, not those that were promised", socketDoor, true, checkPromises},
}

func checkBigEndian(p *probe) {
	t := p.talk(1, framed(verbsCall))
	if len(t.replies) == 0 || t.little {
		p.fail(t, t, "a frame whose first four bytes are its length, the highest first")
	}
}

func checkZeroFrame(p *probe) {
	t := p.talk(2, text(header(0)), framed(verbsCall))
	if r, there := p.reply(t, 0); there && (!r.refused("malformed") || r.enc != value.JSON) {
		p.fail(t, r, `a reply in JSON with the fault "malformed"`)
	}
	p.wantOK(t, 1)
}

func checkCutFrame(p *probe) {
	const body = `{"call":"verbs"}`
	for _, cut := range []recipe{
		text(header(len(body))[:2]), text(header(len(body))), text(header(len(body)) + body[:5]), text(header(len(body)+9) + body),
	} {
		t := p.talk(1, framed(verbsCall), cut)
		p.wantOK(t, 0)
		for _, b := range t.replies[min(1, len(t.replies)):] {
			if r := readReply(b); !r.refused("malformed") {
				p.fail(t, t, "no answer to the frame that was cut, or a malformed one")
			}
		}
		if !t.closed {
			p.fail(t, t, "the connection closes")
		}
	}
}

// checkGone leaves at once, with replies unread and frames unfinished. Whether that did harm is seen behind every check.
func checkGone(p *probe) {
	e := transcript{d: p.door, pieces: []recipe{framed(verbsCall)}}
	for i := range 40 {
		conn, err := p.dial()
		if err != nil {
			p.fail(e, err, "a connection")
			return
		}
		whole := framed(verbsCall).bytes()
		conn.Write(whole[:len(whole)-i%2*7]) // every other one leaves in the middle
		conn.Close()
	}
	for range 20 { // until the program has come round to all of them
		if t := p.talk(1, framed(verbsCall)); len(t.replies) == 0 {
			return
		}
	}
}

// crowd opens connections and says something on each. Whoever calls it closes them.
func (p *probe) crowd(n int, say string) (conns []net.Conn, err error) {
	for range n {
		conn, err := p.dial()
		if err != nil {
			return conns, err
		}
		conns = append(conns, conn)
		conn.SetWriteDeadline(time.Now().Add(p.wait))
		conn.Write([]byte(say))
	}
	return conns, nil
}

func closeAll(conns []net.Conn) {
	for _, c := range conns {
		c.Close()
	}
}

func checkConcurrent(p *probe) {
	silent, err := p.crowd(50, "")
	defer func() { closeAll(silent) }()
	half, err2 := p.crowd(50, header(16)+`{"call"`)
	defer func() { closeAll(half) }()
	if err != nil || err2 != nil {
		p.fail(told{"100 connections", p.shellOf(nil)}, fmt.Sprint(err, err2), "100 connections at the same time")
		return
	}
	t := p.talk(1, framed(verbsCall))
	if len(t.replies) == 0 {
		t.pieces = append([]recipe{text("on 50 other connections nothing, on 50 half a frame; and here: ")}, t.pieces...)
		p.fail(t, t, "an answer, whoever else is connected")
	}
}

// connections is the default limit of SOCK-5.
const connections = 1024

// checkTooMany opens one connection more than the default limit. Which of them is the one too many is the program's to say.
func checkTooMany(p *probe) {
	conns, err := p.crowd(connections+1, "")
	defer p.settle()
	defer func() { closeAll(conns) }()
	if err != nil {
		p.skip("%d connections could not be opened: %v", connections+1, err)
		return
	}
	conn := readable(conns, p.wait/5)
	if conn == nil {
		p.skip("no limit was met with %d connections", connections+1)
		return
	}
	s := &stream{d: p.door, in: conn, out: conn, conn: conn}
	e := told{fmt.Sprintf("%d connections at the same time, and nothing on them", connections+1), p.shellOf(nil) + " # with as many others open"}
	body, err := s.frame(time.Now().Add(p.wait))
	r := readReply(body)
	if err != nil || !r.refused("refused") || r.enc != value.JSON || !names(r.text("error"), append(numbered(connections), "limit")...) {
		p.fail(e, fmt.Sprintf("on one of them %s, %v", show(body), err), "on the one too many a reply in JSON with the fault \"refused\" that names the limit")
	} else if more, err := s.frame(time.Now().Add(p.wait)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		p.fail(e, fmt.Sprintf("behind the refusal %s, %v", show(more), err), "the end behind the refusal")
	}
}

// readable returns a connection on which something came, or the end, within the limit; nil: on none.
func readable(conns []net.Conn, limit time.Duration) *net.UnixConn {
	fds := make([]unix.PollFd, len(conns))
	for i, c := range conns {
		if raw, err := c.(*net.UnixConn).SyscallConn(); err == nil {
			raw.Control(func(fd uintptr) { fds[i] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN} })
		}
	}
	for end := time.Now().Add(limit); time.Now().Before(end); {
		unix.Poll(fds, int(time.Until(end).Milliseconds())+1) // one that is interrupted is made again
		for i := range fds {
			if fds[i].Revents != 0 {
				return conns[i].(*net.UnixConn)
			}
		}
	}
	return nil
}

// settle waits until the program has seen that a crowd is gone.
func (p *probe) settle() {
	for end := time.Now().Add(p.wait); time.Now().Before(end); {
		if t := p.talk(1, framed(verbsCall)); len(t.replies) > 0 && readReply(t.replies[0]).is(true) {
			return
		}
	}
}

// What checkPromises promises, and what that may cost.
const (
	promises     = 200
	promisesCost = 48 << 20
)

func checkPromises(p *probe) {
	pid := p.server.proc.cmd.Process.Pid
	before, known := memory(pid, "VmRSS")
	if !known {
		p.skip("the memory of a process is not told by this system")
		return
	}
	conns, err := p.crowd(promises, header(caps[Socket]))
	defer p.settle()
	defer func() { closeAll(conns) }()
	if err != nil {
		p.broke("%v", err)
		return
	}
	most := before
	for range 25 { // other calls, while it has the time to keep what was promised
		if t := p.talk(1, framed(verbsCall)); len(t.replies) == 0 {
			break
		}
		now, _ := memory(pid, "VmRSS")
		most = max(most, now)
	}
	if most-before > promisesCost {
		e := told{fmt.Sprintf("on %d connections the header of a frame of 1 MiB, and nothing of it", promises),
			"for i in $(seq 200); do { printf '\\000\\020\\000\\000'; sleep 5; } | socat - UNIX-CONNECT:" + shellSocket + " & done; grep VmRSS /proc/*/status"}
		p.fail(e, fmt.Sprintf("its memory grew by %d MiB", (most-before)>>20), "kilobytes for each, here less than %d MiB for all", promisesCost>>20)
	}
}
