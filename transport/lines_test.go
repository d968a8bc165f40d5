package transport

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport/internal/stream"
)

// lines gives a served pipe some input and returns all it wrote, and how it ended.
func lines(t *testing.T, cfg Config, input string) (string, error) {
	t.Helper()
	mine, theirs := stream.Memory()
	if cfg.Handler == nil {
		cfg.Handler = HandlerFunc(func(_ context.Context, c shape.Call) (shape.Rows, error) { return shape.RowsOf(c.Verb), nil })
	}
	p := Connect(context.Background(), theirs, Lines, cfg)
	go func() {
		mine.Write([]byte(input))
		mine.CloseWrite()
	}()
	out, err := io.ReadAll(mine)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	return string(out), p.Err()
}

const lineA, lineB = `{"ok":true,"family":1,"n":1,"result":["a"]}` + "\n", `{"ok":true,"family":1,"n":1,"result":["b"]}` + "\n"

// PIPE-1, PIPE-2, PIPE-3, LIMIT-4, ENC-2.
func TestLines(t *testing.T) {
	malformed := func(text string) string {
		return `{"ok":false,"family":1,"n":0,"result":[],"error":"` + text + `","fault":"malformed"}` + "\n"
	}
	for _, c := range []struct{ name, in, out string }{
		{"LF", "{\"call\":\"a\"}\n{\"call\":\"b\"}\n", lineA + lineB},
		{"CR LF and space", " {\"call\":\"a\"} \r\n\t{\"call\":\"b\"}\r\n", lineA + lineB},
		{"blank lines", "\n\r\n \t \n{\"call\":\"a\"}\n\n", lineA},
		{"unterminated", "{\"call\":\"a\"}\n{\"call\":\"b\"}", lineA + lineB},
		{"nothing", "", ""},
		{"bad line", "{\"call\":\n{\"call\":\"b\"}\n", "*" + lineB},
		{"two on a line", "{\"call\":\"a\"}{\"call\":\"a\"}\n{\"call\":\"b\"}\n", "*" + lineB},
		{"over the cap", strings.Repeat("x", 201) + "\n{\"call\":\"b\"}\n", malformed("a line of 201 bytes is over the cap of 200") + lineB},
		{"far over the cap", strings.Repeat("x", 1<<20) + "\n{\"call\":\"b\"}\n", malformed("a line of 1048576 bytes is over the cap of 200") + lineB},
		{"over the cap and unterminated", strings.Repeat("x", 1<<20), malformed("a line of 1048576 bytes is over the cap of 200")},
		{"the cap", "{\"call\":\"a\"" + strings.Repeat(" ", 188) + "}\r\n", lineA},
		{"CBOR", "\xa1\x64call\x61a\n{\"call\":\"b\"}\n", malformed("a pipe carries JSON lines and this is CBOR, which a socket takes") + lineB},
		{"CBOR event", "\xa1\x65event\x61a\n{\"call\":\"b\"}\n", lineB},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := lines(t, Config{Limits: shape.Limits{Frame: 200}}, c.in)
			if rest, some := strings.CutPrefix(c.out, "*"); some { // any one malformed reply
				first, after, _ := strings.Cut(out, "\n")
				if !strings.HasSuffix(first, `"fault":"malformed"}`) || after != rest {
					t.Errorf("got %s", out)
				}
			} else if out != c.out {
				t.Errorf("got  %s\nwant %s", out, c.out)
			}
			if err != nil {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

// Lines of every length around a buffer's are answered.
func TestLineLengths(t *testing.T) {
	echo := HandlerFunc(func(_ context.Context, c shape.Call) (shape.Rows, error) { return shape.RowsOf(c.Args.At(0)), nil })
	for _, size := range []int{16383, 16384, 16385, 65535, 65536, 65537, 1 << 20} {
		const around = len(`{"call":"e","args":[""]}`)
		text := strings.Repeat("x", size-around)
		out, err := lines(t, Config{Handler: echo}, `{"call":"e","args":["`+text+"\"]}\n")
		if want := `{"ok":true,"family":1,"n":1,"result":["` + text + "\"]}\n"; out != want || err != nil {
			t.Errorf("a line of %d bytes: got %d bytes, %v", size, len(out), err)
		}
	}
}
