package rpc

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport/internal/frame"
)

// What a message may be, where nothing else is said (RPC-1). The depth is what JSON readers of other languages take.
const (
	frameCap = 16 << 20
	depth    = 128
)

// limits are those of a connection.
func limits(l shape.Limits) shape.Limits {
	if l.Frame <= 0 {
		l.Frame = frameCap
	}
	if l.Depth <= 0 {
		l.Depth = depth
	}
	return l.Defaults()
}

// request is {"id":u64,"method":"…","params":{…}}.
type request struct {
	id     uint64
	method string
	params shape.Raw // zero where there is none
}

// response is {"id":u64,"result":…} or {"id":u64,"error":{…}}.
type response struct {
	id     uint64
	failed *failure  // nil: result is there; there is no both (RPC-2)
	result shape.Raw // any value
	whole  shape.Raw
}

// failure is {"code":"…","message":"…"}.
type failure struct {
	code    Code
	message string
}

// parseRequest reads a request. The error says what is wrong with it. before is the method of the request before: nearly always that
// of this one too, which then makes nothing.
func parseRequest(b []byte, l shape.Limits, before string) (req request, err error) {
	whole, err := object(b, l, "a request")
	if err != nil {
		return req, err
	}
	m := whole.Members()
	if req.id, err = idOf(m.Get("id")); err != nil {
		return req, err
	}
	method := m.Get("method")
	if method.Kind() != "text" {
		return req, shape.Malformed.Errorf("method is %s and must be text", missing(method))
	}
	if req.method, err = textIn(method, before); err != nil {
		return req, err
	}
	if params := m.Get("params"); params.Kind() != "null" {
		req.params = params
	}
	return req, nil
}

// parseResponse reads a response.
func parseResponse(b []byte, l shape.Limits) (res response, err error) {
	if res.whole, err = object(b, l, "a response"); err != nil {
		return res, err
	}
	var id, value, failed shape.Raw
	for name, member := range res.whole.Members().All() { // once: a result may be large
		switch name {
		case "id":
			id = member
		case "result":
			value = member
		case "error":
			failed = member
		}
	}
	if res.id, err = idOf(id); err != nil {
		return res, err
	}
	switch {
	case value.IsZero() && failed.IsZero():
		return res, shape.Malformed.Errorf("a response holds one of result and error, and this one holds neither")
	case !value.IsZero() && !failed.IsZero():
		return res, shape.Malformed.Errorf("a response holds one of result and error, and this one holds both")
	case failed.IsZero():
		res.result = value
		return res, nil
	case failed.Kind() != "map":
		return res, shape.Malformed.Errorf("error is %s and must be a map", failed.Kind())
	}
	res.failed, err = failureOf(failed.Members())
	return res, err
}

func failureOf(m shape.Members) (f *failure, err error) {
	var texts [2]string
	for i, name := range [...]string{"code", "message"} {
		member := m.Get(name)
		if member.Kind() != "text" {
			return nil, shape.Malformed.Errorf("%s of error is %s and must be text", name, missing(member))
		}
		if texts[i], err = textIn(member, ""); err != nil {
			return nil, err
		}
	}
	return &failure{Code(texts[0]), texts[1]}, nil
}

// textIn returns a text; it is known where that is the same.
func textIn(raw shape.Raw, known string) (string, error) {
	var buf [64]byte
	quoted := raw.Append(buf[:0], shape.JSON)
	switch plain := quoted[1 : len(quoted)-1]; {
	case bytes.IndexByte(plain, '\\') >= 0:
		return decodedText(raw)
	case string(plain) == known:
		return known, nil
	default:
		return string(plain), nil
	}
}

// decodedText is apart because what is decoded into is made.
func decodedText(raw shape.Raw) (string, error) {
	var text string
	err := raw.Decode(&text)
	return text, err
}

// object admits a message (ENC-4) that is a map.
func object(b []byte, l shape.Limits, what string) (shape.Raw, error) {
	raw, err := l.Value(b, shape.JSON)
	if err == nil && raw.Kind() != "map" {
		err = shape.Malformed.Errorf("%s is a map and this is %s", what, raw.Kind())
	}
	return raw, err
}

// idOf reads an id: an integer of 64 bits without a sign, exactly.
func idOf(raw shape.Raw) (id uint64, err error) {
	if raw.Kind() == "int" {
		var buf [32]byte
		if id, err = strconv.ParseUint(string(raw.Append(buf[:0], shape.JSON)), 10, 64); err == nil {
			return id, nil
		}
	}
	return 0, shape.Malformed.Errorf("id is %s and must be an integer from 0 to 18446744073709551615", missing(raw))
}

func missing(raw shape.Raw) string {
	if raw.IsZero() {
		return "missing"
	}
	return raw.Quote()
}

// appendRequest writes the frame of a request. The error is Refused: nothing has been sent.
func appendRequest(dst []byte, id uint64, call shape.Call, l shape.Limits) ([]byte, error) {
	if !utf8.ValidString(call.Verb) {
		return dst, shape.Refused.Errorf("method is not UTF-8: %s", shape.Quote(call.Verb))
	}
	if n := call.Args.Len(); n > 1 {
		return dst, shape.Refused.Errorf("params are one map and %d arguments were given", n)
	}
	for name := range call.More.All() {
		return dst, shape.Refused.Errorf("a request has no member %s, and nothing carries it", shape.Quote(name))
	}
	start := len(dst)
	out := frame.Start(dst, frame.LittleEndian)
	out = strconv.AppendUint(append(out, `{"id":`...), id, 10)
	out = appendText(append(out, `,"method":`...), call.Verb)
	out = append(out, `,"params":`...)
	at := len(out)
	if call.Args.Len() == 0 {
		out = append(out, `{}`...)
	} else {
		var err error
		if out, err = call.Args.Append(out, shape.JSON, l); err != nil {
			return dst, err
		}
		out = append(out[:at], unlist(out[at:])...)
	}
	out = append(out, '}')
	if size := len(out) - start - frame.HeadLen; size > l.Frame {
		over := &TooLarge{size, l.Frame}
		return dst, shape.Refused.Errorf("%w", over)
	}
	return frame.End(out, start, frame.LittleEndian), nil
}

// unlist returns the one element of a list in compact JSON.
func unlist(list []byte) []byte { return list[1 : len(list)-1] }

// appendResponse writes the frame of a response: the rows, or why there are none. It always writes one; rows that cannot be written
// or are over the cap are an [Internal] error that says so (RPC-6).
func appendResponse(dst []byte, id uint64, rows shape.Rows, err error, l shape.Limits) []byte {
	if err == nil {
		var out []byte
		if out, err = appendResult(dst, id, rows, l); err == nil {
			size := len(out) - len(dst) - frame.HeadLen
			if size <= l.Frame {
				return out
			}
			err = Internal.Errorf("the response is %d bytes and the cap is %d", size, l.Frame)
		}
	}
	out := appendFailure(dst, id, CodeOf(err), textOf(err))
	if size := len(out) - len(dst) - frame.HeadLen; size > l.Frame {
		out = appendFailure(dst, id, Internal, "the response is "+strconv.Itoa(size)+" bytes and the cap is "+strconv.Itoa(l.Frame))
	}
	return out
}

func appendResult(dst []byte, id uint64, rows shape.Rows, l shape.Limits) ([]byte, error) {
	start := len(dst)
	out := frame.Start(dst, frame.LittleEndian)
	out = strconv.AppendUint(append(out, `{"id":`...), id, 10)
	out = append(out, `,"result":`...)
	switch at := len(out); {
	case rows.Len() == 0 && !rows.IsListing():
		out = append(out, `null`...)
	default:
		l.Items = max(l.Items-2, 1)
		var err error
		if out, err = rows.Append(out, shape.JSON, l); err != nil {
			return dst, err
		}
		if rows.Len() == 1 && !rows.IsListing() {
			out = append(out[:at], unlist(out[at:])...)
		}
	}
	return frame.End(append(out, '}'), start, frame.LittleEndian), nil
}

// appendFailure writes an error response. Text that is not UTF-8 is written with what stands for it.
func appendFailure(dst []byte, id uint64, code Code, message string) []byte {
	start := len(dst)
	out := frame.Start(dst, frame.LittleEndian)
	out = strconv.AppendUint(append(out, `{"id":`...), id, 10)
	out = appendText(append(out, `,"error":{"code":`...), string(code))
	out = appendText(append(out, `,"message":`...), message)
	return frame.End(append(out, `}}`...), start, frame.LittleEndian)
}

// textOf is what an error says, without the names of verb and peer that its caller knows.
func textOf(err error) string {
	if e, is := err.(*shape.Error); is {
		return e.Text
	}
	return err.Error()
}

// appendText writes text as JSON, with U+FFFD for what is not UTF-8.
func appendText(dst []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			list, _ := shape.ListArgs(strings.ToValidUTF8(text, "\uFFFD")).Append(nil, shape.JSON, shape.Limits{})
			return append(dst, unlist(list)...)
		}
	}
	return append(append(append(dst, '"'), text...), '"')
}
