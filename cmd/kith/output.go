package main

import (
	"errors"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport/rpc"
)

// style is how replies are printed.
type style struct {
	cbor   bool // the bytes
	pretty bool // JSON for people
	fail   bool // a refusal is told by the exit status too

	exits map[rpc.Code]int // what error responses of the daemon wire are told by
}

func (s *style) flags() []flag {
	return []flag{
		boolFlag(&s.cbor, "cbor", "ask in CBOR and print the bytes of the reply"),
		boolFlag(&s.pretty, "pretty", "print JSON for people, on many lines"),
		boolFlag(&s.fail, "fail", "exit 3 refused, 4 unavailable, 5 failed, 6 malformed where the reply is a refusal"),
	}
}

func (s style) encoding() shape.Encoding {
	if s.cbor {
		return shape.CBOR
	}
	return shape.JSON
}

// reply prints the reply of a call. Where there is none it says why on stderr.
func (t *tool) reply(rows shape.Rows, err error, s style) int {
	var e *shape.Error
	switch {
	case err == nil:
	case !errors.As(err, &e):
		return t.fail(exitUnavailable, "%v", err)
	case !e.Said && e.Fault == shape.Refused:
		return t.fail(exitUsage, "%v", err)
	case !e.Said && e.Fault == shape.Malformed:
		return t.fail(exitMalformed, "%v", err)
	case !e.Said:
		return t.fail(exitUnavailable, "%v", err)
	}
	reply := rows.Reply()
	if e != nil {
		reply = e.Reply
	}
	if status := t.print(s.render(reply)); status != exitOK {
		return status
	}
	return s.status(e)
}

// status is what a reply that was printed exits with; e is its refusal, or nil.
func (s style) status(e *shape.Error) int {
	if e == nil {
		return exitOK
	}
	if status, mapped := s.exits[rpc.Code(e.Code)]; mapped {
		return status
	}
	if s.fail {
		return exitOf(e.Fault)
	}
	return exitOK
}

// render writes a reply as it came, in the style that was asked for.
func (s style) render(reply shape.Raw) []byte {
	switch {
	case s.cbor:
		return reply.Append(nil, shape.CBOR)
	case s.pretty:
		return append(appendPretty(nil, reply, "\n"), '\n')
	}
	return append(reply.Append(nil, shape.JSON), '\n')
}

// appendPretty writes a value as JSON with a line for each element and member; indent begins each line.
func appendPretty(dst []byte, value shape.Raw, indent string) []byte {
	deeper := indent + "  "
	n := 0
	next := func() {
		if n++; n > 1 {
			dst = append(dst, ',')
		}
		dst = append(dst, deeper...)
	}
	switch value.Kind() {
	case "list":
		dst = append(dst, '[')
		for element := range value.All() {
			next()
			dst = appendPretty(dst, element, deeper)
		}
		return closeWith(dst, ']', n, indent)
	case "map":
		dst = append(dst, '{')
		for name, member := range value.Members().All() {
			next()
			dst = append(shape.RowsOf(name).Raw(0).Append(dst, shape.JSON), ": "...)
			dst = appendPretty(dst, member, deeper)
		}
		return closeWith(dst, '}', n, indent)
	}
	return value.Append(dst, shape.JSON)
}

func closeWith(dst []byte, end byte, n int, indent string) []byte {
	if n > 0 {
		dst = append(dst, indent...)
	}
	return append(dst, end)
}
