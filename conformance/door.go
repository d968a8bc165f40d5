package conformance

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"time"

	"github.com/kith-wire/kith/conformance/internal/value"
)

// door is one door of the program, and what has been found out about it. Its checks run one after the other.
type door struct {
	*checker
	name    string
	path    string  // of the socket
	server  *server // the one that the checks of the socket ask, where it is ours
	servers int     // how many were started
	lazy    bool    // it does not answer before the input ends
	paced   bool    // a piece is written when the one before it has been read
	slow    bool    // it does not close when the input has ended
	cache   struct {
		samples []sample
		listing []value.Value
		listed  bool
	}
}

// checks runs every check of the door.
func (d *door) checks() []Result {
	if d.name == Socket {
		d.path = d.target.at
		if d.target.door != Socket {
			d.path = filepath.Join(d.dir, "s.sock")
			defer func() { d.server.kill() }()
		}
	}
	var results []Result
	for _, c := range table {
		if c.has(d.name) {
			results = append(results, d.check(c))
		}
	}
	return results
}

// check runs one check, and looks whether the program has outlived it.
func (d *door) check(c check) Result {
	p := &probe{door: d, rule: c.rule}
	switch {
	case d.ctx.Err() != nil:
		p.broke("the run was ended before it")
	case c.own && d.target.door == Socket:
		p.skip("the program was not started by the checker, so it is not ended or measured")
	default:
		if why := d.ready(); why != "" {
			p.broke("%s", why)
			break
		}
		c.run(p)
		p.alive()
	}
	r := Result{Name: d.name + "/" + c.name, Rule: c.rule, Why: p.why, Findings: p.findings}
	switch {
	case len(p.findings) > 0:
		r.State, r.Why = Failed, ""
	case p.state != "":
		r.State = p.state
	default:
		r.State = Passed
	}
	return r
}

// ready makes sure that a server of ours runs, and says why none does.
func (d *door) ready() string {
	if d.name != Socket || d.target.door == Socket {
		return ""
	}
	if d.server.running() {
		return ""
	}
	d.server.kill()
	var err error
	if d.server, err = d.serve(d.path); err != nil {
		return err.Error()
	}
	return ""
}

// probe is one check at one door while it runs.
type probe struct {
	*door
	rule     string
	findings []Finding
	state    State
	why      string
}

// evidence is something that was done to the program, as a report tells of it.
type evidence interface {
	sent() string
	shell() string
}

// told is evidence in words.
type told struct{ what, line string }

func (t told) sent() string  { return t.what }
func (t told) shell() string { return t.line }

// findingsMost is how many findings a check reports.
const findingsMost = 8

// fail reports that the program broke the rule.
func (p *probe) fail(e evidence, came any, allowed string, a ...any) {
	if len(p.findings) < findingsMost {
		p.findings = append(p.findings, Finding{Rule: p.rule, Sent: e.sent(), Came: fmt.Sprint(came),
			Allowed: fmt.Sprintf(allowed, a...), Reproduce: e.shell()})
	}
}

// skip says that the check does not apply, broke that it could not be made.
func (p *probe) skip(format string, a ...any)  { p.state, p.why = Skipped, fmt.Sprintf(format, a...) }
func (p *probe) broke(format string, a ...any) { p.state, p.why = NotRun, fmt.Sprintf(format, a...) }

// alive makes sure that the program behind a socket still answers, whatever it was sent.
func (p *probe) alive() {
	if p.name != Socket || len(p.findings) > 0 && !p.server.running() {
		return
	}
	if t := p.talk(1, framed(verbsCall)); len(t.replies) == 0 {
		came := t.String()
		if p.server != nil && !p.server.running() {
			came = p.server.proc.wait(0).String()
		}
		p.fail(told{"what this check sends, and then " + t.sent(), t.shell()}, came,
			"the program answers the next connection: nothing that one peer sends ends it")
		if p.server != nil {
			p.server.kill()
		}
	}
}

// reply returns the reply at a place of a transcript, and reports that there is none.
func (p *probe) reply(t transcript, i int) (reply, bool) {
	if i >= len(t.replies) {
		p.fail(t, t, "a reply to each call: here %d or more", i+1)
		return reply{}, false
	}
	return readReply(t.replies[i]), true
}

// wantOK reports a reply that is not ok.
func (p *probe) wantOK(t transcript, i int) {
	if r, there := p.reply(t, i); there && !r.is(true) {
		p.fail(t, r, "reply %d has ok true", i+1)
	}
}

// wantRefused reports a reply that is not a refusal with that fault.
func (p *probe) wantRefused(t transcript, i int, fault string) {
	if r, there := p.reply(t, i); there && !r.refused(fault) {
		p.fail(t, r, `reply %d has ok false and the fault "%s"`, i+1, fault)
	}
}

// server is one `PROG serve` of ours.
type server struct {
	proc *process
	path string
	line chan string // its first line; closed without one when stdout ends
	more chan []byte // what else it wrote, when it has ended
}

// serve starts a server and waits until it can be called. The error says what it did instead.
func (d *door) serve(path string) (*server, error) {
	d.servers++
	proc, err := d.start(launch{args: []string{"serve", "--socket", path}})
	if err != nil {
		return nil, err
	}
	proc.in.Close()
	s := &server{proc: proc, path: path, line: make(chan string, 1), more: make(chan []byte, 1)}
	go s.listen()
	lines := s.line
	var late <-chan time.Time // when it is taken as it is, though it can be called and has not said so
	for end := time.Now().Add(d.wait); time.Now().Before(end); {
		select {
		case _, said := <-lines:
			if !said {
				e := proc.wait(d.wait)
				s.kill()
				return nil, fmt.Errorf("%s came to nothing: %v", d.shellServe(), e)
			}
			lines = nil
		case <-late:
			return s, nil
		case <-time.After(2 * time.Millisecond):
			conn, err := net.Dial("unix", path)
			if err != nil {
				continue
			}
			conn.Close()
			if lines == nil {
				return s, nil
			}
			if late == nil {
				late = time.After(d.wait / 5)
			}
		}
	}
	s.kill()
	return nil, fmt.Errorf("%s: nothing can be called within %v", d.shellServe(), d.wait)
}

// listen reads what the server writes to stdout.
func (s *server) listen() {
	in := bufio.NewReader(s.proc.out)
	line, err := in.ReadString('\n')
	if err == nil {
		s.line <- line
		line = ""
	}
	close(s.line)
	rest, _ := io.ReadAll(in)
	s.more <- append([]byte(line), rest...)
}

// running and kill take the nil that no server is.
func (s *server) running() bool {
	if s == nil {
		return false
	}
	select {
	case <-s.proc.done:
		return false
	default:
		return true
	}
}

func (s *server) kill() {
	if s != nil {
		s.proc.kill()
	}
}
