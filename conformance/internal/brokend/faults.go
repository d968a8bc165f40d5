package main

import (
	"bytes"
	"errors"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/kith-wire/kith/conformance/internal/value"
)

// What is wrong with messages and ends stands here, out of the way of those who read how it is done right.

// limit is the cap, where nothing is wrong with it.
func limit() int64 {
	switch fault {
	case "cap-less-one":
		return frameCap - 1
	case "cap-64k":
		return 64 << 10
	}
	return frameCap
}

// spell writes the members of a response.
func spell(members []value.Member) []byte {
	e, failed := members[len(members)-1].Value, members[len(members)-1].Name == "error"
	if !failed {
		return value.Append(nil, value.JSON, value.OfMap(members...))
	}
	code, message := &e.Map[0], &e.Map[1]
	beside := func(v value.Value) []value.Member {
		return append(members[:1:1], value.M("result", v), members[len(members)-1])
	}
	switch fault {
	case "result-beside-error":
		members = beside(value.OfMap())
	case "null-beside-error":
		members = beside(value.Value{})
	case "camel-case":
		code.Value = value.OfText(camel(code.Value.Text))
	case "no-message":
		e.Map = e.Map[:1]
		members = append(members[:1:1], value.M("error", e))
	case "message-null":
		message.Value = value.Value{}
	case "not-utf8":
		message.Value = value.OfText(message.Value.Text + " \xe9")
	}
	return value.Append(nil, value.JSON, value.OfMap(members...))
}

func camel(code string) (out string) {
	for part := range strings.SplitSeq(code, "_") {
		out += strings.ToUpper(part[:1]) + part[1:]
	}
	return out
}

// loosen makes of a body what is taken for JSON though it is none.
func loosen(body []byte) []byte {
	switch fault {
	case "trailing-taken":
		if end := bytes.LastIndexByte(body, '}'); end >= 0 {
			return body[:end+1]
		}
	case "not-utf8-taken":
		return bytes.ToValidUTF8(body, []byte("?"))
	}
	return body
}

// loosenID makes an id of what is none.
func loosenID(id value.Value) value.Value {
	switch {
	case wrong("ids-rounded") && id.Kind == value.Int && id.Int.IsUint64():
		id.Int = rounded(id.Int)
	case wrong("ids-wrap") && id.Kind == value.Int:
		id.Int = new(big.Int).And(id.Int, new(big.Int).SetUint64(1<<64-1))
	case wrong("text-ids-taken") && id.Kind == value.Text:
		if n, good := new(big.Int).SetString(id.Text, 10); good {
			return value.Value{Kind: value.Int, Int: n}
		}
	case wrong("id-optional") && id.Kind == value.Null:
		return value.OfInt(0)
	}
	return id
}

// misfit is what is wrong with a request that is right.
func misfit(v value.Value, loose []string) error {
	params, there := v.Get("params")
	method, _ := v.Get("method")
	odd := ""
	switch fault {
	case "unknown-members-refused":
		for _, m := range v.Map {
			if m.Name != "id" && m.Name != "method" && m.Name != "params" {
				odd = m.Name
			}
		}
	case "id-first":
		if len(v.Map) > 1 && v.Map[0].Name != "id" {
			odd = v.Map[0].Name
		}
	case "space-refused":
		odd = strings.Join(loose, ", ")
	case "params-required":
		if !there {
			odd = "params"
		}
	case "null-params-refused":
		if there && params.Kind == value.Null {
			odd = "params"
		}
	case "no-namespace-malformed":
		if method.Kind == value.Text && !strings.Contains(method.Text, ".") {
			odd = method.Text
		}
	}
	if odd != "" {
		return errMalformed("not taken here: " + odd)
	}
	return nil
}

// before is what happens between a request and its answer.
func (s *session) before() error {
	if !wrong("drops-at-half-close") {
		return nil
	}
	s.conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond)) // as a method does that takes its time
	defer s.conn.SetReadDeadline(time.Time{})
	if _, err := s.in.Peek(1); errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// atEnd is what happens when the input has ended, inside a frame or between two.
func (s *session) atEnd(err error, body []byte) {
	switch {
	case wrong("answers-at-end"):
		s.conn.Write(s.late)
	case wrong("says-goodbye") && err == io.EOF:
		s.write(append([]value.Member{value.M("id", value.OfInt(0))}, failure("malformed_frame", "the input ended")...))
	case wrong("never-closes"):
		select {}
	case wrong("cut-frame-answered") && err == io.ErrUnexpectedEOF:
		if r, err := parse(body); err == nil {
			s.answer(r)
		}
	}
}
