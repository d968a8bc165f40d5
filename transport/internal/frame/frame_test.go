package frame

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kith-wire/kith/internal/buffers"
)

// framesOf cuts a stream that arrives in pieces of so many bytes, and says what it found.
func framesOf(f Kind, limit int, stream []byte, step int) (out []string) {
	in := NewInput(f, limit)
	say := func(fr Frame) {
		if fr.Bad != nil {
			text, _, _ := strings.Cut(fr.Bad.Text, "; in the byte order")
			out = append(out, "bad "+text)
		} else {
			out = append(out, "body "+string(fr.Body))
		}
	}
	for len(stream) > 0 {
		n := copy(in.Room(), stream[:min(step, len(stream))])
		in.Took(n)
		stream = stream[n:]
		for fr, ok := in.Next(); ok; fr, ok = in.Next() {
			say(fr)
			if fr.Last {
				return out
			}
		}
		in.NoRead()
	}
	if fr, ok := in.Rest(); ok {
		say(fr)
	}
	return out
}

// framesOfWhole is the simpler twin: it sees the whole stream at once.
func framesOfWhole(f Kind, limit int, stream []byte) (out []string) {
	if f == Lines {
		lines := bytes.Split(stream, []byte("\n"))
		for i, line := range lines {
			line = bytes.TrimSuffix(line, []byte("\r"))
			switch last := i == len(lines)-1; {
			case len(line) > limit:
				out = append(out, fmt.Sprintf("bad a line of %d bytes is over the cap of %d", len(line), limit))
			case len(bytes.Trim(line, " \t\r")) > 0 && !(last && len(line) == 0):
				out = append(out, "body "+string(line))
			}
		}
		return out
	}
	for len(stream) >= HeadLen {
		size := int(f.order().Uint32(stream))
		rest := stream[HeadLen:]
		switch {
		case size == 0:
			out = append(out, "bad a frame of length 0 holds no message")
		case size > limit:
			return append(out, fmt.Sprintf("bad a frame of %d bytes is over the cap of %d", size, limit))
		case size > len(rest):
			return append(out, fmt.Sprintf("bad input ended %d bytes into a frame of %d", len(rest), size))
		default:
			out = append(out, "body "+string(rest[:size]))
		}
		stream = rest[size:]
	}
	if len(stream) > 0 {
		out = append(out, fmt.Sprintf("bad input ended %d bytes into a frame's header of 4", len(stream)))
	}
	return out
}

// FuzzFrames: however a stream arrives, the same frames come out of it, and nothing is lost (SOCK-1, PIPE-1, RPC-1, LIMIT-4).
func FuzzFrames(f *testing.F) {
	const body = `{"call":"a"}`
	frame := "\x00\x00\x00\x0c" + body
	seeds := []string{
		"\x0c\x00\x00\x00" + body + "\x00\x00\x00\x00\x00\x01", frame + frame, frame[:7], "\x00\x00\x00\x00" + frame, "\x00\x00\x01\x00" + frame, "\xff\xff\xff\xff", "\x00\x00",
		body + "\n" + body, body + "\r\n\r\n \t\n" + body + "\n", strings.Repeat("x", 70) + "\n" + body + "\n", strings.Repeat("x", 65), strings.Repeat(" ", 64) + "\r\nx",
		strings.Repeat("x", 71) + "\r\n" + body, strings.Repeat("x", 71) + "\r",
	}
	for _, seed := range seeds {
		for _, step := range []byte{1, 3, 200} {
			f.Add([]byte(seed), step)
		}
	}
	f.Fuzz(func(t *testing.T, stream []byte, step byte) {
		for _, framing := range []Kind{Lines, BigEndian, LittleEndian} {
			got := framesOf(framing, 64, stream, max(1, int(step)))
			if want := framesOfWhole(framing, 64, stream); !slices.Equal(got, want) {
				t.Errorf("framing %d in steps of %d:\ngot  %q\nwant %q", framing, step, got, want)
			}
		}
	})
}

// TestOtherOrder: a length that was meant the other way round is told as that (ENC-1).
func TestOtherOrder(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		head string
		want string
	}{
		{BigEndian, "\x0c\x00\x00\x00", "a frame of 201326592 bytes is over the cap of 64; in the byte order of the daemon wire it would be 12"},
		{LittleEndian, "\x00\x00\x00\x0c", "a frame of 201326592 bytes is over the cap of 64; in the byte order of the family wire it would be 12"},
		{BigEndian, "\x0c\x00\x00\x01", "a frame of 201326593 bytes is over the cap of 64"},
	} {
		in := NewInput(c.kind, 64)
		in.Took(copy(in.Room(), c.head))
		if f, ok := in.Next(); !ok || f.Bad == nil || f.Bad.Text != c.want {
			t.Errorf("%q: %v %+v", c.head, ok, f)
		}
	}
}

// TestLargeRoom: a large frame's bytes move at once to a buffer of its size where one is kept, and else to one for as much as has come
// once more (LIMIT-2).
func TestLargeRoom(t *testing.T) {
	const size = 1 << 20
	in := NewInput(BigEndian, size)
	fill := func() int {
		room := in.Room()
		in.Took(copy(room, make([]byte, len(room))))
		return len(room)
	}
	if n := copy(in.Room(), "\x00\x10\x00\x00"); n != HeadLen {
		t.Fatal(n)
	}
	in.Took(HeadLen)
	first := fill()
	if more := len(in.Room()); more > 2*(first+HeadLen) {
		t.Errorf("room for %d bytes after %d", more, first)
	}
	fill()
	buffers.Put(make([]byte, 0, size+HeadLen))
	if more := len(in.Room()); more < size-4*chunkLen {
		t.Errorf("room for %d bytes, and a buffer of %d is kept", more, size+HeadLen)
	}
}
