package conformance

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"
)

// recipe is what a check sends, in a form that a person can read and a shell can make again: pieces, each so many times.
type recipe []piece

type piece struct {
	text  string
	times int
}

func text(s string) recipe            { return recipe{{s, 1}} }
func times(s string, n int) recipe    { return recipe{{s, n}} }
func (r recipe) then(s string) recipe { return append(r[:len(r):len(r)], piece{s, 1}) }

func (r recipe) thenTimes(s string, n int) recipe {
	return append(r[:len(r):len(r)], piece{s, n})
}

func join(parts ...recipe) (all recipe) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func (r recipe) len() (n int) {
	for _, p := range r {
		n += len(p.text) * p.times
	}
	return n
}

func (r recipe) bytes() []byte {
	b := make([]byte, 0, r.len())
	for part := range r.parts(r.len()) {
		b = append(b, part...)
	}
	return b
}

// parts are the bytes, one part for each piece, or more where it is longer than so many bytes.
func (r recipe) parts(most int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, p := range r {
			block := max(1, min(p.times, most/max(1, len(p.text))))
			repeated := strings.Repeat(p.text, block)
			for left := p.times; left > 0; left -= block {
				if !yield(repeated[:min(left, block)*len(p.text)]) {
					return
				}
			}
		}
	}
}

// header is the length that stands before a frame (SOCK-1).
func header(n int) string { return string(binary.BigEndian.AppendUint32(nil, uint32(n))) }

// framed puts its length before a body.
func framed(body recipe) recipe { return join(text(header(body.len())), body) }

// lined puts a line end behind a body.
func lined(body recipe) recipe { return body.then("\n") }

// String shows what is sent, at a length a person reads.
func (r recipe) String() string {
	var parts []string
	for _, p := range r {
		switch {
		case p.text == "" || p.times == 0:
		case p.times == 1:
			parts = append(parts, show([]byte(p.text)))
		default:
			parts = append(parts, fmt.Sprintf("%d times %s", p.times, show([]byte(p.text))))
		}
	}
	switch {
	case len(parts) == 0:
		return "nothing"
	case len(parts) > 8:
		parts = append(parts[:8], fmt.Sprintf("… (%d bytes in all)", r.len()))
	}
	return strings.Join(parts, " ")
}

// shown is how many bytes of one thing a finding shows.
const shown = 240

// show makes bytes fit for a report: text as it is, anything else in hex, and no more than shown of it.
func show(b []byte) string {
	more := ""
	if len(b) > shown {
		more = fmt.Sprintf("… (%d bytes in all)", len(b))
		b = b[:shown]
		for len(b) > 0 && !utf8.RuneStart(b[len(b)-1]) {
			b = b[:len(b)-1]
		}
		if len(b) > 0 && b[len(b)-1] >= utf8.RuneSelf {
			b = b[:len(b)-1]
		}
	}
	if len(b) == 0 {
		return "nothing"
	}
	control := func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r == 0xfeff }
	if !utf8.Valid(b) || strings.ContainsFunc(string(b), control) {
		return "hex " + hex.EncodeToString(b) + more
	}
	return strings.ReplaceAll(string(b), "\n", "⏎") + more
}

// shell is a command of the shell that writes the bytes.
func (r recipe) shell() string {
	var parts []string
	for _, p := range r {
		switch {
		case p.text == "" || p.times == 0:
		case p.times == 1 && len(parts) > 0 && strings.HasPrefix(parts[len(parts)-1], "printf"):
			last := parts[len(parts)-1]
			parts[len(parts)-1] = last[:len(last)-1] + escaped(p.text) + "'"
		case p.times == 1:
			parts = append(parts, "printf '"+escaped(p.text)+"'")
		default:
			parts = append(parts, fmt.Sprintf("yes \"$(printf '%s')\" | head -n %d | tr -d '\\n'", escaped(p.text), p.times))
		}
	}
	switch len(parts) {
	case 0:
		return "true"
	case 1:
		return parts[0]
	}
	return "{ " + strings.Join(parts, "; ") + "; }"
}

// escaped writes bytes for the format of printf, between single quotes.
func escaped(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '%':
			b.WriteString("%%")
		case c == '\n':
			b.WriteString(`\n`)
		case c < ' ' || c >= 0x7f || c == '\\' || c == '\'':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// word quotes a word for the shell.
func word(s string) string {
	plain := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:,=@+", r))
	}
	switch {
	case s == "" || strings.ContainsFunc(s, plain) && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }):
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	case strings.ContainsFunc(s, plain):
		return "\"$(printf '" + escaped(s) + "')\""
	}
	return s
}

func words(args ...string) string {
	var b strings.Builder
	for _, a := range args {
		b.WriteByte(' ')
		b.WriteString(word(a))
	}
	return b.String()
}
