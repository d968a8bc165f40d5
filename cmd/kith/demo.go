package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

func (t *tool) demoCommand() command {
	return command{
		name:  "demo",
		about: "show one program answer at all three doors, in a temporary directory",
		more: `
It runs the scribe, the notebook that stands beside kith or, in the module's own directory, is built for it. Nothing is left
behind.`,
		run: func(ctx context.Context, _ []string) int {
			if err := t.demo(ctx); err != nil {
				return t.fail(exitFailed, "demo: %v", err)
			}
			return t.print([]byte("\nThe scribe has ended, and its directory is gone.\n"))
		},
	}
}

// demoTime is the most that the demo takes, building apart.
const demoTime = 30 * time.Second

// demo is the scribe of the demo, and where it is.
type demo struct {
	*tool
	ctx    context.Context
	scribe string
	socket string
}

func (t *tool) demo(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "kith-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := &demo{tool: t, socket: filepath.Join(dir, "scribe.sock")}
	if d.scribe, err = findScribe(ctx, dir); err != nil {
		return err
	}
	if err := os.Setenv("SCRIBE_BOOK", filepath.Join(dir, "book.jsonl")); err != nil {
		return err
	}
	var cancel context.CancelFunc
	d.ctx, cancel = context.WithTimeoutCause(ctx, demoTime, fmt.Errorf("it took more than %v", demoTime))
	defer cancel()
	for _, part := range []func() error{d.cli, d.pipe, d.atSocket} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// findScribe returns a scribe: the one beside this program, one that is built here, or the one in PATH.
func findScribe(ctx context.Context, dir string) (string, error) {
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "scribe")
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	made := filepath.Join(dir, "scribe")
	build := exec.CommandContext(ctx, "go", "build", "-o", made, "github.com/kith-wire/kith/cmd/scribe")
	out, err := build.CombinedOutput()
	if err == nil {
		return made, nil
	}
	if found, lookErr := exec.LookPath("scribe"); lookErr == nil {
		return found, nil
	}
	return "", fmt.Errorf("there is no scribe beside this program and none in PATH, and it cannot be built here: %w %s", err, out)
}

func (d *demo) say(format string, a ...any) { fmt.Fprintf(d.out, format+"\n", a...) }

// run runs the scribe once and shows what it wrote.
func (d *demo) run(args ...string) error {
	d.say("$ scribe %s", strings.Join(args, " "))
	cmd := exec.CommandContext(d.ctx, d.scribe, args...)
	cmd.Stderr = d.err
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("scribe %s: %w", args[0], err)
	}
	d.show(out)
	return nil
}

// show shows a message: JSON as it is, CBOR byte by byte.
func (d *demo) show(message []byte) {
	text := strings.TrimSuffix(string(message), "\n")
	if message[0]&0xe0 == 0xa0 { // a CBOR map
		text = strings.TrimSuffix(hex.Dump(message), "\n")
	}
	d.say("%s", text)
}

func (d *demo) cli() error {
	d.say("One program, one handler, three doors.\n\nThe cli: run once for a call.")
	for _, args := range [][]string{{"note", "hello", "demo"}, {"get", "1"}, {"get", "1", "--cbor"}} {
		if err := d.run(args...); err != nil {
			return err
		}
	}
	d.say("\nA refusal is a reply too: exit 0.")
	return d.run("shout")
}

// ask makes the call that every door is asked, and shows both ways.
func (d *demo) ask(w *way, enc shape.Encoding) error {
	s := style{cbor: enc == shape.CBOR}
	call := shape.Call{Verb: "get", Args: shape.ListArgs(1)}
	sent, err := call.Append(nil, enc, shape.Limits{})
	if err != nil {
		return err
	}
	d.say("we:")
	d.show(sent)
	rows, err := w.Call(d.ctx, call)
	if err != nil {
		return err
	}
	d.say("the scribe:")
	d.show(s.render(rows.Reply()))
	return nil
}

func (d *demo) pipe() error {
	d.say("\nThe pipe, scribe pipe: one line a message.")
	w, err := target{door: transport.Pipe, at: d.scribe}.open(d.ctx, transport.Config{})
	if err != nil {
		return err
	}
	defer w.close()
	return d.ask(w, shape.JSON)
}

func (d *demo) atSocket() error {
	stop, err := d.serve()
	if err != nil {
		return err
	}
	defer stop()
	for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
		d.say("\nThe socket, in %s: four bytes of length before each message.", strings.ToUpper(enc.String()))
		w, err := target{door: transport.Socket, at: d.socket}.open(d.ctx, transport.Config{Encoding: enc})
		if err != nil {
			return err
		}
		err = d.ask(w, enc)
		w.close()
		if err != nil {
			return err
		}
	}
	return d.event()
}

// serve starts the daemon and waits until it listens.
func (d *demo) serve() (stop func(), err error) {
	cmd := exec.CommandContext(d.ctx, d.scribe, "serve", "--socket", d.socket, "--tied", strconv.Itoa(os.Getpid()))
	cmd.Stderr = d.err
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		stop()
		return nil, fmt.Errorf("scribe serve said %q and ended", line)
	}
	return stop, nil
}

// event watches at the socket while another process keeps a note.
func (d *demo) event() error {
	d.say("\nAn event: we watch at the socket, and another process keeps a note.")
	came := make(chan []byte, 1)
	w, err := target{door: transport.Socket, at: d.socket}.open(d.ctx, transport.Config{Handler: eventFunc(func(e shape.Event) {
		b, _ := e.Append(nil, shape.JSON, shape.Limits{})
		came <- b
	})})
	if err != nil {
		return err
	}
	defer w.close()
	if _, err := w.Call(d.ctx, shape.Call{Verb: "watch"}); err != nil {
		return err
	}
	if err := d.run("note", "seen"); err != nil {
		return err
	}
	select {
	case message := <-came:
		d.say("the scribe:")
		d.show(message)
		return nil
	case <-w.peer.Done():
		return errors.New("the connection ended before the event came")
	case <-d.ctx.Done():
		return context.Cause(d.ctx)
	}
}
