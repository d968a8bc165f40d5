package scan

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// Detect tells from its first byte how a message is written, and where it starts: behind leading space (ENC-1). Bytes that
// open neither encoding are called JSON, so that the error that follows is the useful one. The error is an [*Error] that
// names what the bytes probably are, where that can be told; encoding and start are answered even then.
func Detect(b []byte) (enc wire.Encoding, start int, err error) {
	for start < len(b) && (b[start] == ' ' || b[start] == '\n' || b[start] == '\r' || b[start] == '\t') {
		start++
	}
	rest := b[start:]
	if len(rest) == 0 {
		return wire.JSON, start, &Error{Offset: start, Text: "empty message"}
	}
	if rest[0] >= 0x80 && rest[0] <= 0xbf { // no character begins so
		return wire.CBOR, start, nil
	}
	if what := foreign(rest); what != "" {
		return wire.JSON, start, &Error{Offset: start, Text: what}
	}
	return wire.JSON, start, nil
}

// foreign says what bytes are that are certainly no message, and "" where it does not know.
func foreign(b []byte) string {
	starts := func(prefix string) bool { return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix }
	switch {
	case b[0] == '{' && !starts("{\x00"):
		return ""
	case starts("\xef\xbb\xbf"):
		return "a byte order mark; JSON here begins with '{'"
	case starts("\xff\xfe"), starts("\xfe\xff"), starts("{\x00"), starts("\x00{"), starts("[\x00"), starts("\x00["):
		return "UTF-16 text; JSON here is UTF-8"
	case starts("\x1f\x8b"):
		return "gzip data; a message here is not compressed"
	case opensTag(b):
		if starts("\xd9\xd9\xf7") {
			return "a CBOR tag (55799, self-described CBOR); send the bare map"
		}
		return fmt.Sprintf("byte 0x%02x opens a CBOR tag; send the bare map", b[0])
	}
	const header = "Content-Length:"
	if len(b) >= len(header) && strings.EqualFold(string(b[:len(header)]), header) {
		return "a Content-Length header; frames here carry no headers"
	}
	return ""
}

// opensTag tells whether b begins with the head of a CBOR tag. Those bytes also begin characters of two bytes, such as the
// no-break space C2 A0, and a character it is where one is there.
func opensTag(b []byte) bool {
	if b[0] < wire.MajorTag || b[0] > wire.MajorTag|info8Bytes {
		return false
	}
	r, n := utf8.DecodeRune(b)
	return r == utf8.RuneError && n == 1
}
